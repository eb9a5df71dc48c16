"""The two real captures as DataFrames: decoded once per test session, as the decode job does it."""

import datetime as dt
import os
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

# Spark gives timestamps in the local time of the Python process.
os.environ["TZ"] = "UTC"
time.tzset()

SAMPLE = Path(__file__).parents[2] / "include" / "sample"
DAY = dt.date(2026, 11, 21)


@dataclass(frozen=True)
class Capture:
    """`folder` holds the truth files beside raw/. The tables hold all rows of the capture, which are of one day."""

    folder: Path
    cluster_id: str
    pushes: DataFrame
    events: DataFrame
    brokers: DataFrame
    sessions: DataFrame
    connections: DataFrame


@pytest.fixture(scope="session")
def telemetry_cluster(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Capture:
    return _capture(spark, SAMPLE / "telemetry_cluster", tmp_path_factory.mktemp("telemetry_cluster"))


@pytest.fixture(scope="session")
def fleet(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Capture:
    return _capture(spark, SAMPLE / "fleet", tmp_path_factory.mktemp("fleet"))


def _capture(spark: SparkSession, folder: Path, tables: Path) -> Capture:
    from client_telemetry.coverage import brokers
    from client_telemetry.decode import DECODED_TABLES, Worker
    from client_telemetry.manifests import read_manifest
    from client_telemetry.raw_location import RawLocation
    from client_telemetry.sessionize import client_connections, client_sessions
    from client_telemetry.tables.brokers import BROKERS
    from client_telemetry.tables.client_pushes import CLIENT_PUSHES
    from client_telemetry.tables.connection_events import CONNECTION_EVENTS

    raw = RawLocation(f"file://{folder / 'raw'}")
    (cluster_id,) = raw.clusters()
    keys = [arrived.key for arrived in raw.objects(cluster_id, DAY)]
    records = [[str(key)] for key in keys if key.dataset != "manifests"]
    manifests = [read_manifest(raw, key) for key in keys if key.dataset == "manifests"]
    locations = {table.name: f"file://{tables}/{table.name}" for table in DECODED_TABLES}
    files = Worker(raw.read, locations).decode(records).files

    def read(table) -> DataFrame:
        return spark.read.schema(table.schema).parquet(*files[table.name])

    def kept(name: str, frame: DataFrame) -> DataFrame:
        frame.write.parquet(f"file://{tables}/{name}")
        return spark.read.parquet(f"file://{tables}/{name}")

    pushes, events = read(CLIENT_PUSHES), read(CONNECTION_EVENTS)
    incarnations = spark.createDataFrame(
        [tuple(row[c.name] for c in BROKERS.columns) for row in brokers(manifests, DAY)], BROKERS.schema
    )
    return Capture(
        folder,
        cluster_id,
        pushes,
        events,
        incarnations,
        kept("client_sessions", client_sessions(pushes, DAY)),
        kept("client_connections", client_connections(events, incarnations, DAY)),
    )
