"""What an upgrade changed in metrics: in what brokers count for every client, and in what clients measure themselves.
Pure.

For every client: requests per minute for each API whose rate is meaningful, connections opened, the share of requests
that failed or were refused. Rates of Fetch, and of requests that look for leaders and coordinators, depend on where
those are, so they are not metrics. For instances that push (KIP-714): client_metrics.METRICS. windows.py chooses the
times to compare, comparison.py compares.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple, cast

import numpy as np

from client_telemetry.activity import samples as samples_of
from client_telemetry.activity.client_metrics import (
    BY_NAME,
    COUNT,
    DOWN,
    ERROR_SHARE,
    ERRORS,
    EVENTS,
    SENT,
    SHARE,
    UP,
    Metric,
    Series,
)
from client_telemetry.activity.comparison import (
    LEAST_BLOCKS,
    LEAST_MEMBERS,
    RATIO,
    Compared,
    Pair,
    Scale,
    accepted,
    compare,
    is_large,
)
from client_telemetry.activity.records import moment
from client_telemetry.activity.samples import Sample, Values
from client_telemetry.knowledge import apis, kip511
from client_telemetry.knowledge.api_key import ApiKey
from client_telemetry.review.tracks import Track
from client_telemetry.review.windows import Windows
from client_telemetry.subscriptions.instances import kafka_uuid
from client_telemetry.tables.rows import MetricChangeRow

LEAST_REQUESTS = 60
"""In the busier window: with fewer, a decrease by a third is chance."""
LEAST_OF_A_SHARE = 400
"""Requests or records in the busier window: 5 % of fewer cannot be distinguished from chance."""
LEAST_EVENTS = 5
LEAST_SPANS = 2.0
"""Records of a client per window; a snapshot covers a minute."""
SHORTEST_BLOCK_SECONDS = 10.0
NOT_A_RATE = frozenset(
    (
        ApiKey.FETCH,
        ApiKey.METADATA,
        ApiKey.FIND_COORDINATOR,
        ApiKey.API_VERSIONS,
        ApiKey.SASL_HANDSHAKE,
        ApiKey.SASL_AUTHENTICATE,
        ApiKey.OFFSET_FOR_LEADER_EPOCH,
        ApiKey.LIST_OFFSETS,
        ApiKey.OFFSET_FETCH,
        ApiKey.ADD_PARTITIONS_TO_TXN,
        ApiKey.ADD_OFFSETS_TO_TXN,
        ApiKey.GET_TELEMETRY_SUBSCRIPTIONS,
        ApiKey.PUSH_TELEMETRY,
    )
)
"""Fetch, Metadata, FindCoordinator, ApiVersions, SaslHandshake, SaslAuthenticate, OffsetForLeaderEpoch, ListOffsets,
OffsetFetch, AddPartitionsToTxn and AddOffsetsToTxn (no longer needed from transaction.version 2 on, KIP-890),
telemetry.
"""
REQUESTS = Scale(RATIO, 1.2, 0.01)
"""Produce, OffsetCommit and Heartbeat of healthy clients stay within 5 % per minute during a roll."""
FAILED = Metric(
    "requests.failed", COUNT, "share of requests", SHARE, UP, "requests that failed or were refused"
)
CONNECTIONS = Metric("connections.opened", COUNT, "a minute", EVENTS, UP, "connections opened")

CLIENT, INSTANCE, VERSION, OWNER = "client", "instance", "version", "owner"


class Group(NamedTuple):
    """Whose metric it is: `scope` client, instance, version or owner; fields that do not apply are None or empty."""

    scope: str
    client_id: str | None
    principal: str
    software_name: str
    software_version: str
    owner: str | None
    client_instance_id: bytes | None = None


class MetricChange(NamedTuple):
    """`estimate`: after / before, for a share after - before, with its 95 % interval."""

    group: Group
    metric: Metric
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


class Compare(NamedTuple):
    """A comparison to be made."""

    group: Group
    metric: Metric
    pair: Pair
    instances: int


class CompareColumns(NamedTuple):
    """Comparisons of clients' counts as columns: float64[n, blocks] before and after; floors and independent values by
    window, float64[n, 2] (comparison.Pair).
    """

    groups: list[Group]
    metrics: list[Metric]
    before: Values
    after: Values
    floors: Values
    independent: Values

    def comparisons(self) -> Iterator[Compare]:
        rows = zip(
            self.groups,
            self.metrics,
            self.before,
            self.after,
            map(tuple, self.floors.tolist()),
            map(tuple, self.independent.tolist()),
            strict=True,
        )
        for group, metric, before, after, floor, independent in rows:
            yield Compare(group, metric, Pair(metric.scale, before, after, floor, independent), 1)


def all_changes(
    of_tracks: Sequence[Compare],
    pushed: Sequence[Series],
    times: Windows,
    owner: Callable[[str | None, str], str | None],
) -> list[MetricChange]:
    """`of_tracks`: comparisons of each client (of_track)."""
    single = [
        *of_tracks,
        *(comparison for instance_series in pushed for comparison in _of_instance(instance_series, times)),
    ]
    # Intervals of groups come from resampled members, so the members' order matters.
    single = _in_order(single)
    every = single + _in_order(
        _of_groups(single, owner)
    )  # scopes owner and version come after client and instance
    compared = compare([comparison.pair for comparison in every])
    real = accepted([result.p_value for result in compared])
    return [
        _change(comparison, times, result, is_real)
        for comparison, result, is_real in zip(every, compared, real, strict=True)
    ]


def _in_order(comparisons: Iterable[Compare]) -> list[Compare]:
    found = list(comparisons)
    # One text for each group, which stands for several metrics.
    groups = {id(each.group): each.group for each in found}
    texts = {number: str(group) for number, group in groups.items()}
    return sorted(found, key=lambda comparison: (texts[id(comparison.group)], comparison.metric.name))


def _change(comparison: Compare, times: Windows, result: Compared, is_real: bool) -> MetricChange:
    changed = is_real and is_large(comparison.metric.scale, result)
    more = result.estimate > (1 if comparison.metric.scale.form == RATIO else 0)
    direction = "same" if not changed else UP if more else DOWN
    return MetricChange(
        comparison.group,
        comparison.metric,
        times,
        result.before,
        result.after,
        result.estimate,
        result.low,
        result.high,
        comparison.instances,
        result.p_value,
        changed,
        direction,
        changed and direction == comparison.metric.worse,
    )


@cache
def requests_of(api_key: int) -> Metric:
    name = apis.name(api_key)
    return Metric(f"requests.{name}", COUNT, "a minute", REQUESTS, DOWN, f"{name} requests")


def track_samples(track: Track) -> Iterable[tuple[Metric, list[Sample]]]:
    """What brokers counted for a client, by metric, except the share of failed requests."""
    for key, spans in sorted(track.by_api.items()):
        if key not in NOT_A_RATE:
            yield requests_of(key), [Sample(span.first, span.last, span.requests) for span in spans]
    if track.opened:
        yield CONNECTIONS, track.opened


def of_track(track: Track, times: Windows, slot_seconds: float) -> Iterable[Compare]:
    name, version = track.software
    group = Group(CLIENT, track.key.client_id, track.key.principal, name, version, None)
    for metric, own in track_samples(track):
        least = LEAST_EVENTS if metric is CONNECTIONS else LEAST_REQUESTS
        if _most(own, times) < least:
            continue
        shortest = max(slot_seconds, SHORTEST_BLOCK_SECONDS)
        pair = _of_counts(own, times, shortest, metric.scale, is_covered=True)
        if pair is not None:
            yield Compare(group, metric, pair, 1)
    failed = [Sample(f.first, f.last, f.failed + f.refused) for f in track.failures if f.failed or f.refused]
    # Not `all_requests`: there a rarely sent API stretches the time of all requests in the same slot.
    every = failed + [
        Sample(span.first, span.last, span.requests) for spans in track.by_api.values() for span in spans
    ]
    if failed and _most(failed, times) >= LEAST_EVENTS and _most(every, times) >= LEAST_OF_A_SHARE:
        pair = _of_shares(failed, every, times, max(slot_seconds, SHORTEST_BLOCK_SECONDS), is_covered=True)
        if pair is not None:
            yield Compare(group, FAILED, pair, 1)


def _of_instance(instance_series: Series, times: Windows) -> Iterable[Compare]:
    instance = instance_series.instance
    group = Group(
        INSTANCE,
        instance.client_id,
        instance.principal,
        instance.software_name,
        instance.software_version,
        None,
        instance.client_instance_id,
    )
    shortest = max(1.5 * instance_series.interval, SHORTEST_BLOCK_SECONDS)
    for name, own in sorted(instance_series.samples.items()):
        metric = BY_NAME.get(name)
        if metric is None:
            continue
        pair: Pair | None
        if metric.kind == COUNT:
            if _most(own, times) < LEAST_EVENTS:
                continue
            pair = _of_counts(own, times, shortest, metric.scale, is_covered=False)
        else:
            before, after = (
                _known(samples_of.means(own, samples_of.block_edges(window, shortest))) for window in times
            )
            pair = Pair(metric.scale, before, after) if min(len(before), len(after)) >= LEAST_BLOCKS else None
        if pair is not None:
            yield Compare(group, metric, pair, 1)
    sent, errors = instance_series.samples.get(SENT, []), instance_series.samples.get(ERRORS, [])
    if _most(sent, times) >= LEAST_OF_A_SHARE and _most(errors, times) >= LEAST_EVENTS:
        shares = _of_shares(errors, [*sent, *errors], times, shortest, is_covered=False)
        if shares is not None:
            yield Compare(group, ERROR_SHARE, shares, 1)


def _of_groups(single: Sequence[Compare], owner: Callable[[str | None, str], str | None]) -> list[Compare]:
    """Versions and owners: the unit is the client or instance."""
    members: dict[tuple[Group, Metric], list[int]] = {}
    for place, comparison in enumerate(single):
        group = comparison.group
        if kip511.is_known(group.software_name):
            version = Group(VERSION, None, "", group.software_name, group.software_version, None)
            members.setdefault((version, comparison.metric), []).append(place)
        responsible = owner(group.client_id, group.principal)
        if responsible is not None:
            members.setdefault((Group(OWNER, None, "", "", "", responsible), comparison.metric), []).append(
                place
            )
    before, after = (
        _means([getattr(comparison.pair, which) for comparison in single]) for which in ("before", "after")
    )
    return [
        Compare(
            group,
            metric,
            Pair(metric.scale, before[places], after[places], is_paired=True),
            len(places),
        )
        for (group, metric), places in members.items()
        if len(places) >= LEAST_MEMBERS
    ]


def _means(rows: Sequence[Values]) -> Values:
    """float64[rows]. Rows of one length are computed together."""
    by_length: dict[int, list[int]] = {}
    for place, row in enumerate(rows):
        by_length.setdefault(len(row), []).append(place)
    row_means = np.empty(len(rows))
    for places in by_length.values():
        row_means[places] = np.array([rows[place] for place in places]).mean(axis=1)
    return row_means


def _usual_span(own: Sequence[Sample], times: Windows) -> float:
    """Median number of seconds that a sample is spread over: shorter blocks are alike for that reason alone."""
    durations = sorted(
        sample.until - sample.since
        for sample in own
        if sample.until >= times.before[0] and sample.since < times.after[1]
    )
    return durations[len(durations) // 2] if durations else 0.0


def _of_counts(
    own: Sequence[Sample], times: Windows, shortest: float, scale: Scale, *, is_covered: bool
) -> Pair | None:
    """Rates; the least plausible variance is that of one request more or less, and of 2 % of the rate. For rare events
    it is at least that of Poisson. None if the windows have too few records.
    """
    blocks = [samples_of.block_edges(window, shortest) for window in times]
    sides = [_known(samples_of.rates(own, edges, is_covered=is_covered)) for edges in blocks]
    if min(len(side) for side in sides) < LEAST_BLOCKS:
        return None
    spans = np.array([_usual_span(own, times)])
    floors, independent = floors_of_counts([side[None, :] for side in sides], times, blocks, spans, scale)
    if min(float(number[0]) for number in independent) < LEAST_SPANS:
        return None
    return Pair(
        scale,
        sides[0],
        sides[1],
        (float(floors[0][0]), float(floors[1][0])),
        (float(independent[0][0]), float(independent[1][0])),
    )


def floors_of_counts(
    sides: Sequence[Values], times: Windows, blocks: Sequence[Values], spans: Values, scale: Scale
) -> tuple[list[Values], list[Values]]:
    """Least variances, and how many values count as independent, by window; each of float64[clients]. `sides`:
    float64[clients, blocks]; `spans`: seconds that a record of each usually covers.
    """
    units = [np.maximum(float(edges[1] - edges[0]), spans) for edges in blocks]
    independent = [(window[1] - window[0]) / unit for window, unit in zip(times, units, strict=True)]
    middle = sum(side.mean(axis=1) for side in sides) / 2
    floors = [
        middle / (unit / 60)
        if scale is EVENTS
        else np.maximum((0.02 * middle) ** 2, (0.3 / (unit / 60)) ** 2)
        for unit in units
    ]
    return floors, independent


def _of_shares(
    part: Sequence[Sample], every: Sequence[Sample], times: Windows, shortest: float, *, is_covered: bool
) -> Pair | None:
    """Shares in blocks with any requests; their least plausible variance is binomial."""
    unit = max(shortest, _usual_span(every, times))
    sides, numbers = [], []
    totals = [0.0, 0.0]
    for window in times:
        edges = samples_of.block_edges(window, unit)
        amounts, _ = samples_of.counts(part, edges, is_covered=is_covered)
        of_all, _ = samples_of.counts(every, edges, is_covered=is_covered)
        some = of_all >= 1
        sides.append(np.minimum(amounts[some] / of_all[some], 1.0))
        numbers.append(float(of_all[some].mean()) if some.any() else 0.0)
        totals[0] += float(amounts.sum())
        totals[1] += float(of_all.sum())
    if min(len(side) for side in sides) < LEAST_SPANS:
        return None
    share = min(totals[0] / max(totals[1], 1.0), 1.0)
    floors = [share * (1 - share) / max(number, 1.0) for number in numbers]
    return Pair(SHARE, sides[0], sides[1], (floors[0], floors[1]))


def _known(values: Values) -> Values:
    present: Values = values[~np.isnan(values)]
    return present


def _most(own: Sequence[Sample], times: Windows) -> float:
    """The count in the busier window."""
    return max(
        sum(sample.value for sample in own if sample.until >= window[0] and sample.since < window[1])
        for window in times
    )


def row(change: MetricChange) -> dict[str, object]:
    """As in metric_changes.csv and review.json."""
    group, results = change.group, _results(change)
    return {
        "scope": group.scope,
        "client_id": group.client_id,
        "principal": group.principal,
        "client_instance_id": kafka_uuid(group.client_instance_id) if group.client_instance_id else None,
        "client_software_name": group.software_name,
        "client_software_version": group.software_version,
        "owner": group.owner,
        "metric": change.metric.name,
        "words": change.metric.words,
        "unit": change.metric.unit,
        "form": change.metric.scale.form,
        **results,
        **{name: round(results[name], 4) for name in ("before", "after", "estimate", "low", "high")},
    }


def _results(change: MetricChange) -> dict[str, Any]:
    """What the comparison gave: fields and columns of these names."""
    return dict(zip(MetricChange._fields[3:], change[3:], strict=True))


def table_rows(
    changes_found: Sequence[MetricChange], cluster_id: str, review_id: str
) -> list[MetricChangeRow]:
    """Rows of metric_changes."""
    rows = (
        {
            "cluster_id": cluster_id,
            "review_id": review_id,
            "scope": change.group.scope,
            "client_id": change.group.client_id,
            "principal": change.group.principal or None,
            "client_instance_id": change.group.client_instance_id,
            "instance_id": kafka_uuid(change.group.client_instance_id)
            if change.group.client_instance_id
            else None,
            "client_software_name": change.group.software_name or None,
            "client_software_version": change.group.software_version or None,
            "owner": change.group.owner,
            "metric": change.metric.name,
            "unit": change.metric.unit,
            "form": change.metric.scale.form,
            "before_from": moment(change.windows.before[0]),
            "before_until": moment(change.windows.before[1]),
            "after_from": moment(change.windows.after[0]),
            "after_until": moment(change.windows.after[1]),
            **_results(change),
        }
        for change in changes_found
    )
    return [cast("MetricChangeRow", row) for row in rows]
