import pytest
from client_telemetry.reports.upgrade.build import build_report
from client_telemetry.reports.upgrade.mixed_and_rollback import (
    differs_in_the_mixed_window,
    differs_on_rollback,
)


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
    assert "step by step" in window and "behaves differently" not in window
    assert "back on 3.9.1, 1 application breaks, 3 work" in back
    assert "2 applications that the upgrade breaks work again" in back and "breaks no application" not in back


def test_it_is_said_that_nobody_differs(rows):
    report = build(rows, rows.verdict("a"))
    assert report.mixed_window.sentences[-1] == "No application behaves differently in the mixed window."
    assert report.way_back.sentences[-1] == "Rolling back breaks no application."


def test_the_way_back_has_no_way_back(rows):
    row = rows.verdict("a", rollback_verdict=None, rollback_explanation=None)
    report = build(rows, row, from_release="4.0.1", to_release="3.9.1")
    assert report.is_rollback and report.way_back is None and report.way_back_notes == ()
