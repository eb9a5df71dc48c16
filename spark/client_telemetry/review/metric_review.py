"""The metrics of a review: the comparisons, and the curves of its page. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from client_telemetry.activity.client_metrics import Instance, Series
from client_telemetry.review import metric_curves
from client_telemetry.review.metric_changes import (
    OWNER,
    VERSION,
    Compare,
    Group,
    MetricChange,
    all_changes,
)
from client_telemetry.review.metric_curves import GroupSums, MetricReview, version_name
from client_telemetry.review.model import Review
from client_telemetry.review.setting import Setting
from client_telemetry.review.tracks import Track

Written = TypeVar("Written")


@dataclass(frozen=True)
class Reviewed(Generic[Written]):
    """A review, what was written about its clients, and what its metrics are computed from."""

    review: Review
    written: Sequence[Written]
    _common: Setting
    _comparisons: Sequence[Compare]
    _curves: GroupSums
    _tracks_of: Callable[[Sequence[Group]], Sequence[Track]]
    _close: Callable[[], None]
    """Release the rows of clients, which Spark keeps until `metrics` were asked for."""

    def changes(self, pushed: Sequence[Series]) -> list[MetricChange]:
        """`pushed`: what client instances measured themselves."""
        return metric_changes(self.review, self._common, self._comparisons, pushed)

    def metrics(self, changes: Sequence[MetricChange], pushed: Sequence[Series]) -> MetricReview:
        """`changes`, with the curves of the page."""
        found = with_curves(self.review, self._common, changes, self._curves, self._tracks_of, pushed)
        self._close()
        return found


def metric_review(
    review: Review,
    common: Setting,
    of_clients: Sequence[Compare],
    curves: GroupSums,
    tracks_of: Callable[[Sequence[Group]], Sequence[Track]],
) -> MetricReview:
    """Of what brokers recorded. `of_clients`, `curves`: from in_parts.assembled. `tracks_of`: the tracks of some clients."""
    changes = metric_changes(review, common, of_clients, ())
    return with_curves(review, common, changes, curves, tracks_of, ())


def metric_changes(
    review: Review, common: Setting, of_clients: Sequence[Compare], pushed: Sequence[Series]
) -> list[MetricChange]:
    if common.times is None:
        return []
    owners = _owners(review)
    return all_changes(of_clients, pushed, common.times, lambda *client: owners.get(client))


def with_curves(
    review: Review,
    common: Setting,
    changes: Sequence[MetricChange],
    curves: GroupSums,
    tracks_of: Callable[[Sequence[Group]], Sequence[Track]],
    pushed: Sequence[Series],
) -> MetricReview:
    owners = _owners(review)

    def version_of(instance: Instance) -> str:
        return version_name(instance.software_name, instance.software_version)

    def owner_of(instance: Instance) -> str | None:
        return owners.get((instance.client_id, instance.principal))

    return MetricReview(
        tuple(changes),
        tuple(metric_curves.by_group(VERSION, curves, pushed, version_of, common.shown)),
        tuple(metric_curves.by_group(OWNER, curves, pushed, owner_of, common.shown)),
        tuple(metric_curves.of_changed(changes, tracks_of, pushed, common.shown)),
    )


def _owners(review: Review) -> dict[tuple[str | None, str], str | None]:
    return {(client.client_id, client.principal): client.owner for client in review.clients}
