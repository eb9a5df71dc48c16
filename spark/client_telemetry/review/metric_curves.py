"""Metrics over the whole time of a review, for its page: by software version, and of each client or instance whose metric changed.
Pure.

Values are means over the members of what each measured, in equal slots of time; None where nothing was measured.
"""

import warnings
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from client_telemetry.review.client_metrics import BY_NAME, COUNT, Metric, Series
from client_telemetry.review.metric_changes import INSTANCE, MetricChange, track_samples
from client_telemetry.review.samples import Sample, Values, means, rates
from client_telemetry.review.tracks import Track

SLOTS = 90
SHORTEST_SLOT_SECONDS = 10.0
MOST_VERSIONS = 6
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

_Member = tuple[Metric, list[Sample], float]


class MemberCurve(NamedTuple):
    """`name`: of a version, client or instance. `members`: how many are averaged."""

    name: str
    members: int
    points: list[tuple[float, float | None]]


class MetricCurves(NamedTuple):
    metric: Metric
    curves: list[MemberCurve]


def by_version(
    found_tracks: Sequence[Track], pushed: Sequence[Series], since: float, until: float
) -> list[MetricCurves]:
    members: dict[str, dict[str, list[_Member]]] = {}
    for track in found_tracks:
        for metric, own in track_samples(track):
            members.setdefault(metric.name, {}).setdefault(_version(*track.software), []).append(
                (metric, own, 0.0)
            )
    for one in pushed:
        version = _version(one.instance.software_name, one.instance.software_version)
        for name, own in one.samples.items():
            if (known := BY_NAME.get(name)) is not None:
                members.setdefault(name, {}).setdefault(version, []).append((known, own, one.interval))
    return [
        MetricCurves(_metric(members[name]), _of_versions(members[name], since, until))
        for name in SHOWN
        if name in members
    ]


def of_changed(
    found: Sequence[MetricChange],
    found_tracks: Sequence[Track],
    pushed: Sequence[Series],
    since: float,
    until: float,
) -> list[MetricCurves]:
    """One for each change that was called, the worse ones and the surest first."""
    by_key = {(t.key.client_id, t.key.principal, *t.software): t for t in found_tracks}
    by_instance = {one.instance.client_instance_id: one for one in pushed}
    changed = [each for each in found if each.changed and each.group.scope in ("client", INSTANCE)]
    curves = []
    for change in sorted(changed, key=lambda each: (not each.worse, each.p_value))[:MOST_CHANGED]:
        group = change.group
        own: list[Sample] = []
        interval = 0.0
        if group.client_instance_id is not None:
            one = by_instance[group.client_instance_id]
            own, interval = one.samples.get(change.metric.name, []), one.interval
        else:
            track = by_key[group.client_id, group.principal, group.software_name, group.software_version]
            by_name = {metric.name: samples for metric, samples in track_samples(track)}
            own = by_name.get(change.metric.name, [])
        if own:
            member = [(change.metric, own, interval)]
            name = group.client_id or "client without id"
            curves.append(MetricCurves(change.metric, [_averaged(name, member, since, until)]))
    return curves


def _metric(by_name: Mapping[str, list[_Member]]) -> Metric:
    return next(iter(by_name.values()))[0][0]


def _of_versions(versions: Mapping[str, list[_Member]], since: float, until: float) -> list[MemberCurve]:
    most = sorted(versions, key=lambda name: (-len(versions[name]), name))[:MOST_VERSIONS]
    return [_averaged(name, versions[name], since, until) for name in sorted(most)]


def _averaged(name: str, members: Sequence[_Member], since: float, until: float) -> MemberCurve:
    longest = max(interval for _, _, interval in members)
    number = int(min(SLOTS, (until - since) // max(SHORTEST_SLOT_SECONDS, 1.5 * longest)))
    edges: Values = np.linspace(since, until, max(number, 1) + 1)
    rows = []
    for metric, own, interval in members:
        if metric.kind != COUNT:
            rows.append(means(own, edges))
            continue
        values = rates(own, edges, is_covered=interval == 0.0)
        if interval == 0.0:  # before and after what brokers recorded of it, nothing is known
            values[(edges[1:] < own[0].since) | (edges[:-1] > own[-1].until)] = np.nan
        rows.append(values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # nobody measured anything in a slot
        averaged = np.nanmean(np.vstack(rows), axis=0)
    middles = (edges[1:] + edges[:-1]) / 2
    points = [
        (float(at), None if np.isnan(value) else float(value))
        for at, value in zip(middles, averaged, strict=True)
    ]
    return MemberCurve(name, len(members), points)


def _version(name: str, version: str) -> str:
    return "software not declared" if name in ("", "unknown") else f"{name} {version}".strip()
