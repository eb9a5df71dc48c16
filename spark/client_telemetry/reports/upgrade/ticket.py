"""report.md: the report as a ticket, for the whole cluster and for one owner. Tables and code spans are those of
GitHub Flavored Markdown. Client-supplied text stands in code spans only, where it is neither link nor HTML."""

from collections.abc import Sequence

from client_telemetry.console.counted import counted
from client_telemetry.knowledge import age
from client_telemetry.reports.markdown import bullets, code, label, prose, section, table
from client_telemetry.reports.outcomes import SAFE_SO_FAR, SAFE_SO_FAR_MEANING
from client_telemetry.reports.upgrade import wording, written_ticket
from client_telemetry.reports.upgrade.changes import (
    inferred,
    needs_more,
)
from client_telemetry.reports.upgrade.model import (
    Change,
    ClusterQuestion,
    Question,
    Section,
    UpgradeReport,
)
from client_telemetry.reports.upgrade.ticket_cells import (
    COLUMNS,
    UNJUDGED,
    application_name,
    application_table,
    client_cards,
    edit_line,
    failed_login_rows,
    first_few,
    more_rows,
    owner_name,
    owner_table,
    question_in_words,
    small_enough,
)
from client_telemetry.reports.upgrade.ticket_sections import (
    LISTED,
    comparison,
    the_change_itself,
)
from client_telemetry.reports.wording import brokers, minute
from client_telemetry.tables.quality_findings import failed_check


def report_ticket(report: UpgradeReport) -> str:
    """The whole report, below LARGEST characters: of a long table the first rows, the others are in clients.csv. Safe
    applications are only counted, but for those with a question left open."""
    return small_enough(lambda most: _report_ticket(report, most))


def _report_ticket(report: UpgradeReport, most: int) -> str:
    question = report.question
    lines = [
        f"# {'Rollback' if report.is_rollback else 'Upgrade'} of {code(question.cluster_name)} "
        f"from {question.from_release} to {question.to_release}",
        "",
        prose(report.sentence),
        *([prose(report.better_target)] if report.better_target else []),
        "",
        f"{prose(wording.plan(report.planned_for, report.asked_by))}.",
        "",
        prose(_knowledge(question)),
        "",
        *([prose(report.since.sentence), ""] if report.since else []),
        *bullets(report.evidence),
        "",
        "Times are in UTC.",
        "",
        *_blockers(report),
        *_cluster_questions(report.cluster_questions, most),
        *_changes(report.changes, most),
        *comparison(report),
        *owner_table(report, most),
        *failed_login_rows(report.failed_logins, most),
    ]
    for part in report.sections:
        lines += _report_section(part, most)
    lines += written_ticket.of_cluster(report.written, most)
    failed = (f"{w.table_name}, {w.dt}: {failed_check(w)}" for w in report.quality_warnings)
    lines += [*section("Data quality", bullets(failed)), *the_change_itself(report, min(most, LISTED))]
    lines += section("Not assessed", bullets(report.not_assessed))
    lines += section("Method", bullets(_method(report)))
    return "\n".join(lines)


def _blockers(report: UpgradeReport) -> list[str]:
    return section(
        "Blockers",
        bullets(
            f"{note.what} ({note.subject} on {brokers(note.broker_ids)}.) Source: {note.source}."
            for note in report.blockers
        ),
    )


def _cluster_questions(questions: Sequence[ClusterQuestion], most: int) -> list[str]:
    """For whoever asks for the upgrade."""
    lines = [
        f"- {first_few(question.applications, lambda each: label(each.name))}: {prose(question_in_words(question))}"
        for question in questions[:most]
    ]
    lines += more_rows(len(questions), most, "report.json")
    return section("Questions about the cluster", lines)


def _report_section(part: Section, most: int) -> list[str]:
    many = counted(len(part.applications), "application")
    if part.key == "safe":
        so_far = sum(each.safe_so_far for each in part.applications)
        of_them = f", {so_far:,} of them {SAFE_SO_FAR} ({SAFE_SO_FAR_MEANING})" if so_far else ""
        return section(part.heading, [f"{many}{of_them}; their clients are listed in clients.csv."])
    if part.key == "unidentified":
        clients = [(c, each) for each in part.applications for c in each.clients if c.is_unidentified]
        return section(f"{part.heading}: {len(clients):,}", client_cards(clients, most))
    if part.key == "rare":
        lines = [
            f"- {application_name(each)}: {prose(each.seen_rarely or '')}"
            for each in part.applications[:most]
        ]
        return section(f"{part.heading}: {many}", [*lines, *more_rows(len(part.applications), most)])
    heads = UNJUDGED if part.key in ("insufficient_evidence", "open_questions") else COLUMNS
    return section(part.heading, application_table(part.applications, heads, most))


def _changes(changes: Sequence[Change], most: int) -> list[str]:
    if not changes:
        return []
    rows = []
    for change in changes[:most]:
        edits = "".join(f"<br>{edit_line(edit)[2:]}" for edit in change.edits)
        owners = first_few(change.owners, owner_name)
        guessed = inferred(change, change.applications)
        text = (
            f"{prose(wording.sentence_case(change.text))}{edits}{f'<br>{prose(guessed)}' if guessed else ''}"
        )
        many = f"{len(change.applications):,}"
        if not change.is_fix:
            many = f"0 of {many}"
        elif needs_more(change):
            many += f" ({len(needs_more(change)):,} only in part)"
        rows += [(text, owners, many, f"{change.applications_left:,}")]
    head = ("Change", "Owners", "Fixes", "Still break")
    return section("Changes", [*table(head, rows, head[2:]), *more_rows(len(changes), most, "report.json")])


def _knowledge(question: Question) -> str:
    built_at, at = question.knowledge_built_at, question.created_at
    sentence = age.sentence(question.knowledge_version, built_at, at, question.knowledge_gaps)
    return ". ".join(filter(None, (sentence, age.warning(built_at, at)))) + "."


def _method(report: UpgradeReport) -> list[str]:
    question = report.question
    snapshots = ", ".join(f"{table} {snapshot}" for table, snapshot in question.snapshots.items())
    return [
        f"Code version {question.code_version}.",
        f"Snapshots read: {snapshots or 'none'}.",
        f"Report {question.report_id}, created {minute(question.created_at)}.",
    ]
