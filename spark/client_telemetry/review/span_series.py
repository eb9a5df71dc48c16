"""What a series of requests shows, for many series at once: compiled. The same rules for one series, as Python: regularity.py,
tracks.py (last_before, within) and samples.py (counts); a test compares them.

A series is the requests of one client and function (or API), as SPANs in order of time.
"""

from typing import NamedTuple

import numpy as np
from numba import from_dtype, types

from client_telemetry.activity.samples import Values
from client_telemetry.formats.raw.wire import compiled
from client_telemetry.review.phases import Phase
from client_telemetry.review.regularity import LEAST_REQUESTS, LEAST_TOLERANCE_SECONDS
from client_telemetry.review.tracks import SPANS_LOOKED_BACK
from client_telemetry.workers.columns import Vector

SPAN = np.dtype([("first", "f8"), ("last", "f8"), ("requests", "i8"), ("is_new", "i4")])
"""Times in seconds. `is_new`: whether it was on an upgraded broker."""
RECENT_SECONDS = 60.0
_SMALL = 64
"""Series of as many spans are sorted in place."""


class SpanSeries(NamedTuple):
    """`keys`: of each series, ascending; `starts`: where its spans begin, one more than there are series."""

    keys: Vector
    starts: Vector
    spans: Vector


class Before(NamedTuple):
    """By series: regularity.Regularity of a time, usually the one before the upgrade. `requests` is 0 where there is none,
    `tolerance` NaN where it is not known."""

    requests: Vector
    first: Vector
    last: Vector
    tolerance: Vector


class After(NamedTuple):
    """By series, of one phase. `last`: when the latest request began by its end was made, NaN = none; `requests`: within the times
    of its rate; `is_tested`: whether an upgraded broker answered within the phase; `is_recent`: whether it was there in the
    RECENT_SECONDS before the end of what was recorded of it."""

    last: Vector
    requests: Vector
    is_tested: Vector
    is_recent: Vector


def in_series(keys: Vector, spans: Vector) -> SpanSeries:
    """SPANs by key (int64), in order of time."""
    order = np.argsort(keys, kind="stable")
    in_order = keys[order]
    starts = np.flatnonzero(np.diff(in_order, prepend=in_order[0] - 1 if len(order) else 0))
    ordered = spans.take(order)
    bounds = np.append(starts, len(order)).astype(np.int64)
    _sort(ordered, bounds)
    return SpanSeries(in_order[starts], bounds, ordered)


def before(series: SpanSeries, since: float, until: float, slot_seconds: float) -> Before:
    count = len(series.keys)
    found = Before(np.zeros(count, np.int64), np.zeros(count), np.zeros(count), np.full(count, np.nan))
    _regularities(series.spans, series.starts, since, until, slot_seconds, *found)
    return found


def after(series: SpanSeries, phase: Phase, rate_since: float) -> After:
    count = len(series.keys)
    found = After(
        np.full(count, np.nan),
        np.zeros(count, np.int64),
        np.zeros(count, np.bool_),
        np.zeros(count, np.bool_),
    )
    until = phase.until, phase.recorded_until
    _in_phase(series.spans, series.starts, phase.since, *until, rate_since, *found)
    return found


def amounts(series: SpanSeries, edges: Values) -> Values:
    """float64[series, blocks]: what was counted in each block (samples.counts)."""
    found = np.zeros((len(series.keys), len(edges) - 1))
    length = float(edges[1] - edges[0])
    _counts(series.spans, series.starts, float(edges[0]), float(edges[-1]), length, found)
    return found


def counted(series: SpanSeries, since: float, until: float) -> Vector:
    """int64[series]: requests of the spans that touch a window."""
    found = np.zeros(len(series.keys), np.int64)
    _count(series.spans, series.starts, since, until, found)
    return found


def usual_durations(series: SpanSeries, since: float, until: float) -> Vector:
    """float64[series]: seconds that the middle one of the spans lasts that touch the time; 0 of none."""
    found = np.zeros(len(series.keys))
    _middle_durations(series.spans, series.starts, since, until, found)
    return found


_SPANS, _STARTS = from_dtype(SPAN)[::1], types.int64[::1]
_F8, _I8, _B1 = types.float64[::1], types.int64[::1], types.boolean[::1]


@compiled(types.void(_SPANS, _STARTS))
def _sort(spans, starts):
    for series in range(len(starts) - 1):
        begin, end = starts[series], starts[series + 1]
        if end - begin > _SMALL:
            own = spans[begin:end]
            own[:] = own[np.argsort(own["first"], kind="mergesort")]
        for place in range(begin + 1, end):
            first, last, requests = spans[place].first, spans[place].last, spans[place].requests
            is_new, at = spans[place].is_new, place
            while at > begin:
                other = spans[at - 1]
                if other.first < first or (
                    other.first == first
                    and (other.last < last or (other.last == last and other.requests <= requests))
                ):
                    break
                spans[at].first, spans[at].last = other.first, other.last
                spans[at].requests, spans[at].is_new = other.requests, other.is_new
                at -= 1
            spans[at].first, spans[at].last = first, last
            spans[at].requests, spans[at].is_new = requests, is_new


@compiled(types.void(_SPANS, _STARTS, types.float64, types.float64, types.float64, _I8, _F8, _F8, _F8))
def _regularities(spans, starts, since, until, slot_seconds, requests, begun_at, last_request, tolerance):
    for series in range(len(starts) - 1):
        begun, last, count, longest, start = False, 0.0, 0, 0.0, 0.0
        for place in range(starts[series], starts[series + 1]):
            span = spans[place]
            if span.last < since or span.first >= until:
                continue
            first, end = max(span.first, since), min(span.last, until)
            if not begun:
                begun, start, last = True, first, end
            longest = max(longest, first - last)
            if span.requests > 1:
                longest = max(longest, (end - first) / (span.requests - 1))
            last = max(last, end)
            count += span.requests
        requests[series], begun_at[series], last_request[series] = count, start, last
        if count >= LEAST_REQUESTS and last - start >= max(slot_seconds, longest):
            tolerance[series] = max(LEAST_TOLERANCE_SECONDS, 2 * slot_seconds, 3 * longest)


@compiled(
    types.void(
        _SPANS, _STARTS, types.float64, types.float64, types.float64, types.float64, _F8, _I8, _B1, _B1
    )
)
def _in_phase(
    spans, starts, since, until, recorded_until, rate_since, last_request, requests, is_tested, is_recent
):
    for series in range(len(starts) - 1):
        begin, end = starts[series], starts[series + 1]
        begun = begin
        while begun < end and spans[begun].first <= until:
            begun += 1
        for place in range(max(begin, begun - SPANS_LOOKED_BACK), begun):
            at = min(spans[place].last, until)
            if np.isnan(last_request[series]) or at > last_request[series]:
                last_request[series] = at
        for place in range(begin, end):
            span = spans[place]
            if span.first >= until:
                continue
            if span.last >= rate_since and span.first < recorded_until:
                requests[series] += span.requests
            if span.last >= since and span.is_new:
                is_tested[series] = True
            if span.last >= recorded_until - RECENT_SECONDS:
                is_recent[series] = True


@compiled(types.void(_SPANS, _STARTS, types.float64, types.float64, types.float64, types.float64[:, ::1]))
def _counts(spans, starts, first_edge, last_edge, length, found):
    number = found.shape[1]
    for series in range(len(starts) - 1):
        for place in range(starts[series], starts[series + 1]):
            span = spans[place]
            if span.last < first_edge or span.first >= last_edge:
                continue
            duration = span.last - span.first
            if duration <= 0:
                block = min(number - 1, max(0, int((span.first - first_edge) / length)))
                found[series, block] += span.requests
                continue
            begin, end = max(span.first, first_edge), min(span.last, last_edge)
            stop = min(number - 1, int((end - first_edge) / length)) + 1
            for block in range(int((begin - first_edge) / length), stop):
                left = first_edge + block * length
                within = max(min(end, left + length) - max(begin, left), 0.0)
                found[series, block] += span.requests * within / duration


@compiled(types.void(_SPANS, _STARTS, types.float64, types.float64, _I8))
def _count(spans, starts, since, until, found):
    for series in range(len(starts) - 1):
        for place in range(starts[series], starts[series + 1]):
            if spans[place].last >= since and spans[place].first < until:
                found[series] += spans[place].requests


@compiled(types.void(_SPANS, _STARTS, types.float64, types.float64, _F8))
def _middle_durations(spans, starts, since, until, found):
    for series in range(len(starts) - 1):
        durations = np.empty(starts[series + 1] - starts[series])
        count = 0
        for place in range(starts[series], starts[series + 1]):
            if spans[place].last >= since and spans[place].first < until:
                durations[count] = spans[place].last - spans[place].first
                count += 1
        if count:
            found[series] = np.sort(durations[:count])[count // 2]
