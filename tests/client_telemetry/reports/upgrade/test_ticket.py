import re
from datetime import date

import pytest
from client_telemetry.reports.outcomes import OUTCOMES
from client_telemetry.reports.upgrade.build import build_report
from client_telemetry.reports.upgrade.owner_ticket import owner_ticket
from client_telemetry.reports.upgrade.page import report_page
from client_telemetry.reports.upgrade.ticket import report_ticket
from client_telemetry.reports.upgrade.ticket_cells import LARGEST


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
        assert widths <= {4, 5, 6, 7, 10}, widths


def test_numbers_are_those_of_the_model(fleet_report):
    ticket = report_ticket(fleet_report)
    assert fleet_report.sentence in ticket
    body = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", ticket, re.M | re.S))
    counts = fleet_report.counts
    assert len(table_rows(body["Action required"])) == counts["breaks_at_once"] + counts["breaks_latent"]
    for outcome in ("insufficient_evidence", "degrades", "unsupported"):
        assert len(table_rows(body[OUTCOMES[outcome].capitalize()])) == counts[outcome]
    assert f"{counts['safe']} applications" in body["Safe and safe so far"]
    owners = table_rows(body["Owners"])
    safe = {"safe": counts["safe"] - fleet_report.safe_so_far, "so far": fleet_report.safe_so_far}
    numbers = list({**counts, **safe}.values())
    assert [sum(int(row[2 + place]) for row in owners) for place in range(len(numbers))] == numbers


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


def test_an_owner_of_safe_clients_has_no_pack(fleet_report):
    warehouse = next(stake for stake in fleet_report.owners if stake.owner == "warehouse")
    assert not warehouse.has_pack and warehouse.counts["safe"] == warehouse.applications == 4


def test_a_pack_is_a_message(rows):
    given = [
        rows.verdict(
            "a", "breaks", owner="erp", owner_contact="erp@example.com", fix="upgrade brod to 4.4.2 or later"
        ),
        rows.verdict("b", owner="erp"),
    ]
    profile = {
        **{name: given[0][name] for name in ("principal", "client_id", "client_software_name")},
        **{
            "client_software_version": "3.9.1",
            "dt": rows.DAY,
            "addresses": 1,
            "address_sample": ["10.1.2.3"],
        },
        **{
            "listeners": [],
            "group_ids": ["erp-orders"],
            "transactional_ids": ["tx"],
            "topics": ["t"],
            "related": [],
        },
        **{"connections": 1, "first_seen_at": rows.START, "last_seen_at": rows.END},
    }
    report = build_report(
        rows.question(2), given, [], [], [], cluster_name="fleet", profile_rows=[profile],
        asked_by="kafka@example.com", planned_for=date(2026, 12, 1),
    )  # fmt: skip
    ticket = owner_ticket(report, report.owners[0])
    for line in (
        "- **Subject:** By 2026-12-01: 1 application of erp breaks on Kafka 4.0.0 (cluster fleet)",
        "- **To:** erp (erp@example.com)",
        "- **From:** kafka@example.com",
        "- **Date:** 2026-11-22; upgrade planned for 2026-12-01",
        "Upgrade brod to 4.4.2 or later.",
        '- rebar.config: `{brod, "4.4.2"}` ([release notes](https://github.com/kafka4beam/brod/releases/tag/4.4.2))',
        "group `erp-orders`; transactional id `tx`; topic `t`; from `10.1.2.3`",
        "Of your 2 applications, 1 stops working as soon as brokers run 4.0.0, 1 is safe so far.",
        "Please make the changes below before the upgrade on 2026-12-01. Questions and answers go to kafka@example.com.",
        "## How to check that it worked",
        "2. Ask kafka@example.com for a new report with the evidence since the change.",
    ):
        assert line in ticket
    assert ticket.count("Upgrade brod") == 1, "the change is said once"


def test_a_pack_says_what_the_library_of_a_change_rests_on(rows):
    guessed = {"client_software_name": None, "client_software_version": None}
    given = [
        rows.verdict("a", "breaks", identified_as="probably sarama 1.17.0 or later", **guessed),
        rows.verdict("b", "breaks", client_software_name="sarama", client_software_version="1.30.0"),
    ]
    report = build_report(rows.question(2), given, [], [], [])
    ticket = owner_ticket(report, report.owners[0])
    assert "| not declared; probably sarama 1.17.0 or later |" in ticket and "| `sarama 1.30.0` |" in ticket


def test_a_pack_without_a_break_asks_about_the_applications_with_a_question_only(rows):
    given = [rows.verdict(name, owner=None) for name in "abc"]
    given.append(rows.verdict("d", owner=None, missing=["whether it uses Kerberos"]))
    report = build_report(rows.question(4), given, [], [], [])
    ticket = owner_ticket(report, report.owners[0])
    assert (
        "1 application without an owner to check for Kafka 4.0.0 (cluster fL33tG0ldTruth000000-w)\n- **To:** whoever runs these applications: no owner rule matches them\n"
        in ticket
    )
    assert "Please answer the questions below before the upgrade, one line for each:" in ticket


@pytest.mark.parametrize("undeclared", [True, False])
def test_tickets_fit_everywhere_at_any_size(rows, undeclared):
    software = {"client_software_name": "unknown", "client_software_version": "unknown"} if undeclared else {}
    fix = (
        "library not identified: if it is brod: upgrade brod"
        if undeclared
        else "upgrade brod to 4.4.2 or later"
    )
    kinds = ("breaks", "insufficient_evidence", "degrades", "unsupported")
    given = [
        rows.verdict(
            f"orders-{number:05}-{'x' * 60}", kinds[number % 4], principal=f"User:{number}" + "y" * 90, fix=fix, **software,
            explanation=f"does not work, because of {number % 7}: " + "why " * 60, owner=f"team-{number % 3}",
        )
        for number in range(3000)
    ]  # fmt: skip
    report = build_report(rows.question(len(given)), given, [], [], [])
    for ticket in (report_ticket(report), *(owner_ticket(report, stake) for stake in report.owners)):
        assert len(ticket) < LARGEST == 32_000
        assert "Truncated here" not in ticket and ticket.count("| breaks at once") >= 1


def test_changes_that_differ_in_brackets_are_one_kind_of_work(rows):
    fixes = ["upgrade it (to Fetch 4)", "raise the version", "upgrade it (to Produce 3)"]
    given = [rows.verdict(str(n), "breaks", fix=fix) for n, fix in enumerate(fixes)]
    report = build_report(rows.question(3), given, [], [], [])
    assert (report.owners[0].first_fix, report.owners[0].first_fix_applications) == ("upgrade it", 2)
    ticket = owner_ticket(report, report.owners[0])
    changes = re.findall(r"^## Change \d: (.*)\n\n(.*)", ticket, re.M)
    assert changes == [("2 applications", "Upgrade it."), ("1 application", "Raise the version.")]


def test_what_is_not_known_of_a_safe_client_is_reported(rows):
    given = [rows.verdict("a"), rows.verdict("b", missing=["whether it uses Kerberos"])]
    report = build_report(rows.question(2), given, [], [], [])
    for ticket, words in (
        (report_ticket(report), "whether it uses Kerberos"),
        (owner_ticket(report, report.owners[0]), "It uses Kerberos: yes or no?"),
    ):
        part = ticket.split("## Safe, with an open question")[1].split("##")[0]
        assert words in part and "`b`" in part and "`a`" not in part


def test_three_owners_of_a_change_are_named_and_more_are_counted(rows):
    for number, words in ((1, "o-0"), (3, "o-0, o-1, o-2"), (5, "o-0, o-1, o-2 and 2 more")):
        given = [
            rows.verdict(f"c-{n}", "breaks", principal=f"User:{n}", owner=f"o-{n}", fix="upgrade brod to 4.4.2 or later")
            for n in range(number)
        ]  # fmt: skip
        text = report_ticket(build_report(rows.question(number), given, [], [], []))
        (owners,) = [cells[1].strip() for cells in table_rows(text.split("## Changes")[1].split("## ")[0])]
        assert owners == words


def test_an_application_that_needs_two_changes_is_fixed_in_part_by_each(rows):
    both = {"owner": "erp", "application": "erp-orders"}
    given = [
        rows.verdict("erp-node", "breaks", fix="replace kafka-node", **both),
        rows.verdict("erp-sarama", "breaks", fix="upgrade sarama to 1.41.0 or later", **both),
    ]
    report = build_report(rows.question(2), given, [], [], [])
    assert "| Replace kafka-node | erp | 1 (1 only in part) | 1 |" in report_ticket(report)
    message = owner_ticket(report, report.owners[0])
    assert (
        "In `erp-orders`, this is for `erp-node` only; its other clients that break need another change."
        in message
    )
    assert "1 only in part" in report_page(report)


@pytest.mark.parametrize(
    ("number", "words"), [(3, "`c-0`, `c-1`, `c-2` only"), (5, "`c-0`, `c-1`, `c-2` and 2 more only")]
)
def test_three_clients_that_a_change_is_for_are_named_and_more_are_counted(rows, number, words):
    both = {"owner": "erp", "application": "erp-orders"}
    given = [rows.verdict(f"c-{n}", "breaks", fix="replace kafka-node", **both) for n in range(number)]
    given.append(rows.verdict("other", "breaks", fix="upgrade sarama to 1.41.0 or later", **both))
    report = build_report(rows.question(len(given)), given, [], [], [])
    assert f"In `erp-orders`, this is for {words}; its other clients" in owner_ticket(
        report, report.owners[0]
    )


@pytest.mark.parametrize(
    ("number", "words"),
    [(1, "topic `t-0`"), (3, "topics `t-0`, `t-1`, `t-2` |"), (5, "topics `t-0`, `t-1`, `t-2` and 2 more |")],
)
def test_three_topics_are_named_and_more_are_counted(rows, number, words):
    row = rows.verdict("a", "breaks")
    profile = {
        **{name: row[name] for name in ("principal", "client_id", "client_software_name", "client_software_version")},
        **{"dt": rows.DAY, "addresses": 0, "address_sample": [], "listeners": [], "group_ids": [], "transactional_ids": []},
        **{"topics": [f"t-{n}" for n in range(number)], "related": [], "connections": 1},
        **{"first_seen_at": rows.START, "last_seen_at": rows.END},
    }  # fmt: skip
    report = build_report(rows.question(1), [row], [], [], [], profile_rows=[profile])
    assert words in owner_ticket(report, report.owners[0])


def test_a_question_about_the_cluster_is_in_the_ticket_and_in_no_message_to_an_owner(rows):
    proxies = "the proxies and gateways between clients and brokers"
    condition = {"condition": "a proxy drops v0", "condition_met": "unknown", "settled_by": proxies}
    gap = f"whether a proxy drops v0; if so: it stops; settled by {proxies}"
    verdicts = [rows.verdict(name, verdict="safe", when=None, missing=[gap]) for name in "ab"]
    findings = [rows.finding(row, **condition, explanation="it stops") for row in verdicts]
    report = build_report(rows.question(2), verdicts, findings, [], [])
    asked = "- `a`, `b`: a proxy drops v0: yes or no? If yes: it stops. What shows it: "
    assert f"## Questions about the cluster\n\n{asked}{proxies}." in report_ticket(report)
    assert "proxy" not in owner_ticket(report, report.owners[0])
    assert not report.owners[0].has_pack and not any(s.key == "open_questions" for s in report.sections)
