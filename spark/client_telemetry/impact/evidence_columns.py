"""What connections say about their clients, computed column by column where all rows of a client are."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from client_telemetry.compatibility.well_observed import CELLS
from client_telemetry.tables.clients import CLIENT_KEY
from client_telemetry.workers.columns import (
    ALWAYS,
    NEVER,
    Vector,
    distinct,
    distinct_lists,
    in_order,
    integers,
    lengths,
    list_column,
    micros,
    numbered,
    ranks,
)

CONNECTION = ("broker_incarnation", "connection_id", "client_address", "opened_at")
STORED = (
    *CLIENT_KEY,
    "broker_software_version",
    *CONNECTION,
    "broker_id",
    "listener_name",
    "security_protocol",
    "sasl_mechanism",
    "first_seen_at",
    "last_seen_at",
    "connections",
    "api_uses",
    "api_errors",
    "uses_object",
    "uses_sequence",
    "group_ids",
)
"""Columns of connections to read."""
_SEQUENCE_BITS = 43
"""A broker that writes a million events a second needs 100 days to exceed it."""


class Time(NamedTuple):
    """The time of all evidence, in microseconds since 1970: where it begins, the length of one of its CELLS cells, and
    from when on requests do not count; None = all count.
    """

    begin: int
    cell: int
    until: int | None


def evidence_of(connections: pa.Table, time: Time, with_activity: bool) -> dict[str, pa.Array]:
    """Columns of `evidence` (client_evidence.py) by name, except `cell_s`: one row per client, or program of one.

    `connections`: columns STORED; `is_evidence`: False for a broker of an older release; `program`: empty if a client
    id is one program.
    """
    clients, _ = numbered([connections[name] for name in CLIENT_KEY])
    is_evidence = connections["is_evidence"].to_numpy()
    elsewhere = _elsewhere(connections.filter(pa.array(~is_evidence)), clients[~is_evidence])
    counted = connections.filter(pa.array(is_evidence))
    of_program, first = numbered([counted[name] for name in (*CLIENT_KEY, "program")])
    places = np.searchsorted(elsewhere.clients, clients[is_evidence][first])
    used = each_item(counted["api_uses"])
    return {
        **{name: counted[name].take(first).combine_chunks() for name in (*CLIENT_KEY, "program")},
        **_connections(counted, of_program, len(first)),
        "uses": _uses(counted, *used, of_program, len(first), time),
        "errors": _errors(counted, *used, of_program, len(first), time),
        "uses_elsewhere": elsewhere.uses_of(clients[is_evidence][first], places),
        **({"activity": _activity(counted, *used, of_program, len(first))} if with_activity else {}),
    }


class _Elsewhere(NamedTuple):
    """What brokers of older releases answered: `uses` of each of the clients, sorted."""

    clients: Vector
    uses: pa.Array

    def uses_of(self, clients: Vector, places: Vector) -> pa.Array:
        if not len(self.clients):
            return pa.nulls(len(clients), self.uses.type)
        places = np.minimum(places, len(self.clients) - 1)
        return self.uses.take(pa.array(places, mask=self.clients[places] != clients))


def _elsewhere(connections: pa.Table, clients: Vector) -> _Elsewhere:
    row, use = each_item(connections["api_uses"])
    rank, releases = ranks(connections["broker_software_version"])
    answered = integers(pc.struct_field(use, "requests")) > 0
    api_keys, versions = (integers(pc.struct_field(use, name))[answered] for name in ("api_key", "version"))
    row = row[answered]
    owner, release, api_key, version = distinct(clients[row], rank[row], api_keys, versions)
    owners = np.unique(owner)
    names = ("release", "api_key", "version")
    uses = pa.StructArray.from_arrays(
        [releases.take(pa.array(release)), _ints(api_key), _ints(version)], names
    )
    return _Elsewhere(owners, list_column(np.searchsorted(owners, owner), uses, len(owners)))


def _connections(counted: pa.Table, of_program: Vector, size: int) -> dict[str, pa.Array]:
    # Over its days a connection stands for as many as on the day with the most.
    names = (*CONNECTION, "broker_id", "listener_name", "security_protocol")
    connection, _ = numbered([pa.chunked_array([of_program]), *(counted[name] for name in names)])
    order = np.argsort(connection, kind="stable")
    begins = np.flatnonzero(np.diff(connection[order], prepend=-1))
    stands_for = np.maximum.reduceat(_numbers(counted, "connections", 1)[order], begins) if size else order
    sums: Vector = np.zeros(size, np.int64)
    np.add.at(sums, of_program[order[begins]], stands_for)
    first, last = np.full(size, NEVER), np.full(size, ALWAYS)
    np.minimum.at(first, of_program, _numbers(counted, "first_seen_at", NEVER))
    np.maximum.at(last, of_program, _numbers(counted, "last_seen_at", ALWAYS))
    owner, broker = distinct(of_program, _numbers(counted, "broker_id"))
    return {
        "connections": pa.array(sums),
        "first_seen_at": moments(first),
        "last_seen_at": moments(last),
        "broker_ids": list_column(owner, _ints(broker), size),
        "logins": _logins(counted, of_program, order[begins], stands_for, size),
    }


_LOGIN = ("listener_name", "security_protocol", "sasl_mechanism")


def _logins(counted: pa.Table, of_program: Vector, last: Vector, stands_for: Vector, size: int) -> pa.Array:
    """Of each program how its connections log in, an unknown mechanism included, each way once with its number of
    connections. `last`: a row of each connection; `stands_for`: how many it is.
    """
    rows = counted.take(pa.array(last))
    login, first = numbered([rows[name] for name in _LOGIN])
    order, is_new = in_order(of_program[last], login)
    begins = np.flatnonzero(is_new)
    connections = np.add.reduceat(stands_for[order], begins) if len(begins) else stands_for
    ways = rows.select(_LOGIN).take(pa.array(first[login[order][begins]])).combine_chunks()
    columns = [column.combine_chunks() for column in ways.columns]
    logins = pa.StructArray.from_arrays([*columns, pa.array(connections)], [*_LOGIN, "connections"])
    return list_column(of_program[last][order][begins], logins, size)


def _uses(
    counted: pa.Table, row: Vector, use: pa.Array, of_program: Vector, size: int, time: Time
) -> pa.Array:
    """One per API and version, sorted."""
    first = micros(pc.struct_field(use, "first_request_at"), NEVER)
    if time.until is not None:
        # A connection that outlived the cut keeps its counts of the day; versions first used later do not count.
        counts = (first < time.until) | (first == NEVER)
        row, use, first = row[counts], use.filter(pa.array(counts)), first[counts]
    last = micros(pc.struct_field(use, "last_request_at"), ALWAYS)
    api_key, version, requests, rejected = (
        integers(pc.struct_field(use, name)) for name in ("api_key", "version", "requests", "rejected")
    )
    rank, objects = ranks(counted["uses_object"])
    of_object, sequence = rank.astype(np.int64)[row], _numbers(counted, "uses_sequence", -1)[row]
    has_record = (requests > 0) & (of_object >= 0) & (sequence >= 0)
    record = np.where(has_record, (of_object << _SEQUENCE_BITS) + sequence, -1)
    cells = _cells(first, last, _numbers(counted, "first_seen_at")[row], requests, time)

    order, is_new = in_order(of_program[row], api_key, version)
    owner, api_key, version = of_program[row][order], api_key[order], version[order]
    begins, use_of = np.flatnonzero(is_new), np.cumsum(is_new) - 1

    def per_use(function: np.ufunc, values: Vector) -> Vector:
        reduced: Vector = function.reduceat(values[order], begins) if len(begins) else values
        return reduced

    record = per_use(np.maximum, record)
    is_recorded = record >= 0
    of_use, broker = distinct(use_of, _numbers(counted, "broker_id")[row][order])
    answered = per_use(np.maximum, requests)
    fields = {
        "api_key": _ints(api_key[begins]),
        "version": _ints(version[begins]),
        "requests": pa.array(per_use(np.add, requests)),
        "rejected": pa.array(per_use(np.add, rejected)),
        "first_request_at": moments(per_use(np.minimum, first)),
        "last_request_at": moments(per_use(np.maximum, last)),
        "broker_ids": list_column(of_use, _ints(broker), len(begins)),
        "source_object": objects.take(pa.array(record >> _SEQUENCE_BITS, mask=~is_recorded)),
        "source_sequence": pa.array(record & ((1 << _SEQUENCE_BITS) - 1), mask=~is_recorded),
        "cells": pa.array(per_use(np.bitwise_or, cells), mask=answered <= 0),
    }
    uses = pa.StructArray.from_arrays(list(fields.values()), list(fields))
    use_lists = list_column(owner[begins], uses, size)
    return pc.if_else(
        pc.equal(pc.list_value_length(use_lists), 0), pa.scalar(None, use_lists.type), use_lists
    )


def _errors(
    counted: pa.Table, row: Vector, use: pa.Array, of_program: Vector, size: int, time: Time
) -> pa.Array:
    """One per API, version and error code, sorted; only of uses that count."""
    of_row, error = each_item(counted["api_errors"])
    of_use = _pairs(row, use)
    if time.until is not None:
        first = micros(pc.struct_field(use, "first_request_at"), NEVER)
        of_use = of_use[(first < time.until) | (first == NEVER)]
    counts = np.isin(_pairs(of_row, error), of_use)
    of_row, error = of_row[counts], error.filter(pa.array(counts))
    api_key, version, code, requests = (
        integers(pc.struct_field(error, name)) for name in ("api_key", "version", "error_code", "requests")
    )
    order, is_new = in_order(of_program[of_row], api_key, version, code)
    begins = np.flatnonzero(is_new)
    numbers = {"api_key": api_key, "version": version, "error_code": code}
    fields = {name: _ints(values[order][begins]) for name, values in numbers.items()}
    sums = np.add.reduceat(requests[order], begins) if len(begins) else requests
    fields["requests"] = pa.array(sums)
    errors = pa.StructArray.from_arrays(list(fields.values()), list(fields))
    return list_column(of_program[of_row][order][begins], errors, size)


def _pairs(row: Vector, items: pa.Array) -> Vector:
    """A number for each row with its item's API and version."""
    api_key, version = (integers(pc.struct_field(items, name)) for name in ("api_key", "version"))
    pairs: Vector = (row << 32) | (api_key << 16) | version
    return pairs


def _activity(counted: pa.Table, row: Vector, use: pa.Array, of_program: Vector, size: int) -> pa.Array:
    last: Vector = np.full(size, ALWAYS)
    np.maximum.at(last, of_program, last_requests(counted, row, use))
    answered = integers(pc.struct_field(use, "requests")) > 0
    apis = (integers(pc.struct_field(use, name))[answered] for name in ("api_key", "version"))
    owner, api_key, version = distinct(of_program[row[answered]], *apis)
    of_row, groups = each_item(counted["group_ids"])
    fields = {
        "last_request_at": moments(last),
        "client_addresses": _texts(of_program, counted["client_address"], size),
        "group_ids": _texts(of_program[of_row], pa.chunked_array([groups]), size),
        "answered": list_column(
            owner, pa.StructArray.from_arrays([_ints(api_key), _ints(version)], ["api_key", "version"]), size
        ),
        "broker_software_versions": _texts(of_program, counted["broker_software_version"], size),
    }
    return pa.StructArray.from_arrays(list(fields.values()), list(fields))


def last_requests(connections: pa.Table, row: Vector, use: pa.Array) -> Vector:
    """Of each connection, in microseconds: its last evidence may be a snapshot, minutes after its last request."""
    requested: Vector = np.full(len(connections), ALWAYS)
    np.maximum.at(requested, row, micros(pc.struct_field(use, "last_request_at"), ALWAYS))
    last: Vector = np.where(requested == ALWAYS, _numbers(connections, "last_seen_at", ALWAYS), requested)
    return last


def _texts(owners: Vector, column: pa.ChunkedArray, size: int) -> pa.Array:
    """For each of `size` owners its distinct texts, sorted, without nulls."""
    return distinct_lists(owners, *ranks(column), size)


def _cells(first: Vector, last: Vector, first_seen: Vector, requests: Vector, time: Time) -> Vector:
    """A bit for each cell in which a connection was answered: all from its first request to its last if requests are on
    average at most a cell apart, otherwise just those two, as the others may be anywhere in between.
    """
    first = np.where(first == NEVER, first_seen, first)
    some = (requests > 0) & (last != ALWAYS)
    last = np.where(some, last, first)
    dense = last - first <= (requests - 1) * time.cell
    begin, end = _cell(np.minimum(first, last), time), _cell(last, time)
    unit = np.int64(1)
    cells = np.where(dense, ((unit << (end - begin + 1)) - 1) << begin, (unit << begin) | (unit << end))
    return np.where(some, cells, 0)


def _cell(at: Vector, time: Time) -> Vector:
    cell: Vector = np.clip(np.floor((at - time.begin) / time.cell), 0, CELLS - 1).astype(np.int64)
    return cell


def each_item(lists: pa.ChunkedArray) -> tuple[Vector, pa.Array]:
    """For each item of the lists its row, and the item."""
    lists = lists.combine_chunks()
    return np.repeat(np.arange(len(lists)), lengths(lists)), pc.list_flatten(lists)


def _numbers(table: pa.Table, name: str, instead_of_null: int = 0) -> Vector:
    column = table[name].combine_chunks()
    if pa.types.is_timestamp(column.type):
        return micros(column, instead_of_null)
    return integers(column, instead_of_null)


def moments(micros: Vector) -> pa.Array:
    return pa.array(micros, mask=(micros == NEVER) | (micros == ALWAYS)).cast(pa.timestamp("us", "UTC"))


def _ints(numbers: Vector) -> pa.Array:
    return pa.array(numbers.astype(np.int32))
