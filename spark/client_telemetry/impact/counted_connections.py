"""Connections that only the brokers' own counters know: KIP-511's gauges count them by declared software, but no event
or push shows them (watching was off, or covered another hour).
"""

import datetime as dt
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from client_telemetry.compatibility.broker_guess import declared
from client_telemetry.identity import kip511
from client_telemetry.impact.client_evidence import connections_by_software
from client_telemetry.impact.question import Question
from client_telemetry.tables.rows import BrokerHourRow, BrokerRow

BROKERS_DECLARE = "apache-kafka-java"
"""The name under which brokers connect to each other, with their own version: these connections are not clients'."""

Software = tuple[str, str]


class CountedOnly(NamedTuple):
    """Connections of one software beyond those that were seen."""

    software_name: str
    software_version: str
    connections: int
    first_at: dt.datetime
    """End of the first and the last hour that counts any."""
    last_at: dt.datetime
    is_judged: bool
    """No client was seen with this software, so a row stands for them."""


def counted_only(
    hours: Sequence[BrokerHourRow],
    brokers: Iterable[BrokerRow],
    connections: DataFrame,
    pushing: DataFrame,
    question: Question,
) -> list[CountedOnly] | None:
    """Sorted by software; None if no manifest has the counts. `hours`: rows of broker_hours of the days, `brokers` of
    brokers; `connections` of client_connections; `pushing`: the result of `by_pushes_only`.
    """
    reported = [
        row
        for row in _of_the_from_release(hours, brokers, question)
        if row.get("connections_counted") is not None
    ]
    if not reported:
        return None
    own = {row["software_version"] for row in brokers}
    by_hour: dict[dt.datetime, dict[Software, int]] = {}
    for row in reported:
        counts = by_hour.setdefault(_end(row), {})
        for counted in row["connections_counted"] or ():
            software = (
                kip511.registered(counted["software_name"]),
                kip511.registered(counted["software_version"]),
            )
            if software[0] != BROKERS_DECLARE or software[1] not in own:
                counts[software] = counts.get(software, 0) + counted["connections"]
    observed = connections_by_software(connections, question)
    names = ("client_software_name", "client_software_version")
    pushed = {
        tuple(row)
        for row in pushing.select(*(F.coalesce(n, F.lit(kip511.UNKNOWN)) for n in names)).distinct().collect()
    }
    result = []
    for software in sorted({software for counts in by_hour.values() for software in counts} - pushed):
        more = max(counts.get(software, 0) for counts in by_hour.values()) - observed.get(software, 0)
        if more > 0:
            ends = [end for end, counts in by_hour.items() if counts.get(software)]
            is_judged = kip511.is_known(software[0]) and software not in observed
            result.append(CountedOnly(*software, more, min(ends), max(ends), is_judged))
    return result


def evidence_of(counted: Iterable[CountedOnly], like: DataFrame) -> DataFrame:
    """A row of `evidence` without requests and brokers for each that is to be judged. `like`: rows of `by_pushes_only`."""
    rows: list[tuple[Any, ...]] = [
        (
            None,
            None,
            software.software_name,
            software.software_version,
            0,
            software.first_at,
            software.last_at,
            [],
            "",
        )
        for software in counted
        if software.is_judged
    ]
    schema = (
        "principal string, client_id string, client_software_name string, client_software_version string, "
        "connections long, first_seen_at timestamp, last_seen_at timestamp, broker_ids array<int>, program string"
    )
    return like.sparkSession.createDataFrame(rows, schema)


def _of_the_from_release(
    hours: Sequence[BrokerHourRow], brokers: Iterable[BrokerRow], question: Question
) -> list[BrokerHourRow]:
    """Broker hours that ended before the cut, of brokers that ran only the from-release in them."""
    running = question.brokers_declare or (question.from_release,)
    there = {
        row["broker_incarnation"]
        for row in brokers
        if declared(row.get("software_name"), row["software_version"]) in running
    }
    return [
        row
        for row in hours
        if row["incarnations"]
        and there.issuperset(row["incarnations"])
        and (question.until is None or _end(row) <= question.until)
    ]


def _end(row: BrokerHourRow) -> dt.datetime:
    start = dt.datetime.combine(row["dt"], dt.time(), dt.UTC)
    return start + dt.timedelta(hours=row["hour"] + 1)
