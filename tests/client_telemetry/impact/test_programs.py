"""Programs behind one client id, judged apart."""

from collections import defaultdict
from pathlib import Path

from client_telemetry.identity.applications import BY_PLACE, DEFAULT_ID, SEVERAL_PROGRAMS
from client_telemetry.impact.counted_connections import evidence_of
from client_telemetry.impact.known_clients import applications_of_programs, known_clients, summary
from client_telemetry.impact.totals import totals
from client_telemetry.impact.what_decides import Mechanisms
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.clients import CLIENTS
from pyspark.sql import SparkSession

from tests.client_telemetry.impact.test_client_evidence import (
    FETCH,
    PRODUCE,
    asked,
    connection,
    evidence,
    files,
    use,
)

METADATA = 3


def client(client_id: str, *uses: dict) -> dict:
    return connection(0, *uses) | {"client_id": client_id, "broker_software_versions": ["3.9.1"]}


def test_two_console_producers_have_their_own_evidence(spark: SparkSession, tmp_path: Path):
    tool = {"client_id": "console-producer"}
    connections = files(
        tmp_path,
        CLIENT_CONNECTIONS,
        connection(1, use(PRODUCE, 2, 7), use(METADATA, 2), **tool),
        connection(2, use(PRODUCE, 3, 5), use(METADATA, 4), **tool),
        connection(3, use(PRODUCE, 2), use(PRODUCE, 9)),
    )
    clients = files(
        tmp_path,
        CLIENTS,
        client("console-producer", use(PRODUCE, 2), use(PRODUCE, 3), use(METADATA, 2), use(METADATA, 4)),
        client("orders", use(PRODUCE, 2), use(PRODUCE, 9)),
    )

    seen = evidence(asked(), connections, clients, spark)
    found = seen.of_clients(list(seen.connections(connections))).to_pylist()

    assert {
        (each["client_id"], each["program"]): [(u["api_key"], u["version"]) for u in each["uses"]]
        for each in found
    } == {
        ("console-producer", "Produce v2"): [(PRODUCE, 2), (METADATA, 2)],
        ("console-producer", "Produce v3"): [(PRODUCE, 3), (METADATA, 4)],
        ("orders", ""): [(PRODUCE, 2), (PRODUCE, 9)],
    }


def test_a_program_belongs_to_the_clients_that_were_there_with_it(spark: SparkSession, tmp_path: Path):
    """Two releases of kafka-python at one address, an hour apart: their producers share a client id, their consumers do
    not."""
    shared = {"client_id": "kafka-python-producer-1"}
    consumers = {"client_id": "kafka-python-1.4.5"}, {"client_id": "kafka-python-1.0.2"}
    connections = files(
        tmp_path,
        CLIENT_CONNECTIONS,
        connection(1, use(PRODUCE, 3), use(METADATA, 1), **shared),
        connection(2, use(FETCH, 4), use(METADATA, 1), **consumers[0]),
        connection(3, use(PRODUCE, 0, 1, 60), use(METADATA, 0, 1, 60), opened=60, **shared),
        connection(4, use(FETCH, 0, 1, 60), use(METADATA, 0, 1, 60), opened=60, **consumers[1]),
        connection(5, use(PRODUCE, 9), principal="User:billing"),
    )
    clients = files(
        tmp_path,
        CLIENTS,
        client(
            "kafka-python-producer-1", use(PRODUCE, 3), use(PRODUCE, 0), use(METADATA, 1), use(METADATA, 0)
        ),
        client("kafka-python-1.4.5", use(FETCH, 4)),
        client("kafka-python-1.0.2", use(FETCH, 0)),
    )
    seen = evidence(asked(), connections, clients, spark)
    known = known_clients(spark, seen, connections, clients, evidence_of(()), Mechanisms({}), 2)
    principals = summary(known).principals
    assert principals == {"User:orders"}
    pieces = applications_of_programs(known, principals, 2).collected()
    rows = [row for piece in pieces for row in piece.to_pylist()]
    together = defaultdict(list)
    for row in rows:
        together[row["application"]].append(row["program"])
        assert set(row["application_notes"]) == {BY_PLACE, DEFAULT_ID, SEVERAL_PROGRAMS}
    assert {name: sorted(programs) for name, programs in together.items()} == {
        "kafka-python-1.4.5": ["", "Produce v3"],
        "kafka-python-1.0.2": ["", "Produce v0"],
    }


def test_nothing_is_looked_at_where_no_client_id_is_shared(spark: SparkSession, tmp_path: Path):
    clients = files(tmp_path, CLIENTS, client("orders", use(FETCH, 12)))
    assert totals(spark, asked(), (), clients, 2).shared is None
