"""Numbers of the newest upgrade report of a cluster, for Prometheus."""

from collections import Counter
from collections.abc import Iterator

from client_telemetry.reports.open_metrics import (
    OTHER_OWNERS,
    OWNERS_MEASURED,
    Gauge,
    Measured,
    exposition,
    number_gauges,
)
from client_telemetry.reports.outcomes import split_safe
from client_telemetry.reports.upgrade.model import UpgradeReport

NO_OWNER = "no owner"


def upgrade_numbers(report: UpgradeReport) -> str:
    """Fewer than 800 series whatever the fleet."""
    return exposition(_gauges(report))


def _gauges(report: UpgradeReport) -> Iterator[Gauge]:
    question = report.question
    about = {"cluster": question.cluster_name, "to_release": question.to_release}
    counts = split_safe(report.counts, report.safe_so_far)

    yield Gauge(
        "client_telemetry_upgrade_applications",
        "Applications by what happens to them, in the newest upgrade report of the cluster",
        tuple(({**about, "outcome": outcome.replace(" ", "_")}, count) for outcome, count in counts.items()),
    )
    yield Gauge(
        "client_telemetry_upgrade_owner_applications",
        "Applications of an owner that are not safe, by what happens to them",
        tuple(
            ({**about, "owner": owner, "outcome": outcome}, count)
            for (owner, outcome), count in sorted(_by_owner(report).items())
        ),
    )
    share = report.coverage.complete_share
    others: tuple[Measured, ...] = (
        ("already_failing_applications", "Applications that fail on today's brokers", report.already_failing),
        ("created_timestamp_seconds", "When the report was made", question.created_at),
        ("evidence_timestamp_seconds", "End of its evidence", question.evidence_until),
        ("knowledge_timestamp_seconds", "When its knowledge base was built", question.knowledge_built_at),
        ("coverage_ratio", "Share of its broker hours that were seen completely", share),
        ("planned_timestamp_seconds", "Planned day of the upgrade", report.planned_for),
    )
    yield from number_gauges("client_telemetry_upgrade", about, others)


def _by_owner(report: UpgradeReport) -> Counter[tuple[str, str]]:
    measured = {stake.owner for stake in report.owners[:OWNERS_MEASURED]}
    found: Counter[tuple[str, str]] = Counter()
    for stake in report.owners:
        owner = (stake.owner or NO_OWNER) if stake.owner in measured else OTHER_OWNERS
        for outcome, count in stake.counts.items():
            if count and outcome != "safe":
                found[owner, outcome] += count
    return found
