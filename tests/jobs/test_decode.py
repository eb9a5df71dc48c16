"""decode: good and bad records through the real job, and counts that add up."""

import csv
import datetime as dt
import shutil
from pathlib import Path

import pytest
from client_telemetry.raw.errors import vocabulary
from client_telemetry.tables.broker_hours import BROKER_HOURS
from client_telemetry.tables.client_metrics import CLIENT_METRICS
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.connection_events import CONNECTION_EVENTS
from client_telemetry.tables.raw_objects import RAW_OBJECTS
from client_telemetry.tables.undecodable_records import UNDECODABLE_RECORDS

from tests.jobs.conftest import DAY, NOON, event, payload, push

ODD = Path(__file__).parents[1] / "data" / "raw"


def decode_day(pipeline, cluster: str | None = None) -> dict:
    other = {"cluster": cluster} if cluster else {}
    code, result = pipeline.run("collect", day=DAY, **other)
    assert code == 0, result["message"]
    code, result = pipeline.run("decode", days=DAY, **other)
    assert code == 0, result["message"]
    return result


def objects(pipeline) -> dict[str, dict]:
    return {row["object_key"].rpartition("/")[2]: row for row in pipeline.rows(RAW_OBJECTS)}


def test_records_become_rows_with_every_field_that_they_have(pipeline, dump):
    with dump(pipeline) as out:
        out.append_push(push(push_interval_ms=5000, terminating=True))
        out.append_connection_event(event(2, uses=((0, 9, 7), (18, 3, 1))))
    result = decode_day(pipeline)
    assert (result["counts"]["push_rows"], result["counts"]["points"], result["counts"]["event_rows"]) == (
        1,
        2,
        1,
    )
    (row,) = pipeline.rows(CLIENT_PUSHES)
    assert (row["client_id"], row["client_port"], row["terminating"]) == ("orders", 40001, True)
    assert (row["push_interval_ms"], row["points"], row["clock_skew_ms"], row["flags"]) == (5000, 2, 0, [])
    points = pipeline.rows(CLIENT_METRICS)
    assert sorted(point["value"] for point in points) == [1.0, 2.0]
    assert {point["time"] for point in points} == {NOON}
    (seen,) = pipeline.rows(CONNECTION_EVENTS)
    assert [(use["api_key"], use["version"], use["requests"]) for use in seen["api_uses"]] == [
        (0, 9, 7),
        (18, 3, 1),
    ]
    (hour,) = pipeline.rows(BROKER_HOURS, hour=12)
    assert (hour["completeness"], hour["pushes_read"], hour["connection_events_read"]) == (["complete"], 1, 1)


with (ODD / "odd_objects.csv").open() as file:
    # Whose incarnation a record should have, only a name by the contract tells; these names tell nothing.
    ODD_OBJECTS = [row for row in csv.DictReader(file) if row["file"] != "wrong_incarnation.bin"]


def test_odd_objects_lose_nothing_and_say_why(pipeline, tmp_path):
    """The bytes of the reader's golden table, as objects of one broker hour, through the real jobs."""
    folder = pipeline.raw / f"v1/dataset=client_pushes/cluster=odd/dt={DAY}/hour=12/broker=7"
    for row in ODD_OBJECTS:
        target = folder / row["file"]
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ODD / row["file"], target)
    result = decode_day(pipeline, "odd")
    found = objects(pipeline)
    kept = pipeline.rows(UNDECODABLE_RECORDS)
    for row in ODD_OBJECTS:
        got = found[row["file"]]
        assert got["status"] == {"complete": "decoded"}.get(row["status"], row["status"]), row["case"]
        assert got["records"] == got["rows"] + got["duplicates"] + got["undecodable"], row["case"]
        assert got["rows"] + got["duplicates"] == int(row["pushes"]), row["case"]
        classes = {each["error_class"] for each in kept if each["source_object"].endswith("/" + row["file"])}
        expected = {c for c in (row["error_class"], row["undecodable"]) if c} - {"EmptyObject"}
        assert classes == expected, row["case"]
    assert all(row["bytes"] for row in kept)
    assert {row["error_class"] for row in kept} <= {error.__name__ for error in vocabulary()}
    assert result["counts"]["undecodable"] == len(kept)


def test_a_manifest_that_cannot_be_read_goes_to_quarantine_with_its_bytes(pipeline, dump):
    with dump(pipeline) as out:
        out.append_push(push())
    (manifest,) = pipeline.raw.rglob("*.json")
    manifest.write_text("{not json")
    decode_day(pipeline)
    (row,) = pipeline.rows(UNDECODABLE_RECORDS)
    assert (row["dataset"], row["error_class"], row["bytes"]) == ("manifests", "BadManifest", b"{not json")


def test_a_push_with_a_broken_payload_is_quarantined_with_the_identity_that_is_known(pipeline, dump):
    with dump(pipeline) as out:
        out.append_push(push(payload=b"\xff\xff", push_interval_ms=1))
        out.append_push(push(payload=b"\x28\xb5\x2f\xfd\0\0", compression_type=4))
        out.append_push(push())
    result = decode_day(pipeline)
    rows = {row["sequence"]: row for row in pipeline.rows(UNDECODABLE_RECORDS)}
    assert {sequence: row["error_class"] for sequence, row in rows.items()} == {
        0: "NotMetricsData",
        1: "CorruptPayload",
    }
    assert all(row["client_instance_id"] == push().client_instance_id for row in rows.values())
    assert result["counts"] | {"push_rows": 1, "undecodable": 2, "records": 3} == result["counts"]


def test_odd_pushes_keep_their_row_and_carry_a_flag(pipeline, dump):
    with dump(pipeline) as out:
        out.append_push(push(client_instance_id=bytes(16)))
        out.append_push(push(client_instance_id=b""))
        out.append_push(push(error_code=89))
        out.append_push(push(payload=b""))
    decode_day(pipeline)
    rows = {row["sequence"]: row for row in pipeline.rows(CLIENT_PUSHES)}
    flags = {sequence: row["flags"] for sequence, row in rows.items()}
    assert flags == {0: ["zero_instance_id"], 1: ["no_instance_id"], 2: ["rejected"], 3: ["no_points"]}
    assert rows[1]["client_instance_id"] is None
    assert rows[2]["points"] == 0


@pytest.mark.parametrize("name", ["zz-copy.zst", "{stem}.bin.zst", "aa-copy.zst"])
def test_records_that_arrive_twice_count_once_whatever_the_object_is_called(pipeline, dump, name):
    with dump(pipeline) as out:
        out.append_push(push())
        out.append_push(push(NOON + dt.timedelta(seconds=5)))
    (original,) = pipeline.raw.rglob("dataset=client_pushes/**/*.zst")
    copy = original.with_name(name.format(stem=original.stem))
    shutil.copy(original, copy)
    result = decode_day(pipeline)
    assert (result["counts"]["push_rows"], result["counts"]["duplicates"]) == (2, 2)
    kept = {row["source_object"].rpartition("/")[2] for row in pipeline.rows(CLIENT_PUSHES)}
    assert kept == {min(original.name, copy.name)}


def test_a_name_that_lies_about_its_sequences_hides_no_duplicate(pipeline, dump):
    with dump(pipeline) as out:
        out.append_push(push())
    (original,) = pipeline.raw.rglob("dataset=client_pushes/**/*.zst")
    incarnation = original.name.partition("-")[0]
    liar = original.with_name(f"{incarnation}-{900:020d}-{900:020d}.zst")
    shutil.copy(original, liar)
    result = decode_day(pipeline)
    assert (result["counts"]["push_rows"], result["counts"]["duplicates"]) == (1, 1)


def test_bytes_that_differ_from_the_manifest_are_flagged_and_still_read(pipeline, dump):
    with dump(pipeline, ending=".bin") as out:
        out.append_push(push())
        out.append_push(push(payload=payload(3.0)))
    (original,) = pipeline.raw.rglob("dataset=client_pushes/**/*.bin")
    data = original.read_bytes()
    original.write_bytes(data[: 4 + int.from_bytes(data[:4], "big")])
    decode_day(pipeline)
    row = objects(pipeline)[original.name]
    assert row["flags"] == ["digest_mismatch", "record_count_mismatch", "size_mismatch"]
    assert row["rows"] == 1
    (hour,) = pipeline.rows(BROKER_HOURS, hour=12)
    assert hour["completeness"] == ["unread_records"]


def test_a_record_of_another_day_stays_in_its_objects_day_and_is_flagged(pipeline, dump):
    with dump(pipeline) as out:
        out.append_push(push())
    folder = next(pipeline.raw.rglob("dataset=client_pushes")) / "cluster=test-cluster"
    shutil.move(folder / f"dt={DAY}", folder / "dt=2026-11-20")
    pipeline.run("collect", day="2026-11-20")
    code, _ = pipeline.run("decode", days="2026-11-20")
    assert code == 0
    (row,) = pipeline.rows(CLIENT_PUSHES)
    assert (row["dt"], row["flags"]) == (dt.date(2026, 11, 20), ["other_day"])


def test_decoding_what_was_not_collected_says_what_to_run_first(pipeline, dump):
    code, result = pipeline.run("decode", days=DAY)
    assert code == 2
    assert "run collect first" in result["message"]


def test_no_day_is_nothing_to_do(pipeline):
    code, result = pipeline.run("decode", days="")
    assert (code, result["status"]) == (0, "ok")
