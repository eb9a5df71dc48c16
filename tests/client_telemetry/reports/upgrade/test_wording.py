from datetime import timedelta
from types import SimpleNamespace

import pytest
from client_telemetry.reports.upgrade import wording
from client_telemetry.reports.upgrade.client_verdicts import client_verdicts
from client_telemetry.reports.wording import period
from client_telemetry.tables.quality_findings import failed_check


def client(rows, findings=(), **changes):
    row = rows.verdict(**changes)
    found = [rows.finding(row, number, **finding) for number, finding in enumerate(findings)]
    return client_verdicts([row], found, rows.START, rows.END)[0]


@pytest.mark.parametrize(
    ("changes", "trigger", "words"),
    [
        ({"verdict": "breaks"}, None, "breaks at once"),
        ({"verdict": "breaks", "when": "latent"}, None, "breaks later"),
        (
            {"verdict": "breaks", "when": "latent"},
            "offset reset: a new group",
            "breaks at the next offset reset",
        ),
        ({"verdict": "degrades", "when": "latent"}, "restart", "degrades at the next restart"),
        ({"verdict": "degrades"}, None, "degrades"),
        ({"verdict": "safe"}, None, "safe so far"),
        ({"verdict": "safe", "well_observed": True}, None, "safe"),
    ],
)
def test_happens(rows, changes, trigger, words):
    assert wording.happens(client(rows, [{"trigger": trigger}], **changes)) == words


@pytest.mark.parametrize(
    ("condition", "met", "words", "condition_words"),
    [
        (None, None, "breaks at once", ""),
        ("it uses Kerberos", "yes", "breaks at once", "it uses Kerberos; this is so"),
        (
            "it uses Kerberos",
            "unknown",
            "breaks at once, if",
            "it uses Kerberos; not known whether this is so",
        ),
        ("it uses Kerberos", "no", "does not apply", "it uses Kerberos; this is not so"),
    ],
)
def test_a_finding_with_a_condition_does_not_claim_more_than_is_known(
    rows, condition, met, words, condition_words
):
    (finding,) = client(rows, [{"condition": condition, "condition_met": met}], verdict="breaks").findings
    assert (wording.would_happen(finding), wording.condition(finding)) == (words, condition_words)


def test_period_says_the_day_once(rows):
    start = rows.START
    assert period(start, start) == "2026-11-21 05:39"
    assert period(start, start + timedelta(minutes=9)) == "2026-11-21 05:39 to 05:48"
    assert period(start, start + timedelta(days=1)) == "2026-11-21 05:39 to 2026-11-22 05:39"
    assert period(None, start) == period(start, None) == "2026-11-21 05:39"


@pytest.mark.parametrize("name", [None, "", "unknown"])
def test_software_that_was_not_declared(rows, name):
    assert (
        wording.software(client(rows, client_software_name=name, client_software_version=name))
        == "not declared"
    )


def test_seen_without_requests(rows):
    (finding,) = client(rows, [{"requests": None}]).findings
    assert wording.finding_seen(finding) == ""
    assert wording.seen(client(rows, requests=1, connections=1, broker_ids=[2])) == (
        "1 request on 1 connection, broker 2, 2026-11-21 05:39 to 05:47"
    )


def test_only_brackets_at_the_end_are_left_out():
    raise_it = "raise api_version to (0, 11) or later"
    assert wording.without_brackets(f"{raise_it} (it must use Fetch v4 or later)") == raise_it
    assert wording.without_brackets(raise_it) == raise_it


@pytest.mark.parametrize(
    ("description", "observed", "broken", "said"),
    [
        (
            "at most 50 % of clients declare no library (KIP-511): those can be identified only by their requests",
            "0.53",
            None,
            "53 % of clients declare no library (KIP-511) (at most 50 % expected): those can be identified only by "
            "their requests",
        ),
        (
            "at most 20 % of clients match no owner rule: add rules",
            "1.0",
            None,
            "100 % of clients match no owner rule (154,721 of 154,721; at most 20 % expected): add rules",
        ),
        (
            "at most 0.1 % of records are undecodable",
            "0.004",
            None,
            "0.4 % of records are undecodable (at most 0.1 % expected)",
        ),
        (
            "no objects that differ from their manifest",
            "3",
            None,
            "3 objects that differ from their manifest",
        ),
        (
            "no event is dated before its connection opened",
            "257",
            257,
            "257 of 154,721 rows break the rule: no event is dated before its connection opened",
        ),
        ("share of clients without a name", "0.53", None, "share of clients without a name (53 %)"),
    ],
)
def test_a_failed_check_says_what_it_found_first(description, observed, broken, said):
    check = SimpleNamespace(
        description=description, observed_value=observed, unexpected_count=broken, rows=154_721
    )
    assert failed_check(check) == said
