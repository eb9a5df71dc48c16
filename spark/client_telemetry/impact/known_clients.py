"""The clients of an upgrade question with all that their verdicts depend on, as pieces of columns (pipeline/pieces.py): what was
seen of a client, its owner and its application meet in one worker."""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from client_telemetry.compatibility import knowledge
from client_telemetry.identity import application_rows
from client_telemetry.identity.application_rows import PROGRAM, application_columns
from client_telemetry.identity.applications import NO_CLIENT_ID
from client_telemetry.impact.client_evidence import Evidence, Span, span
from client_telemetry.impact.verdict_files import OF_THE_PROFILE, READ
from client_telemetry.impact.what_decides import Mechanisms, alike
from client_telemetry.lake.files import PartitionFile, files_by_task, stored_rows
from client_telemetry.pipeline.columns import Vector, numbered
from client_telemetry.pipeline.pieces import (
    PIECES,
    Pieces,
    batches_of,
    by_part,
    moved,
    packed,
    read_pieces,
    unpacked,
)
from client_telemetry.tables.clients import APPLICATION, CLIENT_KEY, CLIENTS

ROWS_OF_A_PART, FEWEST_PARTS = 50_000, 2
"""Of connections and clients: a worker has a part in memory."""
_PROFILE = pa.schema(
    [CLIENTS.arrow_schema.field(name) for name in (*CLIENT_KEY, "dt", *OF_THE_PROFILE, "related")]
)
_PROGRAM = (*CLIENT_KEY, PROGRAM)
_SUMMARY, _ACTIVITY = -1, -2
"""Instead of a part: what the driver is told of all clients, and what tells which of them are one application."""
_CONNECTIONS, _PROFILES, _MORE = range(3)


class Summary(NamedTuple):
    """Of all clients. `principals`: those one of whose client ids is several programs."""

    span: Span
    principals: frozenset[str | None]


def known_clients(
    spark: SparkSession,
    seen: Evidence,
    connections: Sequence[PartitionFile],
    profiled: Sequence[PartitionFile],
    more: DataFrame,
    mechanisms: Mechanisms,
    parts: int,
) -> DataFrame:
    """Pieces, in as many parts: columns verdict_files.READ of clients. All that are alike (what_decides.py) are in one part.

    `connections`, `profiled`: files of client_connections and clients, of the cluster and days. `more`: rows of evidence of clients
    without connections."""
    tasks = [(_CONNECTIONS, files) for files in files_by_task(connections)]
    tasks += [(_PROFILES, files) for files in files_by_task(profiled)]

    def read(task: int) -> Pieces:
        kind, files = tasks[task]
        if kind == _CONNECTIONS:
            tables = seen.connections(files)
        else:
            tables = stored_rows(files, CLIENTS, _PROFILE.names)
        return (piece for rows in tables for piece in _of_clients(kind, rows, parts))

    def split(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        tables = (pa.Table.from_batches([batch]) for batch in batches)
        return batches_of(piece for rows in tables for piece in _of_clients(_MORE, rows, parts))

    def gather(pieces: Iterator[Any]) -> Pieces:
        found: dict[int, list[pa.Table]] = {_CONNECTIONS: [], _PROFILES: [_PROFILE.empty_table()], _MORE: []}
        for kind, rows in pieces:
            found[kind].append(rows)
        evidence = [seen.of_clients(found[_CONNECTIONS]), *found[_MORE]]
        clients = pa.concat_tables(evidence, promote_options="default")
        if len(clients):
            yield _SUMMARY, Summary(span(clients), _of_several_programs(clients))
            text = alike(clients, mechanisms)
            part_of = _parts([text], parts)
            clients = _with_profiles(clients, pa.concat_tables(found[_PROFILES]))
            clients = clients.append_column("alike", text)
            if seen.shared is not None:
                yield _ACTIVITY, _activity(clients, part_of)
            yield from by_part(clients.select(READ), part_of)

    stored = read_pieces(spark, len(tasks), read).union(more.mapInArrow(split, PIECES))
    return moved(stored, parts).mapInArrow(packed(gather), PIECES)


def summary(known: DataFrame) -> Summary:
    pieces = known.where(f"bucket = {_SUMMARY}").select("piece").toArrow().to_batches()
    found: list[Any] = list(unpacked(pieces))
    principals = frozenset(principal for each in found for principal in each.principals)
    return Summary(Span.of_all([each.span for each in found]), principals)


def applications_of_programs(known: DataFrame, principals: frozenset[str | None], parts: int) -> DataFrame:
    """Pieces, in the parts of `known`: _PROGRAM and the columns of APPLICATION of each client and program of the principals. A
    program is put beside clients by its own connections: `kafka-python-producer-1 (Produce v3)` to the `kafka-python-1.4.5` that
    was there at the same time."""
    own, wanted = knowledge.in_use(), pa.array(sorted(principals, key=str), pa.string())

    def pick(pieces: Iterator[Any]) -> Pieces:
        for clients in pieces:
            rows = clients.filter(pc.is_in(clients["principal"], wanted))
            yield from by_part(rows, _parts([rows["principal"]], parts))

    def together(pieces: Iterator[Any]) -> Pieces:
        knowledge.use(own)
        tables = list(pieces)
        if not tables:
            return
        clients = pa.concat_tables(tables)
        number, first = numbered([clients["principal"]])
        for principal in range(len(first)):
            rows = clients.filter(pa.array(number == principal))
            columns = application_columns(rows.select(_OF_AN_APPLICATION).to_pylist())
            found = rows.select(_PROGRAM)
            for name in columns:
                kind = CLIENTS.arrow_schema.field(name).type
                found = found.append_column(name, pa.array(columns[name], kind))
            yield from by_part(found, rows["part"].to_numpy())

    of_them = known.where(f"bucket = {_ACTIVITY}").mapInArrow(packed(pick), PIECES)
    return moved(of_them, parts).mapInArrow(packed(together), PIECES)


_OF_AN_APPLICATION = (*application_rows.READ, PROGRAM)


def parts_of(known: DataFrame, of_programs: DataFrame | None, parts: int) -> DataFrame:
    """Pieces by part, for `clients_of`. `of_programs`: as `applications_of_programs` gives them."""
    clients = known.where("bucket >= 0")
    return moved(clients if of_programs is None else clients.union(of_programs), parts)


def clients_of(pieces: Iterable[Any]) -> pa.Table | None:
    """The clients of a part, columns verdict_files.READ; None where there is none."""
    clients: list[pa.Table] = []
    of_programs: list[pa.Table] = []
    for rows in pieces:
        (clients if "alike" in rows.column_names else of_programs).append(rows)
    if not clients:
        return None
    found = pa.concat_tables(clients)
    return _regrouped(found, pa.concat_tables(of_programs)) if of_programs else found


def _of_clients(kind: int, rows: pa.Table, parts: int) -> Pieces:
    """All with one principal and client id in one part."""
    part_of = _parts([rows["principal"], rows["client_id"]], parts)
    return ((part, (kind, own)) for part, own in by_part(rows, part_of))


def _parts(columns: Sequence[pa.ChunkedArray], parts: int) -> Vector:
    number, first = numbered(columns)
    keys = zip(*(column.take(first).to_pylist() for column in columns), strict=True)
    of_key = np.array([zlib.crc32(repr(key).encode()) % parts for key in keys], np.int64)
    found: Vector = of_key[number]
    return found


def _of_several_programs(clients: pa.Table) -> frozenset[str | None]:
    return frozenset(clients.filter(pc.not_equal(clients["program"], ""))["principal"].unique().to_pylist())


def _with_profiles(clients: pa.Table, profiles: pa.Table) -> pa.Table:
    """`clients` with the latest profile of each. A client that no profile has, as by a run that was stopped in between, is an
    application of its own."""
    latest_first = profiles.sort_by([("dt", "descending")])
    latest = latest_first.take(_places(clients, latest_first, CLIENT_KEY))
    instead = {
        "application": pc.fill_null(clients["client_id"], NO_CLIENT_ID),
        "application_kind": "application",
        "application_notes": pa.scalar([], latest["application_notes"].type),
    }
    for name in (*OF_THE_PROFILE, "related"):
        column = pc.coalesce(latest[name], instead[name]) if name in instead else latest[name]
        clients = clients.append_column(name, column)
    return clients


def _places(rows: pa.Table, others: pa.Table, key: Sequence[str]) -> pa.Array:
    """For each row the first of the others with its key; null where there is none."""
    both = pa.concat_tables([others.select(key), rows.select(key)], promote_options="default")
    number, _ = numbered([both[name] for name in key])
    found: Vector = np.full(int(number.max(initial=0)) + 1, -1)
    mine, theirs = number[len(others) :], number[: len(others)]
    found[theirs[::-1]] = np.arange(len(others))[::-1]
    return pa.array(found[mine], mask=found[mine] < 0)


def _activity(clients: pa.Table, part_of: Vector) -> pa.Table:
    """What tells which clients are one application, of those that have connections."""
    clients = clients.append_column("part", pa.array(part_of)).filter(pc.is_valid(clients["activity"]))
    activity = clients["activity"].combine_chunks()
    of_it = {field.name: pc.struct_field(activity, field.name) for field in activity.type}
    of_it["last_seen_at"] = of_it.pop("last_request_at")
    columns = (*_OF_AN_APPLICATION, "part")
    return pa.table({name: of_it[name] if name in of_it else clients[name] for name in columns})


def _regrouped(clients: pa.Table, of_programs: pa.Table) -> pa.Table:
    """`clients` with the applications of programs, where there are some."""
    theirs = of_programs.take(_places(clients, of_programs, _PROGRAM))
    has = pc.is_valid(theirs["application"])
    for column in APPLICATION:
        place = clients.schema.get_field_index(column.name)
        regrouped = pc.if_else(has, theirs[column.name], clients[column.name])
        clients = clients.set_column(place, column.name, regrouped)
    return clients
