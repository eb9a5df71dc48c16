"""publish_fleet over a day of many client instances: memory of the driver's Python, CPU of the whole stage.

The day's tables are made here; no stage before it runs. By name only: make bench ARGS=fleet_page
"""

import datetime as dt
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import psutil
from client_telemetry.lake.catalog import spark_settings, spark_settings_at_start
from client_telemetry.lake.lake import Lake
from client_telemetry.reports.fleet.client_metrics import standard_metrics
from client_telemetry.tables.broker_hours import BROKER_HOURS
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.client_metric_histograms import CLIENT_METRIC_HISTOGRAMS
from client_telemetry.tables.client_metrics import CLIENT_METRICS
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.client_sessions import CLIENT_SESSIONS
from client_telemetry.tables.clients import CLIENTS
from client_telemetry.tables.connection_events import CONNECTION_EVENTS
from client_telemetry.tables.publications import PUBLICATIONS
from client_telemetry.tables.quality_results import QUALITY_RESULTS
from client_telemetry.tables.raw_objects import RAW_OBJECTS
from client_telemetry.tables.table import Table
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from benchmarks.bench import Section
from benchmarks.command_cost import cost_of_command
from benchmarks.impact import CLUSTER, DAY, row_of
from benchmarks.measure import RUN_STAGE

INSTANCES = (10_000, 40_000, 200_000)
BOTH_WAYS = 40_000
"""Of which the stage does all in its own process, and once more in Spark: nearly as many rows as it takes without."""
POINTS = 19
"""Of an instance: one push of these metrics."""
INSTANCES_OF_A_CLIENT = 40
BROKER_IDS = range(4)
APIS = ((0, 12), (3, 13), (18, 4), (71, 0), (72, 0))
_TEXT = f"""`python spark/run_stage.py publish_fleet` over one day, with the start of Spark where there is more than a million rows: as many connections as instances, \
{POINTS} points pushed by each instance, {INSTANCES_OF_A_CLIENT} instances per client. *Memory* is the largest resident size of the \
driver's Python process, without Spark's JVM and its workers; CPU is that of all of them. One run each."""


def run() -> Iterator[Section]:
    rows = []
    for instances in INSTANCES:
        with tempfile.TemporaryDirectory(prefix="benchmark_fleet_page_") as folder:
            made_day(Path(folder), instances)
            made_to_use_spark = [False, True] if instances == BOTH_WAYS else [False]
            rows += [
                {
                    "instances": instances,
                    "points": instances * POINTS,
                    "made to use Spark": "yes" if is_made_to else "no",
                    **published(Path(folder), ["--without-spark-up-to=0"] if is_made_to else []),
                }
                for is_made_to in made_to_use_spark
            ]
    yield Section("A fleet page", _TEXT, rows)


def made_day(folder: Path, instances: int) -> None:
    """The tables of such a day, in `lake` below the folder."""
    lake = str(folder / "lake")
    settings = {"spark.ui.enabled": "false", **spark_settings_at_start(), **spark_settings(lake)}
    spark = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    each = spark.range(instances)
    frames = {
        CLIENT_SESSIONS: (each, _session()),
        CLIENT_PUSHES: (each, _push()),
        CLIENT_METRICS: (each.select("id", F.posexplode(_metrics()).alias("index", "name")), _point()),
        CLIENT_METRIC_HISTOGRAMS: (spark.range(0), {}),
        CONNECTION_EVENTS: (each, _event()),
        CLIENT_CONNECTIONS: (each, _connection()),
        CLIENTS: (spark.range(-(-instances // INSTANCES_OF_A_CLIENT)), _client()),
    }
    made = Lake(spark, lake)
    made.create([*frames, BROKERS, BROKER_HOURS, RAW_OBJECTS, PUBLICATIONS, QUALITY_RESULTS])
    branch = made.branch("benchmark", CLUSTER, "profile")
    for table, (rows, values) in frames.items():
        branch.replace(table, _rows(table, rows, values), cluster_id=CLUSTER, dt=DAY)
    brokers = [
        row_of(
            BROKERS,
            broker_id=n,
            broker_incarnation=f"{n:032x}",
            software_version="4.3.1",
            releases=["4.3.1"],
            api_versions=[],
        )
        for n in BROKER_IDS
    ]
    branch.replace_rows(BROKERS, brokers, cluster_id=CLUSTER, dt=DAY)
    for table in (BROKER_HOURS, RAW_OBJECTS):
        branch.replace_rows(table, [], cluster_id=CLUSTER, dt=DAY)
    branch.publish(CLUSTER, "benchmark", "profile", [DAY])
    spark.stop()


def _rows(table: Table, each: DataFrame, values: dict[str, Column]) -> DataFrame:
    """Rows of the table with these values, null elsewhere."""
    known = {
        "cluster_id": F.lit(CLUSTER),
        "dt": F.lit(DAY),
        "flags": F.array().cast("array<string>"),
    } | values
    return each.select(*(known.get(c.name, F.lit(None)).cast(c.kind).alias(c.name) for c in table.columns))


def _number() -> Column:
    return F.col("id")


def _at(seconds: int = 0) -> Column:
    """Instances are there one after the other over the day."""
    midnight = F.lit(dt.datetime.combine(DAY, dt.time(), dt.UTC))
    return midnight + F.make_interval(secs=_number() * 7 % 85_000 + seconds)


def _instance_id() -> Column:
    return F.unhex(F.md5(_number().cast("string")))


def _address() -> Column:
    parts = (F.lit(10), F.shiftright("id", 16), F.shiftright("id", 8) % 256, _number() % 256)
    return F.concat_ws(".", *(part.cast("string") for part in parts))


def _who(client: Column) -> dict[str, Column]:
    return {
        "client_id": F.concat(F.lit("service-"), client.cast("string")),
        "principal": F.concat(F.lit("User:"), (client % 500).cast("string")),
        "client_software_name": F.lit("apache-kafka-java"),
        "client_software_version": F.concat(F.lit("4."), (client % 4).cast("string"), F.lit(".0")),
    }


def _of_instance() -> dict[str, Column]:
    broker = _number() % len(BROKER_IDS)
    return {
        **_who(F.floor(_number() / INSTANCES_OF_A_CLIENT)),
        "broker_id": broker,
        "broker_incarnation": F.lpad(F.hex(broker), 32, "0"),
        "sequence": _number(),
        "client_instance_id": _instance_id(),
        "client_address": _address(),
        "listener_name": F.lit("CLIENTS"),
        "security_protocol": F.lit("SASL_SSL"),
        "broker_software_version": F.lit("4.3.1"),
    }


def _session() -> dict[str, Column]:
    return {
        **_of_instance(),
        "first_evidence_at": _at(),
        "last_evidence_at": _at(600),
        "end_reason": F.lit("connection_closed"),
        "pushes": F.lit(1),
        "broker_ids": F.array(_number() % len(BROKER_IDS)),
        "client_addresses": F.array(_address()),
    }


def _push() -> dict[str, Column]:
    labels = F.create_map(
        F.lit("group_id"),
        F.concat(F.lit("group-"), (_number() % 300).cast("string")),
        F.lit("client_rack"),
        F.lit("a"),
    )
    return {**_of_instance(), "received_at": _at(300), "points": F.lit(POINTS), "resources": F.array(labels)}


def _metrics() -> Column:
    names = list(standard_metrics()["producer"])[:POINTS]
    others = [f"org.apache.kafka.producer.{n}" for n in range(POINTS - len(names))]
    return F.array(*map(F.lit, [*names, *others]))


def _point() -> dict[str, Column]:
    return {
        **_of_instance(),
        "point_index": F.col("index"),
        "received_at": _at(300),
        "metric": F.col("name"),
        "kind": F.lit("gauge"),
        "attributes": F.create_map().cast("map<string,string>"),
        "time": _at(299),
        "value": (_number() % 1000).cast("double"),
        "resource_index": F.lit(0),
    }


def _uses() -> Column:
    times = [_at().alias("first_request_at"), _at(500).alias("last_request_at")]
    return F.array(
        *(F.struct(F.lit(key).alias("api_key"), F.lit(version).alias("version"), F.lit(10).alias("requests"), F.lit(0).alias("rejected"), *times) for key, version in APIS)
    )  # fmt: skip


def _event() -> dict[str, Column]:
    closed = {"observed_at": _at(600), "kind": F.lit("closed"), "connections": F.lit(1)}
    return {**_connection(), **closed, "last_request_at": _at(500)}


def _connection() -> dict[str, Column]:
    return {
        **_of_instance(),
        "connection_id": _number().cast("string"),
        "opened_at": _at(),
        "first_seen_at": _at(),
        "last_seen_at": _at(600),
        "closed_at": _at(600),
        "end_known_by": F.lit("closed_event"),
        "api_uses": _uses(),
        "group_ids": F.array().cast("array<string>"),
        "transactional_ids": F.array().cast("array<string>"),
        "given_instance_ids": F.array().cast("array<binary>"),
        "topics": F.array().cast("array<string>"),
        "link_rule": F.lit("push_on_connection"),
        "connections": F.lit(1),
    }


def _client() -> dict[str, Column]:
    count = F.lit(INSTANCES_OF_A_CLIENT)
    who = _who(_number())
    return {
        **who,
        "client_family": who["client_id"],
        "instances": count,
        "connections": count,
        "refusals": F.lit(0),
        "addresses": count,
        "address_sample": F.array(F.lit("10.0.0.1")),
        "api_uses": _uses(),
        "group_ids": F.array(F.concat(F.lit("group-"), (_number() % 300).cast("string"))),
        "transactional_ids": F.array().cast("array<string>"),
        "topics": F.array().cast("array<string>"),
        "looks_like_because": F.array().cast("array<string>"),
        "related": F.array(),
        "broker_software_versions": F.array(F.lit("4.3.1")),
        "first_seen_at": _at(),
        "last_seen_at": _at(600),
        "owner": F.concat(F.lit("team-"), (_number() % 50).cast("string")),
        "application": who["client_id"],
        "application_kind": F.lit("application"),
    }


def published(folder: Path, more: Sequence[str] = ()) -> dict[str, float]:
    """Publish the page of the day; what it took."""
    command = [
        sys.executable,
        str(RUN_STAGE),
        "publish_fleet",
        f"--cluster={CLUSTER}",
        f"--lake={folder / 'lake'}",
    ]
    command += [f"--days={DAY}", f"--publish={folder / 'published'}", *more]
    memory = [0.0]
    with ThreadPoolExecutor(1) as pool:
        job = pool.submit(cost_of_command, command)
        while not job.done():
            memory.append(_driver_memory_mb())
            time.sleep(0.2)
    cost = job.result()
    search = next((folder / "published").rglob("search.json"))
    return {
        "memory, MB": round(max(memory)),
        "CPU s": cost.cpu,
        "wall s": cost.wall,
        "search.json, MB": round(search.stat().st_size / 1e6),
    }


def _driver_memory_mb() -> float:
    """Of the Python process that runs the stage."""
    sizes = [0.0]
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if process.cmdline()[1:2] == [str(RUN_STAGE)]:
                sizes.append(process.memory_info().rss / 2**20)
    return max(sizes)
