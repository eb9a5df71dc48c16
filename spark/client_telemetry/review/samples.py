"""What was measured between two times, and the blocks of a window that it fills. Pure.

Points of sums are turned into what was counted between two times (counted):

    delta        the value counts from its start to its time. Of a lost push nothing is known: the time between is a gap
    cumulative   the increase since the point before. A start that changed, or a value that fell, is a reset: it counts from its
                 own start, where that is told and not before the last point; else nothing is known of it
    not told     nothing can be said (OTLP: AGGREGATION_TEMPORALITY_UNSPECIFIED), so it is left out

Clocks of clients differ from the broker's (300 s were seen): times are moved by what lies between the point's time and the arrival
of its push.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]

MOST_BLOCKS = 12
LEAST_COVERAGE = 0.5
"""Of a block, by counts: of less, its rate is not known."""
_SAME = 1e-6


class Sample(NamedTuple):
    """A count: `value` between two times. A gauge: the value that was told at `until`, `since` is then the same."""

    since: float
    until: float
    value: float


class SumPoint(NamedTuple):
    """A data point of a monotonic sum. Times in seconds by the client's clock, None where not told; `received` by the broker's."""

    received: float
    start: float | None
    time: float | None
    value: float


def counted(points: Iterable[SumPoint], temporality: str | None) -> list[Sample]:
    """What one instance counted of one metric and set of attributes.

    >>> counted([SumPoint(10, 0, 10, 4), SumPoint(30, 20, 30, 6)], "delta")
    [Sample(since=0, until=10, value=4), Sample(since=20, until=30, value=6)]
    >>> counted([SumPoint(10, 0, 10, 4), SumPoint(20, 0, 20, 9), SumPoint(30, 25, 30, 2)], "cumulative")
    [Sample(since=10, until=20, value=5), Sample(since=25, until=30, value=2)]
    """
    ordered = sorted(points, key=lambda point: (point.time or point.received, point.received))
    if temporality == "delta":
        return _of_deltas(ordered)
    if temporality == "cumulative":
        return _of_totals(ordered)
    return []


def _of_deltas(points: Sequence[SumPoint]) -> list[Sample]:
    found: list[Sample] = []
    last: float | None = None  # by the client's clock
    for point in points:
        time = point.received if point.time is None else point.time
        if last is not None and time <= last + _SAME:
            continue  # the same push, told twice
        start = point.start
        if start is None:
            start = last  # as long as the one before told of
        if start is not None and last is not None and start < last:
            start = last  # what overlaps was counted with the push before
        last = time
        if start is None or time - start <= _SAME or not math.isfinite(point.value) or point.value < 0:
            continue
        shift = point.received - time
        found.append(Sample(start + shift, time + shift, point.value))
    return found


def _of_totals(points: Sequence[SumPoint]) -> list[Sample]:
    found: list[Sample] = []
    before: SumPoint | None = None
    for point in points:
        time = point.received if point.time is None else point.time
        if not math.isfinite(point.value):
            continue
        shift = point.received - time
        if before is not None:
            last = before.received if before.time is None else before.time
            was_reset = point.value < before.value or (
                point.start is not None and before.start is not None and point.start > before.start + _SAME
            )
            if time <= last + _SAME:
                continue
            if not was_reset:
                found.append(Sample(last + shift, time + shift, point.value - before.value))
            elif point.start is not None and point.start >= last - _SAME and time - point.start > _SAME:
                found.append(Sample(point.start + shift, time + shift, point.value))
        before = point
    return found


def block_edges(window: tuple[float, float], shortest: float) -> Values:
    """Edges of equal blocks, MOST_BLOCKS at most and none shorter than `shortest`."""
    since, until = window
    number = max(1, min(MOST_BLOCKS, int((until - since) // max(shortest, 1.0))))
    return np.linspace(since, until, number + 1)


def counts(samples: Sequence[Sample], edges: Values, *, is_covered: bool = False) -> tuple[Values, Values]:
    """What was counted in each block, and for how many seconds of it: a sample is spread evenly over its time. `is_covered`:
    the absence of samples means that nothing happened, as in what brokers record."""
    number = len(edges) - 1
    amounts, seconds = [0.0] * number, [0.0] * number
    length = float(edges[1] - edges[0])
    first_edge, last_edge = float(edges[0]), float(edges[-1])
    for since, until, value in samples:
        if until < first_edge or since >= last_edge:
            continue
        duration = until - since
        if duration <= 0:
            amounts[min(number - 1, max(0, int((since - first_edge) / length)))] += value
            continue
        begin, end = max(since, first_edge), min(until, last_edge)
        first_block = int((begin - first_edge) / length)
        last_block = min(number - 1, int((end - first_edge) / length))
        if first_block == last_block:  # as most do
            amounts[first_block] += value * (end - begin) / duration
            seconds[first_block] += end - begin
            continue
        for block in range(first_block, last_block + 1):
            left = first_edge + block * length
            within = max(min(end, left + length) - max(begin, left), 0.0)
            amounts[block] += value * within / duration
            seconds[block] += within
    if is_covered:
        return np.array(amounts), np.full(number, length)
    return np.array(amounts), np.minimum(seconds, length)


def rates(samples: Sequence[Sample], edges: Values, *, is_covered: bool = False) -> Values:
    """Counts a minute in each block; NaN where less than LEAST_COVERAGE of it is known."""
    amounts, seconds = counts(samples, edges, is_covered=is_covered)
    length = float(edges[1] - edges[0])
    known = seconds >= LEAST_COVERAGE * length
    return np.where(known, amounts / np.maximum(seconds, 1e-9) * 60, np.nan)


def means(samples: Sequence[Sample], edges: Values) -> Values:
    """Mean of the gauge in each block; NaN where it was not told."""
    number = len(edges) - 1
    sums, weights = np.zeros(number), np.zeros(number)
    length = float(edges[1] - edges[0])
    for _, at, value in samples:
        block = int((at - float(edges[0])) / length)
        if 0 <= block < number and math.isfinite(value):
            sums[block] += value
            weights[block] += 1
    return np.where(weights > 0, sums / np.maximum(weights, 1), np.nan)
