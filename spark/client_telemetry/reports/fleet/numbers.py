"""Numbers of the newest day of a cluster, for Prometheus."""

import datetime as dt
from collections.abc import Iterator

from client_telemetry.reports.fleet.model import FleetDay
from client_telemetry.reports.open_metrics import Gauge, exposition

_COUNTS = ("applications", "clients", "instances", "connections", "requests")


def fleet_numbers(fleet: FleetDay) -> str:
    return exposition(_gauges(fleet))


def _gauges(fleet: FleetDay) -> Iterator[Gauge]:
    cluster = {"cluster": fleet.cluster_name}
    coverage = fleet.coverage
    failed = {
        severity: sum(not check.success and check.severity == severity for check in fleet.quality)
        for severity in ("critical", "warning")
    }
    begin = dt.datetime.combine(fleet.day, dt.time(), dt.UTC)

    def gauge(name: str, words: str, value: float) -> Gauge:
        return Gauge(f"client_telemetry_{name}", words, ((cluster, value),))

    for name in _COUNTS:
        yield gauge(f"day_{name}", f"{name.capitalize()} of the newest published day", fleet.counts[name])
    yield gauge(
        "day_applications_with_deprecated_versions",
        "Applications with request versions that newer releases refuse",
        fleet.counts["applications_with_deprecated_versions"],
    )
    yield gauge(
        "day_applications_without_owner",
        "Applications that no owner rule matches",
        fleet.counts["applications_without_owner"],
    )
    yield gauge("day_timestamp_seconds", "Begin of the newest published day", begin.timestamp())
    yield gauge("day_published_timestamp_seconds", "When it was published", fleet.created_at.timestamp())
    yield gauge("day_broker_hours", "Broker hours of the day", coverage.broker_hours)
    yield gauge(
        "day_complete_broker_hours", "Broker hours that were seen completely", coverage.complete_broker_hours
    )
    yield Gauge(
        "client_telemetry_day_failed_quality_checks",
        "Quality checks of the day that failed",
        tuple(({**cluster, "severity": severity}, count) for severity, count in failed.items()),
    )
    yield gauge(
        "day_lost_data", "1 if something of the day could not be read", int(bool(fleet.lost.sentence))
    )
