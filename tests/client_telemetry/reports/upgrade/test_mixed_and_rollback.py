import pytest
from client_telemetry.reports.upgrade.build import build_report
from client_telemetry.reports.upgrade.mixed_and_rollback import (
    differs_in_the_mixed_window,
    differs_on_rollback,
)
from client_telemetry.reports.upgrade.page import report_page
from client_telemetry.reports.upgrade.ticket import report_ticket


def build(rows, *given, **question):
    return build_report(rows.question(len(given), **question), given, [], [], [])


@pytest.mark.parametrize(
    ("verdict", "mixed", "back", "in_the_window", "on_the_way_back"),
    [
        ("breaks", "breaks", "safe", False, False),
        ("safe", "breaks", "safe", True, False),
        ("safe", "safe", "breaks", False, True),
        ("breaks", "breaks", "breaks", False, True),
        ("insufficient_evidence", "insufficient_evidence", "insufficient_evidence", False, False),
        ("safe", "safe", "insufficient_evidence", False, True),
        ("safe", "safe", None, False, False),
    ],
)
def test_whose_verdict_differs(rows, verdict, mixed, back, in_the_window, on_the_way_back):
    row = rows.verdict("a", verdict, mixed_verdict=mixed, rollback_verdict=back)
    report = build(rows, row)
    (client,) = report.applications
    assert differs_in_the_mixed_window(client) == in_the_window == bool(report.mixed_window.differing)
    assert differs_on_rollback(client) == on_the_way_back == bool(report.way_back.differing)


def test_counts_and_sentences(rows):
    report = build(
        rows,
        rows.verdict("a", "breaks"),
        rows.verdict("b", "breaks", when="latent"),
        rows.verdict("c", mixed_verdict="breaks"),
        rows.verdict("d", rollback_verdict="breaks"),
    )
    assert report.mixed_window.counts["breaks"] == 3 and report.way_back.counts["breaks"] == 1
    window, back = (" ".join(o.sentences) for o in (report.mixed_window, report.way_back))
    assert (
        "some 4.0.0, 3 applications break, 1 work" in window
        and "Of those that break, 1 does so only when triggered" in window
    )
    assert "stop one after the other" in window and "behaves differently" not in window
    assert "back on 3.9.1, 1 application breaks, 3 work" in back
    assert "2 applications that the upgrade breaks work again" in back and "breaks no application" not in back


def test_it_is_said_that_nobody_differs(rows):
    report = build(rows, rows.verdict("a"))
    assert (
        report.mixed_window.sentences[-1]
        == "No application behaves differently while brokers run both releases."
    )
    assert report.way_back.sentences[-1] == "Rolling back breaks no application."


def test_the_way_back_has_no_way_back(rows):
    row = rows.verdict("a", rollback_verdict=None, rollback_explanation=None)
    report = build(rows, row, from_release="4.0.1", to_release="3.9.1")
    assert report.is_rollback and report.way_back is None and report.way_back_notes == ()


@pytest.mark.parametrize(("source", "takes_two"), [("2.7.2", True), ("3.1.0", True), ("3.9.1", False)])
def test_two_upgrades_have_no_mixed_window_and_no_rollback_in_common(rows, source, takes_two):
    stopped = "It stops half-way."
    given = [
        rows.verdict("a", mixed_verdict="breaks", mixed_explanation=stopped, rollback_verdict="safe"),
        rows.verdict("b", "breaks", mixed_explanation=stopped),
    ]
    found = [rows.finding(given[1])]
    question = rows.question(2, from_release=source, to_release="4.0.1")
    report = build_report(question, given, found, [], [])
    page, ticket = report_page(report), report_ticket(report)
    for text in (page, ticket):
        assert ("During the rolling upgrade" in text) != takes_two
        assert ("Rollback to" in text) != takes_two and (stopped in text) != takes_two
        assert ("Rolling back breaks no application." in text) != takes_two
        assert ("Not one rolling upgrade" in text) == takes_two
    assert (report.mixed_window is None) == (report.way_back is None) == takes_two
    if takes_two:
        assert report.two_steps.startswith(f"The change takes two upgrades: from {source} to 3.9.")
        assert f"ask for {source} to 3.9.2 and for 3.9.2 to 4.0.1." in report.two_steps
