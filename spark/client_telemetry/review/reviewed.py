"""A review of the lake's tables, after its clients were judged."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from client_telemetry.activity.client_metrics import Series
from client_telemetry.lake.lake import Lake
from client_telemetry.review import rule_records
from client_telemetry.review.metric_changes import Compare, Group, MetricChange
from client_telemetry.review.metric_curves import GroupSums, MetricReview
from client_telemetry.review.metric_review import metric_changes, with_curves
from client_telemetry.review.model import Review
from client_telemetry.review.rule_records import RuleRecord
from client_telemetry.review.setting import Setting
from client_telemetry.review.tracks import Track
from client_telemetry.tables.rule_records import RULE_RECORDS

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
        found = with_curves(
            self.review,
            self._common,
            changes,
            self._curves,
            self._tracks_of,
            pushed,
        )
        self._close()
        return found


def rules_of_others(lake: Lake, cluster: str, review_id: str) -> list[RuleRecord]:
    """What the lake's other reviews say about rules."""
    return [
        rule_records.from_row(row)
        for row in lake.rows(RULE_RECORDS)
        if (row["cluster_id"], row["review_id"]) != (cluster, review_id)
    ]
