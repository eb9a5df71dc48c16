"""Client instances of some days from the tables of the lake, as input of subscriptions/observed.py."""

from collections import defaultdict
from collections.abc import Iterable
from typing import TypedDict, cast

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from client_telemetry.identity.client_key import CLIENT_KEY, ClientKey, HasClientKey, client_key
from client_telemetry.knowledge import software
from client_telemetry.pipeline.inputs import StageInputs
from client_telemetry.subscriptions import forecast
from client_telemetry.subscriptions.forecast import LakeSizes
from client_telemetry.subscriptions.instances import ClientInstance
from client_telemetry.subscriptions.observed import (
    MetricShare,
    ObservedInstance,
)
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.client_metric_histograms import CLIENT_METRIC_HISTOGRAMS
from client_telemetry.tables.client_metrics import CLIENT_METRICS
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.client_sessions import CLIENT_SESSIONS
from client_telemetry.tables.clients import CLIENTS
from client_telemetry.tables.rows import ClientRow
from client_telemetry.tables.table import Table

READ = (
    BROKERS,
    CLIENT_CONNECTIONS,
    CLIENT_METRICS,
    CLIENT_METRIC_HISTOGRAMS,
    CLIENT_PUSHES,
    CLIENT_SESSIONS,
    CLIENTS,
)
INSTANCES_ONE_BY_ONE = 5_000
"""Up to this many, metrics are read per instance; with more, those of a client stand for each of its instances."""
JAVA_NAME = "apache-kafka-java"
_REPEATED_RESOURCE_BYTES = 90
_POINT_BYTES = 36
_LABEL_BYTES = 10


class Origin(HasClientKey):
    """Of an instance's first push."""

    client_address: str | None
    client_port: int | None


class Pushing(TypedDict):
    """Row of `pushing`."""

    client_instance_id: bytes
    first: Origin
    seconds: float
    pushes: int
    terminating_pushes: int
    rejected_pushes: int
    points: int
    silent_seconds: float
    payload_bytes: int | None
    largest_payload_bytes: int | None
    compressed_bytes: int | None
    largest_compressed_bytes: int | None
    push_interval_ms: int | None


class Share(TypedDict):
    """Row of `metric_shares`; either of `client` and `client_instance_id` is null."""

    client_instance_id: bytes
    client: HasClientKey | None
    metric: str
    points: int
    label_bytes: int


class Connected(Origin):
    """Row of `connected`."""

    seconds: float
    api_keys: list[int] | None
    linked: int


def instances_seen(inputs: StageInputs) -> list[ObservedInstance]:
    """From tables READ of the days."""
    pushes = inputs.frame(CLIENT_PUSHES)
    pushing_rows = cast("list[Pushing]", _collected(pushing(pushes, inputs.frame(CLIENT_SESSIONS))))
    per_instance = len(pushing_rows) <= INSTANCES_ONE_BY_ONE
    return observed_instances(
        pushing_rows,
        cast("list[Share]", _collected(metric_shares(inputs.frame(CLIENT_METRICS), pushes, per_instance))),
        cast("list[Connected]", _collected(connected(inputs.frame(CLIENT_CONNECTIONS)))),
        inputs.rows(CLIENTS),
    )


def _collected(frame: DataFrame) -> list[dict[str, object]]:
    return [row.asDict(recursive=True) for row in frame.collect()]


def pushing(pushes: DataFrame, sessions: DataFrame) -> DataFrame:
    """One row per client instance. Rows of `client_pushes` and `client_sessions` of the days."""
    with_silence = _with_silence(pushes.where(F.col("client_instance_id").isNotNull()))
    rejected = F.array_contains("flags", "rejected")
    compressed = F.col("compression_type") > 0
    by_day = with_silence.groupBy("client_instance_id", "dt").agg(
        F.min_by(F.struct(*CLIENT_KEY, "client_address", "client_port"), "received_at").alias("first"),
        F.min("received_at").alias("first_at"),
        (F.max("received_at").cast("double") - F.min("received_at").cast("double")).alias("seconds"),
        F.count("*").alias("pushes"),
        F.count_if("terminating").alias("terminating_pushes"),
        F.count_if(rejected).alias("rejected_pushes"),
        F.sum("points").alias("points"),
        F.sum("silent_seconds").alias("silent_seconds"),
        F.sum(F.when(~rejected & ~compressed, F.col("payload_bytes"))).alias("payload_bytes"),
        F.max(F.when(~compressed, F.col("payload_bytes"))).alias("largest_payload_bytes"),
        F.sum(F.when(~rejected & compressed, F.col("payload_bytes"))).alias("compressed_bytes"),
        F.max(F.when(compressed, F.col("payload_bytes"))).alias("largest_compressed_bytes"),
    )
    instances = by_day.groupBy("client_instance_id").agg(
        F.min_by("first", "first_at").alias("first"),
        *(
            F.sum(name).alias(name)
            for name in (
                "seconds",
                "pushes",
                "terminating_pushes",
                "rejected_pushes",
                "points",
                "silent_seconds",
                "payload_bytes",
                "compressed_bytes",
            )
        ),
        F.max("largest_payload_bytes").alias("largest_payload_bytes"),
        F.max("largest_compressed_bytes").alias("largest_compressed_bytes"),
    )
    intervals = sessions.groupBy("client_instance_id").agg(
        F.max_by("push_interval_ms", "dt").alias("push_interval_ms")
    )
    return instances.join(intervals, "client_instance_id", "left")


def _with_silence(pushes: DataFrame) -> DataFrame:
    """`silent_seconds` of each push: how much longer the gap to the previous ordinary push is than the adjacent gaps,
    within the same instance and day. An interval that changes within a day is thus not a silence.
    """
    ordinary = ~F.col("terminating")
    order = Window.partitionBy("client_instance_id", "dt", ordinary).orderBy("received_at", "sequence")
    apart = F.col("received_at").cast("double") - F.lag("received_at").over(order).cast("double")
    around = F.greatest(F.lag("apart").over(order), F.lead("apart").over(order))
    silent = F.when(ordinary & (F.col("apart") > around), F.col("apart") - around).otherwise(0.0)
    return pushes.withColumn("apart", apart).withColumn("silent_seconds", silent)


def metric_shares(points: DataFrame, pushes: DataFrame, per_instance: bool) -> DataFrame:
    """One row per instance and metric, or per client and metric if there are very many instances: points and the
    estimated size of their labels. Rows of `client_metrics` and `client_pushes`.
    """
    shares = (
        points.where(F.col("client_instance_id").isNotNull())
        .groupBy("client_instance_id", "metric")
        .agg(F.count("*").alias("points"), F.sum(_label_bytes("attributes")).alias("label_bytes"))
    )
    if per_instance:
        return shares.withColumn("client", F.lit(None))
    clients = pushes.groupBy("client_instance_id").agg(
        F.min_by(F.struct(*CLIENT_KEY), "received_at").alias("client")
    )
    summed = shares.join(clients, "client_instance_id").groupBy("client", "metric")
    return summed.agg(F.sum("points").alias("points"), F.sum("label_bytes").alias("label_bytes")).withColumn(
        "client_instance_id", F.lit(None)
    )


def _label_bytes(name: str) -> Column:
    sizes = F.transform(
        F.map_entries(name),
        lambda entry: F.octet_length(entry.key) + F.octet_length(entry.value) + F.lit(_LABEL_BYTES),
    )
    return F.aggregate(sizes, F.lit(0), lambda total, size: total + size)


def connected(connections: DataFrame) -> DataFrame:
    """One row per client and address: how long it was connected, its requests. Rows of `client_connections`."""
    by_day = connections.groupBy(*CLIENT_KEY, "client_address", "dt").agg(
        (F.max("last_seen_at").cast("double") - F.min("first_seen_at").cast("double")).alias("seconds"),
        F.max("client_port").alias("client_port"),
        F.array_distinct(F.flatten(F.collect_set(F.transform("api_uses", lambda use: use.api_key)))).alias(
            "api_keys"
        ),
        F.count_if(F.col("client_instance_id").isNotNull()).alias("linked"),
    )
    return by_day.groupBy(*CLIENT_KEY, "client_address").agg(
        F.sum("seconds").alias("seconds"),
        F.max("client_port").alias("client_port"),
        F.array_distinct(F.flatten(F.collect_list("api_keys"))).alias("api_keys"),
        F.sum("linked").alias("linked"),
    )


def observed_instances(
    pushing_rows: Iterable[Pushing],
    share_rows: Iterable[Share],
    connected_rows: Iterable[Connected],
    client_rows: Iterable[ClientRow],
) -> list[ObservedInstance]:
    """`client_rows`: rows of `clients` of the days; clients that it does not have are the brokers' own."""
    pushing_rows = list(pushing_rows)
    owners: dict[ClientKey, str | None] = {}
    roles: dict[ClientKey, set[str]] = defaultdict(set)
    for known in sorted(client_rows, key=lambda row: row["dt"]):
        key = client_key(known)
        owners[key] = known["owner"]
        roles[key].update(known["roles"])
    names = {bytes(row["client_instance_id"]): row["first"]["client_software_name"] for row in pushing_rows}
    shares: dict[object, dict[str, tuple[float, float]]] = defaultdict(dict)
    points: dict[object, int] = defaultdict(int)
    for share in share_rows:
        named = share["client"]
        whose: object = client_key(named) if named else bytes(share["client_instance_id"])
        name = named["client_software_name"] if named else names.get(bytes(share["client_instance_id"]))
        repeated = _REPEATED_RESOURCE_BYTES if name == JAVA_NAME else 0
        weight = (
            share["points"] * (_POINT_BYTES + len(share["metric"].encode()) + repeated) + share["label_bytes"]
        )
        shares[whose][share["metric"]] = (share["points"], weight)
        points[whose] += share["points"]
    connections = {(client_key(row), row["client_address"]): row for row in connected_rows}
    instances = []
    for row in pushing_rows:
        first, client = row["first"], client_key(row["first"])
        instance_id = bytes(row["client_instance_id"])
        known_by: object = instance_id if instance_id in shares else client
        part = row["points"] / points[known_by] if points[known_by] else 0.0
        rejected = row["rejected_pushes"]
        instances.append(
            ObservedInstance(
                _instance(first, instance_id),
                first["principal"],
                owners.get(client),
                tuple(sorted(roles.get(client, ()))),
                _api_keys(connections.get((client, first["client_address"]))),
                row["seconds"],
                row["pushes"],
                row["terminating_pushes"],
                rejected,
                row["push_interval_ms"],
                row["points"],
                *_decompressed(row),
                {
                    metric: MetricShare(number * part, weight * part)
                    for metric, (number, weight) in shares.get(known_by, {}).items()
                },
                row["silent_seconds"],
            )
        )
    pushing_clients = {(client_key(row["first"]), row["first"]["client_address"]) for row in pushing_rows}
    for (client, address), connection in connections.items():
        if client in owners and (client, address) not in pushing_clients and not connection["linked"]:
            instances.append(
                ObservedInstance(
                    _instance(connection, None),
                    connection["principal"],
                    owners[client],
                    tuple(sorted(roles[client])),
                    _api_keys(connection),
                    connection["seconds"],
                )
            )
    return instances


def _decompressed(row: Pushing) -> tuple[int, int]:
    """Payload bytes of all pushes, and of the largest one. Request logs, and plugins of Kafka 3.7, have payloads as
    they were sent: their decompressed size is estimated.
    """
    first = row["first"]
    identity = software.identify_name(
        first["client_software_name"] or "", first["client_software_version"] or ""
    )
    share = forecast.compressed_share(identity.library if identity else None)
    return (
        (row["payload_bytes"] or 0) + round((row["compressed_bytes"] or 0) / share),
        max(row["largest_payload_bytes"] or 0, round((row["largest_compressed_bytes"] or 0) / share)),
    )


def lake_sizes(inputs: StageInputs) -> LakeSizes | None:
    """None if no points were decoded in these days."""

    def stored(table: Table) -> tuple[int, int]:
        files = inputs.files(table)
        return sum(file.stored_bytes for file in files), sum(file.rows for file in files)

    points_bytes, points = stored(CLIENT_METRICS)
    pushes_bytes, pushes = stored(CLIENT_PUSHES)
    if not points or not pushes:
        return None
    return LakeSizes((points_bytes + stored(CLIENT_METRIC_HISTOGRAMS)[0]) / points, pushes_bytes / pushes)


def _api_keys(row: Connected | None) -> frozenset[int]:
    return frozenset(row["api_keys"] or ()) if row else frozenset()


def _instance(row: Origin, instance_id: bytes | None) -> ClientInstance:
    return ClientInstance(
        instance_id,
        row["client_id"],
        row["client_software_name"] or None,
        row["client_software_version"] or None,
        row["client_address"] or None,
        row["client_port"],
    )
