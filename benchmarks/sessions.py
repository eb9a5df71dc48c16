"""What a session costs per push, against the least that anybody would do: one window and one aggregation.

    make bench ARGS=sessions

Pushes are made up by Spark in the shape of client_pushes: names, addresses and connection ids as long as real ones,
fifty pushes for each instance, all on one connection. The connections of the day and brokers that were restarted are
there too.
"""

import datetime as dt
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
from client_telemetry.lake.files import PartitionFile
from client_telemetry.lake.writer import ROWS_IN_COLUMNS
from client_telemetry.pipeline.queries import OnSpark
from client_telemetry.sessionize.look_back import midnight_us
from client_telemetry.sessionize.sessions import client_sessions
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.rows import BrokerRow
from client_telemetry.tables.table import Table
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812

from benchmarks.bench import Section
from benchmarks.measure import Cost, peak_memory_mb, take_turns

DAY = dt.date(2026, 11, 21)
CLUSTER = "kQ7x0RvXTs-Y2r0m3Jw0zA"
PUSHES_EACH = 50
ONE_INSTANCE = 5_000_000
SIZES = {"1 M pushes": 1_000_000, "10 M pushes": 10_000_000}
_TEXT = (
    "`peer` is a Spark window per instance with the time of the previous push, a running count of silences, and one "
    "aggregation: the minimum cost of finding silences with Spark rows. `sessions` is the whole transformation of the "
    "stage. Both read the same Parquet files and write nothing. `ratio` is the cost per push relative to the peer on 1 M "
    "pushes. The smaller cases include the fixed cost of a job; `each push beyond 1 M` does not. In one row, half of the "
    "pushes come from one instance. `memory` is the largest resident size of a Python worker."
)


def run() -> list[Section]:
    with tempfile.TemporaryDirectory(prefix="client_telemetry_sessions_") as folder:
        spark = _spark()
        try:
            return [_measure(spark, Path(folder))]
        finally:
            spark.stop()


def _spark() -> SparkSession:
    settings = {
        "spark.driver.memory": "2g",
        # The optimising compiler pays here; the settings of small jobs switch it off.
        "spark.driver.extraJavaOptions": "-XX:+UseSerialGC",
        "spark.sql.shuffle.partitions": "8",
        # Times in UTC, as in the tables' files; Spark's own default has no time zone.
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
        # Room for the code of all cases: what is compiled anew in every round is not cost per push.
        "spark.sql.codegen.cache.maxEntries": "2000",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    return SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()


def _measure(spark: SparkSession, folder: Path) -> Section:
    cases: dict[str, tuple[int, Callable[[], None]]] = {}

    def add(name: str, pushes: DataFrame, count: int, with_peer: bool) -> None:
        place = folder / re.sub(r"\W", "_", name)
        paths = {
            table.name: str(place / table.name) for table in (CLIENT_PUSHES, CLIENT_CONNECTIONS, BROKERS)
        }
        # As the decode job writes them (lake/writer.py).
        like_ours = {"compression": "zstd", "parquet.block.row.count.limit": ROWS_IN_COLUMNS}
        pushes.write.options(**like_ours).parquet(paths["client_pushes"])
        stored = spark.read.parquet(paths["client_pushes"])
        _connections(stored).write.parquet(paths["client_connections"])
        _brokers(stored).write.parquet(paths["brokers"])
        files = [_files(paths[name]) for name in ("client_pushes", "client_connections")]
        brokers = pq.read_table(paths["brokers"]).to_pylist()
        if with_peer:
            cases[f"peer, {name}"] = count, lambda: _run(_peer(stored))
        cases[f"sessions, {name}"] = count, lambda: _run(_sessions(spark, files, brokers))

    for name, count in SIZES.items():
        add(name, _pushes(spark, count, _even(count)), count, with_peer=True)
    count = 2 * ONE_INSTANCE
    add("10 M pushes, half of them of one instance", _pushes(spark, count, _skewed()), count, with_peer=False)

    costs = take_turns({name: work for name, (_, work) in cases.items()})
    memory = {name: peak_memory_mb(work) for name, (_, work) in cases.items() if name.startswith("sessions")}
    per_push = {name: costs[name].cpu / count * 1e6 for name, (count, _) in cases.items()}
    return Section("CPU time per push", _TEXT, _results(per_push, costs, memory))


def _files(folder: str) -> list[PartitionFile]:
    return [
        PartitionFile(path.as_uri(), CLUSTER, DAY, pq.read_metadata(path).num_rows)
        for path in sorted(Path(folder).glob("*.parquet"))
    ]


def _results(
    per_push: dict[str, float], costs: dict[str, Cost], memory: dict[str, float]
) -> list[dict[str, str | float | None]]:
    (small, few), (large, many) = SIZES.items()
    beyond = {
        f"{what}, each push beyond {small.removesuffix(' pushes')}": (
            per_push[f"{what}, {large}"] * many - per_push[f"{what}, {small}"] * few
        )
        / (many - few)
        for what in ("peer", "sessions")
    }
    peer = per_push[f"peer, {small}"]
    return [
        {
            "case": name,
            "CPU µs per push": cost,
            "ratio": cost / peer,
            "wall s": costs[name].wall if name in costs else None,
            "memory, MB": memory.get(name),
        }
        for name, cost in (per_push | beyond).items()
    ]


def _sessions(spark: SparkSession, files: list[list[PartitionFile]], brokers: list[BrokerRow]) -> DataFrame:
    queries = OnSpark(spark, {})
    return queries.frame(client_sessions(queries, *files, brokers, DAY))


def _run(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()


def _peer(pushes: DataFrame) -> DataFrame:
    life = Window.partitionBy("client_instance_id").orderBy("received_at")
    at_us = F.unix_micros("received_at")
    silence = at_us - F.lag(at_us).over(life) > 900_000_000
    return (
        pushes.select("client_instance_id", "received_at")
        .withColumn("begins", F.coalesce(silence, F.lit(True)).cast("int"))
        .withColumn("spell", F.sum("begins").over(life))
        .groupBy("client_instance_id", "spell")
        .agg(F.min("received_at"), F.max("received_at"), F.count("*"))
    )


def _even(count: int) -> Column:
    """Number of the instance: in turns, as pushes arrive."""
    return F.col("id") % (count // PUSHES_EACH)


def _skewed() -> Column:
    """Every other push is of instance 0."""
    return F.when(F.col("id") % 2 == 0, 0).otherwise(
        F.floor(F.col("id") / 2) % (ONE_INSTANCE // PUSHES_EACH) + 1
    )


def _pushes(spark: SparkSession, count: int, instance: Column) -> DataFrame:
    """`count` pushes spread over the day in order of arrival."""
    i = F.col("instance")
    at_us = (
        midnight_us(DAY)
        + F.floor(F.col("id") * (86_399_000_000 / count))
        + F.pmod(F.xxhash64("id"), F.lit(1000))
    )

    def text(pattern: str, *numbers: Column) -> Column:
        return F.format_string(pattern, *numbers)

    values = {
        "cluster_id": F.lit(CLUSTER),
        "dt": F.lit(DAY),
        "broker_id": i % 3 + 1,
        "broker_incarnation": F.md5((i % 3).cast("string")),
        "sequence": F.col("id"),
        "received_at": F.timestamp_micros(at_us.cast("long")),
        "client_instance_id": F.unhex(F.md5(i.cast("string"))),
        "client_id": text("orders-service-%d", i % 5000),
        "principal": text("User:team-%d", i % 50),
        "client_address": text("10.%d.%d.%d", i % 8, i % 250, F.floor(i / 250) % 250),
        "client_port": 30000 + i % 30000,
        "listener_name": F.lit("CLIENTS"),
        "connection_id": text("10.9.0.1:9092-10.0.0.1:%d-0", i),
        "client_software_name": F.lit("apache-kafka-java"),
        "client_software_version": F.lit("4.3.1"),
        "terminating": F.lit(False),
        "points": F.lit(430),
        "push_interval_ms": F.when(i % 3 == 0, 1_000_000),
        "clock_skew_ms": F.lit(12),
        "flags": F.array(),
    }
    return _rows(spark.range(0, count, 1, 8).withColumn("instance", instance), CLIENT_PUSHES, values)


def _connections(pushes: DataFrame) -> DataFrame:
    """The connection of each instance: one of three was closed after its last push."""
    endpoints = ["cluster_id", "dt", "broker_id", "broker_incarnation", "connection_id", "listener_name"]
    endpoints += ["client_address", "client_port"]
    each = pushes.groupBy(*endpoints).agg(
        F.min("received_at").alias("first"), F.max("received_at").alias("last")
    )
    is_closed = F.col("client_port") % 3 == 0
    closed_at = F.col("last") + F.expr("interval 2 seconds")
    values = {
        **{name: F.col(name) for name in endpoints},
        "opened_at": F.col("first"),
        "last_seen_at": F.when(is_closed, closed_at).otherwise(
            F.lit(dt.datetime.combine(DAY, dt.time(23, 59), dt.UTC))
        ),
        "closed_at": F.when(is_closed, closed_at),
        "end_known_by": F.when(is_closed, "closed_event").otherwise("still_open"),
    }
    return _rows(each, CLIENT_CONNECTIONS, values)


def _brokers(pushes: DataFrame) -> DataFrame:
    """Each broker once before the day and once, restarted, on it."""
    each = pushes.select("broker_id", "broker_incarnation").distinct()
    values = {name: F.col(name) for name in ("broker_id", "broker_incarnation")}
    values |= {"cluster_id": F.lit(CLUSTER), "dt": F.lit(DAY)}
    begin, end = (dt.datetime.combine(DAY, time, dt.UTC) for time in (dt.time(), dt.time(23, 59)))
    running = {"started_at": F.lit(begin), "last_evidence_at": F.lit(end)}
    before = {
        "broker_incarnation": F.reverse("broker_incarnation"),
        "started_at": F.lit(begin - dt.timedelta(days=9)),
        "last_evidence_at": F.lit(begin - dt.timedelta(seconds=40)),
    }
    return _rows(each, BROKERS, values | running).unionByName(_rows(each, BROKERS, values | before))


def _rows(frame: DataFrame, table: Table, values: dict[str, Column]) -> DataFrame:
    return frame.select(*(values.get(c.name, F.lit(None)).cast(c.kind).alias(c.name) for c in table.columns))
