"""Rows of tables in a ticket: applications, clients, owners and failed logins as Markdown."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from client_telemetry.console.counted import counted
from client_telemetry.console.grouped import grouped
from client_telemetry.knowledge import kip511
from client_telemetry.reports.markdown import bullets, code, label, prose, row, section, table
from client_telemetry.reports.upgrade import failed_logins, wording
from client_telemetry.reports.upgrade.changes import (
    by_candidate,
)
from client_telemetry.reports.upgrade.model import (
    Application,
    ClientVerdict,
    ClusterQuestion,
    Edit,
    FailedLogin,
    UpgradeReport,
)
from client_telemetry.reports.upgrade.questions import library_question, own_gaps, owner_questions
from client_telemetry.reports.upgrade.ticket_sections import (
    OUTCOME_COLUMNS,
    outcome_cells,
)
from client_telemetry.reports.wording import number

_T = TypeVar("_T")

COLUMNS = ("Owner", "Application", "Software", "What happens", "Why", "Change", "Seen")
UNJUDGED = ("Owner", "Application", "Software", "What is not known, and what would settle it", "Seen")
ASKED = ("Owner", "Application", "Software", "Question", "Seen")
NOTHING_TO_ANSWER = (
    "None: the team that runs the brokers finds out, or it shows when the application is seen for longer."
)

OF_A_CHANGE = ("Application", "Software", "What happens", "Why", "Groups and addresses", "Seen")
LARGEST = 32_000
"""Characters of a ticket: GitHub, GitLab and Jira take no more than 65,536, 1,000,000 and 32,767."""

_ROWS = (5000, 300, 100, 40, 15, 6, 2, 1)
"""Rows of each table that are tried, until the whole is small enough."""

IDS_NAMED = 3
CANDIDATES_NAMED = 3
_OWN = ("Application", "Seen", "Groups and addresses")
"""Columns in which applications that are alike may differ."""


def small_enough(text_with: Callable[[int], str]) -> str:
    text = ""
    for most in _ROWS:
        text = text_with(most)
        if len(text) < LARGEST:
            return text
    end = "\n\nTruncated here: everything is in clients.csv.\n"
    return text[: LARGEST - len(end) - 1] + end


def client_cards(clients: Sequence[tuple[ClientVerdict, Application]], most: int) -> list[str]:
    """What is known of clients whose library is not identified, and what to ask; no more of it than makes a ticket too long."""
    lines: list[str] = []
    length = 0
    for client, application in clients[:most]:
        if length > LARGEST:
            break
        before = len(lines)
        lines += [f"- {_client_name(client)}: {prose(library_question(client, application))}"]
        likely = ", ".join(each.versions for each in client.candidates[:CANDIDATES_NAMED])
        lines += [f"  - Candidates: {prose(likely)}."] if likely else []
        advice = by_candidate(client.fix)
        lines += [f"  - If it is {prose(library)}: {prose(text)}." for library, text in advice.items()]
        named = [each for each in client.related if each.relation == "two_applications"][:1]
        lines += [
            f"  - Not the program that declares itself as {code(each.client_software_name or '')} "
            f"{code(each.client_software_version or '')}, with the same principal and client id."
            for each in named
        ]
        where = _where(application.clients)
        lines += [f"  - {where}, {wording.seen(client)}." if where else f"  - {wording.seen(client)}."]
        length += sum(map(len, lines[before:]))
    return [*lines, *more_rows(len(clients), most)]


def _client_name(client: ClientVerdict) -> str:
    name = label(client.client_id)
    return f"{name}, {code(client.principal)}" if client.principal else name


def _where(clients: Sequence[ClientVerdict]) -> str:
    """Groups, transactional ids and addresses, the first few of each."""
    parts = []
    for one, many, column in (
        ("group", "groups", "group_ids"),
        ("transactional id", "transactional ids", "transactional_ids"),
        ("topic", "topics", "topics"),
        ("from", "from", "address_sample"),
        ("host", "hosts", "hosts"),
    ):
        values: list[str] = sorted({each for client in clients for each in getattr(client, column)})
        if values:
            parts.append(f"{one if len(values) == 1 else many} {first_few(values, code)}")
    return "; ".join(parts)


def first_few(values: Sequence[_T], name: Callable[[_T], str]) -> str:
    """The names of the first few, and how many more there are."""
    more = f" and {len(values) - IDS_NAMED:,} more" if len(values) > IDS_NAMED else ""
    return f"{', '.join(map(name, values[:IDS_NAMED]))}{more}"


def failed_login_rows(logins: Sequence[FailedLogin], most: int) -> list[str]:
    lines = bullets(prose(failed_logins.login_in_words(login)) for login in logins[:most])
    if len(logins) > most:
        lines += [f"- {len(logins) - most:,} more in report.json."]
    return section("Cannot log in today", lines)


def more_rows(count: int, most: int, file: str = "clients.csv") -> list[str]:
    return ["", f"{count - most:,} more in {file}."] if count > most else []


def owner_name(owner: str | None) -> str:
    return "no owner" if owner is None else prose(owner)


def owner_table(report: UpgradeReport, most: int) -> list[str]:
    if not report.owners:
        return []
    rows = []
    for stake in report.owners[:most]:
        helped = counted(stake.first_fix_applications, "application")
        first = f"{prose(wording.sentence_case(stake.first_fix))} ({helped})" if stake.first_fix else ""
        numbers = [number(stake.applications), *outcome_cells(stake)]
        rows += [(owner_name(stake.owner), *numbers, first)]
    head = ("Owner", "Applications", *OUTCOME_COLUMNS, "First change")
    more = more_rows(len(report.owners), most, "report.json")
    return section("Owners", [*table(head, rows, head[1:-1]), *more])


def application_table(applications: Sequence[Application], columns: tuple[str, ...], most: int) -> list[str]:
    """One row for applications that differ in name only, `most` rows, or as many as make a ticket too long."""
    shared = [_CELLS[column] for column in columns if column not in _OWN]

    def alike(each: Application) -> object:
        return tuple(cell(each) for cell in shared) if most < _ROWS[0] else id(each)

    groups = grouped(applications, alike)
    rows = table(columns, ())
    length = 0
    for group in list(groups.values())[:most]:
        if length > LARGEST:
            break
        cells = {column: _CELLS[column](group[0]) for column in columns}
        if len(group) > 1:
            names = first_few(group, lambda each: code(each.name))
            requests = counted(sum(each.requests for each in group), "request")
            cells |= {"Application": names, "Seen": requests, "Groups and addresses": ""}
        rows += [row(cells[column] for column in columns)]
        length += len(rows[-1])
    return [*rows, *more_rows(len(groups), most)]


def application_name(application: Application) -> str:
    """Name, product, principal and, where there are several, how many clients."""
    name = label(application.name)
    if application.product and application.product != application.name:
        name += f" ({prose(application.product)})"
    if application.principal:
        name += f", {code(application.principal)}"
    many = len(application.clients)
    return f"{name}, {many:,} clients" if many > 1 else name


def _software(application: Application) -> str:
    """As declared; otherwise what the requests are those of."""
    software = wording.software(application)
    if software != kip511.NO_SOFTWARE:
        return code(software)
    identified = wording.identified(application)
    return f"{software}; {prose(identified)}" if identified else software


_CELLS: dict[str, Callable[[Application], str]] = {
    "Owner": lambda each: owner_name(each.owner),
    "Application": application_name,
    "Software": _software,
    "What happens": lambda each: f"{prose(wording.happens(each))} ({each.confidence})",
    "Why": lambda each: prose(each.explanation),
    "Change": lambda each: prose(wording.sentence_case("; ".join(each.changes) or each.fix or "")),
    UNJUDGED[3]: lambda each: prose("; ".join(own_gaps(each)) or each.explanation),
    ASKED[3]: lambda each: prose(" ".join(owner_questions(each)) or NOTHING_TO_ANSWER),
    "Seen": wording.seen,
    "Groups and addresses": lambda each: _where(each.clients),
}
"""Columns of a table of applications."""


def edit_line(edit: Edit) -> str:
    notes = f" ([release notes]({edit.release_notes}))" if edit.release_notes else ""
    either = "or " if edit.alternative else ""
    return f"- {either}{prose(edit.file)}: {code(edit.line, 200)}{notes}"


def question_in_words(question: ClusterQuestion) -> str:
    look = f" What shows it: {question.settled_by}." if question.settled_by else ""
    return f"{question.condition}: yes or no? If yes: {question.consequence}.{look}"
