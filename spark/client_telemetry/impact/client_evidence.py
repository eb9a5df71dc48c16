"""Which connections are evidence for an upgrade question, and what they say about each client.

Only connections to brokers that ran the from-release count, and only what happened before the first broker left it:
while brokers differ, clients meet both releases, and what they do then is not evidence of how they were.
"""

import datetime as dt
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import or_
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructField, StructType

from client_telemetry import knowledge
from client_telemetry.compatibility.well_observed import CELLS
from client_telemetry.impact.evidence_columns import STORED, Time, evidence_of, moments
from client_telemetry.impact.programs import with_programs
from client_telemetry.impact.question import Question
from client_telemetry.knowledge import kip511, releases
from client_telemetry.lake.files import PartitionFile, stored_rows
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.clients import CLIENT_KEY
from client_telemetry.tables.table import (
    API_ERRORS,
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
from client_telemetry.workers.columns import ALWAYS, NEVER, Vector, integers, micros, micros_of, numbered

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
    logins=ArrayType(
        struct(listener_name=STRING, security_protocol=STRING, sasl_mechanism=STRING, connections=LONG)
    ),
    uses=ArrayType(_USE),
    errors=API_ERRORS,
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


class Evidence:
    """What the connections of a question say about each client. Sent to the workers, which read the files: as rows of
    Spark, what connections used would cost several times as much.

    `time`: of all evidence. `shared`: CLIENT_KEY of the clients that may be several programs, None if there are none.
    """

    def __init__(self, question: Question, time: Time, shared: pa.Table | None = None):
        self.shared = shared
        self.question = question
        self._time, self._knowledge = time, knowledge.in_use()
        self._older = [
            release for release in releases.known() if releases.is_rollback(question.from_release, release)
        ]
        kind = _EVIDENCE if shared is None else StructType([*_EVIDENCE.fields, _ACTIVITY])
        self._schema = to_arrow_schema(kind, timestamp_utc=True)

    def connections(self, files: Iterable[PartitionFile]) -> Iterator[pa.Table]:
        """Connections of clients that are evidence (`is_evidence`), and those to brokers of older releases."""
        for rows in stored_rows(files, CLIENT_CONNECTIONS, STORED):
            counts = is_evidence(rows, self.question)
            there = pc.is_in(rows["broker_software_version"], pa.array(self._older, pa.string()))
            rows = rows.append_column("is_evidence", counts)
            yield rows.filter(pc.and_not(pc.or_(counts, there), is_unidentified(rows)))

    def of_clients(self, connections: Sequence[pa.Table]) -> pa.Table:
        """One row per client, or per program if several share a client id: CLIENT_KEY, `program` (empty if there is
        only one), `connections`, `first_seen_at`, `last_seen_at`, `broker_ids`, `logins` (listener, security
        protocol and SASL mechanism, null if it is not known, each combination once with its connections), and `uses`, one per API and version, sorted: requests,
        rejected, first and last request, brokers, the latest raw record that shows answered requests, and the cells
        of the evidence's time (compatibility/well_observed.py) in which some were answered. `errors`: answers in which
        nothing succeeded, one per API, version and error code, sorted. `cell_s`: seconds per
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


def is_evidence(rows: pa.Table, question: Question) -> pa.ChunkedArray:
    """Whether each connection is to a broker of the from-release and was opened before the cut."""
    declared = question.brokers_declare or (question.from_release,)
    counts = pc.is_in(rows["broker_software_version"], pa.array(declared))
    if question.until is None:
        return counts
    until = pa.scalar(question.until, pa.timestamp("us", "UTC"))
    return pc.and_(counts, pc.fill_null(pc.less(rows["opened_at"], until), False))


def is_unidentified(rows: pa.Table) -> pa.ChunkedArray:
    """Whether the client of each row is unknown: the flag `unidentified` of the table `clients`. It may be any client's,
    even one that is judged by its other connections, so no client is judged by it.
    """
    undeclared = pc.is_in(rows["client_software_name"], pa.array(kip511.NOT_DECLARED, pa.string()))
    nobody = pc.and_(pc.is_null(rows["client_id"]), pc.equal(pc.fill_null(rows["principal"], ""), ""))
    return pc.and_(nobody, undeclared)


def by_pushes_only(profiled: pa.Table, question: Question) -> pa.Table:
    """Clients that pushed metrics (KIP-714) before the cut but of which no connection was seen, as rows of evidence
    without requests and brokers. `profiled`: columns OF_PUSHES of `clients`, all days of each client.
    """
    rows = profiled.filter(pc.invert(is_unidentified(profiled)))
    client, first = numbered([rows[name] for name in CLIENT_KEY])
    seen: Vector = np.zeros(len(first), np.int64)
    # Files that are older than the column have no refusals.
    for name, instead_of_null in (("connections", 1), ("refusals", 0)):
        np.add.at(seen, client, integers(rows[name].combine_chunks(), instead_of_null))
    begin, end = np.full(len(first), NEVER), np.full(len(first), ALWAYS)
    np.minimum.at(begin, client, micros(rows["first_seen_at"].combine_chunks(), NEVER))
    np.maximum.at(end, client, micros(rows["last_seen_at"].combine_chunks(), ALWAYS))
    is_pushing = seen == 0
    if question.until is not None:
        is_pushing &= begin < micros_of(question.until)
    clients = rows.select(CLIENT_KEY).take(first[is_pushing])
    return without_requests(clients, moments(begin[is_pushing]), moments(end[is_pushing]))


def without_requests(clients: pa.Table, first: pa.Array, last: pa.Array) -> pa.Table:
    """Rows of evidence without requests and brokers. `clients`: columns CLIENT_KEY; `first`, `last`: when they were seen."""
    size = len(clients)
    return pa.table(
        {
            **{name: clients[name] for name in CLIENT_KEY},
            "program": pa.repeat("", size),
            "connections": pa.repeat(pa.scalar(0, pa.int64()), size),
            "first_seen_at": first,
            "last_seen_at": last,
            "broker_ids": pa.array([[]] * size, pa.list_(pa.int32())),
        }
    )


OF_PUSHES = (*CLIENT_KEY, "connections", "refusals", "first_seen_at", "last_seen_at")


def part_of_clients(rows: pa.Table, parts: int) -> Vector:
    """int64[n]: the part of each row. All with the same principal and client id are in the same part."""
    return parts_by([rows["principal"], rows["client_id"]], parts)


def parts_by(columns: Sequence[pa.ChunkedArray], parts: int) -> Vector:
    """int64[n]: equal values are in the same part."""
    if parts == 1:
        return np.zeros(len(columns[0]), np.int64)
    number, first = numbered(columns)
    keys = zip(*(column.take(first).to_pylist() for column in columns), strict=True)
    of_key = np.array([zlib.crc32(repr(key).encode()) % parts for key in keys], np.int64)
    part_of: Vector = of_key[number]
    return part_of


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


def time_of(first_micros: int, last_micros: int, question: Question) -> Time:
    """The time of all evidence, from its first and last microsecond (NEVER and ALWAYS if there is none)."""
    until = None if question.until is None else micros_of(question.until)
    if first_micros == NEVER:
        return Time(0, 1, until)
    end = last_micros if until is None else min(last_micros, until)
    return Time(first_micros, max(end - first_micros, 0) // CELLS + 1, until)
