"""Before and after in what brokers count of every client: requests per API, refused requests. Pure.

Two windows of the same length, the first minute of the records and the minute after each change cut off. The unit of a client's
own comparison is a block of time; that of a version or an owner is the client. Rates of Fetch, and of requests that look for
leaders and coordinators, depend on where those are, so they are no metric here. Many comparisons are made at once: a change is
called where the false discovery rate stays below FALSE_DISCOVERY_RATE (Benjamini and Hochberg, 1995) and the change is larger
than what healthy clients differ by from one five minutes to the next.
"""

import math
import random
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from client_telemetry.compatibility import apis
from client_telemetry.review.activity import Evidence
from client_telemetry.review.phases import (
    ELECTION_AFTER_SECONDS,
    ELECTION_SECONDS,
    SETTLING_SECONDS,
    Upgrade,
)
from client_telemetry.review.tracks import Span, Track, tracks

FALSE_DISCOVERY_RATE = 0.01
LEAST_CHANGE = 0.15
"""Relative; Produce, OffsetCommit and Heartbeat of healthy clients stay within 5 % a minute over a roll."""
BLOCKS = 12
LEAST_BLOCKS = 6
LEAST_REQUESTS = 40
"""In the busier window: of fewer, a third less is chance."""
LEAST_MEMBERS = 3
"""Clients of a version or an owner, of fewer the single ones say as much."""
_RESAMPLES = 400
_NOT_A_RATE = frozenset((1, 3, 10, 18, 17, 36, 23, 2, 9, 71, 72))
"""Fetch, Metadata, FindCoordinator, ApiVersions, SaslHandshake, SaslAuthenticate, OffsetForLeaderEpoch, ListOffsets,
OffsetFetch, telemetry."""


class Windows(NamedTuple):
    before: tuple[float, float]
    after: tuple[float, float]


class Group(NamedTuple):
    """Whose metric it is: `scope` client, version or owner; what does not apply is None or empty."""

    scope: str
    client_id: str | None
    principal: str
    software_name: str
    software_version: str
    owner: str | None


class MetricChange(NamedTuple):
    """`estimate`: after / before, with its 95 % interval. Rates are a minute."""

    group: Group
    metric: str
    windows: Windows
    before: float
    after: float
    estimate: float
    low: float
    high: float
    instances: int
    p_value: float
    changed: bool
    direction: str
    worse: bool


def windows(upgrade: Upgrade, data_from: float) -> Windows | None:
    """The longest quiet time after the upgrade, and as long a time before it; None where either is too short."""
    since = max(upgrade.phases[0].since, data_from) + SETTLING_SECONDS
    until = upgrade.phases[0].until
    quiet: list[tuple[float, float]] = []
    for phase in upgrade.phases[1:]:
        if phase.name == "rolling":
            continue
        begin, end = max(phase.settled, phase.since + SETTLING_SECONDS), phase.until
        election = (upgrade.last_start or begin) + ELECTION_AFTER_SECONDS
        quiet += [(begin, min(end, election)), (max(begin, election + ELECTION_SECONDS), end)]
    after = max(quiet, key=lambda span: span[1] - span[0], default=(0.0, 0.0))
    length = min(until - since, after[1] - after[0])
    if length < SETTLING_SECONDS:
        return None
    return Windows((until - length, until), (after[0], after[0] + length))


def compare(
    found_tracks: Sequence[Track],
    times: Windows,
    slot_seconds: float,
    owner: Callable[[Track], str | None] = lambda track: None,
) -> list[MetricChange]:
    """All comparisons, changed or not. In order of group and metric."""
    found: list[MetricChange] = []
    by_version: dict[tuple[Group, str], list[tuple[float, float]]] = {}
    for track in found_tracks:
        name, version = max(
            track.versions, key=lambda v: track.versions[v][1], default=(track.key.software_name, "")
        )
        for metric, spans in _metrics(track):
            before, after = (_blocks(spans, window, slot_seconds) for window in times)
            if len(before) < LEAST_BLOCKS or max(_total(spans, window) for window in times) < LEAST_REQUESTS:
                continue
            own = Group("client", track.key.client_id, track.key.principal, name, version, None)
            found.append(_of_blocks(own, metric, times, before, after))
            rates = (_mean(before), _mean(after))
            if name != "unknown":
                by_version.setdefault((Group("version", None, "", name, version, None), metric), []).append(
                    rates
                )
            if (responsible := owner(track)) is not None:
                by_version.setdefault((Group("owner", None, "", "", "", responsible), metric), []).append(
                    rates
                )
    for (group, metric), members in by_version.items():
        if len(members) >= LEAST_MEMBERS:
            found.append(_of_members(group, metric, times, members))
    found.sort(key=lambda change: (str(change.group), change.metric))
    return controlled(found)


def of_review(evidence: Evidence, upgrade: Upgrade) -> list[MetricChange]:
    """All comparisons of an upgrade; none where the time before or after is too short."""
    if not evidence.activities:
        return []
    times = windows(upgrade, min(each.since for each in evidence.activities))
    if times is None:
        return []
    return compare(tracks(evidence.activities, upgrade.began), times, evidence.slot_seconds)


def row(change: MetricChange) -> dict[str, object]:
    """As metric_changes.csv and review.json have it."""
    group = change.group
    return {
        "scope": group.scope,
        "client_id": group.client_id,
        "principal": group.principal,
        "client_software_name": group.software_name,
        "client_software_version": group.software_version,
        "owner": group.owner,
        "metric": change.metric,
        "unit": "requests a minute",
        "before": round(change.before, 3),
        "after": round(change.after, 3),
        "estimate": round(change.estimate, 4),
        "low": round(change.low, 4),
        "high": round(change.high, 4),
        "instances": change.instances,
        "p_value": change.p_value,
        "changed": change.changed,
        "direction": change.direction,
        "worse": change.worse,
    }


def controlled(changes: Sequence[MetricChange]) -> list[MetricChange]:
    """With `changed` set by Benjamini and Hochberg's step-up over all of them, and by the size of the change."""
    ordered = sorted(range(len(changes)), key=lambda i: changes[i].p_value)
    accepted = 0
    for rank, index in enumerate(ordered, start=1):
        if changes[index].p_value <= FALSE_DISCOVERY_RATE * rank / len(changes):
            accepted = rank
    real = set(ordered[:accepted])
    return [_called(change, index in real) for index, change in enumerate(changes)]


def _called(change: MetricChange, is_significant: bool) -> MetricChange:
    is_large = not 1 / (1 + LEAST_CHANGE) <= change.estimate <= 1 + LEAST_CHANGE
    changed = is_significant and is_large
    direction = "same" if not changed else "up" if change.estimate > 1 else "down"
    bad_direction = "up" if change.metric == "requests.refused" else "down"
    return change._replace(changed=changed, direction=direction, worse=changed and direction == bad_direction)


def _metrics(track: Track) -> Iterable[tuple[str, list[Span]]]:
    for key, spans in sorted(track.by_api.items()):
        if key not in _NOT_A_RATE:
            yield f"requests.{apis.name(key)}", spans
    refused = [Span(f.first, f.last, f.refused, f.incarnation) for f in track.failures if f.refused]
    if refused:
        yield "requests.refused", sorted(refused)


def _blocks(spans: Sequence[Span], window: tuple[float, float], slot_seconds: float) -> list[float]:
    """Requests a minute in equal blocks of the window; a span is spread evenly over the blocks that it touches."""
    since, until = window
    number = min(BLOCKS, int((until - since) // max(slot_seconds, 10.0)))
    if number < 1:
        return []
    length = (until - since) / number
    counts = [0.0] * number
    for span in spans:
        if span.last < since or span.first >= until:
            continue
        duration = span.last - span.first
        if duration <= 0:
            counts[min(number - 1, max(0, int((span.first - since) / length)))] += span.requests
            continue
        first, last = max(span.first, since), min(span.last, until)
        for block in range(int((first - since) / length), min(number - 1, int((last - since) / length)) + 1):
            begin = since + block * length
            share = (min(last, begin + length) - max(first, begin)) / duration
            counts[block] += span.requests * max(share, 0.0)
    return [count / length * 60 for count in counts]


def _total(spans: Sequence[Span], window: tuple[float, float]) -> int:
    return sum(span.requests for span in spans if span.last >= window[0] and span.first < window[1])


def _of_blocks(
    group: Group, metric: str, times: Windows, before: list[float], after: list[float]
) -> MetricChange:
    p_value = _welch(before, after)
    low, high = _interval(before, after, f"{group}{metric}")
    return _change(group, metric, times, _mean(before), _mean(after), low, high, 1, p_value)


def _of_members(
    group: Group, metric: str, times: Windows, members: list[tuple[float, float]]
) -> MetricChange:
    """The unit is the client: of each its rate before and after."""
    pairs = [math.log((after + 0.1) / (before + 0.1)) for before, after in members]
    mean = _mean(pairs)
    error = math.sqrt(_variance(pairs) / len(pairs)) or 0.01
    p_value = _two_sided(mean / max(error, 0.02), len(pairs) - 1)
    before, after = (_mean([pair[i] for pair in members]) for i in (0, 1))
    chance = random.Random(f"{group}{metric}")
    ratios = sorted(
        math.exp(_mean([pairs[chance.randrange(len(pairs))] for _ in pairs])) for _ in range(_RESAMPLES)
    )
    low, high = ratios[int(0.025 * _RESAMPLES)], ratios[int(0.975 * _RESAMPLES) - 1]
    return _change(group, metric, times, before, after, low, high, len(members), p_value)


def _change(
    group: Group,
    metric: str,
    times: Windows,
    before: float,
    after: float,
    low: float,
    high: float,
    instances: int,
    p_value: float,
) -> MetricChange:
    estimate = (after + 0.01) / (before + 0.01)
    return MetricChange(
        group,
        metric,
        times,
        before,
        after,
        estimate,
        min(low, estimate),
        max(high, estimate),
        instances,
        p_value,
        False,
        "same",
        False,
    )


def _welch(before: Sequence[float], after: Sequence[float]) -> float:
    """Two-sided p value of equal means. Clients are regular, so that blocks differ by what is cut at their edges: a variance
    below that of one request more or less in a block is not believed."""
    floor = (0.02 * (_mean(before) + _mean(after)) / 2) ** 2 + 1e-9
    variances = [max(_variance(values), floor) / len(values) for values in (before, after)]
    freedom = sum(variances) ** 2 / sum(
        v**2 / (len(values) - 1) for v, values in zip(variances, (before, after), strict=True)
    )
    return _two_sided((_mean(after) - _mean(before)) / math.sqrt(sum(variances)), freedom)


def _two_sided(t: float, freedom: float) -> float:
    """Of Student's distribution, by the normal one after Wallace's transformation (error below 0.001 for 5 and more degrees
    of freedom)."""
    freedom = max(freedom, 1.0)
    z = math.sqrt(freedom * math.log1p(t * t / freedom)) * (8 * freedom + 1) / (8 * freedom + 3)
    return min(1.0, math.erfc(z / math.sqrt(2)))


def _interval(before: Sequence[float], after: Sequence[float], seed: str) -> tuple[float, float]:
    """95 % of the ratios of resampled means."""
    chance = random.Random(seed)

    def resampled(values: Sequence[float]) -> float:
        return _mean([values[chance.randrange(len(values))] for _ in values])

    ratios = sorted((resampled(after) + 0.01) / (resampled(before) + 0.01) for _ in range(_RESAMPLES))
    return ratios[int(0.025 * _RESAMPLES)], ratios[int(0.975 * _RESAMPLES) - 1]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _variance(values: Sequence[float]) -> float:
    mean = _mean(values)
    return math.fsum((value - mean) ** 2 for value in values) / max(len(values) - 1, 1)
