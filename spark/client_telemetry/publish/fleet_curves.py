"""A day over time, for the fleet page and the pages of clients: requests by API and version, refusals, open connections
and what instances measured themselves (KIP-714), in slots of equal length. reports/fleet/day_curves.py draws it.

Brokers report what a connection did between two of their snapshots, so requests are spread evenly over that time.
"""

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from client_telemetry.identity.kip511 import is_declared
from client_telemetry.lake.files import PartitionFile, files_by_task
from client_telemetry.pipeline.columns import expanded, numbered
from client_telemetry.pipeline.pieces import Pieces, moved, read_pieces, unpacked
from client_telemetry.reports.fleet.day_curves import ClientFiles, Grid, GroupDay, bucket, client_text
from client_telemetry.review import event_files
from client_telemetry.review.client_metrics import BY_NAME, COUNT, Series, series
from client_telemetry.review.event_files import Uses
from client_telemetry.review.metric_curves import MOST_GROUPS, SHOWN
from client_telemetry.review.samples import Values, means, rates
from client_telemetry.review.table_evidence import instance_points, metric_points
from client_telemetry.review.workers import EVENTS_OF_A_TASK, FEWEST_TASKS

CLIENTS_OF_A_FILE = 400
_CLIENT = ("client_id", "principal")
_SOFTWARE = ("client_software_name", "client_software_version")
_OF_SOFTWARE = "software"
_TEXTS = "file int, client_id string, principal string, text string"
_USAGE = "client_id string, principal string, client_software_name string, client_software_version string, api_key int, version int, slot int, requests double, rejected double"
_VALUES = "client_id string, principal string, client_software_name string, client_software_version string, metric string, slot int, value double"


def grid(connections: DataFrame) -> Grid | None:
    """Slots for the day's `client_connections`; None for a day without any."""
    row = connections.agg(
        F.min(_seconds("first_seen_at")).alias("since"), F.max(_seconds("last_seen_at")).alias("until")
    ).first()
    if row is None or row["since"] is None:
        return None
    return Grid.of(row["since"], row["until"])


def usage(spark: SparkSession, events: Sequence[PartitionFile], times: Grid) -> DataFrame:
    """Rows per client, software, API, version and slot: `requests`, `rejected`, to be summed. `events`: data files of
    connection_events.
    """
    tasks = files_by_task(events)
    buckets = max(FEWEST_TASKS, sum(file.rows for file in events) // EVENTS_OF_A_TASK)

    def read(task: int) -> Pieces:
        return event_files.read(tasks[task], buckets)

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        pieces: Iterator[Any] = unpacked(batches)
        uses = event_files.of_connections(pieces, times.seconds)
        if uses is not None:
            yield from usage_of(uses, times).to_batches()

    return moved(read_pieces(spark, len(tasks), read), buckets).mapInArrow(work, _USAGE)


def usage_of(uses: Uses, times: Grid) -> pa.Table:
    """As `usage`: requests between two events are spread evenly over the slots between them."""
    used = uses.used[uses.used["requests"] + uses.used["rejected"] > 0]
    first, last = ((used[name] / 1e6 - times.since) / times.seconds for name in ("first_us", "last_us"))
    begin, end = (np.clip(np.floor(at), 0, times.slots - 1).astype(np.int64) for at in (first, last))
    slots = np.maximum(end - begin, 0) + 1
    of_use, slot = expanded(begin, slots)
    within = np.minimum(last[of_use], slot + 1) - np.maximum(first[of_use], slot)
    length = np.maximum(last - first, 1e-9)[of_use]
    share = np.where(slots[of_use] == 1, 1.0, np.maximum(within, 0.0) / length)
    codes, firsts = numbered([uses.clients[name] for name in (*_CLIENT, *_SOFTWARE)])
    keys = pa.table(
        {
            "who": codes[used["client"]][of_use],
            "api_key": used["api_key"][of_use],
            "version": used["version"][of_use],
            "slot": slot.astype(np.int32),
            "requests": used["requests"][of_use] * share,
            "rejected": used["rejected"][of_use] * share,
        }
    )
    added = keys.group_by(["who", "api_key", "version", "slot"]).aggregate(
        [("requests", "sum"), ("rejected", "sum")]
    )
    who = uses.clients.select([*_CLIENT, *_SOFTWARE]).take(firsts).take(added["who"])
    columns = {name: who[name] for name in who.column_names}
    columns |= {name: added[name] for name in ("api_key", "version", "slot")}
    return pa.table({**columns, "requests": added["requests_sum"], "rejected": added["rejected_sum"]})


def opened(connections: DataFrame, times: Grid) -> DataFrame:
    """One row per client, software and slot: `connections` that were open."""
    first, last = (
        (_seconds(name) - times.since) / times.seconds for name in ("first_seen_at", "last_seen_at")
    )
    slots = F.sequence(_slot(first, times), _slot(last, times))
    client_slots = connections.select(*_CLIENT, *_SOFTWARE, F.explode(slots).alias("slot"))
    return client_slots.groupBy(*_CLIENT, *_SOFTWARE, "slot").agg(F.count("*").alias("connections"))


def measured(pushes: DataFrame, metrics: DataFrame, times: Grid) -> DataFrame:
    """What instances measured: one row per instance, metric and slot with a value; with client and software."""

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = (row for batch in batches for row in batch.to_pylist())
        values = [
            value
            for instance_series in series(instance_points(rows))
            for value in _values(instance_series, times)
        ]
        names = [field.split()[0] for field in _VALUES.split(", ")]
        types = [*(pa.string(),) * 5, pa.int32(), pa.float64()]
        columns = list(zip(*values, strict=True)) or [()] * len(names)
        arrays = [pa.array(column, kind) for column, kind in zip(columns, types, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, names=names)

    points = metric_points(pushes, metrics)
    return points.repartition(F.col("client_instance_id")).mapInArrow(work, _VALUES)


def _values(instance_series: Series, times: Grid) -> Iterator[tuple[Any, ...]]:
    who = instance_series.instance
    edges = np.linspace(times.since, times.until, times.slots + 1)
    for name, own in instance_series.samples.items():
        metric = BY_NAME.get(name)
        if metric is None or name not in SHOWN:
            continue
        values = (
            rates(own, edges)
            if metric.kind == COUNT
            else _held(means(own, edges), instance_series.interval, times)
        )
        for slot, value in enumerate(values):
            if not math.isnan(value):
                yield (
                    who.client_id,
                    who.principal,
                    who.software_name,
                    who.software_version,
                    name,
                    slot,
                    float(value),
                )


def _held(values: Values, interval: float, times: Grid) -> Values:
    """A gauge keeps its value until the next push is due."""
    held = values.copy()
    longest, since = math.ceil(1.5 * interval / times.seconds), 0
    for slot in range(1, len(held)):
        since = 0 if not math.isnan(values[slot]) else since + 1
        if since and since < longest:
            held[slot] = held[slot - 1]
    return held


def versions(used: DataFrame, open_: DataFrame, values: DataFrame, times: Grid) -> tuple[GroupDay, ...]:
    """Curves of the software versions with the most clients."""
    return _groups(used, open_, values, _SOFTWARE, times)


def owners(
    used: DataFrame, open_: DataFrame, values: DataFrame, clients: DataFrame, times: Grid
) -> tuple[GroupDay, ...]:
    """Curves of the owners with the most clients. `clients`: rows of the table; those without an owner belong to
    nobody.
    """
    of_names = (
        clients.where("owner is not null")
        .groupBy("client_id", F.coalesce("principal", F.lit("")).alias("of"))
        .agg(F.min("owner").alias("owner"))
        .withColumnRenamed("client_id", "named")
    )

    def owned(frame: DataFrame) -> DataFrame:
        is_same = F.col("client_id").eqNullSafe(F.col("named")) & (
            F.coalesce("principal", F.lit("")) == F.col("of")
        )
        return frame.join(F.broadcast(of_names), is_same).drop("named", "of")

    return _groups(owned(used), owned(open_), owned(values), ("owner",), times)


def _groups(
    used: DataFrame, open_: DataFrame, values: DataFrame, columns: Sequence[str], times: Grid
) -> tuple[GroupDay, ...]:
    most = [
        (_key(row, columns), row["clients"])
        for row in open_.groupBy(*columns)
        .agg(F.count_distinct(F.struct(*_CLIENT)).alias("clients"))
        .orderBy(F.desc("clients"), *columns)
        .limit(MOST_GROUPS)
        .collect()
    ]
    groups = {
        key: GroupDay(key[0], key[1] if len(key) > 1 else None, clients, times) for key, clients in most
    }
    name = F.concat_ws("\u0001", *(F.coalesce(column, F.lit("")) for column in columns))
    is_shown = name.isin(["\u0001".join(key) for key in groups])
    for row in (
        used.where(is_shown)
        .groupBy(*columns, "api_key", "version", "slot")
        .agg(F.sum("requests").alias("requests"), F.sum("rejected").alias("rejected"))
        .collect()
    ):
        groups[_key(row, columns)].add_requests(
            row["api_key"], row["version"], row["slot"], row["requests"], row["rejected"]
        )
    for row in (
        open_.where(is_shown)
        .groupBy(*columns, "slot")
        .agg(F.sum("connections").alias("connections"))
        .collect()
    ):
        groups[_key(row, columns)].add_connections(row["slot"], row["connections"])
    for row in (
        values.where(is_shown)
        .groupBy(*columns, "metric", "slot")
        .agg(F.avg("value").alias("value"))
        .collect()
    ):
        groups[_key(row, columns)].add_metric(row["metric"], row["slot"], row["value"])
    return tuple(groups.values())


def _key(row: Row, columns: Sequence[str]) -> tuple[str, ...]:
    return tuple(row[name] or "" for name in columns)


def client_files(
    used: DataFrame,
    open_: DataFrame,
    values: DataFrame,
    clients: int,
    times: Grid,
    marks: Sequence[tuple[float, str]],
) -> ClientFiles:
    """The curve data for the pages of clients: files of some hundred clients each, written as the texts arrive from
    Spark.
    """
    number = max(1, -(-clients // CLIENTS_OF_A_FILE))
    used, open_, values = (frame.fillna("", ["principal"]) for frame in (used, open_, values))
    rounded = [F.round(name, 2).alias(name) for name in ("requests", "rejected")]
    of_apis = used.groupBy(*_CLIENT, "api_key", "version", "slot").agg(
        F.sum("requests").alias("requests"), F.sum("rejected").alias("rejected")
    )
    parts = [
        _lines(of_apis.select(*_CLIENT, F.concat_ws(":", F.col("api_key").cast("string"), F.col("version").cast("string")).alias("line"), "slot", *rounded), "api", "requests", "rejected"),
        _lines(open_.groupBy(*_CLIENT, "slot").agg(F.sum("connections").alias("connections")).withColumn("line", F.lit("")), "connections", "connections"),
        _lines(values.groupBy(*_CLIENT, F.col("metric").alias("line"), "slot").agg(F.round(F.avg("value"), 4).alias("value")), "metric", "value"),
        open_.where(is_declared("client_software_name")).select(*_CLIENT, F.concat_ws(" ", *_SOFTWARE).alias("line"), F.lit("").alias("points"), F.lit(_OF_SOFTWARE).alias("kind")).distinct(),
    ]  # fmt: skip
    of_clients = (
        reduce(DataFrame.unionByName, parts)
        .groupBy(*_CLIENT)
        .agg(F.collect_list(F.struct("kind", "line", "points")).alias("lines"))
    )

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = batch.to_pylist()
            file = pa.array([bucket(row["client_id"], row["principal"], number) for row in rows], pa.int32())
            text = pa.array(map(_client_text, rows), pa.string())
            names = ["file", *_CLIENT, "text"]
            yield pa.RecordBatch.from_arrays([file, *batch.columns[:2], text], names=names)

    texts = (
        of_clients.mapInArrow(work, _TEXTS)
        .repartition("file")
        .sortWithinPartitions("file", F.coalesce("client_id", F.lit("")), "principal")
    )
    return ClientFiles(
        times,
        tuple(marks),
        number,
        [row["api_key"] for row in used.select("api_key").distinct().collect()],
        [row["metric"] for row in values.select("metric").distinct().collect()],
        ((row["file"], row["text"]) for row in texts.select("file", "text").toLocalIterator()),
    )


def _client_text(row: dict[str, Any]) -> str:
    software = [line["line"] for line in row["lines"] if line["kind"] == _OF_SOFTWARE]
    lines = [
        (line["kind"], line["line"], json.loads(line["points"]))
        for line in row["lines"]
        if line["kind"] != _OF_SOFTWARE
    ]
    return client_text(row["client_id"], row["principal"], software, lines)


def _lines(rows: DataFrame, kind: str, *values: str) -> DataFrame:
    points = F.array_sort(
        F.collect_list(F.array(F.col("slot").cast("double"), *(F.col(v).cast("double") for v in values)))
    )
    return (
        rows.groupBy(*_CLIENT, "line").agg(F.to_json(points).alias("points")).withColumn("kind", F.lit(kind))
    )


def _slot(at: Column, times: Grid) -> Column:
    return F.least(F.greatest(F.floor(at), F.lit(0)), F.lit(times.slots - 1)).cast("int")


def _seconds(name: str) -> Column:
    return F.unix_micros(name) / F.lit(1e6)
