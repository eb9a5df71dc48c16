"""How fast a campaign comes to its end: applications left by day, and how many would be left on a later day at this pace."""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final

from client_telemetry.campaign.states import StateChange
from client_telemetry.campaign.vocabulary import LEFT

LOOK_BACK_DAYS: Final = 28
LEAST_DAYS: Final = 7
"""A history shorter than this has no pace."""
_NINETY_PERCENT: Final = 1.645
"""Normal quantile of a two-sided interval of 90 %."""


@dataclass(frozen=True)
class DayCount:
    """Applications at the end of a UTC day: `left` to do, `waived`, and `fixed`."""

    day: dt.date
    left: int
    waived: int
    fixed: int


@dataclass(frozen=True)
class Forecast:
    """Applications left on `day` at the pace of the last `of_days` days; `low` to `high`: in 9 of 10 cases, if applications are
    fixed and appear independently of each other.
    """

    day: dt.date
    left: int
    low: int
    high: int
    of_days: int


def burn_down(changes: Sequence[StateChange], until: dt.date) -> list[DayCount]:
    """Each day from the first change; `changes`: oldest first."""
    counts: list[DayCount] = []
    states: dict[tuple[str, str, str], str] = {}
    place = 0
    day = changes[0].day if changes else until + dt.timedelta(days=1)
    while day <= until:
        while place < len(changes) and changes[place].day <= day:
            states[changes[place].key] = changes[place].state
            place += 1
        values = list(states.values())
        left = sum(state in LEFT for state in values)
        counts.append(DayCount(day, left, values.count("waived"), values.count("fixed")))
        day += dt.timedelta(days=1)
    return counts


def forecast(changes: Sequence[StateChange], until: dt.date, target: dt.date) -> Forecast | None:
    """None without a pace: too short a history, nothing that changed, or a target that is not in the future.

    What left and what came in the last weeks is taken as two Poisson processes: the variance of their difference is their sum.
    """
    counts = burn_down(changes, until)
    if len(counts) <= LEAST_DAYS or target <= until:
        return None
    days = min(LOOK_BACK_DAYS, len(counts) - 1)
    since = until - dt.timedelta(days=days)
    done, came = moves(changes, since)
    if not done and not came:
        return None
    scale = (target - until).days / days
    left, net = counts[-1].left, done - came
    spread = _NINETY_PERCENT * sqrt(done + came)
    expected, low, high = (
        max(0, round(left - scale * change)) for change in (net, net + spread, net - spread)
    )
    return Forecast(target, expected, low, high, days)


def moves(changes: Iterable[StateChange], since: dt.date) -> tuple[int, int]:
    """How many applications left and entered the states in which something is to do, after the day `since`. An application that
    is renamed neither leaves nor enters.
    """
    done = came = 0
    for change in changes:
        if change.day <= since or change.state == "renamed" or (change.formerly and not change.before):
            continue
        was, is_left = change.before in LEFT, change.state in LEFT
        done += was and not is_left
        came += is_left and not was
    return done, came
