"""Which times before and after an upgrade are compared: quiet, of the same length, at the same hours. Pure."""

from typing import NamedTuple

from client_telemetry.review.phases import (
    ELECTION_AFTER_SECONDS,
    ELECTION_SECONDS,
    ROLLING,
    SETTLING_SECONDS,
    Upgrade,
)

DAY_SECONDS = 86400.0
LONGEST_SECONDS = DAY_SECONDS


class Windows(NamedTuple):
    before: tuple[float, float]
    after: tuple[float, float]


def windows(upgrade: Upgrade, data_from: float) -> Windows | None:
    """The longest quiet time after the upgrade, and as long a time before it: at the same hours of an earlier day if
    the records go back far enough, otherwise the time until the first broker changed. Neither includes the roll, the
    minute after each change or the preferred leader election. None if either is too short.
    """
    since = max(upgrade.phases[0].since, data_from) + SETTLING_SECONDS
    until = upgrade.phases[0].recorded_until
    quiet: list[tuple[float, float]] = []
    for phase in upgrade.phases[1:]:
        if phase.name == ROLLING:
            continue
        begin, end = max(phase.settled, phase.since + SETTLING_SECONDS), phase.recorded_until
        election = (upgrade.last_start or begin) + ELECTION_AFTER_SECONDS
        quiet += [(begin, min(end, election)), (max(begin, election + ELECTION_SECONDS), end)]
    after = max(quiet, key=lambda span: span[1] - span[0], default=(0.0, 0.0))
    length = min(after[1] - after[0], LONGEST_SECONDS)
    days = 1
    while after[0] - days * DAY_SECONDS >= since:
        begin = after[0] - days * DAY_SECONDS
        if begin + length <= until:
            return Windows((begin, begin + length), (after[0], after[0] + length))
        days += 1
    length = min(length, until - since)
    if length < SETTLING_SECONDS:
        return None
    return Windows((until - length, until), (after[0], after[0] + length))
