"""A campaign's history as it was recorded, run by run: rows are added and never changed. What a later run computes otherwise
(reports of an old day were made again, or a statement was added) is a further revision of the same change.
"""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from client_telemetry.campaign.states import StateChange
from client_telemetry.campaign.vocabulary import WITHDRAWN

_Place = tuple[dt.date, tuple[str, str, str]]
_CORRECTED: Final = "reports or statements of that day changed"


@dataclass(frozen=True)
class Recorded:
    """`revision`: from 1, of the same application and day. `recorded_on`: the day up to which the run computed states."""

    change: StateChange
    revision: int
    recorded_on: dt.date


def added(recorded: Iterable[Recorded], computed: Iterable[StateChange], until: dt.date) -> list[Recorded]:
    """What a run that computed states up to the day `until` adds: nothing if it says the same. Later days are not its business."""
    newest = _newest(recorded)
    now = {_place(change): change for change in computed if change.day <= until}
    rows = []
    for place in sorted(newest.keys() | now.keys()):
        was, change = newest.get(place), now.get(place)
        if place[0] > until or _said(was.change if was else None) == _said(change):
            continue
        if change is None and was is not None:
            change = replace(was.change, state=WITHDRAWN, why=_CORRECTED, by="", until=None)
        if change is not None:
            rows.append(Recorded(change, was.revision + 1 if was else 1, until))
    return rows


def history(recorded: Iterable[Recorded]) -> list[StateChange]:
    """The changes that stand, oldest first."""
    standing = [row.change for row in _newest(recorded).values() if row.change.state != WITHDRAWN]
    return sorted(standing, key=_place)


def _newest(recorded: Iterable[Recorded]) -> dict[_Place, Recorded]:
    newest: dict[_Place, Recorded] = {}
    for row in recorded:
        place = _place(row.change)
        if place not in newest or newest[place].revision < row.revision:
            newest[place] = row
    return newest


def _place(change: StateChange) -> _Place:
    return change.day, change.key


def _said(change: StateChange | None) -> Sequence[object] | None:
    """What makes a change another one; None for one that does not stand."""
    if change is None or change.state == WITHDRAWN:
        return None
    return change.state, change.before, change.by, change.until
