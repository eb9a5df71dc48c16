"""What a review says of metrics: the comparisons, and the curves of its page. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from client_telemetry.review import metric_curves
from client_telemetry.review.activity import Evidence
from client_telemetry.review.client_metrics import Series
from client_telemetry.review.metric_changes import MetricChange, of_review
from client_telemetry.review.metric_curves import MetricCurves
from client_telemetry.review.model import Review

MARGIN_SECONDS = 1800.0
"""How long before the roll curves begin, at least, and no longer than the time after it."""


@dataclass(frozen=True)
class MetricReview:
    """`versions`: curves of each metric by software version; `changed`: of what was called changed."""

    changes: tuple[MetricChange, ...]
    versions: tuple[MetricCurves, ...]
    changed: tuple[MetricCurves, ...]


NOTHING = MetricReview((), (), ())


def metric_review(found: Review, evidence: Evidence, pushed: Sequence[Series] = ()) -> MetricReview:
    """`found`: with owners, where there are rules. `pushed`: what instances measured themselves."""
    if not evidence.activities:
        return NOTHING
    owners = {(client.client_id, client.principal): client.owner for client in found.clients}
    upgrade = found.upgrade
    changes = of_review(
        evidence,
        upgrade,
        found.tracks,
        pushed,
        lambda client_id, principal: owners.get((client_id, principal)),
    )
    first = min(each.since for each in evidence.activities)
    since = max(
        first, upgrade.phases[0].since, upgrade.began - max(MARGIN_SECONDS, upgrade.ended - upgrade.began)
    )
    until = max(upgrade.ended, since + 60.0)
    return MetricReview(
        tuple(changes),
        tuple(metric_curves.by_version(found.tracks, pushed, since, until)),
        tuple(metric_curves.of_changed(changes, found.tracks, pushed, since, until)),
    )
