"""What the order of an instance's pushes of a day tells: silences, intervals, changes. Compiled.

The rules stand in tables/client_sessions.py.
"""

from typing import Any

import numpy as np
from numba import from_dtype, njit, types

from client_telemetry.formats.raw.wire import compiled
from client_telemetry.sessionize.push_groups import LAST, PUSH, read_only
from client_telemetry.tables.client_sessions import LARGEST_PUSH_INTERVAL_MS, MIN_GAP_MS

TIMING = np.dtype(
    [
        (name, "i8")
        for name in (
            "first_group",
            "last_group",
            "first_software",
            "last_software",
            "first_reported_ms",
            "last_reported_ms",
            "first_observed_ms",
            "last_observed_ms",
            "last_ordinary_at",
            "gaps",
            "gap_us",
            "subscription_changes",
            "too_early",
        )
    ]
)
"""Of one instance. Groups: those of its first and last push; software: number of the first and last known one, -1 =
none; intervals: 0 = none; `too_early`: pushes closer to the one before than half the interval."""

TRAITS = np.dtype(
    [
        (name, "i4")
        for name in (
            "instance",
            "incarnation",
            "software",
            "reported_ms",
            "subscription_id",
            "has_subscription",
            "is_ordinary",
        )
    ]
)
"""Of one group: numbers of its instance, broker incarnation and software, -1 = not known; interval that the broker reported,
0 = none; whether its pushes are neither terminating nor rejected."""

_FEW_DISTANCES = 3
_NONE = LAST


def in_order(pushes: np.ndarray, traits: np.ndarray, instances: int) -> tuple[np.ndarray, np.ndarray]:
    """The order of their sessions: int32[n], pushes by instance, time, broker incarnation and sequence; and where each
    instance begins, int64[instances + 1]. `traits`: TRAITS of the groups of `pushes`."""
    bounds = np.zeros(instances + 1, np.int64)
    order, scratch = np.empty(len(pushes), np.int32), np.empty(len(pushes), np.int32)
    _sort(pushes, traits, bounds, order, scratch)
    return order, bounds


def timings(pushes: np.ndarray, traits: np.ndarray, order: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """TIMING of each instance, from what in_order tells."""
    found = np.zeros(len(bounds) - 1, TIMING)
    _measure(pushes, traits, order, bounds, found)
    return found


_PUSHES, _TRAITS = from_dtype(PUSH)[::1], from_dtype(TRAITS)[::1]


@njit
def _comes_later(pushes, traits, one, other):
    """Whether push `one` comes after push `other` of the same instance."""
    a, b = pushes[one], pushes[other]
    if a.at_us != b.at_us:
        return a.at_us > b.at_us
    there, here = traits[a.group].incarnation, traits[b.group].incarnation
    return there > here if there != here else a.sequence > b.sequence


@njit
def _end_of_run(pushes, traits, order, begin, end):
    at = begin + 1
    while at < end and not _comes_later(pushes, traits, order[at - 1], order[at]):
        at += 1
    return at


@njit
def _merge_runs(pushes, traits, order, begin, end, scratch):
    """Merge pairs of neighbouring runs until one is left: data files hold pushes nearly in order."""
    while _end_of_run(pushes, traits, order, begin, end) < end:
        at = begin
        while at < end:
            middle = _end_of_run(pushes, traits, order, at, end)
            stop = _end_of_run(pushes, traits, order, middle, end) if middle < end else end
            left, right = at, middle
            for into in range(at, stop):
                if right == stop or (
                    left < middle and not _comes_later(pushes, traits, order[left], order[right])
                ):
                    scratch[into] = order[left]
                    left += 1
                else:
                    scratch[into] = order[right]
                    right += 1
            at = stop
        order[begin:end] = scratch[begin:end]


@compiled(types.void(_PUSHES, _TRAITS, types.int64[::1], types.int32[::1], types.int32[::1]))
def _sort(pushes, traits, bounds, order, scratch):
    for push in range(len(pushes)):
        bounds[traits[pushes[push].group].instance + 1] += 1
    for instance in range(1, len(bounds)):
        bounds[instance] += bounds[instance - 1]
    # Each bound moves to the end of its instance, which is where the next one begins.
    for push in range(len(pushes)):
        instance = traits[pushes[push].group].instance
        order[bounds[instance]] = push
        bounds[instance] += 1
    for instance in range(len(bounds) - 1, 0, -1):
        bounds[instance] = bounds[instance - 1]
    bounds[0] = 0
    for instance in range(len(bounds) - 1):
        _merge_runs(pushes, traits, order, bounds[instance], bounds[instance + 1], scratch)


def gap_ms(interval_ms: Any) -> Any:
    """How long a silence is a gap; the interval is 0 if not known. Of one number or of an array."""
    return np.maximum(MIN_GAP_MS, 3 * (interval_ms + LARGEST_PUSH_INTERVAL_MS * (interval_ms == 0)))


_gap_ms = njit(gap_ms)


@njit
def _ordinary_at(pushes, traits, order, begin, end, place):
    if place < begin or place >= end:
        return _NONE
    push = pushes[order[place]]
    return push.at_us if traits[push.group].is_ordinary else _NONE


@njit
def _observed_ms(pushes, traits, order, begin, end, first, last, distances):
    """The interval that the distances which end at the places `first` to `last` tell, between ordinary pushes that
    follow each other: their median, the lower one of an even number; 0 if there is none. `distances` has room for them."""
    count = 0
    before = _ordinary_at(pushes, traits, order, begin, end, first - 1)
    for place in range(first, last + 1):
        here = _ordinary_at(pushes, traits, order, begin, end, place)
        if here != _NONE and before != _NONE:
            at = count
            while at > 0 and distances[at - 1] > here - before:
                distances[at] = distances[at - 1]
                at -= 1
            distances[at] = here - before
            count += 1
        before = here
    if count == 0:
        return 0
    observed = max(distances[(count - 1) // 2] // 1000, 1)
    # One silence among one or two distances would pass for the interval.
    return min(observed, LARGEST_PUSH_INTERVAL_MS) if count < _FEW_DISTANCES else observed


@njit
def _step(pushes, traits, order, begin, end, place, distances, its):
    """What a push tells together with the one before it."""
    push, before = pushes[order[place]], pushes[order[place - 1]]
    now, then = traits[push.group], traits[before.group]
    silence_us = push.at_us - before.at_us
    if silence_us > MIN_GAP_MS * 1000:
        in_force_ms = np.int64(max(now.reported_ms, then.reported_ms))
        if in_force_ms == 0:
            in_force_ms = _observed_ms(pushes, traits, order, begin, end, place - 2, place + 2, distances)
        if silence_us > _gap_ms(in_force_ms) * 1000:
            its.gaps += 1
            its.gap_us += silence_us
    both_reported = now.reported_ms > 0 and then.reported_ms > 0
    if (both_reported and now.reported_ms != then.reported_ms) or (
        now.has_subscription and then.has_subscription and now.subscription_id != then.subscription_id
    ):
        its.subscription_changes += 1
    if (
        both_reported
        and now.is_ordinary
        and then.is_ordinary
        and silence_us * 2 < np.int64(min(now.reported_ms, then.reported_ms)) * 1000
        and now.incarnation == then.incarnation
    ):
        its.too_early += 1


@compiled(
    types.void(_PUSHES, _TRAITS, read_only(types.int32), read_only(types.int64), from_dtype(TIMING)[::1])
)
def _measure(pushes, traits, order, bounds, timings):
    distances = np.empty(5, np.int64)
    for instance in range(len(timings)):
        begin, end = bounds[instance], bounds[instance + 1]
        its = timings[instance]
        its.first_software, its.last_software, its.last_ordinary_at = -1, -1, _NONE
        its.first_group, its.last_group = pushes[order[begin]].group, pushes[order[end - 1]].group
        its.first_reported_ms, its.last_reported_ms = (
            traits[its.first_group].reported_ms,
            traits[its.last_group].reported_ms,
        )
        its.first_observed_ms = _observed_ms(
            pushes, traits, order, begin, end, begin + 1, begin + 3, distances
        )
        its.last_observed_ms = _observed_ms(pushes, traits, order, begin, end, end - 5, end - 1, distances)
        for place in range(begin, end):
            push = pushes[order[place]]
            its_traits = traits[push.group]
            if its_traits.software >= 0:
                its.last_software = its_traits.software
                if its.first_software < 0:
                    its.first_software = its_traits.software
            if its_traits.is_ordinary:
                its.last_ordinary_at = push.at_us
            if place > begin:
                _step(pushes, traits, order, begin, end, place, distances, its)
