"""What a report says of fleets that are none, or nearly none, and of names that nobody would choose."""

import re

import pytest
from client_telemetry.reports.owners import forms
from client_telemetry.reports.upgrade.build import build_report
from client_telemetry.reports.upgrade.owner_message import owner_message
from client_telemetry.reports.upgrade.page import report_page

FIX = "upgrade brod to 4.4.2 or later"


def report_of(rows, *given):
    return build_report(rows.question(len(given)), list(given), [], [], [], cluster_name="fleet")


def text_of(report) -> str:
    return re.sub(r"<[^>]+>", " ", report_page(report))


def test_where_no_client_was_seen_nothing_is_said_to_need_no_change(rows):
    page = text_of(report_of(rows))
    assert "No client was seen: what has to change is not known." in page
    assert "No application needs to change" not in page


def test_the_key_of_the_coverage_stands_only_beside_it(rows):
    assert "seen completely" not in text_of(report_of(rows, rows.verdict("a")))
    hours = [rows.broker_hour(1, 5)]
    whole = build_report(
        rows.question(1), [rows.verdict("a")], [], hours, [rows.broker(1)], cluster_name="fleet"
    )
    assert "seen completely" in text_of(whole)


def test_a_single_application(rows):
    report = report_of(rows, rows.verdict("a"))
    assert "the only one was not observed for long" in text_of(report)


@pytest.mark.parametrize(
    ("breaking", "safe", "owner", "words"),
    [
        (1, 0, "erp", "Your application stops working unless it is changed."),
        (1, 1, "erp", "One of your applications stops working unless it is changed."),
        (3, 0, "erp", "All 3 of your applications stop working unless they are changed."),
        (2, 1, "erp", "2 of your 3 applications stop working unless they are changed."),
        (
            2,
            0,
            None,
            "Nobody is known to own what follows: please pass it on. All 2 of these applications stop",
        ),
        (1, 0, None, "please pass it on. This application stops working unless it is changed."),
    ],
)
def test_how_many_of_an_owner_stop(rows, breaking, safe, owner, words):
    given = [rows.verdict(f"b{n}", "breaks", fix=FIX, owner=owner) for n in range(breaking)]
    given += [rows.verdict(f"s{n}", owner=owner) for n in range(safe)]
    report = report_of(rows, *given)
    assert words in forms.files(owner_message(report, report.owners[0]))["message.txt"]


def test_the_name_of_an_owner_is_never_wider_than_the_page(rows):
    report = report_of(
        rows,
        rows.verdict("a", "breaks", owner="o" * 200),
        rows.verdict("b", "breaks", fix=FIX, owner="p" * 200),
    )
    page = report_page(report)
    shown = re.sub(
        r'<option.*?</option>|<caption.*?</caption>|<script.*?</script>|\w+="[^"]*"', "", page, flags=re.S
    )
    assert "o" * 60 not in shown and "p" * 60 not in shown
