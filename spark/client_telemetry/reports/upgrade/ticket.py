"""report.md: the report as a ticket, for the whole cluster and for one owner. Tables and code spans are those of
GitHub Flavored Markdown. Client-supplied text stands in code spans only, where it is neither link nor HTML."""

from collections.abc import Iterable

from client_telemetry.reports.client_strings import client_label
from client_telemetry.reports.markdown import bullets, code, prose, row
from client_telemetry.reports.upgrade import wording
from client_telemetry.reports.upgrade.model import OUTCOMES, Application, OwnerStake, UpgradeReport
from client_telemetry.reports.upgrade.ticket_sections import comparison, the_change_itself
from client_telemetry.reports.upgrade.wording import without_brackets

BREAKS = ("breaks_at_once", "breaks_latent")
COLUMNS = ("Owner", "Application", "Software", "What happens", "Why", "Change", "Seen")
UNJUDGED = ("Owner", "Application", "Software", "What is not known, and what would settle it", "Seen")
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
        *_section("Must act", [each for each in report.applications if each.outcome in BREAKS], COLUMNS),
        *_failing_sections(report.applications, COLUMNS),
        *_lesser_sections(report.applications, COLUMNS, UNJUDGED),
        "## Safe",
        "",
        f"{wording.counted(report.counts['safe'], 'application')}, whose clients are listed in clients.csv.",
        "",
    ]
    lines += the_change_itself(report)
    lines += ["## Not assessed", "", *bullets(report.not_assessed), ""]
    lines += ["## Method", "", *bullets(_method(report)), ""]
    return "\n".join(lines)


def owner_ticket(report: UpgradeReport, stake: OwnerStake) -> str:
    """A message to one owner: what stops, when, which clients, what to change, how to check it."""
    question, name = report.question, _owner(stake.owner)
    applications = [each for each in report.applications if each.owner == stake.owner]
    broken = [each for each in applications if each.outcome in BREAKS]
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
        change = prose(wording.sentence_case(fix or "no change is known"))
        lines += [f"## Change {number}: {wording.counted(len(group), 'application')}", "", f"{change}.", ""]
        lines += [*_table(group, COLUMNS[1:]), ""]
    lines += _failing_sections(applications, COLUMNS[1:])
    lines += _lesser_sections(applications, COLUMNS[1:], UNJUDGED[1:])
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
    head = ["Owner", "Applications", *(words.capitalize() for words in OUTCOMES.values()), "First change"]
    lines = ["## Owners", "", row(head), row(["---", *["---:"] * (1 + len(OUTCOMES)), "---"])]
    for stake in report.owners:
        helped = wording.counted(stake.first_fix_applications, "application")
        first = f"{prose(stake.first_fix)} ({helped})" if stake.first_fix else ""
        numbers = [wording.number(n) for n in (stake.applications, *stake.counts.values())]
        lines += [row([_owner(stake.owner), *numbers, first])]
    return [*lines, ""]


def _failing_sections(applications: Iterable[Application], columns: tuple[str, ...]) -> list[str]:
    """Applications that fail today already, and those of them that the other release serves."""
    failing = [each for each in applications if each.already_failing]
    again = [each for each in failing if each.works_again]
    return _section("Already failing", failing, columns) + _section("Works again", again, columns)


def _lesser_sections(
    applications: Iterable[Application], columns: tuple[str, ...], unjudged: tuple[str, ...]
) -> list[str]:
    """Applications that do not break, as far as they need attention."""
    applications = list(applications)
    lines = []
    for outcome in ("insufficient_evidence", "degrades", "unsupported"):
        heads = unjudged if outcome == "insufficient_evidence" else columns
        lines += _section(
            OUTCOMES[outcome].capitalize(), [each for each in applications if each.outcome == outcome], heads
        )
    asking = [each for each in applications if each.outcome == "safe" and each.missing]
    return lines + _section("Safe, with a question left open", asking, unjudged)


def _section(heading: str, applications: list[Application], columns: tuple[str, ...]) -> list[str]:
    if not applications:
        return []
    return [f"## {heading}", "", *_table(applications, columns), ""]


def _table(applications: list[Application], columns: tuple[str, ...]) -> list[str]:
    rows = [row(columns), row(["---"] * len(columns))]
    for each in applications:
        cells = _cells(each)
        rows += [row(cells[column] for column in columns)]
    return rows


def _cells(each: Application) -> dict[str, str]:
    return {
        "Owner": _owner(each.owner),
        "Application": _name(each),
        "Software": _software(each),
        "What happens": f"{prose(wording.happens(each))} ({each.confidence})",
        "Why": prose(each.explanation),
        "Change": prose(wording.sentence_case(each.fix or "")),
        UNJUDGED[3]: prose("; ".join(each.missing) or each.explanation),
        "Seen": wording.seen(each),
    }


def _name(application: Application) -> str:
    """Name, product, principal and, where there are several, how many clients."""
    label = code(application.name) if application.name else client_label(application.name)
    if application.product and application.product != application.name:
        label += f" ({prose(application.product)})"
    if application.principal:
        label += f", {code(application.principal)}"
    many = len(application.clients)
    return f"{label}, {many:,} clients" if many > 1 else label


def _software(application: Application) -> str:
    software = wording.software(application)
    return software if software == wording.NOT_DECLARED else code(software)


def _stake_sentence(stake: OwnerStake) -> str:
    """
    >>> _stake_sentence(OwnerStake("a", None, "a", 3, 5, {"breaks_at_once": 1, "safe": 2}, None, 0))
    'Of your 3 applications, 1 stops working at once, 2 are safe.'
    """
    parts = [
        f"{wording.number(count)} {_STAKE_WORDS[outcome][count != 1]}"
        for outcome, count in stake.counts.items()
        if count
    ]
    many = stake.applications
    whose = f"Of your {wording.number(many)} applications" if many != 1 else "Of your 1 application"
    return f"{whose}, {', '.join(parts)}."


def _by_fix(applications: list[Application]) -> list[tuple[str | None, list[Application]]]:
    """The change that helps most applications first; changes that differ in brackets only are one."""
    groups: dict[str | None, list[Application]] = {}
    for each in applications:
        groups.setdefault(without_brackets(each.fix) if each.fix else None, []).append(each)
    return sorted(groups.items(), key=lambda item: (-len(item[1]), item[0] or ""))


def _checks(broken: list[Application]) -> list[str]:
    lines = [
        "1. Run the changed client against the cluster as it is now, with a restart, for as long as it takes to do "
        "everything that it normally does.",
        "2. Have the report made again on the evidence since the change. The client must be listed as safe, with "
        "its new software, and the requests named above must not be among its requests any more.",
    ]
    if any(each.outcome == "breaks_latent" for each in broken):
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
