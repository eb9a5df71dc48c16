"""Brings a tracker to what the evidence shows: creates, updates, closes and reopens issues, and each only once."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from client_telemetry.trackers.ticket import Issue, Ticket, is_same, with_notes
from client_telemetry.trackers.tracker import Tracker

CREATE, UPDATE, CLOSE, REOPEN = "create", "update", "close", "reopen"
BY_HAND: Final = "closed by hand"
UNCLAIMED: Final = "not in the evidence"
NOTHING: Final = "as it should be"


@dataclass(frozen=True)
class Step:
    """`action`: one of the words above. `ticket`: None where the evidence does not have it; `issue`: None where the tracker does not."""

    action: str
    ticket: Ticket | None
    issue: Issue | None


def plan(tickets: Iterable[Ticket], issues: Iterable[Issue], tracker: Tracker) -> list[Step]:
    """What has to be done. An issue that a person closed stays closed; one that was closed by evidence is reopened when the evidence
    changes; one that the evidence does not name any more stays as it is, for nothing proves a fix.
    """
    known: dict[str, Issue] = {}
    for issue in issues:
        before = known.get(issue.key)
        if before is None or (issue.is_open and not before.is_open):
            known[issue.key] = issue
    steps = [step for ticket in tickets for step in _of(ticket, known.pop(ticket.key, None), tracker)]
    return steps + [Step(UNCLAIMED, None, issue) for issue in known.values() if issue.is_open]


def _of(ticket: Ticket, issue: Issue | None, tracker: Tracker) -> Iterator[Step]:
    if issue is None:
        if ticket.has_work:
            yield Step(CREATE, ticket, None)
        return
    if not issue.is_open and not ticket.is_fixed and not issue.was_fixed:
        yield Step(BY_HAND, ticket, issue)
        return
    steps = []
    if not is_same(issue, ticket.title, with_notes(tracker.body(ticket), issue.body)):
        steps.append(Step(UPDATE, ticket, issue))
    if issue.is_open == ticket.is_fixed:
        steps.append(Step(CLOSE if ticket.is_fixed else REOPEN, ticket, issue))
    yield from steps or [Step(NOTHING, ticket, issue)]


def carry_out(steps: Iterable[Step], tracker: Tracker) -> Iterator[tuple[Step, Issue | None]]:
    """Each step with the issue that it made or changed. Raises TrackerError; what was done until then is found again by the next run."""
    for step in steps:
        ticket, issue = step.ticket, step.issue
        if ticket is not None and step.action == CREATE:
            issue = tracker.create(ticket)
        elif ticket is not None and issue is not None and step.action == UPDATE:
            tracker.update(issue, ticket, with_notes(tracker.body(ticket), issue.body))
        elif issue is not None and step.action in (CLOSE, REOPEN):
            tracker.set_open(issue, is_open=step.action == REOPEN)
        yield step, issue
