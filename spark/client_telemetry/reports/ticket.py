"""report.md: the report as a ticket, for the whole cluster and for one owner. Tables and code spans are those of
GitHub Flavored Markdown. Client-supplied text stands in code spans only, where it is neither link nor HTML."""

from collections.abc import Iterable

from client_telemetry.reports import wording
from client_telemetry.reports.client_strings import client_label
from client_telemetry.reports.markdown import bullets, code, prose, row
from client_telemetry.reports.model import OUTCOMES, ClientVerdict, OwnerStake, UpgradeReport
from client_telemetry.reports.ticket_of_the_change import comparison, the_change_itself
from client_telemetry.reports.wording import without_brackets

BREAKS = ("breaks_at_once", "breaks_latent")
COLUMNS = ("Owner", "Client", "Software", "What happens", "Why", "Change", "Seen")
UNJUDGED = ("Owner", "Client", "Software", "What is not known, and what would settle it", "Seen")
_STAKE_WORDS = {
    "breaks_at_once": ("stops working at once", "stop working at once"),
    "breaks_latent": (
        "stops working later, when a trigger comes",
        "stop working later, when a trigger comes",
    ),
    "insufficient_evidence": ("cannot be judged yet", "cannot be judged yet"),
    "degrades": ("loses a function", "lose a function"),
    "unsupported": ("works without being supported", "work without being supported"),
    "safe": ("is safe", "are safe"),
}


def report_ticket(report: UpgradeReport) -> str:
    """The whole report; safe clients are only counted, but for those with a question left open."""
    question = report.question
    lines = [
        f"# {'Going back' if report.is_rollback else 'Upgrade'} of {code(question.cluster_name)} "
        f"from {question.from_release} to {question.to_release}",
        "",
        prose(report.sentence),
        *([prose(report.better_target)] if report.better_target else []),
        "",
        *bullets(report.evidence),
        "",
        "Times are in UTC.",
        "",
        *_quality(report),
        *comparison(report),
        *_owner_table(report),
        *_section("Must act", [c for c in report.clients if c.outcome in BREAKS], COLUMNS),
        *_lesser_sections(report.clients, COLUMNS, UNJUDGED),
        "## Safe",
        "",
        f"{wording.counted(report.counts['safe'], 'client')}, listed in clients.csv.",
        "",
    ]
    lines += the_change_itself(report)
    lines += ["## Not assessed", "", *bullets(report.not_assessed), ""]
    lines += ["## Method", "", *bullets(_method(report)), ""]
    return "\n".join(lines)


def owner_ticket(report: UpgradeReport, stake: OwnerStake) -> str:
    """A message to one owner: what stops, when, which clients, what to change, how to check it."""
    question, name = report.question, _owner(stake.owner)
    clients = [client for client in report.clients if client.owner == stake.owner]
    broken = [client for client in clients if client.outcome in BREAKS]
    change, are_to = ("way back", "go back") if report.is_rollback else ("upgrade", "be upgraded")
    lines = [
        f"# What the {change} of {code(question.cluster_name)} to {question.to_release} means for {name}",
        "",
        f"The Kafka brokers of this cluster are to {are_to} from {question.from_release} to "
        f"{question.to_release}. {_stake_sentence(stake)}",
        "",
    ]
    if broken:
        lines += [
            "A client library talks to brokers in certain versions of each request. The other release does "
            "not serve every version that the present one does, and a client that needs one that is gone stops working, "
            "although nobody touched it.",
            "",
        ]
    for number, (fix, group) in enumerate(_by_fix(broken), start=1):
        change = prose(wording.opened(fix or "no change is known"))
        lines += [f"## Change {number}: {wording.counted(len(group), 'client')}", "", f"{change}.", ""]
        lines += [*_table(group, COLUMNS[1:]), ""]
    lines += _lesser_sections(clients, COLUMNS[1:], UNJUDGED[1:])
    if broken:
        lines += ["## How to check that it worked", "", *_checks(broken), ""]
    lines += [
        "## Evidence",
        "",
        *bullets(report.evidence),
        f"- Report {code(question.report_id)}, {wording.minute(question.created_at)}. Times are in UTC.",
        "- All of your clients, the safe ones too, are in clients.csv beside this file.",
        "",
    ]
    return "\n".join(lines)


def _owner(owner: str | None) -> str:
    return "clients without owner" if owner is None else prose(owner)


def _quality(report: UpgradeReport) -> list[str]:
    if not report.quality_warnings:
        return []
    lines = ["Checks of the data that did not hold:", ""]
    for w in report.quality_warnings:
        lines += [
            f"- {prose(w.table_name)}, {w.dt}: {prose(w.description)} (found: {prose(wording.found(w))})"
        ]
    return [*lines, ""]


def _owner_table(report: UpgradeReport) -> list[str]:
    if not report.owners:
        return []
    head = ["Owner", "Clients", *(words.capitalize() for words in OUTCOMES.values()), "First change"]
    lines = ["## Owners", "", row(head), row(["---", *["---:"] * (1 + len(OUTCOMES)), "---"])]
    for stake in report.owners:
        helped = wording.counted(stake.first_fix_clients, "client")
        first = f"{prose(stake.first_fix)} ({helped})" if stake.first_fix else ""
        numbers = [wording.number(n) for n in (stake.clients, *stake.counts.values())]
        lines += [row([_owner(stake.owner), *numbers, first])]
    return [*lines, ""]


def _lesser_sections(
    clients: Iterable[ClientVerdict], columns: tuple[str, ...], unjudged: tuple[str, ...]
) -> list[str]:
    """Clients that do not break, as far as they need attention."""
    clients = list(clients)
    lines = []
    for outcome in ("insufficient_evidence", "degrades", "unsupported"):
        heads = unjudged if outcome == "insufficient_evidence" else columns
        lines += _section(OUTCOMES[outcome].capitalize(), [c for c in clients if c.outcome == outcome], heads)
    asking = [c for c in clients if c.outcome == "safe" and c.missing]
    return lines + _section("Safe, with a question left open", asking, unjudged)


def _section(heading: str, clients: list[ClientVerdict], columns: tuple[str, ...]) -> list[str]:
    if not clients:
        return []
    return [f"## {heading}", "", *_table(clients, columns), ""]


def _table(clients: list[ClientVerdict], columns: tuple[str, ...]) -> list[str]:
    rows = [row(columns), row(["---"] * len(columns))]
    for client in clients:
        cells = _cells(client)
        rows += [row(cells[column] for column in columns)]
    return rows


def _cells(client: ClientVerdict) -> dict[str, str]:
    return {
        "Owner": _owner(client.owner),
        "Client": _client(client),
        "Software": _software(client),
        "What happens": f"{prose(wording.happens(client))} ({client.confidence})",
        "Why": prose(client.explanation),
        "Change": prose(wording.opened(client.fix or "")),
        UNJUDGED[3]: prose("; ".join(client.missing) or client.explanation),
        "Seen": wording.seen(client),
    }


def _client(client: ClientVerdict) -> str:
    label = client_label(client.client_id) if not client.client_id else code(client.client_id)
    return f"{label}, {code(client.principal)}" if client.principal else label


def _software(client: ClientVerdict) -> str:
    told = wording.software(client)
    return told if told == wording.NOT_TOLD else code(told)


def _stake_sentence(stake: OwnerStake) -> str:
    """
    >>> _stake_sentence(OwnerStake("a", None, "a", 3, {"breaks_at_once": 1, "safe": 2}, None, 0))
    'Of your 3 clients, 1 stops working at once, 2 are safe.'
    """
    parts = [
        f"{wording.number(count)} {_STAKE_WORDS[outcome][count != 1]}"
        for outcome, count in stake.counts.items()
        if count
    ]
    whose = f"Of your {wording.number(stake.clients)} clients" if stake.clients != 1 else "Of your 1 client"
    return f"{whose}, {', '.join(parts)}."


def _by_fix(clients: list[ClientVerdict]) -> list[tuple[str | None, list[ClientVerdict]]]:
    """The change that helps most clients first; changes that differ in brackets only are one."""
    groups: dict[str | None, list[ClientVerdict]] = {}
    for client in clients:
        groups.setdefault(without_brackets(client.fix) if client.fix else None, []).append(client)
    return sorted(groups.items(), key=lambda item: (-len(item[1]), item[0] or ""))


def _checks(broken: list[ClientVerdict]) -> list[str]:
    lines = [
        "1. Run the changed client against the cluster as it is now, with a restart, for as long as it takes to do "
        "everything that it normally does.",
        "2. Have the report made again on the evidence since the change. The client must be listed as safe, with "
        "its new software, and the requests named above must not be among its requests any more.",
    ]
    if any(client.outcome == "breaks_latent" for client in broken):
        lines += [
            "3. For a client that stops later: provoke its trigger in a test environment of the new release."
        ]
    return lines


def _method(report: UpgradeReport) -> list[str]:
    question = report.question
    snapshots = ", ".join(f"{table} {snapshot}" for table, snapshot in question.snapshots.items())
    return [
        f"Knowledge base {question.knowledge_version}, program {question.code_version}.",
        f"Snapshots read: {snapshots or 'none'}.",
        f"Report {question.report_id}, made {wording.minute(question.created_at)}.",
    ]
