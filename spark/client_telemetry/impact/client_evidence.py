"""Which connections are evidence for an upgrade question, and what they tell of each client.

Only connections to brokers that ran the from-release count, and only what happened before the first broker left it:
while brokers differ, clients meet both releases, and what they do then is no evidence of how they were.
"""

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import or_
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructField, StructType

from client_telemetry.compatibility import knowledge, releases
from client_telemetry.compatibility.well_observed import CELLS
from client_telemetry.identity import kip511
from client_telemetry.impact.evidence_columns import CONNECTION, STORED, Time, evidence_of
from client_telemetry.impact.programs import with_programs
from client_telemetry.impact.question import Question
from client_telemetry.lake.files import PartitionFile, stored_rows
from client_telemetry.pipeline.columns import ALWAYS, NEVER, integers, micros
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
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
_OF_THE_TIME = (
    "client_id",
    "principal",
    "client_software_name",
    "broker_software_version",
    "opened_at",
    "first_seen_at",
    "last_seen_at",
)
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


class Evidence:
    """What the connections of a question tell of each client. Travels to the workers, which read the files: as rows of Spark, what
    connections used costs several times as much.

    `files`: of client_connections, of the cluster and days. `shared`: clients that may be several programs, as `shared_clients`
    gives them."""

    def __init__(self, asked: Question, files: Iterable[PartitionFile], shared: pa.Table | None = None):
        self.shared = shared
        self._asked, self._time, self._knowledge = asked, _time(files, asked), knowledge.in_use()
        self._older = [each for each in releases.known() if releases.is_rollback(asked.from_release, each)]
        kind = _EVIDENCE if shared is None else StructType([*_EVIDENCE.fields, _ACTIVITY])
        self._schema = to_arrow_schema(kind, timestamp_utc=True)

    def connections(self, files: Iterable[PartitionFile]) -> Iterator[pa.Table]:
        """Connections of clients that are evidence, or to brokers of older releases: `is_evidence` says which."""
        for rows in stored_rows(files, CLIENT_CONNECTIONS, STORED):
            is_evidence = _is_evidence(rows, self._asked)
            there = pc.is_in(rows["broker_software_version"], pa.array(self._older, pa.string()))
            rows = rows.append_column("is_evidence", is_evidence)
            yield rows.filter(pc.and_not(pc.or_(is_evidence, there), _is_unidentified(rows)))

    def of_clients(self, connections: Sequence[pa.Table]) -> pa.Table:
        """One row per client, or program where one client id is several: CLIENT_KEY, `program` (empty where it is one),
        `connections`, `first_seen_at`, `last_seen_at`, `broker_ids`, `listeners` (listener and security protocol),
        `sasl_mechanisms` (as seen, sorted), and `uses`, one per API and version, sorted: requests, rejected, first and last request,
        brokers, the latest raw record that shows answered requests, and the cells of the evidence's time
        (compatibility/well_observed.py) in which some were answered. `cell_s`: seconds of a cell. `uses_elsewhere`: what brokers of
        releases before the from-release answered, as release, api_key and version, sorted; it tells what a client sends that fails
        now. With `shared` also `activity`: what tells which clients are one application.

        `connections`: all of these clients, as `connections` gives them."""
        if not connections:
            return self._schema.empty_table()
        knowledge.use(self._knowledge)
        rows = with_programs(pa.concat_tables(connections), self.shared)
        columns = evidence_of(rows, self._time, _ACTIVITY.name in self._schema.names)
        columns["cell_s"] = pa.repeat(self._time.cell / 1e6, len(columns["connections"]))
        arrays = [columns[field.name].cast(field.type) for field in self._schema]
        return pa.table(arrays, schema=self._schema)


def _is_evidence(rows: pa.Table, asked: Question) -> pa.ChunkedArray:
    """`_counts`, for workers."""
    declared = asked.brokers_declare or (asked.from_release,)
    counts = pc.is_in(rows["broker_software_version"], pa.array(declared))
    if asked.until is None:
        return counts
    until = pa.scalar(asked.until, pa.timestamp("us", "UTC"))
    return pc.and_(counts, pc.fill_null(pc.less(rows["opened_at"], until), False))


def _is_unidentified(rows: pa.Table) -> pa.ChunkedArray:
    """`_unidentified`, for workers."""
    undeclared = pc.is_in(rows["client_software_name"], pa.array(kip511.NOT_DECLARED, pa.string()))
    nobody = pc.and_(pc.is_null(rows["client_id"]), pc.equal(pc.fill_null(rows["principal"], ""), ""))
    return pc.and_(nobody, undeclared)


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

    @staticmethod
    def of_all(found: Sequence["Span"]) -> "Span":
        firsts = [each.first for each in found if each.first is not None]
        return Span(min(firsts, default=None), reduce(or_, (each.cells for each in found), 0))


def span(clients: pa.Table) -> Span:
    """Of rows of evidence."""
    cells = pc.struct_field(pc.list_flatten(clients["uses"]), "cells").combine_chunks()
    return Span(pc.min(clients["first_seen_at"]).as_py(), int(np.bitwise_or.reduce(integers(cells))))


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


def _time(files: Iterable[PartitionFile], asked: Question) -> Time:
    first, last = NEVER, ALWAYS
    for rows in stored_rows(files, CLIENT_CONNECTIONS, _OF_THE_TIME):
        counted = rows.filter(pc.and_not(_is_evidence(rows, asked), _is_unidentified(rows)))
        first = min(first, int(micros(counted["first_seen_at"], NEVER).min(initial=NEVER)))
        last = max(last, int(micros(counted["last_seen_at"], ALWAYS).max(initial=ALWAYS)))
    until = None if asked.until is None else (asked.until - _EPOCH) // dt.timedelta(microseconds=1)
    if first == NEVER:
        return Time(0, 1, until)
    end = last if until is None else min(last, until)
    return Time(first, max(end - first, 0) // CELLS + 1, until)
