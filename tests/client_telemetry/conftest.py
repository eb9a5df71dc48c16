"""The two real captures as tables, from the run of the real DAGs and jobs over the shipped sample."""

import datetime as dt
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from client_telemetry import knowledge
from client_telemetry.pipeline.queries import InProcess, OnSpark, Queries
from pyspark.sql import DataFrame, SparkSession

# Spark gives timestamps in the local time of the Python process.
os.environ["TZ"] = "UTC"
time.tzset()

CHECKOUT = Path(__file__).parents[2]
SAMPLE = CHECKOUT / "include" / "sample"
DAY = dt.date(2026, 11, 21)
CLUSTERS = {"telemetry_cluster": "kQ7x0RvXTs-Y2r0m3Jw0zA", "fleet": "fL33tG0ldTruth000000-w"}


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
def kafka_clients_jar() -> Path:
    """Kafka's published jar, as `make test` and `make knowledge` fetch it."""
    jars = sorted((CHECKOUT / "var" / "knowledge").glob("kafka-clients-*.jar"))
    if not jars:
        pytest.skip("no kafka-clients jar: make test fetches it")
    return jars[0]


@pytest.fixture(scope="session")
def telemetry_cluster(spark: SparkSession, sample_run) -> Capture:
    return _capture(spark, sample_run.folder, "telemetry_cluster")


@pytest.fixture(scope="session")
def fleet(spark: SparkSession, sample_run) -> Capture:
    return _capture(spark, sample_run.folder, "fleet")


def _capture(spark: SparkSession, folder: Path, name: str) -> Capture:
    from client_telemetry.lake.catalog import spark_settings
    from client_telemetry.lake.lake import Lake
    from client_telemetry.tables.brokers import BROKERS
    from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
    from client_telemetry.tables.client_pushes import CLIENT_PUSHES
    from client_telemetry.tables.client_sessions import CLIENT_SESSIONS
    from client_telemetry.tables.connection_events import CONNECTION_EVENTS

    location = str(folder / "lake")
    session = spark.newSession()
    for setting, value in spark_settings(location).items():
        session.conf.set(setting, value)
    lake = Lake(session, location)
    of_the_cluster = f"cluster_id = '{CLUSTERS[name]}'"
    tables = (CLIENT_PUSHES, CONNECTION_EVENTS, BROKERS, CLIENT_SESSIONS, CLIENT_CONNECTIONS)
    return Capture(
        SAMPLE / name, CLUSTERS[name], *[lake.read(table).where(of_the_cluster) for table in tables]
    )


@pytest.fixture
def damaged(monkeypatch):
    """damaged(module, row_number, column, value): the module reads its file (or `of`, another of its files) with that one
    cell changed.

    Returns nothing; the cached loaders of the module are emptied before and after.
    """
    emptied = []

    def empty(module):
        for each in vars(module).values():
            if hasattr(each, "cache_clear") and each.__module__ == module.__name__:
                each.cache_clear()

    def damage(
        module, row_number: int, column: str, value: str, repeat: bool = False, of: str | None = None
    ) -> None:
        def rows(file, columns):
            found = [(line, list(cells)) for line, cells in knowledge.rows(file, columns)]
            if file == (of or module.FILE):
                if repeat:
                    found.append((9999, list(found[row_number][1])))
                else:
                    found[row_number][1][columns.index(column)] = value
            return found

        empty(module)
        emptied.append(module)
        monkeypatch.setattr(module, "rows" if hasattr(module, "rows") else "rows_if_there", rows)

    yield damage
    monkeypatch.undo()
    for module in emptied:
        empty(module)


ENGINES = ("on Spark", "in this process")


def queries_on(engine: str, frames: Mapping[str, DataFrame]) -> Queries:
    if engine == ENGINES[0]:
        return OnSpark(next(iter(frames.values())).sparkSession, frames)
    return InProcess({name: [rows.toArrow()] for name, rows in frames.items()})


@pytest.fixture(params=ENGINES)
def given(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[Callable[..., Queries]]:
    """Queries over relations: name -> rows and their schema as Spark's DDL. A test of a query runs on both engines."""
    with ExitStack() as opened:

        def queries(**relations: tuple[list[tuple], str]) -> Queries:
            frames = {name: spark.createDataFrame(rows, schema) for name, (rows, schema) in relations.items()}
            return opened.enter_context(queries_on(request.param, frames))

        yield queries
