"""A day over time, for the fleet page and the pages of clients: requests by API and version, refusals, open connections
and what instances measured themselves (KIP-714), in slots of equal length. reports/fleet/day_curves.py draws it.

Brokers report what a connection did between two of their snapshots, so requests are spread evenly over that time.
"""

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TypedDict, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from client_telemetry.activity import event_files
from client_telemetry.activity.client_metrics import BY_NAME, COUNT, Series, series
from client_telemetry.activity.event_files import Uses
from client_telemetry.activity.samples import Values, means, rates
from client_telemetry.activity.table_evidence import instance_points, metric_points
from client_telemetry.knowledge.kip511 import is_declared
from client_telemetry.lake.files import PartitionFile, files_by_task
from client_telemetry.reports.fleet.day_curves import ClientFiles, Grid, GroupDay, bucket, client_text
from client_telemetry.review.metric_curves import MOST_GROUPS, SHOWN
from client_telemetry.workers.columns import expanded, numbered
from client_telemetry.workers.pieces import Pieces, moved, read_pieces, unpacked

CLIENTS_OF_A_FILE = 400
_CLIENT = ("client_id", "principal")
_SOFTWARE = ("client_software_name", "client_software_version")
_OF_SOFTWARE = "software"
SEEN = ("first_seen_at", "last_seen_at")
"""Columns of client_connections that `grid` needs."""
_GROUP = ("of", "name", "version")
_VERSIONS, _OWNERS = "versions", "owners"
_BETWEEN = "\u0001"
_TEXTS = "file int, client_id string, principal string, text string"
_USAGE = "client_id string, principal string, client_software_name string, client_software_version string, api_key int, version int, slot int, requests double, rejected double"
_VALUES = "client_id string, principal string, client_software_name string, client_software_version string, metric string, slot int, value double"


def grid(connections: Iterable[pa.Table]) -> Grid | None:
    """Slots for the day's `client_connections`, given its columns SEEN; None for a day without any."""
    bounds = [
        (pc.min(rows["first_seen_at"]).value, pc.max(rows["last_seen_at"]).value)
        for rows in connections
        if len(rows)
    ]
    if not bounds:
        return None
    return Grid.of(min(since for since, _ in bounds) / 1e6, max(until for _, until in bounds) / 1e6)


def usage(spark: SparkSession, events: Sequence[PartitionFile], times: Grid) -> DataFrame:
    """Rows per client, software, API, version and slot: `requests`, `rejected`, to be summed. `events`: data files of
    connection_events.
    """
    tasks = files_by_task(events)
    buckets = event_files.tasks_for(events)

    def read(task: int) -> Pieces:
        return event_files.read(tasks[task], buckets)

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        pieces = cast("Iterator[event_files.Events]", unpacked(batches))
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


def _values(instance_series: Series, times: Grid) -> Iterator[tuple[object, ...]]:
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


@dataclass(frozen=True)
class Groups:
    """Curves of the software versions and of the owners with the most clients. `api_keys`, `metrics`: of all clients."""

    versions: tuple[GroupDay, ...]
    owners: tuple[GroupDay, ...]
    api_keys: tuple[int, ...]
    metrics: tuple[str, ...]


def groups(used: DataFrame, open_: DataFrame, values: DataFrame, clients: DataFrame, times: Grid) -> Groups:
    """`clients`: rows of the table; those without an owner belong to nobody."""
    owners = (
        clients.where("owner is not null")
        .groupBy("client_id", F.coalesce("principal", F.lit("")).alias("of"))
        .agg(F.min("owner").alias("owner"))
        .withColumnRenamed("client_id", "named")
    )
    grouped = [_grouped(frame, owners) for frame in (used, open_, values)]
    shown = _with_most_clients(grouped[1], times)
    is_shown = F.concat_ws(_BETWEEN, *_GROUP).isin([_BETWEEN.join(key) for key in shown])
    of_groups = _sums(*(frame.where(is_shown) for frame in grouped))
    of_all = [
        used.select("api_key").distinct().select(F.lit("api_key").alias("kind"), "api_key"),
        values.select("metric").distinct().select(F.lit("metric_name").alias("kind"), "metric"),
    ]
    api_keys: list[int] = []
    metric_names: list[str] = []
    for row in _together([*of_groups, *of_all]).collect():
        if row["kind"] == "api_key":
            api_keys.append(row["api_key"])
        elif row["kind"] == "metric_name":
            metric_names.append(row["metric"])
        else:
            _add(shown[row["of"], row["name"], row["version"]], row)
    versions, of_owners = (
        tuple(day for (of, *_), day in shown.items() if of == wanted) for wanted in (_VERSIONS, _OWNERS)
    )
    return Groups(versions, of_owners, tuple(api_keys), tuple(metric_names))


def _grouped(frame: DataFrame, owners: DataFrame) -> DataFrame:
    """Each row once for each group that it belongs to: that of its software version, and of its owner if it has one."""
    is_same = F.col("client_id").eqNullSafe(F.col("named")) & (
        F.coalesce("principal", F.lit("")) == F.col("of")
    )
    name, version = (F.coalesce(column, F.lit("")) for column in _SOFTWARE)
    version_group = F.struct(F.lit(_VERSIONS).alias("of"), name.alias("name"), version.alias("version"))
    owner_group = F.struct(
        F.lit(_OWNERS).alias("of"), F.col("owner").alias("name"), F.lit("").alias("version")
    )
    group = F.explode(
        F.when(F.col("owner").isNull(), F.array(version_group)).otherwise(F.array(version_group, owner_group))
    )
    kept = [name for name in frame.columns if name not in _SOFTWARE]
    if "version" in kept:
        frame = frame.withColumnRenamed("version", "api_version")
        kept = ["api_version" if name == "version" else name for name in kept]
    return (
        frame.join(F.broadcast(owners), is_same, "left")
        .select(*kept, group.alias("group"))
        .select(*kept, "group.*")
    )


def _with_most_clients(open_: DataFrame, times: Grid) -> dict[tuple[str, ...], GroupDay]:
    """Group -> its curves, still empty; of each kind those with the most clients, in this order."""
    counted = open_.groupBy(*_GROUP).agg(F.count_distinct(F.struct(*_CLIENT)).alias("clients")).collect()
    most = sorted(counted, key=lambda row: (-row["clients"], row["name"], row["version"]))
    return {
        (of, row["name"], row["version"]): GroupDay(
            row["name"], row["version"] if of == _VERSIONS else None, row["clients"], times
        )
        for of in (_VERSIONS, _OWNERS)
        for row in [row for row in most if row["of"] == of][:MOST_GROUPS]
    }


def _sums(used: DataFrame, open_: DataFrame, values: DataFrame) -> list[DataFrame]:
    return [
        used.groupBy(*_GROUP, "api_key", "api_version", "slot").agg(
            F.lit("api").alias("kind"),
            F.sum("requests").alias("value"),
            F.sum("rejected").alias("rejected"),
        ),
        open_.groupBy(*_GROUP, "slot").agg(
            F.lit("connections").alias("kind"), F.sum("connections").cast("double").alias("value")
        ),
        values.groupBy(*_GROUP, "metric", "slot").agg(
            F.lit("metric").alias("kind"), F.avg("value").alias("value")
        ),
    ]


def _together(frames: Sequence[DataFrame]) -> DataFrame:
    return reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), frames)


def _add(group: GroupDay, row: Row) -> None:
    if row["kind"] == "api":
        group.add_requests(row["api_key"], row["api_version"], row["slot"], row["value"], row["rejected"])
    elif row["kind"] == "connections":
        group.add_connections(row["slot"], int(row["value"]))
    else:
        group.add_metric(row["metric"], row["slot"], row["value"])


def client_files(
    used: DataFrame,
    open_: DataFrame,
    values: DataFrame,
    groups: Groups,
    clients: int,
    times: Grid,
    marks: Sequence[tuple[float, str]],
) -> ClientFiles:
    """The curve data for the pages of clients: files of some hundred clients each, written as the texts arrive from
    Spark.
    """
    number = max(1, -(-clients // CLIENTS_OF_A_FILE))

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = batch.to_pylist()
            file = pa.array([bucket(row["client_id"], row["principal"], number) for row in rows], pa.int32())
            text = pa.array(map(_client_text, rows), pa.string())
            names = ["file", *_CLIENT, "text"]
            yield pa.RecordBatch.from_arrays([file, *batch.columns[:2], text], names=names)

    texts = (
        _lines_of_clients(used, open_, values)
        .mapInArrow(work, _TEXTS)
        .repartition("file")
        .sortWithinPartitions("file", F.coalesce("client_id", F.lit("")), "principal")
    )
    return ClientFiles(
        times,
        tuple(marks),
        number,
        groups.api_keys,
        groups.metrics,
        ((row["file"], row["text"]) for row in texts.select("file", "text").toLocalIterator()),
    )


def _lines_of_clients(used: DataFrame, open_: DataFrame, values: DataFrame) -> DataFrame:
    """One row per client: its `lines`, each with kind, name (`line`) and `points` as JSON."""
    no_number = F.lit(None).cast("double")
    of_api = F.concat_ws(":", F.col("api_key").cast("string"), F.col("version").cast("string"))
    parts = [
        (used, "api", of_api, F.col("slot"), F.col("requests"), F.col("rejected")),
        (open_, "connections", F.lit(""), F.col("slot"), F.col("connections").cast("double"), no_number),
        (values, "metric", F.col("metric"), F.col("slot"), F.col("value"), no_number),
        (
            *(open_.where(is_declared("client_software_name")), _OF_SOFTWARE, F.concat_ws(" ", *_SOFTWARE)),
            *(F.lit(None).cast("int"), no_number, no_number),
        ),
    ]
    rows = [
        frame.select(
            "client_id",
            F.coalesce("principal", F.lit("")).alias("principal"),
            F.lit(kind).alias("kind"),
            line.alias("line"),
            *(column.alias(name) for column, name in zip(numbers, ("slot", "one", "other"), strict=True)),
        )
        for frame, kind, line, *numbers in parts
    ]
    # Moved once: what follows groups rows of a client, in its task.
    slots = (
        reduce(DataFrame.union, rows)
        .repartition(*_CLIENT)
        .groupBy(*_CLIENT, "kind", "line", "slot")
        .agg(F.sum("one").alias("sum"), F.sum("other").alias("other"), F.avg("one").alias("mean"))
    )
    slot = F.col("slot").cast("double")
    point = (
        F.when(F.col("kind") == "api", F.array(slot, F.round("sum", 2), F.round("other", 2)))
        .when(F.col("kind") == "connections", F.array(slot, F.col("sum")))
        .when(F.col("kind") == "metric", F.array(slot, F.round("mean", 4)))
    )
    points = F.to_json(F.array_sort(F.collect_list(point)))
    lines = slots.groupBy(*_CLIENT, "kind", "line").agg(points.alias("points"))
    return lines.groupBy(*_CLIENT).agg(F.collect_list(F.struct("kind", "line", "points")).alias("lines"))


class Line(TypedDict):
    """`points`: JSON."""

    kind: str
    line: str
    points: str


class ClientLines(TypedDict):
    client_id: str | None
    principal: str
    lines: list[Line]


def _client_text(row: ClientLines) -> str:
    software = [line["line"] for line in row["lines"] if line["kind"] == _OF_SOFTWARE]
    lines = [
        (line["kind"], line["line"], json.loads(line["points"]))
        for line in row["lines"]
        if line["kind"] != _OF_SOFTWARE
    ]
    return client_text(row["client_id"], row["principal"], software, lines)


def _slot(at: Column, times: Grid) -> Column:
    return F.least(F.greatest(F.floor(at), F.lit(0)), F.lit(times.slots - 1)).cast("int")


def _seconds(name: str) -> Column:
    return F.unix_micros(name) / F.lit(1e6)
