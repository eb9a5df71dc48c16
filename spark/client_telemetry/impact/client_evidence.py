"""Which connections are evidence for an upgrade question, and what they tell of each client.

Only connections to brokers that ran the from-release count, and only what happened before the first broker left it:
while brokers differ, clients meet both releases, and what they do then is no evidence of how they were.
"""

import datetime as dt
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructField, StructType

from client_telemetry.compatibility import releases
from client_telemetry.compatibility.well_observed import CELLS
from client_telemetry.identity import kip511
from client_telemetry.impact.evidence_columns import CONNECTION, READ, Time, evidence_of
from client_telemetry.impact.question import Question
from client_telemetry.tables.clients import CLIENT_KEY
from client_telemetry.tables.table import (
    DOUBLE,
    INT,
    INTS,
    LONG,
    STRING,
    STRINGS,
    TIMESTAMP,
    ArrayType,
    struct,
)

_CLIENT = ("client_hash", "client")
_EPOCH = dt.datetime.fromtimestamp(0, dt.UTC)
_ROWS_OF_A_BATCH = 10_000
CONNECTIONS_OF_A_PART, FEWEST_PARTS = 50_000, 2
_USE = struct(
    api_key=INT,
    version=INT,
    requests=LONG,
    rejected=LONG,
    first_request_at=TIMESTAMP,
    last_request_at=TIMESTAMP,
    broker_ids=INTS,
    source_object=STRING,
    source_sequence=LONG,
    cells=LONG,
)
_EVIDENCE = struct(
    **dict.fromkeys((*CLIENT_KEY, "program"), STRING),
    connections=LONG,
    first_seen_at=TIMESTAMP,
    last_seen_at=TIMESTAMP,
    broker_ids=INTS,
    listeners=ArrayType(struct(listener_name=STRING, security_protocol=STRING)),
    sasl_mechanisms=STRINGS,
    uses=ArrayType(_USE),
    uses_elsewhere=ArrayType(struct(release=STRING, api_key=INT, version=INT)),
    cell_s=DOUBLE,
)
_ACTIVITY = StructField(
    "activity",
    struct(
        last_request_at=TIMESTAMP,
        client_addresses=STRINGS,
        group_ids=STRINGS,
        answered=ArrayType(struct(api_key=INT, version=INT)),
        broker_software_versions=STRINGS,
    ),
)


def connection_counts(connections: DataFrame, asked: Question) -> tuple[int, int, int]:
    """Connections that are evidence of a client, those that would be but for whose they are, and all others."""
    each = connections.groupBy(*CONNECTION).agg(
        F.max(_counts(asked) & ~_unidentified()).alias("counted"),
        F.max(_counts(asked) & _unidentified()).alias("unidentified"),
        _stands_for(),
    )
    (row,) = each.agg(
        *(
            F.coalesce(F.sum(F.when(which, F.col("stands_for"))), F.lit(0))
            for which in (F.col("counted"), F.col("unidentified") & ~F.col("counted"), F.lit(True))
        )
    ).collect()
    counted, unidentified, every = row
    return counted, unidentified, every - counted - unidentified


def connections_by_software(connections: DataFrame, asked: Question) -> dict[tuple[str, str], int]:
    """Name and version, `unknown` where none was told -> connections that are evidence."""
    name, version = (
        F.when(F.expr(kip511.is_declared(column)), F.col(column)).otherwise(kip511.UNKNOWN).alias(column)
        for column in ("client_software_name", "client_software_version")
    )
    each = connections.where(_counts(asked)).groupBy(*CONNECTION, name, version).agg(_stands_for())
    rows = each.groupBy("client_software_name", "client_software_version").agg(F.sum("stands_for")).collect()
    return {(row[0], row[1]): row[2] for row in rows}


def counting(connections: DataFrame, asked: Question) -> DataFrame:
    """Those of the connections that are evidence of a client."""
    return connections.where(_counts(asked) & ~_unidentified())


def evidence(
    connections: DataFrame, asked: Question, apart: DataFrame | None = None, parts: int = FEWEST_PARTS
) -> DataFrame:
    """One row per client, or program where one client id is several: CLIENT_KEY, `program` (empty where it is one),
    `connections`, `first_seen_at`, `last_seen_at`, `broker_ids`, `listeners`
    (listener and security protocol), `sasl_mechanisms` (as seen, sorted), and `uses`, one per API and version, sorted: requests, rejected, first and last
    request, brokers, the latest raw record that shows answered requests, and the cells of the evidence's time (compatibility/well_observed.py) in which some
    were answered. `cell_s`: seconds of a cell. `uses_elsewhere`: what brokers of releases
    before the from-release answered, as release, api_key and version, sorted; it tells what a client sends that fails now.
    With `apart` also `activity`: what tells which clients are one application.

    `connections`: rows of client_connections of the cluster and days. `apart`: as `programs_of_connections` gives it. `parts`:
    how many; a worker has all connections of a part in memory.
    """
    older = [each for each in releases.known() if releases.is_rollback(asked.from_release, each)]
    there = F.coalesce(F.col("broker_software_version").isin(*older), F.lit(False))
    shown = connections.withColumn("is_evidence", _counts(asked)).where(
        (F.col("is_evidence") | there) & ~_unidentified()
    )
    time = _time(connections, asked)
    kind = _EVIDENCE if apart is None else StructType([*_EVIDENCE.fields, _ACTIVITY])
    schema = to_arrow_schema(kind, timestamp_utc=True)

    def clients(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found = list(batches)
        if found:
            columns = evidence_of(pa.Table.from_batches(found), time, _ACTIVITY.name in schema.names)
            size = len(columns["connections"])
            columns["cell_s"] = pa.repeat(time.cell / 1e6, size)
            table = pa.table([columns[field.name].cast(field.type) for field in schema], schema=schema)
            yield from table.to_batches(max_chunksize=_ROWS_OF_A_BATCH)

    by_client = with_programs(keyed_by_client(shown), apart).select("client_hash", *READ)
    return by_client.repartition(parts, "client_hash").select(*READ).mapInArrow(clients, kind)


def with_programs(connections: DataFrame, apart: DataFrame | None) -> DataFrame:
    """`connections`, keyed by client, with `program`, empty where a client id is one program. A connection that can be of
    several stands there once for each: what it shows may be anyone's."""
    if apart is None:
        return connections.withColumn("program", F.lit(""))
    return (
        connections.withColumn("connection_hash", connection_hash())
        .join(apart, "connection_hash", "left")
        .withColumn("program", F.coalesce("program", F.lit("")))
        .drop("connection_hash")
    )


def connection_hash() -> Column:
    """Of rows that are keyed by client."""
    return F.xxhash64("client_hash", *CONNECTION)


def by_pushes_only(profiled: DataFrame, asked: Question) -> DataFrame:
    """Clients that pushed metrics (KIP-714) before the cut and of which no connection was seen, as rows of `evidence`
    without requests and brokers. `profiled`: rows of `clients` of the days."""
    clients = (
        keyed_by_client(profiled.where(~_unidentified()))
        .groupBy(*_CLIENT)
        .agg(
            F.sum(F.col("connections") + F.col("refusals")).alias("connections"),
            F.min("first_seen_at").alias("first_seen_at"),
            F.max("last_seen_at").alias("last_seen_at"),
            F.array().cast("array<int>").alias("broker_ids"),
        )
    )
    pushed = clients.where("connections = 0")
    if asked.until is not None:
        pushed = pushed.where(F.col("first_seen_at") < F.lit(asked.until))
    return pushed.select(
        *(F.col("client")[name].alias(name) for name in CLIENT_KEY),
        F.lit("").alias("program"),
        *pushed.columns[2:],
    )


def _stands_for() -> Column:
    """How many connections a row stands for (over the days of one)."""
    return F.max(F.coalesce("connections", F.lit(1))).alias("stands_for")


class Span(NamedTuple):
    """The time of the clients' evidence."""

    first: dt.datetime | None
    cells: int
    """Those in which any client sent anything."""


def span(clients: DataFrame) -> Span:
    """Of rows of `evidence`."""
    cells = F.aggregate(
        F.coalesce("uses", F.array()),
        F.lit(0).cast("long"),
        lambda cells, use: cells.bitwiseOR(F.coalesce(use.cells, F.lit(0))),
    )
    rows = clients.agg(F.min("first_seen_at").alias("first"), F.bit_or(cells).alias("cells"))
    (row,) = rows.toArrow().to_pylist()
    return Span(row["first"], row["cells"] or 0)


def keyed_by_client(rows: DataFrame) -> DataFrame:
    """With the client as one column, whose equality counts nulls as equal, and before it a hash: grouping and joining
    by four texts sorts them, which takes several times as long as sorting by a number that tells nearly all apart."""
    return rows.withColumns({"client_hash": F.xxhash64(*CLIENT_KEY), "client": F.struct(*CLIENT_KEY)})


def _counts(asked: Question) -> Column:
    """Whether a connection is to a broker of the from-release and was opened before the cut."""
    declared = asked.brokers_declare or (asked.from_release,)
    counts = F.coalesce(F.col("broker_software_version").isin(*declared), F.lit(False))
    return counts if asked.until is None else counts & (F.col("opened_at") < F.lit(asked.until))


def _unidentified() -> Column:
    """Whose connection it is, is not known: the flag `unidentified` of the table `clients`. It may be any client's,
    also one that is judged by its other connections, so it is judged as none."""
    undeclared = ~F.expr(kip511.is_declared("client_software_name"))
    return F.col("client_id").isNull() & (F.coalesce("principal", F.lit("")) == "") & undeclared


def _time(connections: DataFrame, asked: Question) -> Time:
    row = (
        counting(connections, asked)
        .agg(
            F.unix_micros(F.min("first_seen_at")).alias("first"),
            F.unix_micros(F.max("last_seen_at")).alias("last"),
        )
        .collect()[0]
    )
    until = None if asked.until is None else (asked.until - _EPOCH) // dt.timedelta(microseconds=1)
    if row.first is None:
        return Time(0, 1, until)
    end = row.last if until is None else min(row.last, until)
    return Time(row.first, max(end - row.first, 0) // CELLS + 1, until)
