"""Which hours of which brokers an answer could see, from rows of `broker_hours` and `brokers`."""

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from client_telemetry.reports.model import BrokerIncarnation, Coverage, CoverageRun

COMPLETENESS = {
    "complete": "seen completely",
    "no_manifest": "no manifest: what happened is not known",
    "bad_manifest": "the manifest cannot be read",
    "missing_objects": "raw objects are missing",
    "sequence_gap": "records are missing",
    "dropped_records": "the broker dropped records",
    "unread_records": "fewer records were read than there are",
    "registry_not_watching": "connections were watched for a part of the hour only, or not at all",
}
"""The vocabulary of `broker_hours.completeness` in a reader's words."""

HOUR = timedelta(hours=1)


def coverage(
    first_dt: date,
    last_dt: date,
    evidence_until: datetime | None,
    hour_rows: Iterable[Mapping[str, Any]],
    broker_rows: Iterable[Mapping[str, Any]],
) -> Coverage:
    """Hours from the start of `first_dt` to the end of `last_dt`, or of the hour in which the evidence ends.
    A broker hour without a row counts as `no_manifest`: nothing tells of it."""
    first = datetime.combine(first_dt, time(), UTC)
    end = datetime.combine(last_dt, time(), UTC) + 24 * HOUR
    if evidence_until is not None:
        end = max(first, min(end, _hour_end(evidence_until)))
    known = {
        (row["broker_id"], datetime.combine(row["dt"], time(row["hour"]), UTC)): tuple(row["completeness"])
        for row in hour_rows
    }
    brokers = tuple(
        sorted(
            {_incarnation(row) for row in broker_rows if first_dt <= row["dt"] <= last_dt},
            key=lambda b: (b.broker_id, b.started_at or first, b.broker_incarnation),
        )
    )
    ids = sorted({broker_id for broker_id, _ in known} | {b.broker_id for b in brokers})
    runs = tuple(run for broker_id in ids for run in _runs(broker_id, first, end, known))
    hours = len(ids) * ((end - first) // HOUR)
    complete = sum((run.end - run.start) // HOUR for run in runs if run.completeness == ("complete",))
    return Coverage(
        first_hour=first,
        end_hour=end,
        broker_ids=tuple(ids),
        broker_hours=hours,
        complete_broker_hours=complete,
        complete_share=round(complete / hours, 4) if hours else None,
        runs=runs,
        brokers=_latest(brokers),
    )


def _hour_end(moment: datetime) -> datetime:
    start = moment.replace(minute=0, second=0, microsecond=0)
    return start if start == moment else start + HOUR


def _runs(broker_id: int, first: datetime, end: datetime, known: Mapping) -> list[CoverageRun]:
    runs: list[CoverageRun] = []
    for index in range((end - first) // HOUR):
        hour = first + index * HOUR
        completeness = known.get((broker_id, hour), ("no_manifest",))
        if runs and runs[-1].completeness == completeness:
            runs[-1] = CoverageRun(broker_id, runs[-1].start, hour + HOUR, completeness)
        else:
            runs.append(CoverageRun(broker_id, hour, hour + HOUR, completeness))
    return runs


def _incarnation(row: Mapping[str, Any]) -> BrokerIncarnation:
    return BrokerIncarnation(
        row["broker_id"],
        row["broker_incarnation"],
        row["software_name"],
        row["software_version"],
        row["started_at"],
        row["last_evidence_at"],
    )


def _latest(brokers: Iterable[BrokerIncarnation]) -> tuple[BrokerIncarnation, ...]:
    """One entry per incarnation, though each of its days has a row: the one with the latest evidence."""
    latest: dict[tuple[int, str], BrokerIncarnation] = {}
    for broker in brokers:
        key = (broker.broker_id, broker.broker_incarnation)
        before = latest.get(key)
        if before is None or (broker.last_evidence_at or datetime.min.replace(tzinfo=UTC)) > (
            before.last_evidence_at or datetime.min.replace(tzinfo=UTC)
        ):
            latest[key] = broker
    return tuple(latest.values())
