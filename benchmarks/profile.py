"""CPU time of the stage profile by the number of connections: it should be in proportion."""

import datetime as dt
import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.bench import Section
from benchmarks.measure import take_turns

DAY = dt.date(2026, 11, 21)
SIZES = (100_000, 200_000, 400_000, 800_000)
CONNECTIONS_PER_CLIENT = 40


def run() -> list[Section]:
    from pyspark.sql import SparkSession

    os.environ.setdefault("SPARK_CONF_DIR", str(Path(__file__).parents[1] / "var/spark"))
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "3g")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    try:
        with TemporaryDirectory() as folder:
            return [_linear(spark, Path(folder))]
    finally:
        spark.stop()


def _linear(spark, folder: Path) -> Section:
    cases = {f"{size:,}": _profile(spark, folder, size) for size in SIZES}
    costs = take_turns(cases)
    first = costs[f"{SIZES[0]:,}"].cpu / SIZES[0]
    rows = [
        {
            "connections": size,
            "clients": size // CONNECTIONS_PER_CLIENT,
            "CPU s": costs[f"{size:,}"].cpu,
            "CPU µs per connection": costs[f"{size:,}"].cpu / size * 1e6,
            "ratio to the smallest": costs[f"{size:,}"].cpu / size / first,
        }
        for size in SIZES
    ]
    return Section(
        "Clients from connections",
        f"`client_telemetry.profile.clients.clients` over a synthetic day: one client per {CONNECTIONS_PER_CLIENT} "
        "connections, ten pairs of API and version on each connection, a third of the clients without a name. The ratio "
        "falls with size as fixed costs are shared, and would grow if some step were worse than linear.",
        rows,
    )


def _profile(spark, folder: Path, size: int) -> Callable[[], object]:
    from client_telemetry.pipeline.queries import OnSpark
    from client_telemetry.profile.clients import clients
    from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
    from client_telemetry.tables.client_sessions import CLIENT_SESSIONS

    path = str(folder / str(size))
    _connections(spark, size).write.parquet(path)
    sessions = spark.createDataFrame([], CLIENT_SESSIONS.schema)

    def work() -> None:
        connections = spark.read.schema(CLIENT_CONNECTIONS.schema).parquet(path)
        with OnSpark(spark, {CLIENT_CONNECTIONS.name: connections, CLIENT_SESSIONS.name: sessions}) as of_day:
            of_day.frame(clients(of_day, (), "fleet")).write.format("noop").mode("overwrite").save()

    return work


def _connections(spark, size: int):
    """Rows of client_connections: only the columns that profile reads hold something."""
    from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
    from pyspark.sql import functions as F  # noqa: N812

    number = F.col("id") % (size // CONNECTIONS_PER_CLIENT)
    client = number.cast("string")
    noon = F.lit(dt.datetime.combine(DAY, dt.time(12), dt.UTC))
    unnamed = number % 3 == 0
    uses = F.transform(
        F.sequence(F.lit(0), F.lit(9)),
        lambda key: F.struct(
            key.alias("api_key"),
            (key + 2).alias("version"),
            F.lit(10).cast("long").alias("requests"),
            F.lit(0).cast("long").alias("rejected"),
            noon.alias("first_request_at"),
            noon.alias("last_request_at"),
        ),
    )
    known = {
        "cluster_id": F.lit("bench"),
        "dt": F.lit(DAY),
        "opened_at": noon,
        "first_seen_at": noon,
        "last_seen_at": noon + F.make_interval(secs=F.col("id") % 3600),
        "end_known_by": F.lit("closed_event"),
        "client_id": F.concat(F.lit("app-"), client),
        "principal": F.concat(F.lit("User:"), (number % 97).cast("string")),
        "client_address": F.concat(F.lit("10.0.0."), (F.col("id") % 250).cast("string")),
        "listener_name": F.lit("CLIENTS"),
        "security_protocol": F.lit("SASL_SSL"),
        "client_software_name": F.when(unnamed, "unknown").otherwise("apache-kafka-java"),
        "client_software_version": F.when(unnamed, "unknown").otherwise("3.9.1"),
        "broker_software_version": F.lit("3.9.1"),
        "api_uses": uses,
        "group_ids": F.array(F.concat(F.lit("group-"), client)),
        "transactional_ids": F.array().cast("array<string>"),
        "topics": F.array().cast("array<string>"),
        "flags": F.array().cast("array<string>"),
    }
    return spark.range(size).select(
        *(
            known.get(column.name, F.lit(None)).cast(column.kind).alias(column.name)
            for column in CLIENT_CONNECTIONS.columns
        )
    )
