"""A cluster whose raw data is a folder of request logs or of a Collector's files, through the stages of the daily run."""

import datetime as dt
import json
import os
import shutil
from pathlib import Path

import pytest
import zstandard
from client_telemetry.lake.branch import Branch
from client_telemetry.lake.commits import ConcurrentCommit
from client_telemetry.sources.conversion import convert_new, declared
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.client_metrics import CLIENT_METRICS
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.client_sessions import CLIENT_SESSIONS
from client_telemetry.tables.clients import CLIENTS
from client_telemetry.tables.undecodable_records import UNDECODABLE_RECORDS

CHECKOUT = Path(__file__).parents[2]
LOG = CHECKOUT / "include" / "sample" / "request_logs" / "kafka-4.0.1-json.request.log.zst"
COLLECTED = CHECKOUT / "tests" / "data" / "sources" / "collector" / "proto.bin"
ROLL = CHECKOUT / "tests" / "data" / "roll"
ROLL_CLUSTER = "r0llTruth0000000000-1g"
ROLL_DAY = dt.date(2026, 11, 22)
CLUSTER = "kQ7x0RvXTs-Y2r0m3Jw0zA"
DAY = dt.date(2026, 11, 21)


def put(source: Path, folder: Path, name: str) -> None:
    folder.mkdir(exist_ok=True)
    shutil.copy(source, folder / name)
    os.utime(folder / name, (1, 1))


def run_day(pipeline, day: dt.date, **source: object) -> dict:
    """What collect said."""
    collected = pipeline.done("collect", CLUSTER, day=day, source=json.dumps(source))
    for stage, days in (("decode", "decode_days"), ("sessionize", "derive_days"), ("profile", "derive_days")):
        pipeline.done(stage, CLUSTER, days=",".join(collected[days]))
    return collected


def test_request_logs_fill_the_same_tables_and_each_line_counts_once(pipeline, monkeypatch):
    """A log that grew between two runs, and was compressed: no restart of the broker is seen in that."""
    text = zstandard.decompress(LOG.read_bytes(), 2**28)
    half = text.rindex(b"\n", 0, len(text) // 2) + 1
    (pipeline.folder / "logs").mkdir()
    (pipeline.folder / "logs" / "kafka-request.log").write_bytes(text[:half])
    source = {"format": "request_log", "files": [str(pipeline.folder / "logs")], "release": "4.0.1"}
    with monkeypatch.context() as patched:
        patched.setattr(Branch, "publish", others_publish_first(Branch.publish))
        first = pipeline.done("collect", CLUSTER, day=DAY, source=json.dumps(source))["counts"]
    (pipeline.folder / "logs" / "kafka-request.log").unlink()
    put(LOG, pipeline.folder / "logs", "kafka-request.log.2026-11-21-05.zst")
    second = run_day(pipeline, DAY, **source)["counts"]
    assert (first["converted_files"], second["converted_files"]) == (1, 1)
    assert (first["converted_pushes"], second["converted_pushes"]) == (1, 4)
    assert (
        pipeline.done("collect", CLUSTER, day=DAY, source=json.dumps(source))["counts"]["converted_files"]
        == 0
    )

    tables = (CLIENT_PUSHES, CLIENT_METRICS, CLIENT_SESSIONS, CLIENTS)
    assert all(pipeline.rows(table) for table in tables)
    assert len(pipeline.rows(CLIENT_PUSHES)) == 5
    assert {row["releases_known_by"] for row in pipeline.rows(BROKERS) if row["broker_id"] == 2} == {
        "declared"
    }
    connections = pipeline.rows(CLIENT_CONNECTIONS)
    assert len({row["connection_id"] for row in connections}) == len(connections) == 24
    assert {row["end_known_by"] for row in connections} == {"still_open"}


def test_tasks_of_spark_write_the_objects_that_one_process_writes(pipeline, tmp_path):
    """Three brokers through a rolling upgrade, with server logs, and a file that is no log."""
    source = {"format": "request_log", "files": [str(ROLL)], "release": "3.9.1,4.0.1"}
    converted = convert_new(declared(json.dumps(source)), ROLL_CLUSTER, tmp_path / "at_once")
    collected = pipeline.done("collect", ROLL_CLUSTER, day=ROLL_DAY, source=json.dumps(source))
    assert converted.counts.items() <= collected["counts"].items()
    at_once, by_tasks = (
        {path.relative_to(root): path.read_bytes() for path in root.rglob("*") if path.is_file()}
        for root in (tmp_path / "at_once", pipeline.raw)
    )
    assert len({path.parent.name for path in at_once if path.parent.name.startswith("broker=")}) == 3
    assert by_tasks == at_once


def others_publish_first(publish):
    """The first attempt finds that another run committed to the same partitions."""
    attempts = []

    def tried(branch, *arguments):
        attempts.append(branch)
        if len(attempts) == 1:
            raise ConcurrentCommit("another run published")
        return publish(branch, *arguments)

    return tried


def test_a_file_without_an_entry_is_a_row_of_the_quarantine(pipeline):
    put(COLLECTED, pipeline.folder / "logs", "kafka-request.log")
    source = {"format": "request_log", "files": [str(pipeline.folder / "logs")]}
    collected = pipeline.done("collect", CLUSTER, day=dt.date(1970, 1, 1), source=json.dumps(source))
    assert any(
        "Files without an entry of kafka.request.logger at DEBUG: 1, " in warning
        for warning in collected["warnings"]
    )
    pipeline.done("decode", CLUSTER, days=",".join(collected["decode_days"]))
    (row,) = pipeline.rows(UNDECODABLE_RECORDS)
    assert (row["error_class"], row["broker_id"]) == ("UnreadableSource", -1)
    assert row["bytes"] == COLLECTED.read_bytes()[: 64 * 2**10]
    assert row["message"].startswith("kafka-request.log, byte 0: none of its ")


def test_files_of_a_collector_fill_the_tables_of_pushes_and_points(pipeline):
    put(COLLECTED, pipeline.folder / "collected", "metrics.bin")
    source = {"format": "collector_proto", "files": [str(pipeline.folder / "collected" / "*.bin")]}
    days = set()
    pipeline.done("collect", CLUSTER, day=DAY, source=json.dumps(source))
    for path in pipeline.raw.glob("v1/dataset=client_pushes/*/dt=*"):
        days.add(dt.date.fromisoformat(path.name.removeprefix("dt=")))
    run_day(pipeline, max(days), **source)
    pushes = pipeline.rows(CLIENT_PUSHES)
    assert sorted(push["broker_id"] for push in pushes) == [-1, 2]
    assert len(pipeline.rows(CLIENT_METRICS)) == sum(push["points"] for push in pushes) == 18


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            {"format": "request_log", "files": ["/nowhere/*.log"]},
            "/nowhere/*.log: no such file",
        ),
        (
            {"format": "kafka", "files": ["/nowhere"]},
            "there is no format 'kafka'; there are request_log",
        ),
    ],
    ids=["no files", "no format"],
)
def test_a_source_that_cannot_be_used_is_refused_with_what_to_say(pipeline, monkeypatch, source, said):
    put(LOG, pipeline.folder / "logs", LOG.name)
    monkeypatch.chdir(pipeline.folder)
    code, result = pipeline.run("collect", CLUSTER, day=DAY, source=json.dumps(source))
    assert (code, result["status"]) == (2, "bad_arguments")
    assert said in result["message"]
