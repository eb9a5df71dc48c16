"""Connections that only the brokers' KIP-511 gauges count."""

import datetime as dt
from pathlib import Path

import pyarrow as pa
from client_telemetry.impact.counted_connections import counted_only, evidence_of
from client_telemetry.impact.question import Question
from client_telemetry.impact.totals import _connections as of_connections
from client_telemetry.impact.totals import totals
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.clients import CLIENTS

from tests.client_telemetry.impact.test_client_evidence import DAY, NOON, asked, connection, files

OLD, NEW = "0f" * 16, "1f" * 16
BROKERS = [
    {"broker_incarnation": OLD, "software_name": None, "software_version": "3.9.1"},
    {"broker_incarnation": NEW, "software_name": None, "software_version": "4.0.0"},
]


def hour(number: int, *counts: tuple[str, str, int], broker: int = 1, incarnation: str = OLD) -> dict:
    rows = [{"software_name": n, "software_version": v, "connections": c} for n, v, c in counts]
    return {
        "dt": DAY,
        "hour": number,
        "broker_id": broker,
        "incarnations": [incarnation],
        "connections_counted": rows,
    }


def found(folder: Path, hours: list[dict], question: Question | None = None, pushed: tuple = ()):
    profiled = [
        connection(0, client_id="p", client_software_name=n, client_software_version=v, refusals=0)
        | {"connections": 0}
        for n, v in pushed
    ]
    seen = files(
        folder,
        CLIENT_CONNECTIONS,
        connection(1),
        connection(2, client_software_name="librdkafka", client_software_version="2.3.0"),
    )
    of_all = totals(None, question or asked(), seen, files(folder, CLIENTS, *profiled), 1)
    return counted_only(hours, BROKERS, of_all, question or asked())


def test_more_than_were_seen_are_counted_and_software_of_no_client_gets_a_row(tmp_path):
    hours = [
        hour(9, ("librdkafka", "2.3.0", 1), ("unknown", "unknown", 2), ("kgo", "v1.19.0", 1)),
        hour(9, ("unknown", "unknown", 2), ("apache-kafka-java", "3.9.1", 9), broker=2),
        hour(10, ("librdkafka", "2.3.0", 7)),
    ]
    counted = found(tmp_path, hours)
    assert [(each[:3], each.is_judged) for each in counted] == [
        (("kgo", "v1.19.0", 1), True),
        (("librdkafka", "2.3.0", 6), False),
        (("unknown", "unknown", 3), False),
    ], "of the hour with most, over its brokers, without what was seen and without brokers"
    (row,) = evidence_of(counted).to_pylist()
    assert (row["client_software_name"], row["client_id"], row["connections"]) == ("kgo", None, 0)
    assert row["first_seen_at"] == NOON - dt.timedelta(hours=2)


def test_only_hours_of_the_from_release_before_the_cut_count(tmp_path):
    cut = asked(until=NOON)
    hours = [
        hour(11, ("unknown", "unknown", 2)),
        hour(12, ("unknown", "unknown", 5)),
        hour(9, ("unknown", "unknown", 9), incarnation=NEW),
    ]
    assert [each.connections for each in found(tmp_path, hours, cut)] == [2]


def test_a_client_that_pushes_stands_for_its_software(tmp_path):
    hours = [hour(9, ("kgo", "v1.19.0", 4))]
    assert found(tmp_path, hours, pushed=(("kgo", "v1.19.0"),)) == []


def test_a_connection_whose_software_is_undeclared_in_several_ways_is_one(tmp_path):
    """A source writes nothing, an empty text or what brokers register."""
    names = ("client_software_name", "client_software_version")
    rows = [connection(1, **dict.fromkeys(names, none)) for none in (None, "", "unknown")]
    found = totals(None, asked(), files(tmp_path, CLIENT_CONNECTIONS, *rows), (), 1)
    assert (found.connections, found.by_software) == (1, {("unknown", "unknown"): 1})


def test_who_pushes_is_known_from_files_without_refusals_too(tmp_path):
    """The column is newer than the table."""
    days = {"connections": 0, "refusals": None}, {"connections": 0, "refusals": 0}
    rows = [
        connection(0, client_id="p", client_software_name="kgo", client_software_version="v1", **day)
        for day in days
    ]
    found = totals(None, asked(), (), files(tmp_path, CLIENTS, *rows), 1)
    assert found.only_pushed == {("kgo", "v1"): 1}


def test_connections_are_spread_over_parts_though_they_began_in_full_seconds(tmp_path):
    seen = files(tmp_path, CLIENT_CONNECTIONS, *(connection(number) for number in range(200)))
    pieces = [
        (part, rows) for part, (_, rows) in of_connections(seen, asked(), 4) if isinstance(rows, pa.Table)
    ]
    sizes = [len(rows) for _, rows in pieces]
    assert len({part for part, _ in pieces}) == 4 and sum(sizes) == 200 and min(sizes) > 30


def test_no_manifest_tells(tmp_path):
    assert found(tmp_path, [hour(9) | {"connections_counted": None}]) is None
