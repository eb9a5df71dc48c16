"""What a review says of metrics: the comparisons, and the curves of its page. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from client_telemetry.review import metric_curves
from client_telemetry.review.client_metrics import Series
from client_telemetry.review.in_parts import Setting
from client_telemetry.review.metric_changes import Compare, Group, MetricChange, all_changes
from client_telemetry.review.metric_curves import MetricCurves, VersionSums
from client_telemetry.review.model import Review
from client_telemetry.review.tracks import Track


@dataclass(frozen=True)
class MetricReview:
    """`versions`: curves of each metric by software version; `changed`: of what was called changed."""

    changes: tuple[MetricChange, ...]
    versions: tuple[MetricCurves, ...]
    changed: tuple[MetricCurves, ...]


NOTHING = MetricReview((), (), ())


def metric_review(
    found: Review,
    common: Setting,
    of_clients: Sequence[Compare],
    curves: VersionSums,
    tracks_of: Callable[[Sequence[Group]], Sequence[Track]],
    pushed: Sequence[Series] = (),
) -> MetricReview:
    """`found`: with owners, where there are rules. `of_clients`, `curves`: of in_parts.assembled. `tracks_of`: the tracks of some
    clients. `pushed`: what instances measured themselves."""
    owners = {(client.client_id, client.principal): client.owner for client in found.clients}

    def owner(client_id: str | None, principal: str) -> str | None:
        return owners.get((client_id, principal))

    changes = [] if common.times is None else all_changes(of_clients, pushed, common.times, owner)
    return MetricReview(
        tuple(changes),
        tuple(metric_curves.by_version(curves, pushed, common.shown)),
        tuple(metric_curves.of_changed(changes, tracks_of, pushed, common.shown)),
    )
