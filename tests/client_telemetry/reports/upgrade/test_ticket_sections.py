from client_telemetry.reports.upgrade.build import build_report
from client_telemetry.reports.upgrade.owner_ticket import owner_ticket
from client_telemetry.reports.upgrade.page import report_page
from client_telemetry.reports.upgrade.ticket import report_ticket
from client_telemetry.reports.upgrade.ticket_sections import LISTED


def test_nearby_releases(compared):
    ticket = report_ticket(compared)
    assert f"{compared.sentence}\n{compared.better_target}" in ticket
    assert (
        "| 4.0.0 (asked) | 1 | 0 | 0 | 0 | 0 | 0 | 2 | 0 |" in ticket
        and "| 4.0.1 | 0 | 0 | 0 | 0 | 0 | 0 | 3 | 0 |" in ticket
    )
    assert (
        "- 4.0.1: 1 application safe so far instead of breaks at once (JoinGroup v1): `a[U+007C]b`" in ticket
    )


def test_half_way_and_back(compared):
    ticket = report_ticket(compared)
    window = ticket.split("## During the rolling upgrade")[1].split("##")[0]
    back = ticket.split("## Rollback to 3.9.1")[1].split("##")[0]
    assert "- `half-way`: breaks. While brokers differ, it stops." in window and "no-return" not in window
    assert "- `no-return`: breaks. Its group was converted." in back and "half-way" not in back
    assert "Blocker: Brokers before 4.0 do not know" in back


def test_going_back_has_its_notes_and_no_way_back(rows):
    row = rows.verdict("a", rollback_verdict=None, rollback_explanation=None)
    report = build_report(rows.question(1, from_release="4.0.1", to_release="3.9.1"), [row], [], [], [])
    ticket = report_ticket(report)
    assert ticket.startswith("# Rollback of") and "## The rollback itself" in ticket
    assert "## Rollback" not in ticket and "cannot register while these are finalized" in ticket
    assert "## During the rolling rollback" in ticket and "rolling upgrade" not in ticket
    page = report_page(report)
    assert "During the rolling rollback (mixed versions)" in page and "rolling upgrade" not in page
    assert "will be rolled back from 4.0.1 to 3.9.1" in owner_ticket(report, report.owners[0])


def test_more_than_are_listed_are_counted(rows):
    given = [
        rows.verdict(f"a-{n}", mixed_verdict="breaks", mixed_explanation="It stops.")
        for n in range(LISTED + 2)
    ]
    ticket = report_ticket(build_report(rows.question(len(given)), given, [], [], []))
    window = ticket.split("## During the rolling upgrade")[1].split("##")[0]
    assert window.count("- `a-") == LISTED and "- 2 more in clients.csv." in window
