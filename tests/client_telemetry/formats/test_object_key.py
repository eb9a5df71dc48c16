import csv
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from client_telemetry.formats.raw.errors import BadObjectKey
from client_telemetry.formats.raw.object_key import manifest_key, parse_object_key, records_key

DATA = Path(__file__).parents[2] / "data/raw"
INCARNATION = "940bd068d9cc556cbf208aa03c5eb56b"


def cases(name: str):
    with (DATA / name).open(newline="") as file:
        return [pytest.param(row, id=row["case"]) for row in csv.DictReader(file)]


@pytest.mark.parametrize("row", cases("object_keys.csv"))
def test_keys_of_the_contract(row):
    key = parse_object_key(row["key"])
    parsed = {
        name: "" if getattr(key, name) is None else str(getattr(key, name))
        for name in row
        if name not in ("case", "key")
    }
    assert parsed == {name: value for name, value in row.items() if name not in ("case", "key")}
    assert str(key) == row["key"]


@pytest.mark.parametrize("row", cases("bad_object_keys.csv"))
def test_keys_that_are_refused(row):
    with pytest.raises(BadObjectKey) as raised:
        parse_object_key(row["key"])
    assert row["message"] in str(raised.value)
    assert repr(row["key"]) in str(raised.value)


def test_a_key_is_made_from_any_moment_of_its_hour_in_any_zone():
    moment = datetime(2026, 11, 22, 1, 59, 59, tzinfo=timezone(timedelta(hours=3)))
    key = records_key("client_pushes", "c", 3, INCARNATION, moment, 0, 12)
    assert key.key == (
        "v1/dataset=client_pushes/cluster=c/dt=2026-11-21/hour=22/broker=3/"
        f"{INCARNATION}-00000000000000000000-00000000000000000012.zst"
    )
    assert key.hour_start == datetime(2026, 11, 21, 22, tzinfo=UTC)
    assert key == parse_object_key(key.key)


def test_the_key_of_a_manifest():
    key = manifest_key("c", 3, INCARNATION, datetime(2026, 11, 21, 22, 5, tzinfo=UTC))
    assert key.key == f"v1/dataset=manifests/cluster=c/dt=2026-11-21/hour=22/broker=3/{INCARNATION}.json"
    assert key == parse_object_key(key.key)


@pytest.mark.parametrize(
    ("cluster_id", "incarnation", "last"),
    [
        ("a/b", INCARNATION, 1),
        ("", INCARNATION, 1),
        ("c", "short", 1),
        ("c", INCARNATION, -1),
        ("c", INCARNATION, 2**63),
    ],
)
def test_a_key_that_could_not_be_read_again_is_not_made(cluster_id, incarnation, last):
    with pytest.raises(BadObjectKey):
        records_key("connections", cluster_id, 3, incarnation, datetime(2026, 11, 21, tzinfo=UTC), 0, last)
