"""A campaign's states, continued from what an earlier run kept: only reports that are new, or of days after a change, are read."""

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from client_telemetry.campaign.answers import Answer, Facts, newest
from client_telemetry.campaign.kept import (
    NOTHING,
    Kept,
    KeptPoint,
    NotKept,
    basis,
    kept_point,
    newest_points,
)
from client_telemetry.campaign.plan import Campaign
from client_telemetry.campaign.states import Course, StateChange, follow, oldest_first


class Report(Protocol):
    """A published report. `digest`: of its content."""

    @property
    def digest(self) -> str: ...

    def answer(self) -> Answer | None:
        """None: it is about another target, or of an older schema."""


@dataclass(frozen=True)
class Standing:
    """`changes`: the whole history, oldest first. `reports`: all of them. `kept`: for the next run; None if there is nothing new to
    keep.
    """

    changes: tuple[StateChange, ...]
    reports: tuple[Facts, ...]
    kept: Kept | None = None


def stand(
    campaign: Campaign, reports: Iterable[Report], until: dt.date, kept: Kept | None = None
) -> Standing:
    """The same as `states.history` of all reports up to the day `until`, whatever was kept. Raises what reading a report raises."""
    try:
        return _continued(campaign, list(reports), until, kept or NOTHING)
    except NotKept:
        return _continued(campaign, list(reports), until, NOTHING)


def _continued(campaign: Campaign, reports: Sequence[Report], until: dt.date, kept: Kept) -> Standing:
    given = _Given(reports, kept.reports)
    usable = _usable(campaign, given.facts, kept)
    courses = {
        cluster: _course(campaign, cluster, given, until, kept, [p for p in usable if p.cluster == cluster])
        for cluster in campaign.clusters
    }
    facts = tuple(each for each in given.facts.values() if each.cluster in campaign.clusters)
    changes = tuple(oldest_first(change for course in courses.values() for change in course.changes))
    if any(each.day > until for each in facts):
        return Standing(changes, facts)
    added = (kept_point(campaign, name, point) for name, course in courses.items() for point in course.points)
    now = Kept(given.facts, changes, newest_points([*usable, *added]))
    return Standing(changes, facts, None if now == kept else now)


class _Given:
    """The reports that there are; new ones are read at once, known ones where their applications are needed."""

    def __init__(self, reports: Iterable[Report], known: Mapping[str, Facts]) -> None:
        self._reports = {report.digest: report for report in reports}
        self._read: dict[str, Answer] = {}
        self.facts: dict[str, Facts] = {}
        for digest, report in self._reports.items():
            if digest in known:
                self.facts[digest] = known[digest]
            elif answer := report.answer():
                self._read[digest] = answer
                self.facts[digest] = answer.facts

    def answers(self, wanted: Iterable[Facts]) -> Iterator[Answer]:
        digests = {facts: digest for digest, facts in self.facts.items()}
        for facts in wanted:
            digest = digests[facts]
            if answer := self._read.get(digest) or self._reports[digest].answer():
                yield answer


def _usable(campaign: Campaign, facts: Mapping[str, Facts], kept: Kept) -> list[KeptPoint]:
    """Points before every report that came, went or was made again, on the basis that holds now."""
    both = {**kept.reports, **facts}
    first: dict[str, dt.date] = {}
    for each in (both[digest] for digest in facts.keys() ^ kept.reports.keys()):
        first[each.cluster] = min(each.day, first.get(each.cluster, each.day))
    return [
        point
        for point in kept.points
        if point.day < first.get(point.cluster, dt.date.max) and point.basis == basis(campaign, point.day)
    ]


def _course(
    campaign: Campaign,
    cluster: str,
    given: _Given,
    until: dt.date,
    kept: Kept,
    usable: Sequence[KeptPoint],
) -> Course:
    """Its points: those that are new."""
    start = max((point for point in usable if point.day <= until), key=lambda point: point.day, default=None)
    after = start.day if start else dt.date.min
    of_cluster = (each for each in given.facts.values() if each.cluster == cluster)
    wanted = [each for each in newest(of_cluster, campaign.to_release) if after < each.day <= until]
    changes = tuple(each for each in kept.changes if each.cluster == cluster and each.day <= after)
    before = Course(changes if start else (), (start.point(),) if start else ())
    course = follow(campaign, cluster, given.answers(wanted), until, before)
    return Course(course.changes, tuple(point for point in course.points if point.day > after))
