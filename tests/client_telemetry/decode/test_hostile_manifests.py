"""Whatever stands in a manifest, its hour is one without a manifest or its rows can be stored: collect never ends by it."""

import copy
import datetime as dt
import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from client_telemetry.decode.coverage import ManifestRead, broker_hours, brokers
from client_telemetry.decode.manifests import read_manifest
from client_telemetry.formats.raw.location import RawLocation
from client_telemetry.formats.raw.manifest import LARGEST_BYTES
from client_telemetry.formats.raw.object_key import parse_object_key
from client_telemetry.tables.broker_hours import BROKER_HOURS
from client_telemetry.tables.brokers import BROKERS

DAY = dt.date(2026, 11, 20)
MANIFEST = json.loads((Path(__file__).parents[2] / "data/raw/whole_manifest.json").read_bytes())
INCARNATION = MANIFEST["incarnation"]
KEY = parse_object_key(f"v1/dataset=manifests/cluster=c/dt={DAY}/hour=13/broker=7/{INCARNATION}.json")
NESTED: Any = []
for _ in range(400):
    NESTED = [NESTED]
HOSTILE = (
    None, True, -1, 0, 2**31, 2**62, 2**63 - 1, 2**63, 10**400, 1e308, 0.1, "", "\ud800", "x" * 10_000, [], [[]], {}, NESTED,
    {"\udfff": 1}, {"k" * 10_000: "no"}, "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00",
)  # fmt: skip


def read(folder, text: str | bytes) -> ManifestRead:
    path = folder / str(KEY)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    return read_manifest(RawLocation(str(folder)), KEY)


def check_that_it_can_be_stored(reads: list[ManifestRead]) -> None:
    """As the lake stores it: Arrow arrays of the tables' types, encoded as UTF-8."""
    for table, rows in ((BROKERS, brokers(reads, DAY)), (BROKER_HOURS, broker_hours(ledger(), reads, DAY))):
        pa.Table.from_pylist([dict(row) for row in rows], schema=table.arrow_schema)
    for each in reads:
        if each.error:
            each.error.message.encode()


def ledger() -> list[Any]:
    return [
        {
            "cluster_id": "c", "dt": DAY, "object_key": str(KEY), "dataset": "manifests", "hour": 13, "broker_id": 7,
            "first_sequence": None, "last_sequence": None, "broker_incarnation": INCARNATION, "records": None,
        }
    ]  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value in a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, item in items for found in places(item, (*path, key)))]


def test_any_value_in_any_place_is_refused_or_stored(tmp_path):
    assert read(tmp_path, json.dumps(MANIFEST)).error is None
    stored = 0
    for path in places(MANIFEST)[1:]:
        for value in HOSTILE:
            document = copy.deepcopy(MANIFEST)
            target: Any = document
            for step in path[:-1]:
                target = target[step]
            target[path[-1]] = value
            result = read(tmp_path, json.dumps(document))
            stored += result.error is None
            check_that_it_can_be_stored([result, result])
    assert stored > 100  # and not everything is refused


@pytest.mark.parametrize("seed", range(4))
def test_damaged_bytes_are_refused_or_stored(tmp_path, seed):
    chance = random.Random(seed)
    whole = json.dumps(MANIFEST).encode()
    for _ in range(500):
        damaged = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            place = chance.randrange(len(damaged))
            damaged[place : place + chance.randint(0, 3)] = chance.randbytes(chance.randint(0, 3))
        check_that_it_can_be_stored([read(tmp_path, bytes(damaged))])


@pytest.mark.parametrize(
    "text, reason",
    [
        ('{"\\ud800": 1}', "is not text"),
        ('{"a": 1, "a": 2}', "occurs twice"),
        ('{"dropped": {"a": 1, "a": 2}}', "occurs twice"),
        ('{"a": NaN}', "not a JSON number"),
        ("[" * 100_000, "not JSON"),
        ("9" * 5_000, "not JSON"),
        ("", "not JSON"),
    ],
)
def test_what_two_readers_would_read_differently_is_refused(tmp_path, text, reason):
    error = read(tmp_path, text).error
    assert error is not None and reason in error.message


def test_a_huge_manifest_is_not_read_to_its_end(tmp_path):
    error = read(tmp_path, b" " * (LARGEST_BYTES + 1)).error
    assert error is not None and error.message == "larger than 16,777,216 bytes"


def test_counts_cannot_exceed_the_tables_integers_together(tmp_path):
    error = read(tmp_path, json.dumps(MANIFEST | {"requests": [[0, 9, 2**63 - 1], [0, 9, 2**63 - 1]]})).error
    assert error is not None and "is not a count of up to" in error.message
