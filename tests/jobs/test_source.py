"""A cluster whose raw data is a folder of request logs or of a Collector's files, through the stages of the daily run."""

import datetime as dt
import json
import os
import shutil
from pathlib import Path

import pytest
from client_telemetry.tables.client_metrics import CLIENT_METRICS
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.client_sessions import CLIENT_SESSIONS
from client_telemetry.tables.clients import CLIENTS

CHECKOUT = Path(__file__).parents[2]
LOG = CHECKOUT / "include" / "sample" / "request_logs" / "kafka-4.0.1-json.request.log.zst"
COLLECTED = CHECKOUT / "tests" / "data" / "sources" / "collector" / "proto.bin"
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


def test_request_logs_fill_the_same_tables_and_each_line_counts_once(pipeline):
    put(LOG, pipeline.folder / "logs", "kafka-request.log.2026-11-21-05.zst")
    source = {"format": "request_log", "files": [str(pipeline.folder / "logs")], "release": "4.0.1"}
    counts = run_day(pipeline, DAY, **source)["counts"]
    assert (counts["converted_files"], counts["converted_pushes"], counts["objects"]) == (1, 5, 2)
    tables = (CLIENT_PUSHES, CLIENT_METRICS, CLIENT_SESSIONS, CLIENTS)
    first = {table.name: pipeline.rows(table) for table in tables}
    assert all(first.values()) and len(first["client_pushes"]) == 5

    put(LOG, pipeline.folder / "logs", "kafka-request.log.zst")
    counts = run_day(pipeline, DAY, **source)["counts"]
    assert (counts["converted_files"], counts["objects"]) == (0, 2)
    again = {table.name: pipeline.rows(table) for table in tables}
    assert repr(again) == repr(first)  # NaN is not NaN


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
    ("source", "raw", "said"),
    [
        (
            {"format": "request_log", "files": ["/nowhere/*.log"]},
            None,
            "/nowhere/*.log: there is no such file",
        ),
        (
            {"format": "kafka", "files": ["/nowhere"]},
            None,
            "there is no format 'kafka'; there are request_log",
        ),
        (
            {"format": "request_log", "files": ["logs"], "release": "2.8.2"},
            None,
            "no broker in the logs answers as 2.8.2 does",
        ),
        ({"format": "request_log", "files": ["logs"]}, "s3://dumps/east", "can be written to a folder"),
    ],
    ids=["no files", "no format", "another release", "no folder for the dump"],
)
def test_a_source_that_cannot_be_used_is_refused_with_what_to_say(pipeline, monkeypatch, source, raw, said):
    put(LOG, pipeline.folder / "logs", LOG.name)
    monkeypatch.chdir(pipeline.folder)
    code, result = pipeline.run(
        "collect", CLUSTER, day=DAY, source=json.dumps(source), **({"raw": raw} if raw else {})
    )
    assert (code, result["status"]) == (2, "bad_arguments")
    assert said in result["message"]
