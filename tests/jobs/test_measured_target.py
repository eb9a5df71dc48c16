"""Questions about brokers that were measured, as Airflow asks them: by the name of a file, each stage a process of its own."""

import json
from pathlib import Path

import pytest
from client_telemetry import knowledge
from client_telemetry.cli import gate
from client_telemetry.formats.raw.writer import DumpWriter
from client_telemetry.knowledge import measured_targets

from tests.jobs.conftest import CLUSTER, INCARNATION, NOON, Pipeline, event

PROBED = Path(__file__).parents[1] / "data/probe"
APACHE = "measured-a648720e"


@pytest.fixture
def day(pipeline) -> Pipeline:
    """A client that 4.0 refuses, on brokers of 3.9.1."""
    with DumpWriter(
        pipeline.raw, CLUSTER, 1, INCARNATION, broker_started_at=NOON, broker_software_version="3.9.1"
    ) as out:
        out.append_connection_event(event(2, uses=((0, 2, 7), (3, 1, 2))))
    pipeline.run_day()
    return pipeline


def another_process() -> None:
    knowledge.use(knowledge.InUse())


def report_of(day: Pipeline, **question: object) -> dict:
    day.done("impact", report_id="q", targets=PROBED, **question)
    another_process()
    assert not measured_targets.is_measured(APACHE)
    done = day.done("publish", report_id="q", publish=day.folder / "published")
    return json.loads(Path(done["report"]).with_name("report.json").read_text())


def test_a_report_is_published_where_its_target_was_never_seen(day, capsys):
    report = report_of(day, to="apache-4.0.1")
    assert report["question"]["to_release"] == APACHE
    assert [client["verdict"] for client in report["clients"]] == ["breaks"]
    assert "their own bugs and settings are not known" in report["sentence"]
    assert report["known_by"] == ["rule", "measured_target"]
    another_process()
    (file,) = (day.folder / "published").rglob("q/report.json")
    assert "rule, measured target; observed" in file.with_name("index.html").read_text()
    assert gate.main([str(file)]) == 3
    assert APACHE in capsys.readouterr().out


def test_another_implementation_is_judged_by_its_own_answers(day):
    report = report_of(day, to="librdkafka-mock-2.16.1")
    assert [client["verdict"] for client in report["clients"]] == ["safe"]


def test_brokers_of_today_may_be_measured_too(day):
    """No broker of these days answers as they do."""
    code, result = day.run("impact", report_id="q", targets=PROBED, **{"from": "apache-4.0.1", "to": "4.4.0"})
    assert code == 2
    assert f"no broker ran {APACHE} on 2026-11-21; brokers ran 3.9.1" in result["message"]


@pytest.mark.parametrize(
    ("name", "targets", "said"),
    [
        ("msk", PROBED, "'msk' is neither a Kafka release nor a measured target: "),
        ("../apache-4.0.1", PROBED, "is not a Kafka release"),
        ("msk", PROBED / "nothing", "there is no folder of measured targets at "),
    ],
)
def test_a_name_that_is_none_is_a_line(day, name, targets, said):
    code, result = day.run("impact", report_id="q", targets=targets, to=name)
    assert code == 2
    assert said in result["message"]


def test_a_file_that_was_edited_is_a_line(day):
    edited = (PROBED / "apache-4.0.1.json").read_text().replace('"answered": "3-12"', '"answered": "0-12"')
    (day.folder / "better.json").write_text(edited)
    code, result = day.run("impact", report_id="q", targets=day.folder, to="better")
    assert code == 2
    assert "it was edited after it was measured" in result["message"]
