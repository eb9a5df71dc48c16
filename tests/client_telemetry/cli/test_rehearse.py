"""`client-telemetry rehearse` and `knowledge newer` without a network: real runs are in tests/end_to_end/test_rehearse.py."""

import json
from pathlib import Path
from typing import Any

import pytest
from client_telemetry.cli import knowledge_measure
from client_telemetry.cli.rehearse import main
from client_telemetry.rehearsal import newer
from client_telemetry.rehearsal.library_programs import NotInstalled
from client_telemetry.rehearsal.outcomes import OutcomeCache, Sandbox
from client_telemetry.rehearsal.rehearsing import control
from client_telemetry.rehearsal.sandbox_broker import BrokerDidNotStart
from client_telemetry.rehearsal.subjects import Subject

TARGET = "4.3.1"
WORKS = {"connect": "ok", "produce": "ok"}
REFUSED = {"connect": "ok", "produce": "TimeoutException"}


def report(folder: Path, *verdicts: str, version: str = "3.6.2") -> Path:
    """With a client of Java 3.6.2, 3.6.3, … for each verdict."""
    clients: list[dict[str, Any]] = [
        {
            "client_software_name": "apache-kafka-java",
            "client_software_version": f"3.6.{place}",
            "identified_as": f"kafka-clients 3.6.{place}",
            "verdict": verdict,
            "when": "at_once" if verdict == "breaks" else None,
            "trigger": None,
            "roles": ["producer"],
            "findings": [],
        }
        for place, verdict in enumerate(verdicts)
    ]
    applications = [
        {
            "anchor": f"application-{place}",
            "name": f"app-{place}\u202e",
            "owner": None,
            "outcome": verdict,
            "safe_so_far": verdict == "safe",
            "clients": [place],
        }
        for place, verdict in enumerate(verdicts)
    ]
    folder.mkdir(exist_ok=True)
    question = {"report_id": "r", "cluster_id": "c", "from_release": "2.8.2", "to_release": TARGET}
    content = {"question": question, "clients": clients, "applications": applications}
    (folder / "report.json").write_text(json.dumps(content))
    return folder


def kept(cache: Path, *outcomes: dict[str, str]) -> list[str]:
    """A cache with all that is needed, so that nothing is installed or started."""
    for place, steps in enumerate(outcomes):
        subject = Subject("kafka-clients", f"3.6.{place}")
        for restarted in (False, True):
            OutcomeCache(cache).write(subject, Sandbox(TARGET, restarted=restarted), steps)
        OutcomeCache(cache).write(subject, control(), WORKS)
    return ["--cache", str(cache)]


def test_contradictions_come_first_and_decide(tmp_path, capsys):
    folder = report(tmp_path / "r", "safe", "safe", "breaks", "breaks")
    assert main([str(folder), *kept(tmp_path / "cache", WORKS, REFUSED, REFUSED, WORKS)]) == 3
    assert capsys.readouterr().out.splitlines() == [
        f"CONTRADICTS its verdict (safe): app-1[U+202E] (kafka-clients 3.6.1) ran on {TARGET}: refused at produce: TimeoutException",
        f"CONTRADICTS its verdict (breaks): app-3[U+202E] (kafka-clients 3.6.3) ran on {TARGET}: works",
        f"app-2[U+202E] (kafka-clients 3.6.2) ran on {TARGET}: refused at produce: TimeoutException",
        f"app-0[U+202E] (kafka-clients 3.6.0) ran on {TARGET}: works",
        f"2 of 2 safe applications rehearsed on {TARGET}; 4 of 4 whose library and version are known or inferred",
        "2 contradictions with the report",
        f"written: {folder / 'rehearsal.json'}",
    ]


def test_all_that_is_safe_works(tmp_path, capsys):
    folder = report(tmp_path / "r", "safe")
    assert main([str(folder), *kept(tmp_path / "cache", WORKS)]) == 0
    content = json.loads((folder / "rehearsal.json").read_text())
    assert content["safe"] == {"works": 1, "refused": 0, "not_rehearsed": 0}


def test_another_target_contradicts_nothing(tmp_path, capsys):
    folder = report(tmp_path / "r", "breaks")
    cache = kept(tmp_path / "cache", WORKS)
    for restarted in (False, True):
        on = Sandbox("4.0.1", restarted=restarted)
        OutcomeCache(tmp_path / "cache").write(Subject("kafka-clients", "3.6.0"), on, WORKS)
    assert main([str(folder / "report.json"), "--to", "4.0.1", *cache]) == 0
    assert "0 contradictions" in capsys.readouterr().out


def test_what_the_budget_leaves_out_is_said(tmp_path, capsys):
    folder = report(tmp_path / "r", "safe", "safe")
    assert main([str(folder), *kept(tmp_path / "cache", WORKS), "--budget-minutes", "0.00000001"]) == 4
    assert (
        "not rehearsed: app-1[U+202E]: left out: 1e-08 minutes are over (--budget-minutes)"
        in capsys.readouterr().out
    )


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("missing.json", None, "No such file or directory: name the report.json"),
        ("r.json", "{}", "is not the report.json of an upgrade report"),
        ("r.json", "[]", "is not the report.json of an upgrade report"),
        (
            "r.json",
            '{"question": {"to_release": "1", "from_release": "1"}, "clients": [], "applications": []}',
            "has no application",
        ),
    ],
)
def test_what_is_no_report_is_one_line(tmp_path, capsys, name, text, expected):
    if text is not None:
        (tmp_path / name).write_text(text)
    assert main([str(tmp_path / name)]) == 2
    error = capsys.readouterr().err
    assert expected in error and error.count("\n") == 1


def test_an_unknown_target_and_a_broker_that_does_not_start_are_one_line(tmp_path, capsys, monkeypatch):
    folder = report(tmp_path / "r", "safe")
    assert main([str(folder), "--to", "9.9.9"]) == 2
    assert "unknown Kafka release 9.9.9" in capsys.readouterr().err

    def fail(*_: object) -> None:
        raise BrokerDidNotStart("Address already in use")

    monkeypatch.setattr("client_telemetry.rehearsal.rehearsing.Rehearsing.rehearse", fail)
    assert main([str(folder), "--cache", str(tmp_path)]) == 2
    assert capsys.readouterr().err.endswith("rehearse: no broker to run against: Address already in use\n")


@pytest.mark.parametrize("option", ["--budget-minutes=0", "--budget-gb=x", "--jobs=0", "--mechanism=NTLM"])
def test_unusable_options_are_refused(tmp_path, option, capsys):
    with pytest.raises(SystemExit) as ended:
        main([str(tmp_path), option])
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_newer_versions_are_listed_by_library(tmp_path, capsys, monkeypatch):
    lists = {"franz-go": ["1.0.0", "99.1.0", "99.0.0-rc1"], "sarama": ["1.0.0"]}

    def published(program: str, _: Path) -> list[str]:
        if program not in lists:
            raise NotInstalled("npm is not installed")
        return newer.final(lists[program])

    monkeypatch.setattr(newer, "published", published)
    names = ["--library=franz-go", "--library=sarama", "--library=kafkajs"]
    assert knowledge_measure.list_newer([*names, f"--cache={tmp_path}"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("; newer: 99.1.0") and lines[1].endswith("; nothing newer")
    assert lines[2].endswith("; its registry was not asked: npm is not installed")


@pytest.mark.parametrize("text", ["kafka-python", "kafka-python==", "nobody==1.0", "==1.0"])
def test_a_library_to_measure_has_a_name_and_a_version(text):
    with pytest.raises(Exception, match="write NAME==VERSION, with one of"):
        knowledge_measure.library(text)


def test_a_report_about_measured_brokers_needs_a_release(tmp_path, capsys):
    folder = report(tmp_path / "r", "safe")
    content = json.loads((folder / "report.json").read_text())
    content["question"]["to_release"] = "measured-a648720e"
    (folder / "report.json").write_text(json.dumps(content))
    assert main([str(folder)]) == 2
    assert "name a release with --to" in capsys.readouterr().err


def test_a_lake_that_is_not_there_is_a_line(tmp_path, capsys):
    assert main([str(report(tmp_path / "r", "safe")), f"--lake={tmp_path / 'none'}"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "no lake at" in line
