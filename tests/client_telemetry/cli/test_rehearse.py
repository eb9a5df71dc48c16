"""`client-telemetry rehearse` and `knowledge newer` without a network: real runs are in tests/end_to_end/test_rehearse.py."""

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest
from client_telemetry.cli import knowledge_measure
from client_telemetry.cli.rehearse import main
from client_telemetry.console.progress import Progress
from client_telemetry.knowledge import software
from client_telemetry.rehearsal import newer
from client_telemetry.rehearsal.outcomes import OutcomeCache, Sandbox
from client_telemetry.rehearsal.rehearsing import control
from client_telemetry.rehearsal.sandbox_broker import BrokerDidNotStart
from client_telemetry.rehearsal.subjects import Subject
from client_telemetry.rehearsal.workplace import NotInstalled

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
    assert main([str(folder), "--to", "2.3.1"]) == 2
    assert (
        "a broker of 2.3.1 cannot be started with what clients need: name a release from 2.4 on"
        in capsys.readouterr().err
    )

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


LISTS = {"franz-go": ["1.0.0", "99.1.0", "99.0.0-rc1"], "sarama": ["98.9.0", "99.0.0"], "kafka-go": ["0.0.1"]}


@pytest.fixture
def _registries(monkeypatch):
    """Of three libraries; no other can be asked. Versions before 99 are of the time before 2026-11-01."""

    def listed(program: str, _: Path, before: dt.date | None = None) -> list[str]:
        if program not in LISTS:
            raise NotInstalled("npm is not installed")
        versions = newer.final(LISTS[program])
        return [each for each in versions if before is None or not each.startswith("99")]

    monkeypatch.setattr(newer, "_listed", listed)
    monkeypatch.setattr(newer, "programs", lambda: [*LISTS, "kafkajs"])


@pytest.mark.usefixtures("_registries")
def test_newer_versions_are_listed_by_library(tmp_path, capsys):
    assert knowledge_measure.list_newer([f"--cache={tmp_path}"]) == 1
    franz_go, sarama, kafka_go, kafkajs = capsys.readouterr().out.splitlines()
    assert franz_go.endswith("; newer: 99.1.0") and sarama.endswith("; newer: 99.0.0, 98.9.0")
    assert kafkajs.endswith("; its registry was not asked: npm is not installed")
    # It may lack what is new as it lacks what is known.
    assert kafka_go.endswith(
        "; its registry was not asked: it lists none after 0.0.1, which is older than that"
    )


@pytest.mark.usefixtures("_registries")
def test_versions_since_a_day_are_listed_known_or_not(tmp_path, capsys):
    names = ["--library=franz-go", "--library=sarama", "--since=2026-11-01"]
    assert knowledge_measure.list_newer([*names, f"--cache={tmp_path}"]) == 0
    franz_go, sarama = capsys.readouterr().out.splitlines()
    assert franz_go.endswith("; since 2026-11-01: 99.1.0") and sarama.endswith("; since 2026-11-01: 99.0.0")


@pytest.mark.usefixtures("_registries")
def test_a_build_of_all_that_is_new_measures_each_version_and_says_whose_registry_did_not_answer(tmp_path):
    with Progress("asking") as progress:
        wanted, failed = knowledge_measure.newer_subjects(tmp_path, progress)
    assert [each.text for each in wanted] == ["franz-go 99.1.0", "sarama 98.9.0", "sarama 99.0.0"]
    assert [each.release for each in failed] == ["kafka-go", "kafkajs"]


def test_a_binding_is_compared_with_its_own_newest_where_another_one_knows_a_newer_librdkafka(monkeypatch):
    known = {
        "node-rdkafka": {"3.5.0": "2.11.0", "3.6.0": "2.12.0", "2.9.0": "2.12.0"},
        "rust-rdkafka": {"9.0.0": "99.0.0"},
    }
    monkeypatch.setattr(software, "bindings", lambda: known)
    asked = knowledge_measure.measured_known("node-rdkafka", "librdkafka", lambda subject: subject, Path())  # type: ignore[arg-type,return-value]
    assert asked == Subject("node-rdkafka", "3.6.0")


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
