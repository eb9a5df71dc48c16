"""Which of the things that people said are about an application on a day."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Sequence
from operator import itemgetter

from client_telemetry.campaign import plan
from client_telemetry.campaign.answers import Client
from client_telemetry.campaign.evidence import Evidence
from client_telemetry.campaign.plan import Statement, Target
from client_telemetry.campaign.tracks import Track

_DAY = dt.timedelta(days=1)


class Statements:
    """Statements of a campaign that can be about applications of one cluster."""

    def __init__(self, statements: Iterable[Statement], cluster: str) -> None:
        self.cluster = cluster
        self._by_name: dict[str | None, list[tuple[int, Statement]]] = defaultdict(list)
        for place, statement in enumerate(statements):
            if statement.target.cluster in (None, cluster):
                self._by_name[statement.target.application].append((place, statement))

    def about(self, track: Track, day: dt.date) -> list[Statement]:
        """Made by that day, in the file's order; those that have ended, too."""
        return [s for s in self._candidates(track) if s.on <= day and _applies(s.target, track)]

    def change_on(self, track: Track, day: dt.date) -> bool:
        """Whether a statement that can be about the application begins on that day, or ended on the day before."""
        return any(
            s.on == day or (s.until is not None and s.until + _DAY == day) for s in self._candidates(track)
        )

    def _candidates(self, track: Track) -> list[Statement]:
        names = dict.fromkeys((None, track.key[1], *track.formerly))
        found = [placed for name in names for placed in self._by_name.get(name, ())]
        found.sort(key=itemgetter(0))
        return [statement for _, statement in found]


def is_before_regression(statement: Statement, proved: Evidence) -> bool:
    """Made before the application was fixed and affected again."""
    return proved.has_regressed and proved.since is not None and statement.on < proved.since


def covering_waiver(about: Sequence[Statement], track: Track, day: dt.date) -> Statement | None:
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


def _applies(target: Target, track: Track) -> bool:
    """Whether a statement is about an application, or about some client of it."""
    principal, name = track.key
    affected = track.evidence.affected
    return (
        (target.principal is None or target.principal == principal)
        and (target.application is None or target.application in (name, *track.formerly))
        and (target.owner is None or target.owner == track.owner)
        and (target.client_id is None or any(c.client_id == target.client_id for c in affected))
        and (target.rule is None or any(target.rule in c.rules for c in affected))
    )
