"""What a report says about the last published one of the same question."""

import json
import re
from dataclasses import replace
from datetime import date, timedelta

import pytest
from client_telemetry.reports.upgrade import earlier_report
from client_telemetry.reports.upgrade.build import build_report
from client_telemetry.reports.upgrade.publish import files_to_read, publish

CHANGED_DAY = {"report_id": "second"}


@pytest.fixture
def ask(rows):
    """Answers the question: verdicts by client id, and what differs from the first report."""

    def answer(verdicts, hours=0, **changes):
        given = [rows.verdict(name, verdict, report_id="r") for name, verdict in verdicts.items()]
        seen = changes.pop("seen", {})
        given = [{**each, **seen} for each in given]
        question = rows.question(len(given), **changes)
        question["created_at"] += timedelta(hours=hours)
        return build_report(question, given, [], [], [rows.broker(1)], cluster_name="fleet")

    return answer


def sentence(report, root):
    folder = publish(report, root)
    since = json.loads((folder / "report.json").read_text())["since"]
    page = re.sub(r"<[^>]+>", "", (folder / "index.html").read_text())
    ticket = (folder / "report.md").read_text()
    said = since and since["sentence"]
    if said:
        assert said in page.split("Fix first")[0] and said in ticket.replace("\\", "")
    else:
        assert "Since the report" not in page + ticket
    return said


DAY, DAYS = date(2026, 11, 21), timedelta(days=1)


def test_the_first_report_of_a_question_compares_with_none(ask, tmp_path):
    assert sentence(ask({"a": "safe"}), tmp_path) is None


def test_verdicts_evidence_knowledge_and_rules(ask, rows, tmp_path):
    first = ask({"a": "safe", "b": "safe", "c": "breaks"})
    publish(first, tmp_path)
    question = first.question
    second = ask(
        {"a": "safe", "b": "breaks", "d": "safe"},
        hours=24,
        report_id="second",
        last_dt=question.last_dt + 2 * DAYS,
        knowledge_version="ff",
        knowledge_built_at=question.knowledge_built_at + 5 * DAYS,
        code_version="0.2.0",
    )
    assert sentence(second, tmp_path) == (
        "Since the report of 2026-11-22: 1 verdict changed, 1 new application, 1 application not seen any more; "
        "evidence changed (2 more days), knowledge changed (2026-11-20 → 2026-11-25), rules changed (0.1.0 → 0.2.0)."
    )
    folder = tmp_path / "upgrade_impact/fleet/second"
    since = json.loads((folder / "report.json").read_text())["since"]
    changed = [(each["name"], each["before"], each["now"]) for each in since["changed"]]
    assert changed == [("b", "safe", "breaks_at_once")]
    assert "1 changed verdict</summary>" in (folder / "index.html").read_text()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "evidence the same, knowledge the same, rules the same."),
        ({"snapshots": {"brokers": 1}}, "evidence the same, knowledge the same, rules the same."),
        (
            {"connections": 1300, "seen": {"connections": 5}},
            "evidence changed (the same days: 1,300 connections, 1,234 before), knowledge the same, rules the same.",
        ),
        (
            {"seen": {"requests": 421}},
            "evidence changed (the same days: clients or brokers look different), knowledge the same, rules the same.",
        ),
        (
            {"first_dt": DAY + DAYS, "last_dt": DAY + DAYS},
            "evidence changed (2026-11-22, before 2026-11-21), knowledge the same, rules the same.",
        ),
        (
            {"knowledge_version": "ff"},
            "evidence the same, knowledge changed (0123456789abcdef → ff), rules the same.",
        ),
    ],
)
def test_what_did_not_change_is_called_the_same(ask, tmp_path, changes, said):
    publish(ask({"a": "safe"}), tmp_path)
    second = ask({"a": "safe"}, hours=1, report_id="second", **changes)
    assert (
        sentence(second, tmp_path) == f"Since the report of 2026-11-22 02:10:00: no verdict changed; {said}"
    )


def test_a_change_that_none_of_them_explains_is_not_put_down_to_them(ask, tmp_path):
    publish(ask({"a": "safe"}), tmp_path)
    second = ask({"a": "breaks"}, hours=1, report_id="second")
    assert sentence(second, tmp_path).endswith(
        "rules the same; what was given with the question (mechanisms, SCRAM users) must differ."
    )


def test_another_question_is_not_compared(ask, tmp_path):
    publish(ask({"a": "safe"}), tmp_path)
    for changes in ({"to_release": "4.1.0"}, {"from_release": "3.9.0"}, {"cluster_id": "another"}):
        other = ask({"a": "breaks"}, hours=1, report_id=str(changes), seen=changes, **changes)
        assert sentence(other, tmp_path) is None


def test_a_report_that_is_published_again_says_the_same(ask, tmp_path):
    reports = [
        ask({"a": verdict}, hours=n, report_id=f"r{n}")
        for n, verdict in enumerate(["safe", "breaks", "safe"])
    ]
    said = [sentence(report, tmp_path) for report in reports]
    assert said[1:] == [
        f"Since the report of 2026-11-22 0{hour}:10:00: 1 verdict changed; evidence the same, knowledge the same, rules the "
        "same; what was given with the question (mechanisms, SCRAM users) must differ."
        for hour in (2, 3)
    ]
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert [sentence(report, tmp_path) for report in reports] == said
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    again = replace(
        reports[0], question=replace(reports[2].question, created_at=reports[2].question.created_at + DAYS)
    )
    assert sentence(again, tmp_path).startswith("Since the report of 2026-11-22: no verdict changed"), (
        "asked again by its id"
    )


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"schema_version": 2}', b'{"schema_version": 1}', b"\xff"]
)
def test_a_damaged_file_is_not_compared_and_is_replaced(ask, tmp_path, content):
    first = ask({"a": "safe"})
    publish(first, tmp_path)
    newest = tmp_path / files_to_read(first.question)[1]
    newest.write_bytes(content)
    assert earlier_report.read(content) is None
    assert sentence(ask({"a": "breaks"}, hours=1, report_id="second"), tmp_path) is None
    assert earlier_report.read(newest.read_bytes()).report_id == "second"


def test_the_digest_of_evidence_does_not_depend_on_order_or_conclusions(ask, rows):
    one, other = ask({"a": "safe", "b": "safe"}), ask({"b": "breaks", "a": "safe"})
    assert one.evidence_digest == other.evidence_digest
    clients = one.clients
    digest = earlier_report.evidence_digest
    assert digest(clients, [rows.broker(1)]) != digest(
        clients, [rows.broker(1, finalized_features={"metadata.version": 25})]
    )
