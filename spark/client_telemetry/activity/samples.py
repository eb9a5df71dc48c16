"""What was measured between two times, and the blocks of a window that it fills. Pure.

Points of sums are converted to counts between two times (counted):

    delta        the value counts from its start to its time. A lost push leaves a gap
    cumulative   the increase since the previous point. A changed start, or a smaller value, is a reset: the value
    counts from its own start, if that is reported and not before the last point; otherwise it is unknown
    unspecified  nothing can be derived (OTLP: AGGREGATION_TEMPORALITY_UNSPECIFIED), so the point is ignored

Clocks of clients differ from the broker's (300 s were seen): times are shifted by the difference between the point's
time and the arrival of its push.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]

MOST_BLOCKS = 12
LEAST_COVERAGE = 0.5
"""Share of a block that counts must cover: with less, its rate is unknown."""
_SAME = 1e-6


class Sample(NamedTuple):
    """A count: `value` between two times. A gauge: the value reported at `until`; `since` is then the same."""

    since: float
    until: float
    value: float


class SumPoint(NamedTuple):
    """A data point of a monotonic sum. Times in seconds by the client's clock, None if not reported; `received` by the
    broker's.
    """

    received: float
    start: float | None
    time: float | None
    value: float


def counted(points: Iterable[SumPoint], temporality: str | None) -> list[Sample]:
    """What one instance counted for one metric and set of attributes.

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
    samples: list[Sample] = []
    last: float | None = None  # by the client's clock
    for point in points:
        time = point.received if point.time is None else point.time
        if last is not None and time <= last + _SAME:
            continue  # the same push, received twice
        start = point.start
        if start is None:
            start = last  # as far as the previous one covers
        if start is not None and last is not None and start < last:
            start = last  # the overlap was counted with the previous push
        last = time
        if start is None or time - start <= _SAME or not math.isfinite(point.value) or point.value < 0:
            continue
        shift = point.received - time
        samples.append(Sample(start + shift, time + shift, point.value))
    return samples


def _of_totals(points: Sequence[SumPoint]) -> list[Sample]:
    samples: list[Sample] = []
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
                samples.append(Sample(last + shift, time + shift, point.value - before.value))
            elif point.start is not None and point.start >= last - _SAME and time - point.start > _SAME:
                samples.append(Sample(point.start + shift, time + shift, point.value))
        before = point
    return samples


def block_edges(window: tuple[float, float], shortest: float) -> Values:
    """Edges of equal blocks, at most MOST_BLOCKS and none shorter than `shortest`."""
    since, until = window
    number = max(1, min(MOST_BLOCKS, int((until - since) // max(shortest, 1.0))))
    return np.linspace(since, until, number + 1)


def counts(samples: Sequence[Sample], edges: Values, *, is_covered: bool = False) -> tuple[Values, Values]:
    """The count in each block, and how many seconds of it are covered: a sample is spread evenly over its time.
    `is_covered`: no samples means that nothing happened, as in what brokers record.
    """
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
            block_start = first_edge + block * length
            within = max(min(end, block_start + length) - max(begin, block_start), 0.0)
            amounts[block] += value * within / duration
            seconds[block] += within
    if is_covered:
        return np.array(amounts), np.full(number, length)
    return np.array(amounts), np.minimum(seconds, length)


def rates(samples: Sequence[Sample], edges: Values, *, is_covered: bool = False) -> Values:
    """Counts per minute in each block; NaN if less than LEAST_COVERAGE of it is covered."""
    amounts, seconds = counts(samples, edges, is_covered=is_covered)
    length = float(edges[1] - edges[0])
    is_known = seconds >= LEAST_COVERAGE * length
    return np.where(is_known, amounts / np.maximum(seconds, 1e-9) * 60, np.nan)


def means(samples: Sequence[Sample], edges: Values) -> Values:
    """Mean of the gauge in each block; NaN if it was not reported."""
    number = len(edges) - 1
    sums, weights = np.zeros(number), np.zeros(number)
    length = float(edges[1] - edges[0])
    for _, at, value in samples:
        block = int((at - float(edges[0])) / length)
        if 0 <= block < number and math.isfinite(value):
            sums[block] += value
            weights[block] += 1
    return np.where(weights > 0, sums / np.maximum(weights, 1), np.nan)
