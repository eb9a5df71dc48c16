"""Whether a client was watched long enough by its own rhythm: the difference between `safe` and `safe so far`.

The time watched is a row of CELLS cells; an API's activity is a number whose bit n is set if the client sent it in cell
n. A role is well observed in a stretch of time at least INTERVALS times as long as the role's longest silence in it,
counting the silences before its first and after its last request, and not shorter than SHORTEST_S. The stretch is the
whole time watched, or any part of it of DAY_S or longer: docs/decisions/0021.
"""

from collections.abc import Collection, Iterable, Mapping
from functools import cache, lru_cache

from client_telemetry.knowledge import roles
from client_telemetry.knowledge.api_key import ApiKey
from client_telemetry.knowledge.vocabulary import When

CELLS = 62
"""Keeps every set of cells a positive 64-bit number."""
INTERVALS = 3
"""Rule of three: what happens at random, once per interval on average, is seen within three of them with 95 %
probability.
"""
SHORTEST_S = 9 * 60
"""connections.max.idle.ms of Java clients (9 minutes; brokers: 10): a connection that is kept is used within it, and
metadata is asked for again (metadata.max.age.ms and librdkafka's topic.metadata.refresh.interval.ms: 5 minutes)."""
DAY_S = 24 * 60 * 60

_SHARED = frozenset((ApiKey.METADATA, ApiKey.FIND_COORDINATOR))
"""All roles send them, and they show none at work."""


def is_well_observed(
    client_roles: Collection[str], activity: Mapping[int, int], watched: int, cell_s: float
) -> bool:
    """Whether each role of a client was well observed or, for a client that shows no role, its requests as a whole.

    `activity`: API key -> cells in which the client sent it. `watched`: cells that count; requests in others do not.
    `cell_s`: seconds per cell.
    """
    if not client_roles:
        return _is_seen_enough(_combined(activity, activity.keys()), watched, cell_s)
    return all(
        _is_seen_enough(_combined(activity, recurring(role)), watched, cell_s) for role in client_roles
    )


@cache
def recurring(role: str) -> frozenset[int]:
    """The requests that show a role at work: those whose refusal stops it at once and that belong to this role alone.
    What depends on an event, such as the ListOffsets of an offset reset, has no rhythm, seen or not.
    """
    return frozenset(
        key for key, need in roles.needs()[role].items() if need.when == When.AT_ONCE and key not in _SHARED
    )


def _combined(activity: Mapping[int, int], keys: Iterable[int]) -> int:
    cells = 0
    for key in keys:
        cells |= activity.get(key, 0)
    return cells


@lru_cache(maxsize=10_000)
def _is_seen_enough(cells: int, watched: int, cell_s: float) -> bool:
    active = [bool(cells >> n & 1) for n in range(CELLS) if watched >> n & 1]
    if not any(active):
        return False
    longest = max(_silences(active))
    if _is_long_enough(len(active), longest, cell_s, SHORTEST_S):
        return True
    return any(
        _is_long_enough(length, silence, cell_s, DAY_S)
        for silence in set(_silences(active))
        for length in _stretches(active, silence)
    )


def _is_long_enough(length: int, silence: int, cell_s: float, shortest_s: float) -> bool:
    """`length`, `silence`: in cells. The gap between requests in two cells can be up to two cells longer than the
    silent cells between them.
    """
    return length >= INTERVALS * (silence + 2) and length * cell_s >= shortest_s


def _silences(active: list[bool]) -> list[int]:
    """Lengths of the runs of silent cells, 0 first."""
    lengths, run = [0], 0
    for is_active in active:
        run = 0 if is_active else run + 1
        if run:
            lengths.append(run)
    return lengths


def _stretches(active: list[bool], silence: int) -> list[int]:
    """Lengths of the longest stretches without a longer silence."""
    lengths, length, run = [], 0, 0
    for is_active in active:
        run = 0 if is_active else run + 1
        if run > silence:
            lengths.append(length)
            length = silence  # the end of this silence begins the next stretch
        else:
            length += 1
    return [*lengths, length]
