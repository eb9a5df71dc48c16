"""The decision that the page begins with: whether the brokers may change, what stands in the way, what is known to remove it, and
who has to answer. The gate decides (compatibility/go_no_go.py); here it gets its words, also as the text for whoever is not
going to read a report."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date

from client_telemetry.compatibility.go_no_go import CANNOT_TELL, GO, decide_by_applications, unseen_sentence
from client_telemetry.console.counted import counted
from client_telemetry.formats.written_file import Written, not_seen
from client_telemetry.knowledge.vocabulary import Verdict
from client_telemetry.reports.client_strings import shortened
from client_telemetry.reports.upgrade.changes import certainties_of
from client_telemetry.reports.upgrade.model import (
    FIXES,
    Application,
    ClusterNote,
    Decision,
    Question,
)
from client_telemetry.reports.upgrade.wording import plan

OWNERS_NAMED = 4
_LONGEST_OWNER = 48
_OPEN = "open"


def decision(
    applications: Sequence[Application],
    blockers: Sequence[ClusterNote],
    incomplete: str | None,
) -> Decision:
    """`incomplete`: what the evidence lacks altogether."""
    code, gate = decide_by_applications(
        ([client.verdict for client in each.clients] for each in applications),
        [Verdict.BREAKS],
        [note.subject for note in blockers],
        incomplete,
    )
    breaking = [each for each in applications if each.verdict == Verdict.BREAKS]
    certainties = [certainties_of(each) for each in breaking]
    waiting = [each for each, of_one in zip(breaking, certainties, strict=True) if _OPEN in of_one]
    fixable = sum(of_one <= set(FIXES) for of_one in certainties)
    return Decision(
        code=code,
        gate=gate,
        readiness={GO: "Ready by the evidence", CANNOT_TELL: "Cannot tell"}.get(code, "Not ready"),
        reasons=tuple(_reasons(applications, breaking, blockers, incomplete)),
        fixable=fixable,
        waiting=len(waiting),
        without_fix=len(breaking) - fixable - len(waiting),
        next_steps=tuple(_next_steps(breaking, fixable, waiting)),
    )


def _reasons(
    applications: Sequence[Application],
    breaking: Sequence[Application],
    blockers: Sequence[ClusterNote],
    incomplete: str | None,
) -> Iterable[str]:
    """What blocks; of what may start, what that rests on."""
    if blockers:
        names = ", ".join(dict.fromkeys(note.subject for note in blockers))
        yield f"{counted(len(blockers), 'blocker')} in the setup of the brokers ({names})"
    if breaking:
        verb = "breaks" if len(breaking) == 1 else "break"
        yield f"{len(breaking):,} of {counted(len(applications), 'application')} {verb}"
    lacking = sum(each.verdict == Verdict.INSUFFICIENT_EVIDENCE for each in applications)
    if lacking:
        yield f"{counted(lacking, 'application')} cannot be judged yet"
    if incomplete:
        yield incomplete
    if not applications:
        yield "no client was seen"
    elif not breaking and not lacking:
        so_far = sum(each.safe_so_far for each in applications)
        yield "no application is known to break" + (
            f", {_of_all(so_far, len(applications))} not observed for long" if so_far else ""
        )


def _of_all(number: int, applications: int) -> str:
    if applications == 1:
        return "the only one was"
    return f"{number:,} of {applications:,} {'was' if number == 1 else 'were'}"


def _next_steps(
    breaking: Sequence[Application], fixable: int, waiting: Sequence[Application]
) -> Iterable[str]:
    """What is known to remove it, and what waits for whom."""
    if fixable:
        yield f"the change is known for {fixable:,} of them" if len(breaking) > 1 else "its change is known"
    if waiting:
        owners = Counter(each.owner for each in waiting)
        largest = sorted(owners, key=lambda owner: (-owners[owner], owner or ""))
        named = ", ".join(
            f"{shortened(owner or 'no owner', _LONGEST_OWNER)} {owners[owner]:,}"
            for owner in largest[:OWNERS_NAMED]
        )
        more = f" and {len(owners) - OWNERS_NAMED:,} more" if len(owners) > OWNERS_NAMED else ""
        verb = "waits for its owner" if len(waiting) == 1 else "wait for their owners"
        yield f"{len(waiting):,} {verb} to say which library it is ({named}{more})"
    if without_fix := len(breaking) - fixable - len(waiting):
        yield f"no change is known for {without_fix:,}"


def for_management(
    question: Question,
    decided: Decision,
    sentence: str,
    better_target: str | None,
    planned_for: date | None,
    asked_by: str | None,
    *,
    is_rollback: bool,
) -> tuple[str, ...]:
    """Lines of plain text that stands alone, in a mail or a chat."""
    change = "Rollback" if is_rollback else "Upgrade"
    return (
        f"{change} of Kafka cluster {question.cluster_name} from {question.from_release} to {question.to_release}: "
        f"{decided.readiness[0].lower()}{decided.readiness[1:]}.",
        "",
        f"Why: {'; '.join(decided.reasons)}.",
        *([f"Next: {'; '.join(decided.next_steps)}."] if decided.next_steps else []),
        *([better_target] if better_target else []),
        f"{plan(planned_for, asked_by)}.",
        "",
        sentence,
        f"Report {question.report_id} of {question.created_at:%Y-%m-%d %H:%M} UTC.",
    )


def with_written(lines: tuple[str, ...], written: Written) -> tuple[str, ...]:
    """The text with what is written and no broker saw, before the line that names the report."""
    sentence = unseen_sentence(not_seen(written))
    return (*lines[:-1], f"{sentence}.", lines[-1]) if sentence else lines
