"""The clients of an upgrade question with everything that their verdicts depend on, as pieces of columns
(workers/exchange.py): the evidence about a client, its owner and its application meet in one worker.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession

from client_telemetry import knowledge
from client_telemetry.identity import application_rows
from client_telemetry.identity.application_rows import PROGRAM, application_columns
from client_telemetry.identity.applications import NO_CLIENT_ID
from client_telemetry.impact.client_evidence import (
    OF_PUSHES,
    Evidence,
    Span,
    by_pushes_only,
    part_of_clients,
    parts_by,
    span,
)
from client_telemetry.impact.what_decides import Mechanisms, alike
from client_telemetry.lake.files import PartitionFile, files_by_task, stored_rows
from client_telemetry.tables.clients import APPLICATION, CLIENT_KEY, CLIENTS, OF_THE_PROFILE
from client_telemetry.workers.columns import Vector, numbered
from client_telemetry.workers.exchange import Exchange, read_in_tasks
from client_telemetry.workers.pieces import Pieces, by_part

READ = (
    *CLIENT_KEY,
    "program",
    *OF_THE_PROFILE,
    "connections",
    "broker_ids",
    "first_seen_at",
    "last_seen_at",
    "uses",
    "cell_s",
    "alike",
)
"""Columns of the clients to judge."""
ROWS_OF_A_PART, FEWEST_PARTS = 50_000, 2
"""Connections and clients per part: a worker has a part in memory."""
_PROFILE = pa.schema(
    [CLIENTS.arrow_schema.field(name) for name in (*OF_PUSHES, "dt", *OF_THE_PROFILE, "related")]
)
_PROGRAM = (*CLIENT_KEY, PROGRAM)
_SUMMARY, _ACTIVITY = -1, -2
"""In place of a part: what the driver needs to know about all clients, and what shows which of them are one
application.
"""
_CONNECTIONS, _PROFILES, _MORE = range(3)


class Summary(NamedTuple):
    """Totals over all clients. `principals`: those with a client id that is several programs."""

    span: Span
    principals: frozenset[str | None]


def known_clients(
    spark: SparkSession | None,
    connection_evidence: Evidence,
    connections: Sequence[PartitionFile],
    profiled: Sequence[PartitionFile],
    more: pa.Table,
    mechanisms: Mechanisms,
    parts: int,
) -> Exchange:
    """In `parts` parts: columns READ of clients. Clients that are alike (what_decides.py) are in the same
    part. Without Spark, all is done in this process.

    `connections`, `profiled`: files of client_connections and clients, of the cluster and days. `more`: rows of
    evidence of clients without connections and profiles.
    """
    tasks: list[tuple[int, Any]] = [(_CONNECTIONS, files) for files in files_by_task(connections)]
    tasks += [(_PROFILES, files) for files in files_by_task(profiled)]
    if len(more):
        tasks.append((_MORE, [more]))

    def read(task: int) -> Pieces:
        kind, what = tasks[task]
        if kind == _CONNECTIONS:
            tables = connection_evidence.connections(what)
        else:
            tables = stored_rows(what, CLIENTS, _PROFILE.names) if kind == _PROFILES else what
        for rows in tables:
            for part, own in by_part(rows, part_of_clients(rows, parts)):
                yield part, (kind, own)

    def gather(pieces: Iterator[tuple[int, pa.Table]]) -> Pieces:
        tables: dict[int, list[pa.Table]] = {_CONNECTIONS: [], _PROFILES: [_PROFILE.empty_table()], _MORE: []}
        for kind, rows in pieces:
            tables[kind].append(rows)
        profiles = pa.concat_tables(tables[_PROFILES])
        evidence = [
            connection_evidence.of_clients(tables[_CONNECTIONS]),
            by_pushes_only(profiles, connection_evidence.question),
            *tables[_MORE],
        ]
        clients = pa.concat_tables(evidence, promote_options="default")
        if len(clients):
            yield _SUMMARY, Summary(span(clients), _of_several_programs(clients))
            text = alike(clients, mechanisms)
            part_of = parts_by([text], parts)
            clients = _with_profiles(clients, profiles)
            clients = clients.append_column("alike", text)
            if connection_evidence.shared is not None:
                yield _ACTIVITY, _activity(clients, part_of)
            yield from by_part(clients.select(READ), part_of)

    return read_in_tasks(spark, len(tasks), read).moved(parts).worked(gather)


def summary(clients: Exchange) -> Summary:
    """`clients`: as returned by `known_clients`."""
    summaries = clients.with_numbers(_SUMMARY).collected()
    principals = frozenset(principal for part in summaries for principal in part.principals)
    return Summary(Span.of_all([part.span for part in summaries]), principals)


def applications_of_programs(clients: Exchange, principals: frozenset[str | None], parts: int) -> Exchange:
    """In the parts of `clients`, as returned by `known_clients`: _PROGRAM and the columns of APPLICATION of each client and program
    of the principals. A program is grouped with clients by its own connections: `kafka-python-producer-1 (Produce
    v3)` with the `kafka-python-1.4.5` that was there at the same time.
    """
    own, principals_to_split = knowledge.in_use(), pa.array(sorted(principals, key=str), pa.string())

    def pick(pieces: Iterator[pa.Table]) -> Pieces:
        for clients in pieces:
            rows = clients.filter(pc.is_in(clients["principal"], principals_to_split))
            yield from by_part(rows, parts_by([rows["principal"]], parts))

    def together(pieces: Iterator[pa.Table]) -> Pieces:
        knowledge.use(own)
        tables = list(pieces)
        if not tables:
            return
        clients = pa.concat_tables(tables)
        number, first = numbered([clients["principal"]])
        for principal in range(len(first)):
            rows = clients.filter(pa.array(number == principal))
            columns = application_columns(rows.select(_OF_AN_APPLICATION).to_pylist())
            programs = rows.select(_PROGRAM)
            for name in columns:
                kind = CLIENTS.arrow_schema.field(name).type
                programs = programs.append_column(name, pa.array(columns[name], kind))
            yield from by_part(programs, rows["part"].to_numpy())

    return clients.with_numbers(_ACTIVITY).worked(pick).moved(parts).worked(together)


_OF_AN_APPLICATION = (*application_rows.READ, PROGRAM)


def parts_of(clients: Exchange, of_programs: Exchange | None, parts: int) -> Exchange:
    """By part, for `clients_of`. `of_programs`: as returned by `applications_of_programs`."""
    known = clients.of_parts()
    return (known if of_programs is None else known.union(of_programs)).moved(parts)


def clients_of(pieces: Iterable[pa.Table]) -> pa.Table | None:
    """The clients of a part, columns READ; None if there are none."""
    clients: list[pa.Table] = []
    of_programs: list[pa.Table] = []
    for rows in pieces:
        (clients if "alike" in rows.column_names else of_programs).append(rows)
    if not clients:
        return None
    clients_found = pa.concat_tables(clients)
    return _regrouped(clients_found, pa.concat_tables(of_programs)) if of_programs else clients_found


def _of_several_programs(clients: pa.Table) -> frozenset[str | None]:
    return frozenset(clients.filter(pc.not_equal(clients["program"], ""))["principal"].unique().to_pylist())


def _with_profiles(clients: pa.Table, profiles: pa.Table) -> pa.Table:
    """`clients` with the latest profile of each. A client without a profile, as after a run that was stopped halfway,
    is an application of its own.
    """
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


def _places(rows: pa.Table, candidates: pa.Table, key: Sequence[str]) -> pa.Array:
    """For each row the first of the candidates with its key; null if there is none."""
    keys = pa.concat_tables([candidates.select(key), rows.select(key)], promote_options="default")
    number, _ = numbered([keys[name] for name in key])
    first_places: Vector = np.full(int(number.max(initial=0)) + 1, -1)
    mine, theirs = number[len(candidates) :], number[: len(candidates)]
    first_places[theirs[::-1]] = np.arange(len(candidates))[::-1]
    return pa.array(first_places[mine], mask=first_places[mine] < 0)


def _activity(clients: pa.Table, part_of: Vector) -> pa.Table:
    """What shows which clients are one application, for those that have connections."""
    clients = clients.append_column("part", pa.array(part_of)).filter(pc.is_valid(clients["activity"]))
    activity = clients["activity"].combine_chunks()
    of_it = {field.name: pc.struct_field(activity, field.name) for field in activity.type}
    of_it["last_seen_at"] = of_it.pop("last_request_at")
    columns = (*_OF_AN_APPLICATION, "part")
    return pa.table({name: of_it[name] if name in of_it else clients[name] for name in columns})


def _regrouped(clients: pa.Table, of_programs: pa.Table) -> pa.Table:
    """`clients` with the applications of their programs, if there are any."""
    theirs = of_programs.take(_places(clients, of_programs, _PROGRAM))
    has = pc.is_valid(theirs["application"])
    for column in APPLICATION:
        place = clients.schema.get_field_index(column.name)
        regrouped = pc.if_else(has, theirs[column.name], clients[column.name])
        clients = clients.set_column(place, column.name, regrouped)
    return clients
