"""One broker process from its start to its end: an incarnation."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from client_telemetry.knowledge.broker_guess import declared
from client_telemetry.sessionize.look_back import first_day, midnight_us
from client_telemetry.tables.rows import BrokerRow

INCARNATION = ["cluster_id", "broker_id", "broker_incarnation"]
"""Columns that identify an incarnation."""
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


@dataclass
class Incarnation:
    """`broker_software_version`: as broker_guess.declared writes it. If the broker's next incarnation started before
    the end of the day: when that was (`replaced_at`), and when this one was last seen (`stopped_at`). Times are
    microseconds since 1970.
    """

    cluster_id: str
    broker_id: int
    broker_incarnation: str
    broker_software_version: str | None = None
    started_at: int | None = None
    last_evidence_at: int | None = None
    replaced_at: int | None = None

    @property
    def stopped_at(self) -> int | None:
        if self.replaced_at is None or self.last_evidence_at is None:
            return self.replaced_at
        return self.last_evidence_at


def incarnations(brokers: Iterable[BrokerRow], day: dt.date) -> list[Incarnation]:
    """Those in the `brokers` rows of the day and its history. A cluster has a few rows a day."""
    rows = [row for row in brokers if first_day(day) <= row["dt"] <= day]
    by_key: dict[tuple[object, ...], Incarnation] = {}
    for row in sorted(rows, key=lambda row: row["dt"]):
        key = (row["cluster_id"], row["broker_id"], row["broker_incarnation"])
        incarnation = by_key.setdefault(key, Incarnation(*key))
        if row["software_version"]:
            incarnation.broker_software_version = declared(row["software_name"], row["software_version"])
        started_at, last_evidence_at = map(_micros, (row["started_at"], row["last_evidence_at"]))
        incarnation.started_at = min(filter(None, (incarnation.started_at, started_at)), default=None)
        incarnation.last_evidence_at = max(
            filter(None, (incarnation.last_evidence_at, last_evidence_at)), default=None
        )
    end_of_day = midnight_us(day + dt.timedelta(days=1))
    starts: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for incarnation in by_key.values():
        if incarnation.started_at is not None and incarnation.started_at < end_of_day:
            starts[incarnation.cluster_id, incarnation.broker_id].append(incarnation.started_at)
    for incarnation in by_key.values():
        if incarnation.started_at is not None:
            later = [
                at
                for at in starts[incarnation.cluster_id, incarnation.broker_id]
                if at > incarnation.started_at
            ]
            incarnation.replaced_at = min(later, default=None)
    return list(by_key.values())


def _micros(at: dt.datetime | None) -> int | None:
    return None if at is None else (at - _EPOCH) // dt.timedelta(microseconds=1)
