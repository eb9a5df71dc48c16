"""The curves of a review's page: small multiples of each metric, one drawing for each version or owner, and those of what changed."""

from collections.abc import Sequence

from markupsafe import Markup

from client_telemetry.reports.client_strings import client_label, shortened
from client_telemetry.reports.curves import Line, Mark, Shaded, curve, small_multiples
from client_telemetry.review.metric_curves import MemberCurve, MetricCurves
from client_telemetry.review.phases import ROLLING, Upgrade


def by_group(found: Sequence[MetricCurves], upgrade: Upgrade) -> list[tuple[str, Markup]]:
    """Words of the metric, and its drawings on one scale."""
    drawn = []
    for each in found:
        greatest = max((_greatest(one) for one in each.curves), default=0.0)
        drawings = [
            _drawn(
                one,
                f"{shortened(client_label(one.name), 40)}",
                f"{each.metric.unit}, {one.members} client{'s' * (one.members != 1)}",
                upgrade,
                greatest,
            )
            for one in each.curves
        ]
        multiples = small_multiples(drawings)
        if multiples:
            drawn.append((each.metric.words, multiples))
    return drawn


def of_changed(found: Sequence[MetricCurves], upgrade: Upgrade) -> Markup:
    return small_multiples(
        _drawn(
            one,
            f"{shortened(client_label(one.name), 32)}: {each.metric.words}",
            each.metric.unit,
            upgrade,
            None,
        )
        for each in found
        for one in each.curves
    )


def _drawn(one: MemberCurve, title: str, unit: str, upgrade: Upgrade, greatest: float | None) -> Markup:
    marks = [
        Mark(started, f"broker {broker} on {upgrade.to_release}")
        for broker, started in sorted(upgrade.upgraded.items(), key=lambda item: item[1])
    ]
    rolling = upgrade.phase(ROLLING)
    shaded = [Shaded(rolling.since, rolling.until, "mixed versions")] if rolling else []
    return curve(
        title,
        unit,
        [Line(one.name, one.points)],
        marks,
        shaded,
        least_time=one.points[0][0],
        greatest_time=one.points[-1][0],
        greatest_value=greatest,
    )


def _greatest(one: MemberCurve) -> float:
    return max((value for _, value in one.points if value is not None), default=0.0)
