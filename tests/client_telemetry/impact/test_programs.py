"""Programs behind one client id, judged apart."""

from client_telemetry.impact.client_evidence import evidence
from client_telemetry.impact.programs import programs_of_connections
from client_telemetry.tables.clients import CLIENTS
from pyspark.sql import DataFrame, SparkSession

from tests.client_telemetry.impact.test_client_evidence import FETCH, PRODUCE, asked, connection, frame, use

METADATA = 3


def profiled(spark: SparkSession, *rows: dict) -> DataFrame:
    names = [column.name for column in CLIENTS.columns]
    return spark.createDataFrame([tuple(row.get(name) for name in names) for row in rows], CLIENTS.schema)


def client(client_id: str, *uses: dict) -> dict:
    return connection(0, *uses) | {"client_id": client_id, "broker_software_versions": ["3.9.1"]}


def test_two_console_producers_have_their_own_evidence(spark: SparkSession):
    tool = {"client_id": "console-producer"}
    connections = frame(
        spark,
        connection(1, use(PRODUCE, 2, 7), use(METADATA, 2), **tool),
        connection(2, use(PRODUCE, 3, 5), use(METADATA, 4), **tool),
        connection(3, use(PRODUCE, 2), use(PRODUCE, 9)),
    )
    clients = profiled(
        spark,
        client("console-producer", use(PRODUCE, 2), use(PRODUCE, 3), use(METADATA, 2), use(METADATA, 4)),
        client("orders", use(PRODUCE, 2), use(PRODUCE, 9)),
    )

    apart = programs_of_connections(connections, clients, asked())
    found = evidence(connections, asked(), apart).toArrow().to_pylist()

    assert {
        (each["client_id"], each["program"]): [(u["api_key"], u["version"]) for u in each["uses"]]
        for each in found
    } == {
        ("console-producer", "Produce v2"): [(PRODUCE, 2), (METADATA, 2)],
        ("console-producer", "Produce v3"): [(PRODUCE, 3), (METADATA, 4)],
        ("orders", ""): [(PRODUCE, 2), (PRODUCE, 9)],
    }


def test_nothing_is_looked_at_where_no_client_id_is_shared(spark: SparkSession):
    connections = frame(spark, connection(1, use(FETCH, 12), use(FETCH, 13)))
    assert (
        programs_of_connections(connections, profiled(spark, client("orders", use(FETCH, 12))), asked())
        is None
    )
