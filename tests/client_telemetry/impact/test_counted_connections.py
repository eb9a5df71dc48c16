"""Connections that only the brokers' KIP-511 gauges count."""

import datetime as dt

from client_telemetry.impact.client_evidence import by_pushes_only
from client_telemetry.impact.counted_connections import counted_only, evidence_of
from client_telemetry.impact.question import Question
from client_telemetry.tables.clients import CLIENTS
from pyspark.sql import SparkSession

from tests.client_telemetry.impact.test_client_evidence import DAY, NOON, asked, connection, frame

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


def found(spark: SparkSession, hours: list[dict], question: Question | None = None, pushed: tuple = ()):
    names = [column.name for column in CLIENTS.columns]
    rows = [
        {"client_id": "p", "client_software_name": n, "client_software_version": v, "first_seen_at": NOON}
        | {"connections": 0, "refusals": 0, "cluster_id": "c", "dt": DAY}
        for n, v in pushed
    ]
    profiled = spark.createDataFrame([tuple(row.get(n) for n in names) for row in rows], CLIENTS.schema)
    pushing = by_pushes_only(profiled, question or asked())
    seen = frame(
        spark,
        connection(1),
        connection(2, client_software_name="librdkafka", client_software_version="2.3.0"),
    )
    return counted_only(hours, BROKERS, seen, pushing, question or asked()), pushing


def test_more_than_were_seen_are_counted_and_software_of_no_client_gets_a_row(spark):
    hours = [
        hour(9, ("librdkafka", "2.3.0", 1), ("unknown", "unknown", 2), ("kgo", "v1.19.0", 1)),
        hour(9, ("unknown", "unknown", 2), ("apache-kafka-java", "3.9.1", 9), broker=2),
        hour(10, ("librdkafka", "2.3.0", 7)),
    ]
    counted, pushing = found(spark, hours)
    assert [(each[:3], each.is_judged) for each in counted] == [
        (("kgo", "v1.19.0", 1), True),
        (("librdkafka", "2.3.0", 6), False),
        (("unknown", "unknown", 3), False),
    ], "of the hour with most, over its brokers, without what was seen and without brokers"
    (row,) = evidence_of(counted, pushing).toArrow().to_pylist()
    assert (row["client_software_name"], row["client_id"], row["connections"]) == ("kgo", None, 0)
    assert row["first_seen_at"] == NOON - dt.timedelta(hours=2)


def test_only_hours_of_the_from_release_before_the_cut_count(spark):
    cut = asked(until=NOON)
    hours = [
        hour(11, ("unknown", "unknown", 2)),
        hour(12, ("unknown", "unknown", 5)),
        hour(9, ("unknown", "unknown", 9), incarnation=NEW),
    ]
    assert [each.connections for each in found(spark, hours, cut)[0]] == [2]


def test_a_client_that_pushes_stands_for_its_software(spark):
    hours = [hour(9, ("kgo", "v1.19.0", 4))]
    assert found(spark, hours, pushed=(("kgo", "v1.19.0"),))[0] == []


def test_no_manifest_tells(spark):
    assert found(spark, [hour(9) | {"connections_counted": None}])[0] is None
