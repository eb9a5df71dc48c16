"""One broker process from its start to its end: an incarnation."""

import datetime as dt
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from client_telemetry.compatibility.broker_guess import declared
from client_telemetry.sessionize.look_back import midnight_us, with_history

INCARNATION = ["cluster_id", "broker_id", "broker_incarnation"]
"""Columns that tell incarnations apart."""


@dataclass
class Incarnation:
    """`broker_software_version`: as broker_guess.declared writes it. If the next incarnation of its broker started before
    the end of the day: when that was (`replaced_at`), and when the incarnation itself was last seen (`stopped_at`). Times
    are microseconds since 1970."""

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


def incarnations(brokers: DataFrame, day: dt.date) -> list[Incarnation]:
    """Those in rows of `brokers` of the day and of its history. A cluster has some rows a day."""
    rows = (
        with_history(brokers, day)
        .select(
            *INCARNATION,
            "dt",
            "software_name",
            "software_version",
            F.unix_micros("started_at").alias("started_at"),
            F.unix_micros("last_evidence_at").alias("last_evidence_at"),
        )
        .collect()
    )
    found: dict[tuple[Any, ...], Incarnation] = {}
    for row in sorted(rows, key=lambda row: row["dt"]):
        its = found.setdefault(tuple(row[:3]), Incarnation(*row[:3]))
        if row["software_version"]:
            its.broker_software_version = declared(row["software_name"], row["software_version"])
        its.started_at = min(filter(None, (its.started_at, row["started_at"])), default=None)
        its.last_evidence_at = max(
            filter(None, (its.last_evidence_at, row["last_evidence_at"])), default=None
        )
    end_of_day = midnight_us(day + dt.timedelta(days=1))
    starts: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for its in found.values():
        if its.started_at is not None and its.started_at < end_of_day:
            starts[its.cluster_id, its.broker_id].append(its.started_at)
    for its in found.values():
        if its.started_at is not None:
            later = [at for at in starts[its.cluster_id, its.broker_id] if at > its.started_at]
            its.replaced_at = min(later, default=None)
    return list(found.values())
