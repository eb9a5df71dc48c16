import datetime as dt
from dataclasses import replace

import pytest
from client_telemetry.campaign.gate import Knowledge, decide
from client_telemetry.campaign.plan import Statement, Target, Thresholds
from client_telemetry.campaign.states import history

from tests.client_telemetry.campaign.made_answers import answer, application, client, day, plan

KNOWLEDGE = Knowledge("k1", day(-30))


def gate(*answers, campaign=None, today=1, knowledge=KNOWLEDGE):
    campaign = campaign or plan()
    return decide(
        campaign, history(campaign, answers, day(today)), [a.facts for a in answers], knowledge, day(today)
    )


def of(verdict, number=0, **fields):
    return answer(number, application("orders", client(verdict, number)), **fields)


CASES = [
    ("safe", of("safe"), 0, "go: no application is left"),
    ("degrades does not fail it", of("degrades"), 0, "go"),
    ("breaks", of("breaks"), 3, "no-go: 1 application left with the verdict breaks: orders"),
    ("unknown", of("insufficient_evidence"), 4, "cannot tell: 1 application without sufficient evidence: orders"),
    ("a blocker", of("safe", blockers=("log.segment.bytes",)), 3, "no-go: 1 blocker in the setup of east: log.segment.bytes"),
    ("low coverage", of("safe", complete_share=0.5), 4, "cannot tell: 50 % of the broker hours of east were seen completely, less than 90 %"),
    ("no broker", of("safe", complete_share=None), 4, "cannot tell: no broker of east was seen"),
    ("a broker unseen", of("safe", unseen_brokers=(2,)), 4, "cannot tell: broker 2 of east not seen"),
    ("incomplete", of("safe", incomplete="Only deprecated requests were logged."), 4, "cannot tell: east: Only deprecated requests were logged"),
    ("no application", answer(0), 4, "cannot tell: the report of east has no application"),
    ("other knowledge", of("safe", knowledge_version="k0"), 4, "cannot tell: the report of east was made with another knowledge base"),
    ("artefacts that nobody saw", of("safe", unseen=(("breaks", 2), ("safe", 5))), 0, "go: east: written, and seen by no broker: 2 artefacts would break"),
    ("another release", of("safe", to_release="4.1.0"), 4, "cannot tell: no report of east for 4.0.1"),
    ("another cluster", of("safe", cluster="west"), 4, "cannot tell: no report of east for 4.0.1"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "code", "sentence"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_gate(one, code, sentence):
    decision = gate(one)
    assert (decision.code, decision.sentence[: len(sentence)]) == (code, sentence)


def test_what_stops_outweighs_what_is_not_known():
    decision = gate(of("breaks", complete_share=0.1))
    assert decision.code == 3
    assert [reason.kind for reason in decision.reasons] == ["affected", "low_coverage"]


def test_old_evidence_and_old_knowledge():
    assert gate(of("safe"), today=2).code == 0
    assert "the newest evidence of east is of 2026-11-01, 3 days ago" in gate(of("safe"), today=3).sentence
    old = gate(of("safe"), knowledge=replace(KNOWLEDGE, until=day(-300)))
    assert old.code == 4
    assert "update client-telemetry" in old.sentence


def test_quiet_is_not_go():
    other = answer(1, application("other", client("safe", 1, "other")))
    decision = gate(of("breaks"), other)
    assert (decision.code, decision.reasons[0].kind) == (4, "quiet")


def test_every_cluster_is_asked():
    both = plan(clusters=("east", "west"))
    assert gate(of("safe"), campaign=both).code == 4
    assert gate(of("safe"), of("safe", cluster="west"), campaign=both).code == 0


def test_a_waiver_counts_until_its_day_and_is_said():
    waiver = Statement("waive", Target(application="orders"), "bob", day(0), day(1), "retired")
    campaign = plan(waiver)
    decision = gate(of("breaks"), campaign=campaign)
    assert decision.code == 0
    assert decision.sentence.startswith(
        "go: 1 application waived: orders; 1 application whose waiver ends before"
    )
    assert gate(of("breaks"), campaign=campaign, today=2).code == 3


def test_a_report_of_the_future_does_not_count():
    assert gate(of("breaks", 0), of("safe", 5), today=1).code == 3
    assert KNOWLEDGE.until < dt.date(2026, 11, 1)


def test_a_client_that_fails_the_gate_decides_before_one_that_lacks_evidence():
    degrades = plan(gate=Thresholds(fail_on=("degrades",)))
    both = application("orders", client("insufficient_evidence", 0, "a"), client("degrades", 0, "b"))
    assert gate(answer(0, both), campaign=degrades).code == 3
    owners = [
        application("orders", client("insufficient_evidence", 0, "a"), owner="one"),
        application("orders", client("breaks", 0, "b"), owner="two"),
    ]
    assert gate(answer(0, *owners)).code == 3


def test_statements_about_nothing_are_said():
    typo = plan(Statement("acknowledge", Target(application="ordrs"), "ann", day(0)))
    kinds = {reason.kind: reason for reason in gate(of("breaks"), campaign=typo).reasons}
    assert kinds["unmatched_statements"].applications == ("ordrs",)
