"""Numbers of the newest upgrade report of a cluster, for Prometheus."""

import datetime as dt
from collections import Counter
from collections.abc import Iterator

from client_telemetry.reports.open_metrics import OTHER_OWNERS, OWNERS_MEASURED, Gauge, exposition
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

    def gauge(name: str, words: str, value: float) -> Gauge:
        return Gauge(f"client_telemetry_upgrade_{name}", words, ((about, value),))

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
    yield gauge(
        "already_failing_applications", "Applications that fail on today's brokers", report.already_failing
    )
    yield gauge("created_timestamp_seconds", "When the report was made", question.created_at.timestamp())
    if question.evidence_until is not None:
        yield gauge("evidence_timestamp_seconds", "End of its evidence", question.evidence_until.timestamp())
    if question.knowledge_built_at is not None:
        yield gauge(
            "knowledge_timestamp_seconds",
            "When its knowledge base was built",
            question.knowledge_built_at.timestamp(),
        )
    if report.coverage.complete_share is not None:
        yield gauge(
            "coverage_ratio",
            "Share of its broker hours that were seen completely",
            report.coverage.complete_share,
        )
    if report.planned_for is not None:
        day = dt.datetime.combine(report.planned_for, dt.time(), dt.UTC)
        yield gauge("planned_timestamp_seconds", "Planned day of the upgrade", day.timestamp())


def _by_owner(report: UpgradeReport) -> Counter[tuple[str, str]]:
    measured = {stake.owner for stake in report.owners[:OWNERS_MEASURED]}
    found: Counter[tuple[str, str]] = Counter()
    for stake in report.owners:
        owner = (stake.owner or NO_OWNER) if stake.owner in measured else OTHER_OWNERS
        for outcome, count in stake.counts.items():
            if count and outcome != "safe":
                found[owner, outcome] += count
    return found
