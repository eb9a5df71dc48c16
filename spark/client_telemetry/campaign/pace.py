"""How fast a campaign comes to its end: applications left by day, and how many would be left on a later day at this pace."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final

from client_telemetry.campaign.states import StateChange
from client_telemetry.campaign.vocabulary import FIXED, LEFT, RENAMED, STATES, WAIVED

LOOK_BACK_DAYS: Final = 28
LEAST_DAYS: Final = 7
"""A history shorter than this has no pace."""
_DAY: Final = dt.timedelta(days=1)
_URGENCY: Final = {state: place for place, state in enumerate(STATES)}
_NINETY_PERCENT: Final = 1.645
"""Normal quantile of a two-sided interval of 90 %."""


Application = tuple[str, str]
"""Principal and name, whatever the cluster."""


@dataclass(frozen=True)
class DayCount:
    """Applications at the end of a UTC day: `left` to do on some cluster, otherwise `waived` or `fixed`. `done` and `came`: how many
    are no longer left, and how many newly, since the day before; one that was renamed is neither.
    """

    day: dt.date
    left: int
    waived: int
    fixed: int
    done: int
    came: int


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
    clusters: dict[Application, dict[str, str]] = defaultdict(dict)
    left: set[Application] = set()
    place = 0
    day = changes[0].day if changes else until + _DAY
    while day <= until:
        renamed = set()
        while place < len(changes) and changes[place].day <= day:
            change = changes[place]
            clusters[change.application_key][change.cluster] = change.state
            if change.state == RENAMED or (change.formerly and not change.before):
                renamed.add(change.application_key)
            place += 1
        states = {key: most_urgent(of_one.values()) for key, of_one in clusters.items()}
        was, left = left, {key for key, state in states.items() if state in LEFT}
        values = list(states.values())
        done, came = len(was - left - renamed), len(left - was - renamed)
        counts.append(DayCount(day, len(left), values.count(WAIVED), values.count(FIXED), done, came))
        day += _DAY
    return counts


def most_urgent(states: Iterable[str]) -> str:
    """Of an application that is on several clusters."""
    return min(states, key=_URGENCY.__getitem__)


def forecast(counts: Sequence[DayCount], target: dt.date) -> Forecast | None:
    """None without a pace: too short a history, nothing that changed, or a target that is not in the future.

    What left and what came in the last weeks is taken as two Poisson processes: the variance of their difference is their sum.
    """
    if len(counts) <= LEAST_DAYS or target <= counts[-1].day:
        return None
    recent = counts[1:][-LOOK_BACK_DAYS:]
    done, came = sum(each.done for each in recent), sum(each.came for each in recent)
    if not done and not came:
        return None
    scale = (target - counts[-1].day).days / len(recent)
    left, net = counts[-1].left, done - came
    spread = _NINETY_PERCENT * sqrt(done + came)
    expected, low, high = (
        max(0, round(left - scale * change)) for change in (net, net + spread, net - spread)
    )
    return Forecast(target, expected, low, high, len(recent))
