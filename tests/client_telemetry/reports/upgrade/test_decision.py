"""The decision that a report begins with: by what stops a pipeline, in words for people."""

import json

import pytest
from client_telemetry.compatibility.go_no_go import decide_by_report
from client_telemetry.reports.upgrade.build import build_report
from client_telemetry.reports.upgrade.document import report_json

NOT_DECLARED = {"client_software_name": "unknown", "client_software_version": "unknown"}
SARAMA = "upgrade sarama to 1.41.0 or later"
OPEN = "library not identified: if it is sarama: upgrade sarama; otherwise: upgrade it"


def report(rows, *given: dict):
    return build_report(rows.question(len(given)), given, [], [], [], cluster_name="fleet")


def test_what_breaks_is_split_by_what_is_known_to_fix_it(rows):
    asked = report(
        rows,
        rows.verdict("a", "breaks", principal="User:a", owner="one", fix=SARAMA),
        rows.verdict("b", "breaks", principal="User:b", owner="one", fix=OPEN, **NOT_DECLARED),
        rows.verdict("b-2", "breaks", principal="User:b", owner="one", application="b", fix=SARAMA),
        rows.verdict("c", "breaks", principal="User:c", owner=None, owner_contact=None, fix=OPEN, **NOT_DECLARED),
        rows.verdict("d", "breaks", principal="User:d", owner="two"),
        rows.verdict("e", principal="User:e"),
    )  # fmt: skip
    decided = asked.decision
    assert (decided.code, decided.readiness) == (3, "Not ready")
    assert decided.reasons == ("4 of 5 applications break",)
    assert (decided.fixable, decided.waiting, decided.without_fix) == (1, 2, 1)
    assert decided.next_steps == (
        "the change is known for 1 of them",
        "2 wait for their owners to say which library it is (no owner 1, one 1)",
        "no change is known for 1",
    )
    assert asked.for_management[0] == "Upgrade of Kafka cluster fleet from 3.9.1 to 4.0.0: not ready."
    assert asked.sentence in asked.for_management


@pytest.mark.parametrize(
    ("verdicts", "readiness", "reasons"),
    [
        ([], "Cannot tell", ("no client was seen",)),
        (["safe"], "Ready by the evidence", ("no application is known to break, the only one was not observed for long",)),
        (["safe", "insufficient_evidence"], "Cannot tell", ("1 application cannot be judged yet",)),
        (["breaks", "insufficient_evidence"], "Not ready", ("1 of 2 applications breaks", "1 application cannot be judged yet")),
        (["degrades"], "Ready by the evidence", ("no application is known to break",)),
    ],
)  # fmt: skip
def test_readiness_follows_the_gate(rows, verdicts, readiness, reasons):
    given = [rows.verdict(f"{n}", verdict, principal=f"User:{n}") for n, verdict in enumerate(verdicts)]
    asked = report(rows, *given)
    assert (asked.decision.readiness, asked.decision.reasons) == (readiness, reasons)
    document = json.loads("".join(report_json(asked)))
    assert (asked.decision.code, asked.decision.gate) == decide_by_report(document, ["breaks"])
