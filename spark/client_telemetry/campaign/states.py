"""States of the applications in a campaign, as a history of changes: what reports prove, and what people say about it."""

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from client_telemetry.campaign import plan
from client_telemetry.campaign.answers import Answer, Client, newest
from client_telemetry.campaign.evidence import Evidence
from client_telemetry.campaign.plan import Campaign, Statement, Target
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


def history(campaign: Campaign, answers: Iterable[Answer], until: dt.date) -> list[StateChange]:
    """All changes of state up to and including the day `until`, oldest first. Reports may come in any order and repeatedly: of
    each cluster and day the newest counts.
    """
    usable = [answer for answer in newest(answers, campaign.to_release) if answer.day <= until]
    changes = [
        change
        for cluster in campaign.clusters
        for change in _of_cluster(campaign, cluster, [a for a in usable if a.cluster == cluster], until)
    ]
    return sorted(changes, key=lambda change: (change.day, change.key))


def current(changes: Iterable[StateChange]) -> list[StateChange]:
    """The last change of each application, in the order of their keys."""
    last = {change.key: change for change in changes}
    return [last[key] for key in sorted(last)]


def _of_cluster(
    campaign: Campaign, cluster: str, answers: Sequence[Answer], until: dt.date
) -> Iterator[StateChange]:
    tracks = Tracks(campaign.gate.fail_on, campaign.gate.least_coverage)
    by_day = {answer.day: answer for answer in answers}
    last: dict[tuple[str | None, str], StateChange] = {}
    for day in _days(campaign, by_day, until):
        if day in by_day:
            tracks.add(by_day[day])
        for key, track in tracks.by_key.items():
            before = last.get(key)
            change = _state(campaign, cluster, track, day, before)
            if change is not None and (before is None or _differs(before, change)):
                last[key] = change
                yield change


def _days(campaign: Campaign, by_day: Iterable[dt.date], until: dt.date) -> list[dt.date]:
    """Days on which a state can change: those of reports, and when statements begin and end."""
    days = set(by_day)
    if not days:
        return []
    for statement in campaign.statements:
        days.add(statement.on)
        if statement.until is not None:
            days.add(statement.until + _DAY)
    return sorted(day for day in days if min(by_day) <= day <= until)


def _differs(before: StateChange, now: StateChange) -> bool:
    """Another state, or a statement that was made anew."""
    return (before.state, before.by, before.until) != (now.state, now.by, now.until)


def _state(
    campaign: Campaign, cluster: str, track: Track, day: dt.date, before: StateChange | None
) -> StateChange | None:
    proved = track.evidence
    if not proved.state or proved.since is None:
        return None
    principal, name = track.key
    state, why, statement = _with_statements(campaign, cluster, track, day)
    if before is None and track.formerly:
        why = f"{why} (until then counted as {', '.join(track.formerly)})"
    return StateChange(
        campaign.name,
        cluster,
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


def _with_statements(
    campaign: Campaign, cluster: str, track: Track, day: dt.date
) -> tuple[str, str, Statement | None]:
    """State, why, and the statement that it rests on. What reports prove (fixed, quiet) stands above acknowledgements and promises,
    a waiver above all but fixed.
    """
    proved = track.evidence
    if proved.state in (FIXED, RENAMED):
        return proved.state, proved.why, None
    about = [s for s in campaign.statements if s.on <= day and _applies(s.target, cluster, track)]
    if waiver := _waiver(about, cluster, track, day):
        return WAIVED, f"{waiver.text} (until {waiver.until})", waiver
    why = proved.why
    ended = [s for s in about if s.kind == plan.WAIVE and s.until is not None and s.until < day]
    if ended:
        why = f"the waiver of {ended[-1].by} ended on {max(s.until for s in ended if s.until)}: {why}"
    if proved.state == QUIET:
        return QUIET, why, None
    said = [s for s in about if s.kind != plan.WAIVE and not _is_about_before(s, proved)]
    latest = max(said, key=lambda s: s.on, default=None)
    if latest is None:
        return proved.state, why, None
    if latest.is_active(day):
        state = PROMISED if latest.kind == plan.PROMISE else ACKNOWLEDGED
        return state, latest.text or why, latest
    return proved.state, f"{latest.by} promised it until {latest.until}: {why}", None


def _is_about_before(statement: Statement, proved: Evidence) -> bool:
    """Made before the application was fixed and affected again."""
    return proved.has_regressed and proved.since is not None and statement.on < proved.since


def _waiver(about: Sequence[Statement], cluster: str, track: Track, day: dt.date) -> Statement | None:
    """The waiver that ends first of those that together cover all affected clients."""
    active = [s for s in about if s.kind == plan.WAIVE and s.is_active(day)]
    covering = []
    for client in track.evidence.affected:
        covers = [s for s in active if _covers(s.target, client, active)]
        if not covers:
            return None
        covering.append(max(covers, key=lambda s: (s.until or dt.date.max, s.on)))
    return min(covering, key=lambda s: (s.until or dt.date.max, s.on), default=None)


def _covers(target: Target, client: Client, active: Sequence[Statement]) -> bool:
    """A waived rule covers a client whose other rules are waived, too."""
    if target.client_id is not None and target.client_id != client.client_id:
        return False
    if target.rule is None:
        return True
    waived = {s.target.rule for s in active if s.target.client_id in (None, client.client_id)}
    return target.rule in client.rules and set(client.rules) <= waived


def _applies(target: Target, cluster: str, track: Track) -> bool:
    """Whether a statement is about an application, or about some client of it."""
    principal, name = track.key
    affected = track.evidence.affected
    return (
        target.cluster in (None, cluster)
        and (target.principal is None or target.principal == principal)
        and (target.application is None or target.application in (name, *track.formerly))
        and (target.owner is None or target.owner == track.owner)
        and (target.client_id is None or any(c.client_id == target.client_id for c in affected))
        and (target.rule is None or any(target.rule in c.rules for c in affected))
    )
