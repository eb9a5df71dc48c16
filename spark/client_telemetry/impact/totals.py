"""What an upgrade question needs to know about all clients before it looks at one: numbers of connections, the time of the
evidence, which client ids are shared by several programs, and which software only pushed metrics. One pass over the
connections and profiles of the days.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession

from client_telemetry import knowledge
from client_telemetry.impact.client_evidence import (
    OF_PUSHES,
    by_pushes_only,
    is_evidence,
    is_unidentified,
    part_of_clients,
    parts_by,
)
from client_telemetry.impact.evidence_columns import CONNECTION
from client_telemetry.impact.programs import may_be_shared
from client_telemetry.impact.question import ListenerLogin, Question
from client_telemetry.knowledge import kip511
from client_telemetry.lake.files import PartitionFile, files_by_task, stored_rows
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.clients import CLIENT_KEY, CLIENTS
from client_telemetry.workers.columns import ALWAYS, NEVER, Vector, integers, micros, numbered
from client_telemetry.workers.exchange import read_in_tasks
from client_telemetry.workers.pieces import Pieces, by_part

Software = tuple[str, str]
"""Registered name and version, `unknown` if not declared (KIP-511)."""
_SOFTWARE = ("client_software_name", "client_software_version")
_LOGIN = ("listener_name", "sasl_mechanism")
_STORED = (
    *CONNECTION,
    *_SOFTWARE,
    "client_id",
    "principal",
    "broker_software_version",
    "first_seen_at",
    "last_seen_at",
    "connections",
    *_LOGIN,
)
_FLAGS = ("is_evidence", "is_unidentified")
_MOVED = (*CONNECTION, *_SOFTWARE, "connections", *_FLAGS)
_CONNECTIONS, _PROFILES, _SHARED, _TIME = range(4)


@dataclass(frozen=True)
class Totals:
    """Over all clients, or some of them. Connections of several days count once, as many as on the day with the most."""

    connections: int = 0
    """Evidence about a client."""
    unidentified: int = 0
    """Would be, if their client were known."""
    elsewhere: int = 0
    """All others: of brokers of other releases, or opened after the cut."""
    by_software: Counter[Software] = field(default_factory=Counter)
    """Connections that are evidence, of whatever client."""
    only_pushed: Counter[Software] = field(default_factory=Counter)
    """Clients that pushed metrics but of which no connection was seen."""
    first_micros: int = NEVER
    """The time of the evidence, in microseconds since 1970; NEVER and ALWAYS if there is none."""
    last_micros: int = ALWAYS
    shared: pa.Table | None = None
    """CLIENT_KEY of the clients that may be several programs."""
    logins: frozenset[ListenerLogin] = frozenset()
    """Of all connections."""

    def plus(self, other: "Totals") -> "Totals":
        shared = [each for each in (self.shared, other.shared) if each is not None]
        return Totals(
            self.connections + other.connections,
            self.unidentified + other.unidentified,
            self.elsewhere + other.elsewhere,
            self.by_software + other.by_software,
            self.only_pushed + other.only_pushed,
            min(self.first_micros, other.first_micros),
            max(self.last_micros, other.last_micros),
            pa.concat_tables(shared) if shared else None,
            self.logins | other.logins,
        )


def totals(
    spark: SparkSession | None,
    question: Question,
    connections: Sequence[PartitionFile],
    profiled: Sequence[PartitionFile],
    parts: int,
) -> Totals:
    """`connections`, `profiled`: files of client_connections and clients, of the cluster and days."""
    tasks = [(_CONNECTIONS, files) for files in files_by_task(connections)]
    tasks += [(_PROFILES, files) for files in files_by_task(profiled)]
    own = knowledge.in_use()

    def read(task: int) -> Pieces:
        knowledge.use(own)
        kind, files = tasks[task]
        return _connections(files, question, parts) if kind == _CONNECTIONS else _profiles(files, parts)

    def count(pieces: Iterator[tuple[int, pa.Table]]) -> Pieces:
        tables: dict[int, list[pa.Table]] = {_CONNECTIONS: [], _PROFILES: [], _SHARED: []}
        totals = Totals()
        for kind, piece in pieces:
            if kind == _TIME:
                totals = totals.plus(piece)
            else:
                tables[kind].append(piece)
        if tables[_CONNECTIONS]:
            totals = totals.plus(counted(pa.concat_tables(tables[_CONNECTIONS])))
        if tables[_PROFILES]:
            pushing = by_pushes_only(pa.concat_tables(tables[_PROFILES]), question)
            totals = totals.plus(Totals(only_pushed=Counter(_software(_with_registered_software(pushing)))))
        if tables[_SHARED]:
            totals = totals.plus(Totals(shared=pa.concat_tables(tables[_SHARED])))
        yield 0, totals

    found = read_in_tasks(spark, len(tasks), read).moved(parts).worked(count)
    return reduce(Totals.plus, found.collected(), Totals())


def _connections(files: Iterable[PartitionFile], question: Question, parts: int) -> Pieces:
    """All days of a connection are in the same part."""
    for rows in stored_rows(files, CLIENT_CONNECTIONS, _STORED):
        for name, flag in zip(_FLAGS, (is_evidence(rows, question), is_unidentified(rows)), strict=True):
            rows = rows.append_column(name, flag)
        rows = _with_registered_software(rows)
        yield 0, (_TIME, _time(rows).plus(Totals(logins=_logins(rows))))
        part_of = parts_by([rows["connection_id"]], parts)
        for part, own in by_part(rows.select(_MOVED), part_of):
            yield part, (_CONNECTIONS, own)


def _profiles(files: Iterable[PartitionFile], parts: int) -> Pieces:
    for rows in stored_rows(files, CLIENTS, (*OF_PUSHES, "api_uses")):
        shared = rows.filter(pa.array(may_be_shared(rows))).select(CLIENT_KEY)
        if len(shared):
            yield 0, (_SHARED, shared)
        pushes = rows.select(OF_PUSHES)
        for part, own in by_part(pushes, part_of_clients(pushes, parts)):
            yield part, (_PROFILES, own)


def _logins(rows: pa.Table) -> frozenset[ListenerLogin]:
    groups = rows.select(_LOGIN).group_by(_LOGIN).aggregate([])
    return frozenset(zip(*(groups[name].to_pylist() for name in _LOGIN), strict=True))


def _time(rows: pa.Table) -> Totals:
    of_clients = rows.filter(pc.and_not(rows["is_evidence"], rows["is_unidentified"]))
    return Totals(
        first_micros=int(micros(of_clients["first_seen_at"], NEVER).min(initial=NEVER)),
        last_micros=int(micros(of_clients["last_seen_at"], ALWAYS).max(initial=ALWAYS)),
    )


def counted(rows: pa.Table) -> Totals:
    """Numbers of connections. `rows`: all days of them, columns CONNECTION, registered software, `connections`,
    `is_evidence`, `is_unidentified`.
    """
    is_evidence, is_unidentified = (rows[name].to_numpy() for name in _FLAGS)
    connection, first = numbered([rows[name] for name in CONNECTION])
    size = len(first)
    stands_for = _most(rows, connection, size)
    is_counted, would_count = np.zeros(size, bool), np.zeros(size, bool)
    is_counted[connection[is_evidence & ~is_unidentified]] = True
    would_count[connection[is_evidence & is_unidentified]] = True
    known, unknown = int(stands_for[is_counted].sum()), int(stands_for[would_count & ~is_counted].sum())
    evidence = rows.filter(pa.array(is_evidence))
    number, first = numbered([evidence[name] for name in (*CONNECTION, *_SOFTWARE)])
    by_software: Counter[Software] = Counter()
    counts = _most(evidence, number, len(first)).tolist()
    for software, connections in zip(_software(evidence.take(first)), counts, strict=True):
        by_software[software] += connections
    return Totals(known, unknown, int(stands_for.sum()) - known - unknown, by_software)


def _most(rows: pa.Table, number: Vector, size: int) -> Vector:
    """Of each number, how many connections its rows stand for, at most."""
    most: Vector = np.zeros(size, np.int64)
    np.maximum.at(most, number, integers(rows["connections"].combine_chunks(), 1))
    return most


def _with_registered_software(rows: pa.Table) -> pa.Table:
    """With `unknown`, as brokers register it, for all that means the same: it is one software, whatever a source writes."""
    for name in _SOFTWARE:
        declares_none = pc.is_in(rows[name], pa.array(kip511.NOT_DECLARED, pa.string()))
        place = rows.schema.get_field_index(name)
        rows = rows.set_column(place, name, pc.if_else(declares_none, kip511.UNKNOWN, rows[name]))
    return rows


def _software(rows: pa.Table) -> Iterator[Software]:
    return zip(*(rows[name].to_pylist() for name in _SOFTWARE), strict=True)
