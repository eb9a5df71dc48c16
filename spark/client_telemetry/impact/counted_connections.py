"""Connections that only the brokers' own counters know: KIP-511's gauges count them by declared software, but no event
or push shows them (watching was off, or covered another hour).
"""

import datetime as dt
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import pyarrow as pa

from client_telemetry.impact.client_evidence import without_requests
from client_telemetry.impact.question import Question
from client_telemetry.impact.totals import Software, Totals
from client_telemetry.knowledge import kip511
from client_telemetry.knowledge.broker_guess import declared
from client_telemetry.tables.rows import BrokerHourRow, BrokerRow

BROKERS_DECLARE = "apache-kafka-java"
"""The name under which brokers connect to each other, with their own version: these connections are not clients'."""


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
    seen: Totals,
    question: Question,
) -> list[CountedOnly] | None:
    """Sorted by software; None if no manifest has the counts. `hours`: rows of broker_hours of the days, `brokers` of
    brokers.
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
    observed = seen.by_software
    result = []
    for software in sorted(
        {software for counts in by_hour.values() for software in counts} - seen.only_pushed.keys()
    ):
        more = max(counts.get(software, 0) for counts in by_hour.values()) - observed[software]
        if more > 0:
            ends = [end for end, counts in by_hour.items() if counts.get(software)]
            is_judged = kip511.is_known(software[0]) and software not in observed
            result.append(CountedOnly(*software, more, min(ends), max(ends), is_judged))
    return result


def evidence_of(counted: Iterable[CountedOnly]) -> pa.Table:
    """A row of evidence without requests and brokers for each that is to be judged."""
    judged = [software for software in counted if software.is_judged]
    clients = {
        "principal": [None] * len(judged),
        "client_id": [None] * len(judged),
        "client_software_name": [each.software_name for each in judged],
        "client_software_version": [each.software_version for each in judged],
    }
    seen = ([each.first_at for each in judged], [each.last_at for each in judged])
    return without_requests(
        pa.table({name: pa.array(values, pa.string()) for name, values in clients.items()}),
        *(pa.array(times, pa.timestamp("us", "UTC")) for times in seen),
    )


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
