"""Commands that can take long say so on standard error, and their standard output stays what others read."""

import csv
import io
import json
from pathlib import Path

import pytest
from client_telemetry.cli import __main__ as command
from client_telemetry.console import progress

CHECKOUT = Path(__file__).parents[3]
CLIENTS = CHECKOUT / "docs" / "examples" / "clients.csv"
LOG = CHECKOUT / "include" / "sample" / "request_logs" / "kafka-2.7.2-text.request.log.zst"
OWNERS = CHECKOUT / "include" / "sample" / "owners.yaml"


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(progress, "FIRST_S", 0)


def run(capsys, *arguments: object) -> tuple[str, str]:
    """Its standard output, and the first line of its standard error."""
    assert command.main([str(argument) for argument in arguments]) == 0
    printed = capsys.readouterr()
    return printed.out, printed.err.splitlines()[0]


def test_verdicts_of_a_list(tmp_path, capsys):
    output = tmp_path / "verdicts.csv"
    arguments = ("compatibility", "--from=3.9.1", "--to=4.0.1", f"--input={CLIENTS}", f"--output={output}")
    assert run(capsys, *arguments) == ("", f"  0 s: reading {CLIENTS}")


def test_answers_of_subscriptions(tmp_path, capsys):
    configured, clients = tmp_path / "configured.json", tmp_path / "clients.csv"
    configured.write_text(json.dumps([{"name": "all", "interval_ms": 5000, "metrics": ["*"], "match": {}}]))
    clients.write_text(
        "client_instance_id,client_id,software_name,software_version,source_address,source_port\n"
        "vbIwPY8MTDqgVD2pmFLUQw,orders,apache-kafka-java,4.3.1,127.0.0.1,35058\n"
    )
    named = (f"--configured={configured}", f"--clients={clients}", f"--output={tmp_path / 'answers.csv'}")
    assert run(capsys, "subscription-check", "--broker=4.3.1", *named) == ("", f"  0 s: reading {clients}")


def test_a_conversion(tmp_path, capsys):
    named = ("--cluster=1o5EsAeXSL6vbIOiK644hw", f"--raw={tmp_path / 'raw'}", "--release=2.7.2")
    printed, progress_line = run(capsys, "convert", "request_log", LOG, *named)
    assert progress_line == f"  0 s: looking for what is new in {LOG}"
    assert printed.startswith("961 requests of 1 broker")


def test_history_and_owners(sample_run, capsys):
    lake = sample_run.folder / "lake"
    printed, progress_line = run(capsys, "history", "--lake", lake)
    assert progress_line == f"  0 s: reading the table clients in {lake}"
    assert len(list(csv.DictReader(io.StringIO(printed)))) > 40
    printed, progress_line = run(capsys, "owners", "--lake", lake, "--owners", OWNERS)
    assert progress_line == f"  0 s: reading the table clients in {lake}"
    assert printed.startswith("cluster ")
