"""Metrics over the whole time of a review, for its page: by software version, by owner, and for each client or instance
with a changed metric. Pure.

Values are means over what the members measured, in equal slots of time; None if nothing was measured.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from client_telemetry.activity.client_metrics import BY_NAME, COUNT, Instance, Metric, Series
from client_telemetry.activity.samples import Sample, Values, means, rates
from client_telemetry.knowledge import kip511
from client_telemetry.review.metric_changes import (
    CLIENT,
    INSTANCE,
    OWNER,
    VERSION,
    Group,
    MetricChange,
    track_samples,
)
from client_telemetry.review.phases import Upgrade
from client_telemetry.review.tracks import Track

SLOTS = 90
SHORTEST_SLOT_SECONDS = 10.0
MARGIN_SECONDS = 1800.0
"""How long before the roll curves begin, at least, though no longer than the time after it."""
MOST_GROUPS = 6
"""Per metric: the groups with the most members."""
MOST_CHANGED = 12
SHOWN = (
    "producer.request.latency.avg",
    "producer.node.request.latency.avg",
    "consumer.node.request.latency.avg",
    "consumer.coordinator.commit.latency.avg",
    "producer.produce.throttle.time.avg",
    "producer.record.retry.total",
    "consumer.coordinator.rebalance.total",
    "consumer.poll.idle.ratio.avg",
    "connections.opened",
    "requests.Produce",
    "requests.Heartbeat",
    "requests.OffsetCommit",
)
"""In page order; missing ones are left out."""


class Span(NamedTuple):
    """The time range of curves."""

    since: float
    until: float

    def edges(self, shortest: float = SHORTEST_SLOT_SECONDS) -> Values:
        number = int(min(SLOTS, (self.until - self.since) // shortest))
        return np.linspace(self.since, self.until, max(number, 1) + 1)


def shown(upgrade: Upgrade, first: float) -> Span:
    """`first`: when records begin."""
    margin = max(MARGIN_SECONDS, upgrade.ended - upgrade.began)
    since = max(first, upgrade.phases[0].since, upgrade.began - margin)
    return Span(since, max(upgrade.recorded_until, since + 60.0))


class MemberCurve(NamedTuple):
    """`name`: of a version, owner, client or instance. `members`: how many are averaged."""

    name: str
    members: int
    points: list[tuple[float, float | None]]


class MetricCurves(NamedTuple):
    metric: Metric
    curves: list[MemberCurve]


@dataclass(frozen=True)
class MetricReview:
    """`versions`, `owners`: curves of each metric by software version and by owner; `changed`: of the reported changes."""

    changes: tuple[MetricChange, ...]
    versions: tuple[MetricCurves, ...]
    owners: tuple[MetricCurves, ...]
    changed: tuple[MetricCurves, ...]


NOTHING = MetricReview((), (), (), ())


@dataclass
class Sums:
    """Of averaged members, by slot: the sum of what they measured, and how many measured something."""

    metric: Metric
    total: Values
    measured: Values
    members: int = 0

    @staticmethod
    def none(metric: Metric, slots: int) -> "Sums":
        return Sums(metric, np.zeros(slots), np.zeros(slots))

    def add(self, values: Values) -> None:
        is_measured = ~np.isnan(values)
        self.total += np.where(is_measured, values, 0.0)
        self.measured += is_measured
        self.members += 1

    def curve(self, name: str, edges: Values) -> MemberCurve:
        middles = (edges[1:] + edges[:-1]) / 2
        points = [
            (float(at), float(total / count) if count else None)
            for at, total, count in zip(middles, self.total, self.measured, strict=True)
        ]
        return MemberCurve(name, self.members, points)


GroupSums = dict[tuple[str, str, str], Sums]
"""By scope (VERSION or OWNER), name of the metric, and software with its version or owner."""


def groups(version: str, owner: str | None) -> list[tuple[str, str]]:
    """Scopes and names of the groups that a client belongs to."""
    return [(VERSION, version), *([(OWNER, owner)] if owner is not None else [])]


def add_track(sums: GroupSums, track: Track, owner: str | None, span: Span) -> None:
    """Add what brokers counted for a client."""
    edges = span.edges()
    of_groups = groups(version_name(*track.software), owner)
    for metric, own in track_samples(track):
        if metric.name in SHOWN:
            values = _of_client(own, edges)
            for group in of_groups:
                key = group[0], metric.name, group[1]
                sums.setdefault(key, Sums.none(metric, len(edges) - 1)).add(values)


def add(sums: GroupSums, more: GroupSums) -> None:
    for key, own in more.items():
        earlier = sums.get(key)
        if earlier is None:
            sums[key] = own
        else:
            earlier.total += own.total
            earlier.measured += own.measured
            earlier.members += own.members


def by_group(
    scope: str,
    of_clients: GroupSums,
    pushed: Sequence[Series],
    group_of: Callable[[Instance], str | None],
    span: Span,
) -> list[MetricCurves]:
    """Curves by VERSION or OWNER. `of_clients`: from tracks (add_track); `group_of`: the name of an instance's group."""
    members: dict[str, dict[str, list[Series]]] = {}
    for instance_series in pushed:
        group = group_of(instance_series.instance)
        for name in instance_series.samples:
            if group is not None and name in SHOWN and name in BY_NAME:
                members.setdefault(name, {}).setdefault(group, []).append(instance_series)
    group_curves = []
    for name in SHOWN:
        sums = {
            group: own
            for (of_scope, metric, group), own in of_clients.items()
            if (of_scope, metric) == (scope, name)
        }
        curves = {group: own.curve(group, span.edges()) for group, own in sums.items()}
        for group, instances in members.get(name, {}).items():
            curves[group] = _of_instances(group, BY_NAME[name], instances, span)
        most = sorted(curves, key=lambda group: (-curves[group].members, group))[:MOST_GROUPS]
        if most:
            metric = BY_NAME.get(name) or next(iter(sums.values())).metric
            group_curves.append(MetricCurves(metric, [curves[group] for group in sorted(most)]))
    return group_curves


def of_changed(
    changes: Sequence[MetricChange],
    tracks_of: Callable[[Sequence[Group]], Sequence[Track]],
    pushed: Sequence[Series],
    span: Span,
) -> list[MetricCurves]:
    """One for each reported change, worse and more certain ones first. `tracks_of`: the tracks of clients."""
    changed = [change for change in changes if change.changed and change.group.scope in (CLIENT, INSTANCE)]
    changed = sorted(changed, key=lambda change: (not change.worse, change.p_value))[:MOST_CHANGED]
    clients = [change.group for change in changed if change.group.scope == CLIENT]
    by_key = {
        (t.key.client_id, t.key.principal, *t.software): t for t in (tracks_of(clients) if clients else ())
    }
    by_instance = {instance_series.instance.client_instance_id: instance_series for instance_series in pushed}
    curves = []
    for change in changed:
        group = change.group
        name = group.client_id or "client without id"
        if group.client_instance_id is not None:
            pushed_by_instance = by_instance[group.client_instance_id]
            if change.metric.name in pushed_by_instance.samples:
                curve = _of_instances(name, change.metric, [pushed_by_instance], span)
                curves.append(MetricCurves(change.metric, [curve]))
            continue
        track = by_key.get((group.client_id, group.principal, group.software_name, group.software_version))
        by_name = {} if track is None else {metric.name: own for metric, own in track_samples(track)}
        if change.metric.name in by_name:
            sums = Sums.none(change.metric, len(span.edges()) - 1)
            sums.add(_of_client(by_name[change.metric.name], span.edges()))
            curves.append(MetricCurves(change.metric, [sums.curve(name, span.edges())]))
    return curves


def _of_client(own: Sequence[Sample], edges: Values) -> Values:
    """Counts per minute; nothing is known outside the time that brokers recorded of the client."""
    values = rates(own, edges, is_covered=True)
    values[(edges[1:] < own[0].since) | (edges[:-1] > own[-1].until)] = np.nan
    return values


def _of_instances(name: str, metric: Metric, instances: Sequence[Series], span: Span) -> MemberCurve:
    longest = max(instance_series.interval for instance_series in instances)
    edges = span.edges(max(SHORTEST_SLOT_SECONDS, 1.5 * longest))
    sums = Sums.none(metric, len(edges) - 1)
    for member in instances:
        own = member.samples[metric.name]
        sums.add(rates(own, edges) if metric.kind == COUNT else means(own, edges))
    return sums.curve(name, edges)


def version_name(name: str, version: str) -> str:
    return kip511.software(name, version, otherwise="software not declared")
