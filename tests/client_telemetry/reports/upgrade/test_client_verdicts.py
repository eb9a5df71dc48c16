from datetime import timedelta

import pytest
from client_telemetry.reports.upgrade.client_verdicts import (
    FindingWithoutVerdict,
    TwoVerdicts,
    UnknownVerdict,
    client_verdicts,
    seen_rarely,
)


def test_breaks_is_split_by_when(rows):
    given = [
        rows.verdict("a", "breaks"),
        rows.verdict("b", "breaks", when="latent"),
        rows.verdict("c", "breaks", when=None),
        rows.verdict("d", "degrades", when="latent"),
    ]
    outcomes = {c.client_id: c.outcome for c in client_verdicts(given, [], rows.START, rows.END)}
    assert outcomes == {"a": "breaks_at_once", "b": "breaks_latent", "c": "breaks_at_once", "d": "degrades"}


def test_trigger_is_that_of_the_first_latent_finding_of_the_verdict(rows):
    row = rows.verdict("a", "breaks", when="latent")
    findings = [
        rows.finding(row, 3, trigger="restart"),
        rows.finding(row, 2, trigger="offset reset"),
        rows.finding(row, 0, verdict="degrades", trigger="new topic"),
        rows.finding(row, 1, when="at_once", trigger=None),
    ]
    (client,) = client_verdicts([row], findings, rows.START, rows.END)
    assert client.trigger == "offset reset"
    assert [finding.finding for finding in client.findings] == [0, 1, 2, 3]


def test_what_breaks_at_once_waits_for_no_trigger(rows):
    row = rows.verdict("a", "breaks", when="at_once")
    (client,) = client_verdicts(
        [row], [rows.finding(row, when="latent", trigger="restart")], rows.START, rows.END
    )
    assert client.trigger is None


def test_no_client_id_and_an_empty_one_are_two_clients(rows):
    given = [rows.verdict(None), rows.verdict(""), rows.verdict("", principal=None)]
    findings = [rows.finding(given[0])]
    clients = client_verdicts(given, findings, rows.START, rows.END)
    assert [(c.client_id, c.principal, len(c.findings)) for c in clients if c.findings] == [
        (None, "User:orders", 1)
    ]
    assert len(clients) == 3


def test_order_is_worst_first_then_owner_then_software_by_version(rows):
    given = [
        rows.verdict("safe"),
        rows.verdict("ownerless", "breaks", owner=None),
        rows.verdict("new", "breaks", owner="b", client_software_version="2.10.0"),
        rows.verdict("old", "breaks", owner="b", client_software_version="2.9.0"),
        rows.verdict("first", "breaks", owner="a"),
        rows.verdict("unknown", "insufficient_evidence"),
    ]
    order = [c.client_id for c in client_verdicts(given, [], rows.START, rows.END)]
    assert order == ["first", "old", "new", "ownerless", "unknown", "safe"]


def test_rows_that_do_not_belong_together(rows):
    row = rows.verdict("a")
    with pytest.raises(FindingWithoutVerdict, match="stranger"):
        client_verdicts([row], [rows.finding(rows.verdict("stranger"))], None, None)
    with pytest.raises(TwoVerdicts):
        client_verdicts([row, dict(row)], [], None, None)
    with pytest.raises(UnknownVerdict, match="probably fine"):
        client_verdicts([rows.verdict("a", "probably fine")], [], None, None)


@pytest.mark.parametrize(
    ("first", "last", "words"),
    [
        (0, 100, None),
        (0, 49, "not seen in the last 51 min of 100 min"),
        (0, 50, None),
        (91, 100, "seen for 9 min of 100 min"),
        (10, 10, "seen for less than 1 s of 100 min"),
        (90, 100, None),
    ],
)
def test_seen_rarely(rows, first, last, words):
    moment = [rows.START + timedelta(minutes=minutes) for minutes in (first, last, 0, 100)]
    assert seen_rarely(*moment) == words


def test_evidence_of_no_length_says_nothing_about_rarity(rows):
    assert seen_rarely(rows.START, rows.START, rows.START, rows.START) is None


def test_rows_of_versions_that_knew_no_applications_are_not_one_nameless_application(rows):
    given = [
        rows.verdict(client_id, application=None, application_kind=None)
        for client_id in ("orders-1", "orders-2", "billing", None)
    ]
    clients = client_verdicts(given, [], rows.START, rows.END)
    assert {client.client_id: client.application for client in clients} == {
        "orders-1": "orders-{n}",
        "orders-2": "orders-{n}",
        "billing": "billing",
        None: "",
    }
