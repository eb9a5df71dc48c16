"""Which connections are evidence for an upgrade question, and what they say about each client.

Only connections to brokers that ran the from-release count, and only what happened before the first broker left it:
while brokers differ, clients meet both releases, and what they do then is not evidence of how they were.
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


def connection_counts(connections: DataFrame, question: Question) -> tuple[int, int, int]:
    """Numbers of connections that are evidence about a client, that would be if their client were known, and all
    others.
    """
    connection = connections.groupBy(*CONNECTION).agg(
        F.max(_counts(question) & ~_unidentified()).alias("counted"),
        F.max(_counts(question) & _unidentified()).alias("unidentified"),
        _stands_for(),
    )
    (row,) = connection.agg(
        *(
            F.coalesce(F.sum(F.when(which, F.col("stands_for"))), F.lit(0))
            for which in (F.col("counted"), F.col("unidentified") & ~F.col("counted"), F.lit(True))
        )
    ).collect()
    counted, unidentified, every = row
    return counted, unidentified, every - counted - unidentified


def connections_by_software(connections: DataFrame, question: Question) -> dict[tuple[str, str], int]:
    """Name and version, `unknown` if not declared -> number of connections that are evidence."""
    name, version = (
        F.when(F.expr(kip511.is_declared(column)), F.col(column)).otherwise(kip511.UNKNOWN).alias(column)
        for column in ("client_software_name", "client_software_version")
    )
    connection = connections.where(_counts(question)).groupBy(*CONNECTION, name, version).agg(_stands_for())
    rows = (
        connection.groupBy("client_software_name", "client_software_version")
        .agg(F.sum("stands_for"))
        .collect()
    )
    return {(row[0], row[1]): row[2] for row in rows}


class Evidence:
    """What the connections of a question say about each client. Sent to the workers, which read the files: as rows of
    Spark, what connections used would cost several times as much.

    `files`: of client_connections, of the cluster and days. `shared`: clients that may be several programs, as returned
    by `shared_clients`.
    """

    def __init__(self, question: Question, files: Iterable[PartitionFile], shared: pa.Table | None = None):
        self.shared = shared
        self._asked, self._time, self._knowledge = question, _time(files, question), knowledge.in_use()
        self._older = [
            release for release in releases.known() if releases.is_rollback(question.from_release, release)
        ]
        kind = _EVIDENCE if shared is None else StructType([*_EVIDENCE.fields, _ACTIVITY])
        self._schema = to_arrow_schema(kind, timestamp_utc=True)

    def connections(self, files: Iterable[PartitionFile]) -> Iterator[pa.Table]:
        """Connections of clients that are evidence (`is_evidence`), and those to brokers of older releases."""
        for rows in stored_rows(files, CLIENT_CONNECTIONS, STORED):
            is_evidence = _is_evidence(rows, self._asked)
            there = pc.is_in(rows["broker_software_version"], pa.array(self._older, pa.string()))
            rows = rows.append_column("is_evidence", is_evidence)
            yield rows.filter(pc.and_not(pc.or_(is_evidence, there), _is_unidentified(rows)))

    def of_clients(self, connections: Sequence[pa.Table]) -> pa.Table:
        """One row per client, or per program if several share a client id: CLIENT_KEY, `program` (empty if there is
        only one), `connections`, `first_seen_at`, `last_seen_at`, `broker_ids`, `listeners` (listener and security
        protocol), `sasl_mechanisms` (as seen, sorted), and `uses`, one per API and version, sorted: requests,
        rejected, first and last request, brokers, the latest raw record that shows answered requests, and the cells
        of the evidence's time (compatibility/well_observed.py) in which some were answered. `cell_s`: seconds per
        cell. `uses_elsewhere`: what brokers of releases before the from-release answered, as release, api_key and
        version, sorted; it shows what a client sends that now fails. With `shared` also `activity`: what shows which
        clients are one application.

        `connections`: all of these clients, as returned by `connections`.
        """
        if not connections:
            return self._schema.empty_table()
        knowledge.use(self._knowledge)
        rows = with_programs(pa.concat_tables(connections), self.shared)
        columns = evidence_of(rows, self._time, _ACTIVITY.name in self._schema.names)
        columns["cell_s"] = pa.repeat(self._time.cell / 1e6, len(columns["connections"]))
        arrays = [columns[field.name].cast(field.type) for field in self._schema]
        return pa.table(arrays, schema=self._schema)


def _is_evidence(rows: pa.Table, question: Question) -> pa.ChunkedArray:
    """`_counts`, for workers."""
    declared = question.brokers_declare or (question.from_release,)
    counts = pc.is_in(rows["broker_software_version"], pa.array(declared))
    if question.until is None:
        return counts
    until = pa.scalar(question.until, pa.timestamp("us", "UTC"))
    return pc.and_(counts, pc.fill_null(pc.less(rows["opened_at"], until), False))


def _is_unidentified(rows: pa.Table) -> pa.ChunkedArray:
    """`_unidentified`, for workers."""
    undeclared = pc.is_in(rows["client_software_name"], pa.array(kip511.NOT_DECLARED, pa.string()))
    nobody = pc.and_(pc.is_null(rows["client_id"]), pc.equal(pc.fill_null(rows["principal"], ""), ""))
    return pc.and_(nobody, undeclared)


def by_pushes_only(profiled: DataFrame, question: Question) -> DataFrame:
    """Clients that pushed metrics (KIP-714) before the cut but of which no connection was seen, as rows of `evidence`
    without requests and brokers. `profiled`: rows of `clients` of the days.
    """
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
    if question.until is not None:
        pushed = pushed.where(F.col("first_seen_at") < F.lit(question.until))
    return pushed.select(
        *(F.col("client")[name].alias(name) for name in CLIENT_KEY),
        F.lit("").alias("program"),
        *pushed.columns[2:],
    )


def _stands_for() -> Column:
    """How many connections a row stands for (over the days of one)."""
    return F.max(F.coalesce("connections", F.lit(1))).alias("stands_for")


class Span(NamedTuple):
    """The time range of the clients' evidence."""

    first: dt.datetime | None
    cells: int
    """Cells in which any client sent anything."""

    @staticmethod
    def of_all(spans: Sequence["Span"]) -> "Span":
        firsts = [span.first for span in spans if span.first is not None]
        return Span(min(firsts, default=None), reduce(or_, (span.cells for span in spans), 0))


def span(clients: pa.Table) -> Span:
    """The span of rows of evidence."""
    cells = pc.struct_field(pc.list_flatten(clients["uses"]), "cells").combine_chunks()
    return Span(pc.min(clients["first_seen_at"]).as_py(), int(np.bitwise_or.reduce(integers(cells))))


def keyed_by_client(rows: DataFrame) -> DataFrame:
    """With the client as one column, whose equality treats nulls as equal, preceded by a hash: grouping and joining by
    four texts sorts them, which takes several times as long as sorting by an almost unique number.
    """
    return rows.withColumns({"client_hash": F.xxhash64(*CLIENT_KEY), "client": F.struct(*CLIENT_KEY)})


def _counts(question: Question) -> Column:
    """Whether a connection is to a broker of the from-release and was opened before the cut."""
    declared = question.brokers_declare or (question.from_release,)
    counts = F.coalesce(F.col("broker_software_version").isin(*declared), F.lit(False))
    return counts if question.until is None else counts & (F.col("opened_at") < F.lit(question.until))


def _unidentified() -> Column:
    """Whether the client of a connection is unknown: the flag `unidentified` of the table `clients`. It may be any
    client's, even one that is judged by its other connections, so no client is judged by it.
    """
    undeclared = ~F.expr(kip511.is_declared("client_software_name"))
    return F.col("client_id").isNull() & (F.coalesce("principal", F.lit("")) == "") & undeclared


def _time(files: Iterable[PartitionFile], question: Question) -> Time:
    first, last = NEVER, ALWAYS
    for rows in stored_rows(files, CLIENT_CONNECTIONS, _OF_THE_TIME):
        counted = rows.filter(pc.and_not(_is_evidence(rows, question), _is_unidentified(rows)))
        first = min(first, int(micros(counted["first_seen_at"], NEVER).min(initial=NEVER)))
        last = max(last, int(micros(counted["last_seen_at"], ALWAYS).max(initial=ALWAYS)))
    until = None if question.until is None else (question.until - _EPOCH) // dt.timedelta(microseconds=1)
    if first == NEVER:
        return Time(0, 1, until)
    end = last if until is None else min(last, until)
    return Time(first, max(end - first, 0) // CELLS + 1, until)
