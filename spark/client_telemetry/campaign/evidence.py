"""What the reports alone prove about one application, day by day; what people say is in states.py."""

import datetime as dt
from collections.abc import Collection
from dataclasses import dataclass, replace

from client_telemetry.campaign.answers import Answer, Application, Client
from client_telemetry.campaign.vocabulary import FIXED, NEW, OPEN, QUIET, REGRESSED
from client_telemetry.knowledge.vocabulary import Verdict


@dataclass(frozen=True)
class Evidence:
    """`state`: open, new, regressed, quiet, fixed, or "" (never affected). `since`: the day on which it became affected, last.
    `affected`: its clients that were affected when it was last seen so, those that fail the gate before those that lack evidence. `report_id`: the report that `state` is from.
    """

    state: str = ""
    since: dt.date | None = None
    affected: tuple[Client, ...] = ()
    why: str = ""
    report_id: str = ""
    has_regressed: bool = False

    @property
    def is_affected(self) -> bool:
        return self.state in (OPEN, NEW, REGRESSED, QUIET)

    @property
    def last_affected_at(self) -> dt.datetime | None:
        return max((client.last_seen_at for client in self.affected), default=None)


def stops(client: Client, fail_on: Collection[str]) -> bool:
    """Whether a client keeps its application open: a verdict that fails the gate, or one that is not known."""
    return client.verdict in fail_on or client.verdict == Verdict.INSUFFICIENT_EVIDENCE


def seen(
    before: Evidence, application: Application, answer: Answer, fail_on: Collection[str], *, is_first: bool
) -> Evidence:
    """After a report in which the application is. `is_first`: it is the cluster's first report."""
    affected = tuple(
        sorted(
            (client for client in application.clients if stops(client, fail_on)),
            key=lambda client: client.verdict not in fail_on,
        )
    )
    if affected and not _all_replaced(affected, application, answer, fail_on):
        return _affected(before, affected, answer, is_first=is_first)
    if affected and not before.is_affected:
        # It was replaced before the campaign began.
        return before
    return _good(before, affected, application, answer, fail_on) if before.is_affected else before


def _affected(before: Evidence, affected: tuple[Client, ...], answer: Answer, *, is_first: bool) -> Evidence:
    now = replace(before, affected=affected, report_id=answer.report_id, why=affected[0].explanation)
    if before.state == FIXED:
        if all(_is_old(client, before) for client in affected):
            return before
        return replace(now, state=REGRESSED, since=answer.day, has_regressed=True)
    if before.state == QUIET:
        why = f"seen again on {answer.day}: {affected[0].explanation}"
        return replace(now, state=REGRESSED if before.has_regressed else OPEN, why=why)
    if before.is_affected:
        return now
    return replace(now, state=OPEN if is_first else NEW, since=answer.day)


def _is_old(client: Client, fixed: Evidence) -> bool:
    """Evidence that was known when it was fixed: a longer window, or a day that was computed late, proves nothing new."""
    last = fixed.last_affected_at
    return last is not None and client.last_seen_at <= last


def _all_replaced(
    affected: tuple[Client, ...], application: Application, answer: Answer, fail_on: Collection[str]
) -> bool:
    """Whether each affected client is still in the report's window, but was not seen on its last day, and the same client id
    began with a good verdict after it.
    """
    good = [client for client in application.clients if not stops(client, fail_on)]
    return all(
        client.last_seen_at.date() < answer.day
        and any(
            other.client_id == client.client_id is not None and other.first_seen_at > client.last_seen_at
            for other in good
        )
        for client in affected
    )


def _good(
    before: Evidence,
    affected: tuple[Client, ...],
    application: Application,
    answer: Answer,
    fail_on: Collection[str],
) -> Evidence:
    """Fixed if a good client was seen after the last evidence of an affected one; otherwise as before."""
    last = max(client.last_seen_at for client in (*before.affected, *affected))
    later = [c for c in application.clients if not stops(c, fail_on) and c.last_seen_at > last]
    if not later:
        return before
    was, now = before.affected[0], max(later, key=lambda client: client.last_seen_at)
    change = (
        ""
        if was.software == now.software
        else f", {was.software or 'unknown'} before, {now.software or 'unknown'} now"
    )
    cause = (
        "evidence was missing" if was.verdict == Verdict.INSUFFICIENT_EVIDENCE else f"verdict {was.verdict}"
    )
    why = f"last seen with {cause} {last:%Y-%m-%d %H:%M}, {now.verdict} {now.last_seen_at:%Y-%m-%d %H:%M}{change}"
    kept = affected or before.affected
    return replace(before, state=FIXED, affected=kept, why=why, report_id=answer.report_id)


def not_seen(before: Evidence, answer: Answer) -> Evidence:
    """After a report, complete enough to say so, in which the application is not."""
    if before.state not in (OPEN, NEW, REGRESSED):
        return before
    last = before.last_affected_at
    why = f"not seen in the report of {answer.day}; last seen {last:%Y-%m-%d %H:%M}: {before.affected[0].explanation}"
    return replace(before, state=QUIET, why=why, report_id=answer.report_id)
