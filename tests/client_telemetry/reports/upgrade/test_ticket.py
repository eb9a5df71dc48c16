import re

from client_telemetry.reports.upgrade.build import build_report
from client_telemetry.reports.upgrade.model import OUTCOMES
from client_telemetry.reports.upgrade.ticket import owner_ticket, report_ticket


def table_rows(markdown: str) -> list[list[str]]:
    """Cells of all table rows but heads and rulers, split as GitHub does."""
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines]
    rulers = {number for number, row in enumerate(rows) if set("".join(row)) <= set("-: ")}
    return [row for number, row in enumerate(rows) if not {number, number + 1} & rulers]


def test_tables_keep_their_columns_whatever_clients_send(rows):
    ids = ["a|b|c", "`|`", "\\|", "\n|\n", "|" * 200]
    row = {"owner": "a|b", "owner_contact": "|", "explanation": "x|y", "fix": "|"}
    given = [
        rows.verdict(text, verdict, principal=text, client_software_name=text, missing=[text], **row)
        for text in ids
        for verdict in ["breaks" if text != "\\|" else "insufficient_evidence"]
    ]
    report = build_report(rows.question(len(given)), given, [], [], [])
    for markdown in (report_ticket(report), owner_ticket(report, report.owners[0])):
        widths = {len(cells) for cells in table_rows(markdown)}
        assert widths <= {4, 5, 6, 7, 9}, widths


def test_numbers_are_those_of_the_model(fleet_report):
    ticket = report_ticket(fleet_report)
    assert fleet_report.sentence in ticket
    body = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", ticket, re.M | re.S))
    counts = fleet_report.counts
    assert len(table_rows(body["Must act"])) == counts["breaks_at_once"] + counts["breaks_latent"]
    for outcome in ("insufficient_evidence", "degrades", "unsupported"):
        assert len(table_rows(body[OUTCOMES[outcome].capitalize()])) == counts[outcome]
    assert f"{counts['safe']} applications" in body["Safe"]
    owners = table_rows(body["Owners"])
    assert [sum(int(row[2 + place]) for row in owners) for place in range(len(OUTCOMES))] == list(
        counts.values()
    )


def test_a_pack_tells_of_its_owner_only_and_what_to_change(fleet_report):
    erp = next(stake for stake in fleet_report.owners if stake.owner == "erp")
    ticket = owner_ticket(fleet_report, erp)
    first = (
        "## Change 1: 2 applications\n\nUpgrade Sarama to 1.41 or newer and set Version to 2.1 or newer.\n"
    )
    assert first in ticket
    assert "`erp-import`" in ticket and "at the next offset reset" in ticket and "How to check" in ticket
    others = [c.client_id for c in fleet_report.clients if c.owner != "erp" and "erp" not in c.client_id]
    assert not [client_id for client_id in others if f"`{client_id}`" in ticket]
    assert ticket.index("`erp-import`") < ticket.index("`erp-scan`"), "the change that helps most comes first"


def test_a_pack_of_safe_clients_asks_for_nothing(fleet_report):
    warehouse = next(stake for stake in fleet_report.owners if stake.owner == "warehouse")
    ticket = owner_ticket(fleet_report, warehouse)
    assert "Of your 4 applications, 4 are safe." in ticket
    assert "How to check" not in ticket and "stops working" not in ticket


def test_changes_that_differ_in_brackets_are_one_kind_of_work(rows):
    fixes = ["upgrade it (to Fetch 4)", "raise the version", "upgrade it (to Produce 3)"]
    given = [rows.verdict(str(n), "breaks", fix=fix) for n, fix in enumerate(fixes)]
    report = build_report(rows.question(3), given, [], [], [])
    assert (report.owners[0].first_fix, report.owners[0].first_fix_applications) == ("upgrade it", 2)
    ticket = owner_ticket(report, report.owners[0])
    changes = re.findall(r"^## Change \d: (.*)\n\n(.*)", ticket, re.M)
    assert changes == [("2 applications", "Upgrade it."), ("1 application", "Raise the version.")]
    assert "| Upgrade it (to Fetch 4) |" in ticket


def test_what_is_not_known_of_a_safe_client_is_reported(rows):
    given = [rows.verdict("a"), rows.verdict("b", missing=["whether it uses Kerberos"])]
    report = build_report(rows.question(2), given, [], [], [])
    for ticket in (report_ticket(report), owner_ticket(report, report.owners[0])):
        part = ticket.split("## Safe, with a question left open")[1].split("##")[0]
        assert "whether it uses Kerberos" in part and "`b`" in part and "`a`" not in part
