"""The parts of the ticket about the change as a whole: releases compared, the mixed window, the rollback, notes."""

from client_telemetry.console.counted import counted
from client_telemetry.knowledge.apis import in_words
from client_telemetry.reports.markdown import bullets, code, label, prose, table
from client_telemetry.reports.outcomes import OUTCOMES, SAFE_SO_FAR, split_safe
from client_telemetry.reports.upgrade import configuration, wording
from client_telemetry.reports.upgrade.mixed_and_rollback import (
    differs_in_the_mixed_window,
    differs_on_rollback,
)
from client_telemetry.reports.upgrade.model import (
    Application,
    OwnerStake,
    Target,
    TargetDifference,
    UpgradeReport,
)
from client_telemetry.reports.upgrade.release_notes import WEIGHTS
from client_telemetry.reports.wording import brokers, number

OUTCOME_COLUMNS = tuple(map(wording.sentence_case, (*OUTCOMES.values(), SAFE_SO_FAR)))
LISTED = 50
"""Applications of the mixed window and of the rollback that have a line; the others are in clients.csv."""


def comparison(report: UpgradeReport) -> list[str]:
    """The table of nearby releases, and who fares otherwise."""
    if not report.targets:
        return []
    heads = ["To", *OUTCOME_COLUMNS, "Works again"]
    cells = [
        [
            f"{target.to_release} (asked)" if target.is_asked else target.to_release,
            *outcome_cells(target),
            number(target.works_again),
        ]
        for target in report.targets
    ]
    lines = ["## Releases compared", "", *table(heads, cells, heads[1:]), ""]
    lines += map(difference, report.target_differences)
    return [*lines, ""] if report.target_differences else lines


def outcome_cells(of: Target | OwnerStake) -> list[str]:
    """Under OUTCOME_COLUMNS."""
    return [number(count) for count in split_safe(of.counts, of.safe_so_far).values()]


def difference(each: TargetDifference) -> str:
    named = list(map(label, each.names))
    if each.applications > len(named):
        named += [f"{each.applications - len(named):,} more"]
    there, asked = wording.difference_words(each)
    reason = f" ({prose(each.reason)})" if each.reason else ""
    return (
        f"- {', '.join(each.releases)}: {counted(each.applications, 'application')} {there} instead of "
        f"{asked}{reason}: {', '.join(named)}"
    )


def the_change_itself(report: UpgradeReport, listed: int) -> list[str]:
    """What concerns the cluster, the time while brokers differ, and the rollback. `listed`: applications with a line."""
    question = report.question
    lines = [f"## {'The rollback' if report.is_rollback else 'The upgrade'} itself", ""]
    lines += bullets(
        f"{WEIGHTS[note.weight].capitalize()}: {note.what} (Affected: {note.affected}.)"
        for note in report.cluster_notes
        if note.weight != "skip_release" and note not in report.blockers
    )
    if report.notes_ruled_out:
        ruled_out = ", ".join(code(note.note_id) for note in report.notes_ruled_out)
        lines += bullets(
            [
                f"Do not apply, as the setup of {brokers(report.notes_ruled_out[0].broker_ids)} shows: {ruled_out}."
            ]
        )
    lines += bullets(f"Release to skip: {each.release}. {each.what}" for each in report.skipped_releases)
    lines += _configuration(report)
    if report.false_alarms:
        alarms = ", ".join(f"{each.api_name} {in_words(each.versions)}" for each in report.false_alarms)
        lines += bullets(
            [
                f"DeprecatedRequestsPerSec and the request log of {question.from_release} report these as deprecated, although "
                f"{question.to_release} accepts them: {alarms}."
            ]
        )
    if report.two_steps:
        return [*lines, "", "## Not one rolling upgrade", "", prose(report.two_steps), ""]
    lines += [
        "",
        f"## {wording.during_the_change(report.is_rollback)}",
        "",
        *([prose(" ".join(report.mixed_window.sentences))] if report.mixed_window else []),
        "",
    ]
    differing = [each for each in report.applications if differs_in_the_mixed_window(each)]
    lines += _applications([(c, c.mixed_verdict, c.mixed_explanation) for c in differing], listed)
    if report.way_back:
        lines += [
            f"## Rollback to {question.from_release}",
            "",
            prose(" ".join(report.way_back.sentences)),
            "",
        ]
        back = [each for each in report.applications if differs_on_rollback(each)]
        lines += _applications([(c, c.rollback_verdict, c.rollback_explanation) for c in back], listed)
        lines += bullets(f"{WEIGHTS[n.weight].capitalize()}: {n.what}" for n in report.way_back_notes)
        lines += [""] if report.way_back_notes else []
    return lines


def _configuration(report: UpgradeReport) -> list[str]:
    """One line, as a ticket is short and its readers are those of the clients."""
    question, found = report.question, report.configuration
    summary = configuration.summary(found, question.from_release, question.to_release)
    return bullets([f"Broker configuration: {summary}{' The page lists them.' if found.changes else ''}"])


def _applications(rows: list[tuple[Application, str | None, str | None]], listed: int) -> list[str]:
    lines = []
    for application, verdict, explanation in rows[:listed]:
        lines += [
            f"- {label(application.name)}: {(verdict or '').replace('_', ' ')}. {prose(explanation or '')}"
        ]
    if len(rows) > listed:
        lines += [f"- {len(rows) - listed:,} more in clients.csv."]
    return [*lines, ""] if lines else []
