"""Measuring versions of libraries; what runs them is in tests/end_to_end."""

from contextlib import nullcontext

import pytest
from client_telemetry import knowledge
from client_telemetry.cli import knowledge_measure
from client_telemetry.console.progress import Progress
from client_telemetry.knowledge import software
from client_telemetry.rehearsal import measured, sandbox_broker
from client_telemetry.rehearsal.measured import Measured
from client_telemetry.rehearsal.subjects import Subject


@pytest.fixture
def _knowledge_as_before():
    before = knowledge.in_use()
    yield
    knowledge.use(before)


def test_a_binding_of_which_no_librdkafka_is_known_is_not_compared_as_if_its_version_were_that(
    tmp_path, capsys
):
    """node-rdkafka 3.6.1 has librdkafka 2.12.0: the numbers of a binding are its own."""
    written = tmp_path / "client_messages.csv"
    arguments = ["node-rdkafka==3.999.0", "--cache", str(tmp_path), "--messages", str(written)]
    assert knowledge_measure.measure(arguments) == 1
    expected = "node-rdkafka 3.999.0: not measured: which librdkafka it has is not known (knowledge build --library asks it)"
    assert capsys.readouterr().out.splitlines() == [expected]
    assert "3.999.0" not in written.read_text(encoding="utf-8")


@pytest.mark.usefixtures("_knowledge_as_before")
def test_a_binding_is_added_whose_librdkafka_is_older_than_the_newest_that_is_known(tmp_path, monkeypatch):
    """What librdkafka 2.6.1 sends is in the table: that the newest one sends more is no contradiction, and it is not run."""
    ran: list[str] = []

    def measure(subject: Subject, **_: object) -> Measured:
        ran.append(subject.text)
        version, metadata = ("2.6.1", 12) if subject.version == "2.7.0" else (subject.version, 13)
        declared = ((subject.program, version),)
        return Measured(subject, "4.4.0", {"connect": "ok"}, {3: metadata, 18: 3}, declared, ("rdkafka",))

    monkeypatch.setattr(sandbox_broker, "running", lambda *_: nullcontext())
    monkeypatch.setattr(measured, "measure", measure)
    with Progress("measuring") as progress:
        (step,) = knowledge_measure.add_measured([Subject("confluent-kafka-go", "2.7.0")], tmp_path, progress)
    assert (step.is_done, step.said) == (True, "carries librdkafka 2.6.1")
    assert ran == ["confluent-kafka-go 2.7.0"]
    assert software.bindings()["confluent-kafka-go"]["2.7.0"] == "2.6.1"
