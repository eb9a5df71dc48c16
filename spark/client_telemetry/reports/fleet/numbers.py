"""Numbers of the newest day of a cluster, for Prometheus."""

from collections.abc import Iterator

from client_telemetry.reports.fleet.model import FleetDay
from client_telemetry.reports.open_metrics import Gauge, Measured, exposition, number_gauges

_ALL = ("applications", "clients", "instances", "connections", "requests")
_COUNTS = {
    **{name: f"{name.capitalize()} of the newest published day" for name in _ALL},
    "applications_with_deprecated_versions": "Applications with request versions that newer releases refuse",
    "applications_without_owner": "Applications that no owner rule matches",
}


def fleet_numbers(fleet: FleetDay) -> str:
    return exposition(_gauges(fleet))


def _gauges(fleet: FleetDay) -> Iterator[Gauge]:
    cluster = {"cluster": fleet.cluster_name}
    coverage = fleet.coverage
    failed = {
        severity: sum(not check.success and check.severity == severity for check in fleet.quality)
        for severity in ("critical", "warning")
    }
    counts = [(name, words, fleet.counts[name]) for name, words in _COUNTS.items()]
    numbers: tuple[Measured, ...] = (
        ("timestamp_seconds", "Begin of the newest published day", fleet.day),
        ("published_timestamp_seconds", "When it was published", fleet.created_at),
        ("broker_hours", "Broker hours of the day", coverage.broker_hours),
        ("complete_broker_hours", "Broker hours that were seen completely", coverage.complete_broker_hours),
    )
    yield from number_gauges("client_telemetry_day", cluster, (*counts, *numbers))
    yield Gauge(
        "client_telemetry_day_failed_quality_checks",
        "Quality checks of the day that failed",
        tuple(({**cluster, "severity": severity}, count) for severity, count in failed.items()),
    )
    lost = ("lost_data", "1 if something of the day could not be read", int(bool(fleet.lost.sentence)))
    yield from number_gauges("client_telemetry_day", cluster, [lost])
