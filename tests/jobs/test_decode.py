"""decode: good and bad records through the real job, and counts that add up."""

import csv
import datetime as dt
import shutil
from pathlib import Path

import pytest
from client_telemetry.decode.plan import DECODED_TABLES
from client_telemetry.formats.raw.errors import vocabulary
from client_telemetry.formats.raw.raw_dump_v1_pb2 import ClientPush
from client_telemetry.formats.raw.writer import DumpWriter
from client_telemetry.tables.broker_hours import BROKER_HOURS
from client_telemetry.tables.client_metrics import CLIENT_METRICS
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.connection_events import CONNECTION_EVENTS
from client_telemetry.tables.raw_objects import RAW_OBJECTS
from client_telemetry.tables.undecodable_records import UNDECODABLE_RECORDS

from tests.jobs.conftest import CLUSTER, DAY, INCARNATION, NOON, Pipeline, event, payload, push

ODD = Path(__file__).parents[1] / "data" / "raw"


@pytest.fixture(scope="module")
def decoded(spark, tmp_path_factory) -> Pipeline:
    """One day of a broker per case, by broker id, collected and decoded once."""
    pipeline = Pipeline(tmp_path_factory.mktemp("decoded"), spark)

    def broker(broker_id: int, *records, **options) -> Path:
        """Write the records; gives the object of pushes."""
        started = {"broker_started_at": NOON, "broker_software_version": "3.9.1"}
        with DumpWriter(pipeline.raw, CLUSTER, broker_id, INCARNATION, **started, **options) as out:
            for record in records:
                is_push = isinstance(record, ClientPush)
                (out.append_push if is_push else out.append_connection_event)(record)
        (pushes,) = pipeline.raw.rglob(f"dataset=client_pushes/**/broker={broker_id}/*")
        return pushes

    broker(GOOD, push(push_interval_ms=5000, terminating=True), event(2, uses=((0, 9, 7), (18, 3, 1))))
    broker(BAD_MANIFEST, push())
    (manifest,) = pipeline.raw.rglob(f"dataset=manifests/**/broker={BAD_MANIFEST}/*")
    manifest.write_text("{not json")
    broker(
        BROKEN_PAYLOADS,
        push(payload=b"\xff\xff", push_interval_ms=1),
        push(payload=b"\x28\xb5\x2f\xfd\0\0", compression_type=4),
        push(),
    )
    odd = (
        {"client_instance_id": bytes(16)},
        {"client_instance_id": b""},
        {"error_code": 89},
        {"payload": b""},
    )
    broker(ODD_PUSHES, *[push(**fields) for fields in odd])
    for number, name in enumerate(COPIES):
        original = broker(FIRST_COPY + number, push(), push(NOON + dt.timedelta(seconds=5)))
        shutil.copy(original, original.with_name(name.format(stem=original.stem)))
    original = broker(LIAR, push())
    incarnation = original.name.partition("-")[0]
    shutil.copy(original, original.with_name(f"{incarnation}-{900:020d}-{900:020d}.zst"))
    original = broker(CHANGED, push(), push(payload=payload(3.0)), ending=".bin")
    data = original.read_bytes()
    original.write_bytes(data[: 4 + int.from_bytes(data[:4], "big")])
    original = broker(OTHER_DAY, push(NOON - dt.timedelta(days=1)))
    moved = Path(str(original).replace("dt=2026-11-20", f"dt={DAY}"))
    moved.parent.mkdir(parents=True)
    original.rename(moved)
    decode_day(pipeline)
    return pipeline


GOOD, BAD_MANIFEST, BROKEN_PAYLOADS, ODD_PUSHES, LIAR, CHANGED, OTHER_DAY, FIRST_COPY = range(1, 9)
COPIES = ("zz-copy.zst", "{stem}.bin.zst", "aa-copy.zst")


def decode_day(pipeline, cluster: str | None = None) -> dict:
    other = {"cluster": cluster} if cluster else {}
    code, result = pipeline.run("collect", day=DAY, **other)
    assert code == 0, result["message"]
    code, result = pipeline.run("decode", days=DAY, **other)
    assert code == 0, result["message"]
    return result


def objects(pipeline, **equal) -> dict[str, dict]:
    return {row["object_key"].rpartition("/")[2]: row for row in pipeline.rows(RAW_OBJECTS, **equal)}


def test_records_become_rows_with_every_field_that_they_have(decoded):
    (row,) = decoded.rows(CLIENT_PUSHES, broker_id=GOOD)
    assert (row["client_id"], row["client_port"], row["terminating"]) == ("orders", 40001, True)
    assert (row["push_interval_ms"], row["points"], row["clock_skew_ms"], row["flags"]) == (5000, 2, 0, [])
    points = decoded.rows(CLIENT_METRICS, broker_id=GOOD)
    assert sorted(point["value"] for point in points) == [1.0, 2.0]
    assert {point["time"] for point in points} == {NOON}
    (seen,) = decoded.rows(CONNECTION_EVENTS, broker_id=GOOD)
    uses = [(use["api_key"], use["version"], use["requests"]) for use in seen["api_uses"]]
    assert uses == [(0, 9, 7), (18, 3, 1)]
    (hour,) = decoded.rows(BROKER_HOURS, broker_id=GOOD, hour=12)
    assert (hour["pushes_read"], hour["connection_events_read"]) == (1, 1)
    assert hour["completeness"] == ["registry_not_watching"]


def test_every_record_is_a_row_a_duplicate_or_undecodable(decoded):
    rows = [row for row in decoded.rows(RAW_OBJECTS) if row["dataset"] != "manifests"]
    assert all(row["records"] == row["rows"] + row["duplicates"] + row["undecodable"] for row in rows)
    assert sum(row["rows"] for row in rows) == len(decoded.rows(CLIENT_PUSHES)) + len(
        decoded.rows(CONNECTION_EVENTS)
    )


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
    assert [row["source_object"] for row in kept if not row["bytes"]] == []
    assert {row["error_class"] for row in kept} <= {error.__name__ for error in vocabulary()}
    assert result["counts"]["undecodable"] == len(kept)


def test_what_could_not_be_read_is_said_with_a_number_and_an_example(pipeline):
    started = {"broker_started_at": NOON, "broker_software_version": "3.9.1"}
    with DumpWriter(pipeline.raw, CLUSTER, 1, INCARNATION, **started) as out:
        for second in range(4):
            out.append_push(push(NOON + dt.timedelta(seconds=second)))
    (path,) = pipeline.raw.rglob("dataset=client_pushes/**/*.zst")
    path.write_bytes(b"")
    result = decode_day(pipeline)
    assert result["lost"] == f"{DAY}: 1 of 2 objects damaged, 4 of 4 pushes not read"
    (warning,) = (each for each in result["warnings"] if "not read" in each)
    assert f"such as {path.relative_to(pipeline.raw)}" in warning


def test_a_manifest_that_cannot_be_read_goes_to_quarantine_with_its_bytes(decoded):
    (row,) = decoded.rows(UNDECODABLE_RECORDS, broker_id=BAD_MANIFEST)
    assert (row["dataset"], row["error_class"], row["bytes"]) == ("manifests", "BadManifest", b"{not json")


def test_a_push_with_a_broken_payload_is_quarantined_with_the_identity_that_is_known(decoded):
    rows = {row["sequence"]: row for row in decoded.rows(UNDECODABLE_RECORDS, broker_id=BROKEN_PAYLOADS)}
    classes = {sequence: row["error_class"] for sequence, row in rows.items()}
    assert classes == {0: "NotMetricsData", 1: "CorruptPayload"}
    assert all(row["client_instance_id"] == push().client_instance_id for row in rows.values())
    assert [row["sequence"] for row in decoded.rows(CLIENT_PUSHES, broker_id=BROKEN_PAYLOADS)] == [2]


def test_odd_pushes_keep_their_row_and_carry_a_flag(decoded):
    rows = {row["sequence"]: row for row in decoded.rows(CLIENT_PUSHES, broker_id=ODD_PUSHES)}
    flags = {sequence: row["flags"] for sequence, row in rows.items()}
    assert flags == {0: ["zero_instance_id"], 1: ["no_instance_id"], 2: ["rejected"], 3: ["no_points"]}
    assert rows[1]["client_instance_id"] is None
    assert rows[2]["points"] == 0


@pytest.mark.parametrize("number", range(len(COPIES)), ids=COPIES)
def test_records_that_arrive_twice_count_once_whatever_the_object_is_called(decoded, number):
    found = objects(decoded, broker_id=FIRST_COPY + number, dataset="client_pushes")
    assert len(found) == 2
    kept, other = (found[name] for name in sorted(found))
    assert (kept["rows"], kept["duplicates"]) == (2, 0)
    assert (other["rows"], other["duplicates"]) == (0, 2)
    rows = decoded.rows(CLIENT_PUSHES, broker_id=FIRST_COPY + number)
    assert {row["source_object"] for row in rows} == {kept["object_key"]}


def test_a_name_that_lies_about_its_sequences_hides_no_duplicate(decoded):
    found = objects(decoded, broker_id=LIAR, dataset="client_pushes").values()
    assert sorted((row["rows"], row["duplicates"]) for row in found) == [(0, 1), (1, 0)]
    assert len(decoded.rows(CLIENT_PUSHES, broker_id=LIAR)) == 1


def test_bytes_that_differ_from_the_manifest_are_flagged_and_still_read(decoded):
    (row,) = objects(decoded, broker_id=CHANGED, dataset="client_pushes").values()
    assert row["flags"] == ["digest_mismatch", "record_count_mismatch", "size_mismatch"]
    assert row["rows"] == 1
    (hour,) = decoded.rows(BROKER_HOURS, broker_id=CHANGED, hour=12)
    assert "unread_records" in hour["completeness"]


def test_a_record_of_another_day_stays_in_its_objects_day_and_is_flagged(decoded):
    (row,) = decoded.rows(CLIENT_PUSHES, broker_id=OTHER_DAY)
    assert (row["dt"], row["flags"]) == (DAY, ["other_day"])


def test_decoding_what_was_not_collected_says_what_to_run_first(pipeline, dump):
    code, result = pipeline.run("decode", days=DAY)
    assert code == 2
    assert "run collect first" in result["message"]


def test_no_day_is_nothing_to_do(pipeline):
    code, result = pipeline.run("decode", days="")
    assert (code, result["status"]) == (0, "ok")


def test_with_spark_for_little_data_the_rows_are_the_same(spark, tmp_path):
    pipelines = [Pipeline(tmp_path / name, spark) for name in ("here", "on_spark")]
    for pipeline, arguments in zip(pipelines, ({}, {"without_spark_up_to": 0}), strict=True):
        for broker_id in (1, 2):
            started = {"broker_started_at": NOON, "broker_software_version": "3.9.1"}
            with DumpWriter(pipeline.raw, CLUSTER, broker_id, INCARNATION, **started) as out:
                for seconds in range(20):
                    out.append_push(push(NOON + dt.timedelta(seconds=seconds)))
                out.append_push(push(payload=b"\xff\xff"))
                out.append_connection_event(event(2, uses=((0, 9, 7), (18, 3, 1))))
        pipeline.done("collect", day=DAY)
        counts = pipeline.done("decode", days=DAY, **arguments)["counts"]
        assert (counts["push_rows"], counts["event_rows"], counts["undecodable"]) == (40, 2, 2)
    for table in DECODED_TABLES:
        here, there = (
            [{**row, "source_object": None, "object_key": None} for row in pipeline.rows(table)]
            for pipeline in pipelines
        )
        assert here == there, table.name
