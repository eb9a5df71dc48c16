"""`client-telemetry knowledge metrics`: its formats, exit codes and refusals."""

import csv
import io
import json
from functools import partial

import pytest
from client_telemetry.knowledge import broker_metrics

ASK = ("--from", "3.9.2", "--to", "4.0.0")
ZOOKEEPER = "kafka.server:type=ZooKeeperClientMetrics,name=ZooKeeperRequestLatencyMs"


@pytest.fixture
def run(knowledge_command):
    return partial(knowledge_command, "metrics")


def test_what_is_gone_and_new(run):
    code, printed, error = run(*ASK)
    assert (code, error) == (0, "") and f"    {ZOOKEEPER}\n" in printed
    assert "(--all lists them)" in printed and "ControlPlane" not in printed
    assert "ControlPlane" in run(*ASK, "--all")[1]


def test_tags_that_change_are_said(run):
    code, printed, _ = run("--from", "1.1.1", "--to", "2.0.0")
    assert (
        code == 0
        and (
            "  other tags: 1 metric\n    kafka.network:type=RequestMetrics,name=RequestsPerSec,request=* -> "
            "kafka.network:type=RequestMetrics,name=RequestsPerSec,request=*,version=*\n"
        )
        in printed
    )
    _, text, _ = run("--from", "1.1.1", "--to", "2.0.0", "--format", "csv")
    (row,) = (row for row in csv.DictReader(io.StringIO(text)) if row["change"] == "retagged")
    assert (row["name"], row["tags"], row["new_tags"]) == ("RequestsPerSec", "request", "request version")


def test_csv_and_json_have_the_same_rows(run):
    rows = list(csv.DictReader(io.StringIO(run(*ASK, "--format", "csv")[1])))
    document = json.loads(run(*ASK, "--format", "json")[1])
    assert document["changes"] == rows and {row["change"] for row in rows} <= {"gone", "new"}
    assert any(row["name"] == "ZooKeeperRequestLatencyMs" for row in rows)


def test_what_cannot_be_told_or_asked_is_one_line(run, monkeypatch):
    run_brokers = tuple(release for release in broker_metrics.read() if release != "2.3.1")
    monkeypatch.setattr(broker_metrics, "read", lambda: run_brokers)
    code, printed, error = run("--from", "2.3.1", "--to", "4.0.0")
    assert (code, printed, error.count("\n")) == (4, "", 1) and "of 2.3.1 are not known" in error
    for pair in (("3.9.1", "3.9.1"), ("3.9", "4.0.0")):
        code, printed, error = run("--from", pair[0], "--to", pair[1])
        assert (code, printed, error.count("\n")) == (2, "", 1)
