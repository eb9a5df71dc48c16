"""States of the applications in a campaign, as a history of changes: what reports prove, and what people say about it."""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from client_telemetry.campaign import plan
from client_telemetry.campaign.answers import Answer, newest
from client_telemetry.campaign.plan import Campaign, Statement
from client_telemetry.campaign.statements import Statements, covering_waiver, is_before_regression
from client_telemetry.campaign.tracks import Track, Tracks
from client_telemetry.campaign.vocabulary import ACKNOWLEDGED, FIXED, PROMISED, QUIET, RENAMED, WAIVED

_DAY = dt.timedelta(days=1)


@dataclass(frozen=True)
class StateChange:
    """An application's state since a UTC day. `before`: its state until then; "" = none. `rules`: of its affected clients.
    `report_id`: the report that proves it. `by`: who said so, where it is a statement. `until`: end of a promise or waiver.
    """

    campaign: str
    cluster: str
    principal: str | None
    application: str
    owner: str | None
    contact: str | None
    day: dt.date
    state: str
    before: str
    why: str
    by: str
    until: dt.date | None
    verdict: str
    fix: str | None
    rules: tuple[str, ...]
    report_id: str
    affected_since: dt.date
    formerly: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str, str]:
        return self.cluster, self.principal or "", self.application

    @property
    def application_key(self) -> tuple[str, str]:
        """The same application on every cluster."""
        return self.principal or "", self.application


@dataclass(frozen=True)
class Point:
    """The applications of one cluster after its report of `day`."""

    day: dt.date
    tracks: tuple[Track, ...]


@dataclass(frozen=True)
class Course:
    """One cluster's `changes`, oldest first, and `points` after its newest reports, oldest first."""

    changes: tuple[StateChange, ...] = ()
    points: tuple[Point, ...] = ()


POINTS: Final = 4
"""Of each cluster: those before the days that a daily run makes again when data arrive late."""


def history(campaign: Campaign, answers: Iterable[Answer], until: dt.date) -> list[StateChange]:
    """All changes of state up to and including the day `until`, oldest first. Reports may come in any order and repeatedly: of
    each cluster and day the newest counts.
    """
    usable = [answer for answer in newest(answers, campaign.to_release) if answer.day <= until]
    return oldest_first(
        change
        for cluster in campaign.clusters
        for change in follow(campaign, cluster, [a for a in usable if a.cluster == cluster], until).changes
    )


def oldest_first(changes: Iterable[StateChange]) -> list[StateChange]:
    return sorted(changes, key=lambda change: (change.day, change.key))


def current(changes: Iterable[StateChange]) -> list[StateChange]:
    """The last change of each application, in the order of their keys."""
    last = {change.key: change for change in changes}
    return [last[key] for key in sorted(last)]


def follow(
    campaign: Campaign,
    cluster: str,
    answers: Iterable[Answer],
    until: dt.date,
    before: Course | None = None,
) -> Course:
    """The cluster's course up to the day `until`. `answers`: one for each day, oldest first; where `before` has a point, those after
    its last one, and its changes are those up to that day.
    """
    before = before or Course()
    start = before.points[-1] if before.points else None
    tracks = Tracks(campaign.gate.fail_on, campaign.gate.least_coverage, start.tracks if start else None)
    by_day = {answer.day: answer for answer in answers}
    changes, points = list(before.changes), list(before.points)
    last = {(change.principal, change.application): change for change in changes}
    statements = Statements(campaign.statements, cluster)
    for day in _days(campaign, by_day, start, until):
        if day in by_day:
            tracks.add(by_day[day])
            points = [*points, Point(day, tuple(tracks.by_key.values()))][-POINTS:]
        for key, track in tracks.by_key.items():
            if not (day in by_day or statements.change_on(track, day)):
                continue
            was = last.get(key)
            change = _state(campaign.name, statements, track, day, was)
            if change is not None and (was is None or _differs(was, change)):
                last[key] = change
                changes.append(change)
    return Course(tuple(changes), tuple(points))


def _days(
    campaign: Campaign, by_day: Iterable[dt.date], start: Point | None, until: dt.date
) -> list[dt.date]:
    """Days on which a state can change, after `start`: those of reports, and when statements begin and end."""
    days = set(by_day)
    if not days and start is None:
        return []
    first = start.day + _DAY if start else min(days)
    for statement in campaign.statements:
        days.add(statement.on)
        if statement.until is not None:
            days.add(statement.until + _DAY)
    return sorted(day for day in days if first <= day <= until)


def _differs(before: StateChange, now: StateChange) -> bool:
    """Another state, or a statement that was made anew."""
    return (before.state, before.by, before.until) != (now.state, now.by, now.until)


def _state(
    campaign: str, statements: Statements, track: Track, day: dt.date, before: StateChange | None
) -> StateChange | None:
    proved = track.evidence
    if not proved.state or proved.since is None:
        return None
    principal, name = track.key
    state, why, statement = _with_statements(statements, track, day)
    if before is None and track.formerly:
        why = f"{why} (until then counted as {', '.join(track.formerly)})"
    return StateChange(
        campaign,
        statements.cluster,
        principal,
        name,
        track.owner,
        track.contact,
        day,
        state,
        before.state if before else "",
        why,
        statement.by if statement else "",
        statement.until if statement else None,
        proved.affected[0].verdict,
        proved.affected[0].fix,
        tuple(sorted({rule for client in proved.affected for rule in client.rules})),
        proved.report_id,
        proved.since,
        track.formerly,
    )


def _with_statements(statements: Statements, track: Track, day: dt.date) -> tuple[str, str, Statement | None]:
    """State, why, and the statement that it rests on. What reports prove (fixed, quiet) stands above acknowledgements and promises,
    a waiver above all but fixed.
    """
    proved = track.evidence
    if proved.state in (FIXED, RENAMED):
        return proved.state, proved.why, None
    about = statements.about(track, day)
    if waiver := covering_waiver(about, track, day):
        return WAIVED, f"{waiver.text} (until {waiver.until})", waiver
    why = proved.why
    ended = [s for s in about if s.kind == plan.WAIVE and s.until is not None and s.until < day]
    if ended:
        why = f"the waiver of {ended[-1].by} ended on {max(s.until for s in ended if s.until)}: {why}"
    if proved.state == QUIET:
        return QUIET, why, None
    said = [s for s in about if s.kind != plan.WAIVE and not is_before_regression(s, proved)]
    latest = max(said, key=lambda s: s.on, default=None)
    if latest is None:
        return proved.state, why, None
    if latest.is_active(day):
        state = PROMISED if latest.kind == plan.PROMISE else ACKNOWLEDGED
        return state, latest.text or why, latest
    return proved.state, f"{latest.by} promised it until {latest.until}: {why}", None
