"""Connections that only the brokers' own counters know: KIP-511's gauges count them by declared software, and neither an
event nor a push tells of them (watching was off, or looked at another hour)."""

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
"""What brokers call themselves to each other, with their own version: their connections are no clients'."""

Software = tuple[str, str]


class CountedOnly(NamedTuple):
    """Connections of one software beyond those that were seen of it."""

    software_name: str
    software_version: str
    connections: int
    first_at: dt.datetime
    """End of the first and the last hour that counts any."""
    last_at: dt.datetime
    is_judged: bool
    """No client was seen with this software, so that a row stands for them."""


def counted_only(
    hours: Sequence[BrokerHourRow],
    brokers: Iterable[BrokerRow],
    connections: DataFrame,
    pushing: DataFrame,
    asked: Question,
) -> list[CountedOnly] | None:
    """Sorted by software; None where no manifest tells. `hours`: rows of broker_hours of the days, `brokers` of brokers;
    `connections` of client_connections; `pushing`: what `by_pushes_only` found."""
    reported = [
        row
        for row in _of_the_from_release(hours, brokers, asked)
        if row.get("connections_counted") is not None
    ]
    if not reported:
        return None
    own = {row["software_version"] for row in brokers}
    by_hour: dict[dt.datetime, dict[Software, int]] = {}
    for row in reported:
        counts = by_hour.setdefault(_end(row), {})
        for each in row["connections_counted"] or ():
            software = (kip511.registered(each["software_name"]), kip511.registered(each["software_version"]))
            if software[0] != BROKERS_DECLARE or software[1] not in own:
                counts[software] = counts.get(software, 0) + each["connections"]
    seen = connections_by_software(connections, asked)
    names = ("client_software_name", "client_software_version")
    pushed = {
        tuple(row)
        for row in pushing.select(*(F.coalesce(n, F.lit(kip511.UNKNOWN)) for n in names)).distinct().collect()
    }
    found = []
    for software in sorted({each for counts in by_hour.values() for each in counts} - pushed):
        more = max(counts.get(software, 0) for counts in by_hour.values()) - seen.get(software, 0)
        if more > 0:
            ends = [end for end, counts in by_hour.items() if counts.get(software)]
            is_judged = kip511.is_known(software[0]) and software not in seen
            found.append(CountedOnly(*software, more, min(ends), max(ends), is_judged))
    return found


def evidence_of(found: Iterable[CountedOnly], like: DataFrame) -> DataFrame:
    """A row of `evidence` without requests and brokers for each that is to be judged. `like`: rows of `by_pushes_only`."""
    rows: list[tuple[Any, ...]] = [
        (None, None, each.software_name, each.software_version, 0, each.first_at, each.last_at, [], "")
        for each in found
        if each.is_judged
    ]
    schema = (
        "principal string, client_id string, client_software_name string, client_software_version string, "
        "connections long, first_seen_at timestamp, last_seen_at timestamp, broker_ids array<int>, program string"
    )
    return like.sparkSession.createDataFrame(rows, schema)


def _of_the_from_release(
    hours: Sequence[BrokerHourRow], brokers: Iterable[BrokerRow], asked: Question
) -> list[BrokerHourRow]:
    """Broker hours that ended before the cut, of brokers that ran the from-release and nothing else in them."""
    running = asked.brokers_declare or (asked.from_release,)
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
        and (asked.until is None or _end(row) <= asked.until)
    ]


def _end(row: BrokerHourRow) -> dt.datetime:
    start = dt.datetime.combine(row["dt"], dt.time(), dt.UTC)
    return start + dt.timedelta(hours=row["hour"] + 1)
