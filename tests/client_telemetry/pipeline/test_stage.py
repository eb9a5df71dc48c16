"""How a stage gets its session. What stages write and publish is tested with each stage."""

import pytest
from client_telemetry.lake.lake import Lake
from client_telemetry.pipeline import stage
from client_telemetry.publish.upgrade_report import as_read
from client_telemetry.tables.brokers import BROKERS
from pyspark.sql import SparkSession

from tests.client_telemetry.lake.conftest import DAY, created, expire_all_but_the_heads, staged


class Connected(Exception):
    """Spark was asked for a session."""


def test_a_client_of_a_connect_server_starts_no_spark_of_its_own(monkeypatch):
    def started():
        raise AssertionError("the settings of a local Spark were read, for which a JVM starts")

    def connect(_):
        raise Connected

    monkeypatch.setenv("SPARK_REMOTE", "sc://127.0.0.1:1")
    monkeypatch.setattr(stage, "check_master", started)
    monkeypatch.setattr(SparkSession.Builder, "getOrCreate", connect)
    with pytest.raises(Connected):
        stage.spark_session("impact", "var/lake")


def lake_with_an_expired_snapshot(location: str) -> tuple[Lake, int]:
    lake = created(location)
    snapshot = lake.snapshot(BROKERS)
    staged(lake, "a").publish("a", "run", "collect", [DAY])
    expire_all_but_the_heads(lake, BROKERS)
    return lake, snapshot


def test_a_stage_whose_snapshot_expired_begins_again(tmp_path, capsys):
    _, expired = lake_with_an_expired_snapshot(str(tmp_path))
    snapshots = [expired, None]

    def body(work):
        return stage.Outcome(f"{len(work.lake.rows(BROKERS, snapshots.pop(0)))} broker")

    argv = ["--cluster", "a", "--lake", str(tmp_path)]
    assert stage.run(stage.parser("reads", None), body, argv, starts_spark="never") == stage.OK
    said = capsys.readouterr()
    assert said.out == "1 broker\n"
    assert said.err == f"reads: brokers: snapshot {expired} has expired; attempt 1 of 3\n"


def test_a_report_whose_evidence_expired_shows_what_there_is_today_and_says_so(tmp_path):
    lake, expired = lake_with_an_expired_snapshot(str(tmp_path))
    argv = ["--cluster", "a", "--lake", str(tmp_path)]
    work = stage.Stage("publish", stage.parser("publish", None).parse_args(argv), lake)
    for _ in range(2):
        assert [row["broker_id"] for row in as_read(work, BROKERS, expired, dt=[DAY])] == [0]
    (warning,) = work.warnings
    assert warning.startswith("brokers: the rows that the report was made from are no longer kept")
