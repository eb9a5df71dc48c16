"""Metrics over the whole time of a review, for its page: by software version, by owner, and of each client or instance whose metric
changed. Pure.

Values are means over the members of what each measured, in equal slots of time; None where nothing was measured.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from client_telemetry.identity import kip511
from client_telemetry.review.client_metrics import BY_NAME, COUNT, Instance, Metric, Series
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
from client_telemetry.review.samples import Sample, Values, means, rates
from client_telemetry.review.tracks import Track

SLOTS = 90
SHORTEST_SLOT_SECONDS = 10.0
MARGIN_SECONDS = 1800.0
"""How long before the roll curves begin, at least, and no longer than the time after it."""
MOST_GROUPS = 6
"""Of a metric, those with the most members."""
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
"""In this order on the page, those that there are."""


class Span(NamedTuple):
    """What curves show."""

    since: float
    until: float

    def edges(self, shortest: float = SHORTEST_SLOT_SECONDS) -> Values:
        number = int(min(SLOTS, (self.until - self.since) // shortest))
        return np.linspace(self.since, self.until, max(number, 1) + 1)


def shown(upgrade: Upgrade, first: float) -> Span:
    """`first`: when records begin."""
    margin = max(MARGIN_SECONDS, upgrade.ended - upgrade.began)
    since = max(first, upgrade.phases[0].since, upgrade.began - margin)
    return Span(since, max(upgrade.ended, since + 60.0))


class MemberCurve(NamedTuple):
    """`name`: of a version, owner, client or instance. `members`: how many are averaged."""

    name: str
    members: int
    points: list[tuple[float, float | None]]


class MetricCurves(NamedTuple):
    metric: Metric
    curves: list[MemberCurve]


@dataclass
class Sums:
    """Of members that are averaged, by slot: the sum of what they measured, and how many measured something."""

    metric: Metric
    total: Values
    measured: Values
    members: int = 0

    def add(self, values: Values) -> None:
        known = ~np.isnan(values)
        self.total += np.where(known, values, 0.0)
        self.measured += known
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
    """Scopes and names of the groups that a client is a member of."""
    return [(VERSION, version), *([(OWNER, owner)] if owner is not None else [])]


def add_track(sums: GroupSums, track: Track, owner: str | None, span: Span) -> None:
    """What brokers counted of a client."""
    edges = span.edges()
    of_groups = groups(version_name(*track.software), owner)
    for metric, own in track_samples(track):
        if metric.name in SHOWN:
            values = _of_client(own, edges)
            for group in of_groups:
                _sums(sums, metric, group, len(edges) - 1).add(values)


def add(sums: GroupSums, more: GroupSums) -> None:
    for key, own in more.items():
        known = sums.get(key)
        if known is None:
            sums[key] = own
        else:
            known.total += own.total
            known.measured += own.measured
            known.members += own.members


def by_group(
    scope: str,
    of_clients: GroupSums,
    pushed: Sequence[Series],
    group_of: Callable[[Instance], str | None],
    span: Span,
) -> list[MetricCurves]:
    """By VERSION or OWNER. `of_clients`: of tracks (add_track); `group_of`: the name of an instance's group."""
    members: dict[str, dict[str, list[Series]]] = {}
    for one in pushed:
        group = group_of(one.instance)
        for name in one.samples:
            if group is not None and name in SHOWN and name in BY_NAME:
                members.setdefault(name, {}).setdefault(group, []).append(one)
    found = []
    for name in SHOWN:
        sums = {
            group: own for (of, metric, group), own in of_clients.items() if (of, metric) == (scope, name)
        }
        curves = {group: own.curve(group, span.edges()) for group, own in sums.items()}
        for group, instances in members.get(name, {}).items():
            curves[group] = _of_instances(group, BY_NAME[name], instances, span)
        most = sorted(curves, key=lambda group: (-curves[group].members, group))[:MOST_GROUPS]
        if most:
            metric = BY_NAME.get(name) or next(iter(sums.values())).metric
            found.append(MetricCurves(metric, [curves[group] for group in sorted(most)]))
    return found


def of_changed(
    found: Sequence[MetricChange],
    tracks_of: Callable[[Sequence[Group]], Sequence[Track]],
    pushed: Sequence[Series],
    span: Span,
) -> list[MetricCurves]:
    """One for each change that was called, the worse ones and the surest first. `tracks_of`: the tracks of clients."""
    changed = [each for each in found if each.changed and each.group.scope in (CLIENT, INSTANCE)]
    changed = sorted(changed, key=lambda each: (not each.worse, each.p_value))[:MOST_CHANGED]
    clients = [change.group for change in changed if change.group.scope == CLIENT]
    by_key = {
        (t.key.client_id, t.key.principal, *t.software): t for t in (tracks_of(clients) if clients else ())
    }
    by_instance = {one.instance.client_instance_id: one for one in pushed}
    curves = []
    for change in changed:
        group = change.group
        name = group.client_id or "client without id"
        if group.client_instance_id is not None:
            one = by_instance[group.client_instance_id]
            if change.metric.name in one.samples:
                curve = _of_instances(name, change.metric, [one], span)
                curves.append(MetricCurves(change.metric, [curve]))
            continue
        track = by_key.get((group.client_id, group.principal, group.software_name, group.software_version))
        by_name = {} if track is None else {metric.name: own for metric, own in track_samples(track)}
        if change.metric.name in by_name:
            sums = _sums({}, change.metric, (CLIENT, name), len(span.edges()) - 1)
            sums.add(_of_client(by_name[change.metric.name], span.edges()))
            curves.append(MetricCurves(change.metric, [sums.curve(name, span.edges())]))
    return curves


def _sums(sums: GroupSums, metric: Metric, group: tuple[str, str], slots: int) -> Sums:
    key = group[0], metric.name, group[1]
    if key not in sums:
        sums[key] = Sums(metric, np.zeros(slots), np.zeros(slots))
    return sums[key]


def _of_client(own: Sequence[Sample], edges: Values) -> Values:
    """Counts a minute; before and after what brokers recorded of the client, nothing is known."""
    values = rates(own, edges, is_covered=True)
    values[(edges[1:] < own[0].since) | (edges[:-1] > own[-1].until)] = np.nan
    return values


def _of_instances(name: str, metric: Metric, instances: Sequence[Series], span: Span) -> MemberCurve:
    longest = max(one.interval for one in instances)
    edges = span.edges(max(SHORTEST_SLOT_SECONDS, 1.5 * longest))
    sums = Sums(metric, np.zeros(len(edges) - 1), np.zeros(len(edges) - 1))
    for one in instances:
        own = one.samples[metric.name]
        sums.add(rates(own, edges) if metric.kind == COUNT else means(own, edges))
    return sums.curve(name, edges)


def version_name(name: str, version: str) -> str:
    return f"{name} {version}".strip() if kip511.is_known(name) else "software not declared"
