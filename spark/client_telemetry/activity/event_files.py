"""What clients did, from data files of connection_events: compiled, for Spark's workers.

Counts of an event are cumulative since its connection opened: what a connection did between two of its events is their difference,
and lies between the requests that they call the latest. Events of a connection may be in several files, and a client has many
connections. So `read` gives what a file holds, by connection, `differences` gives what connections did, by client, and
`ClientUses` adds up what clients did in slots of time.
"""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numba import types

from client_telemetry.formats.raw.wire import compiled
from client_telemetry.identity.client_families import family
from client_telemetry.lake.files import PartitionFile
from client_telemetry.tables.connection_events import CONNECTION_EVENTS
from client_telemetry.workers.columns import Vector, in_one, numbered, starts

_EVENTS_OF_A_TASK = 150_000
_FEWEST_TASKS = 2
CLIENT = (
    "client_id",
    "principal",
    "client_address",
    "client_software_name",
    "client_software_version",
    "security_protocol",
)
RUN = ("broker_id", "broker_incarnation")
_CONNECTION = (*RUN, "connection_id", "opened_at")
_WHO = (*_CONNECTION, *CLIENT)
_READ = (*_WHO, "sequence", "kind", "observed_at", "connections", "group_ids", "api_uses")

EVENT = np.dtype([("who", "i4"), ("uses", "i4"), ("sequence", "i8"), ("connections", "i8")])
"""`who`: row of the table beside it; `uses`: how many; `connections`: that it stands for."""
USE = np.dtype(
    [
        ("api_key", "i4"),
        ("version", "i4"),
        ("requests", "i8"),
        ("rejected", "i8"),
        ("first_us", "i8"),
        ("last_us", "i8"),
    ]
)
"""Of one event, cumulative; times in microseconds."""
USED = np.dtype([("client", "i4"), ("run", "i4"), ("slot", "i8"), *USE.descr])
"""What a client did on one broker incarnation in a slot. `client`, `run`: rows of the tables beside it."""
OPENED = np.dtype([("client", "i4"), ("run", "i4"), ("slot", "i8"), ("opened", "i8")])


@dataclass(frozen=True)
class Events:
    """Of some connections: `who`, columns _WHO; EVENTs; their USEs, one event's after the other's; `groups`: pairs of a row of
    `who` and a group id. A use that repeats that of the event before is left out. `snapshots`: broker incarnation to the time of
    its latest snapshot (microseconds), also of connections elsewhere."""

    who: pa.Table
    events: Vector
    uses: Vector
    groups: pa.Table
    snapshots: dict[str, int]


@dataclass(frozen=True)
class Uses:
    """Of some clients: `clients`, columns CLIENT; `runs`, columns RUN; USED and OPENED; `groups`: pairs of a client and a
    group id."""

    clients: pa.Table
    runs: pa.Table
    used: Vector
    opened: Vector
    groups: pa.Table


@dataclass(frozen=True)
class Known:
    """Of all clients together: `rows` of USED, the first slot of those that have a name, the last request (microseconds),
    `refusals` on connections that name nobody (columns CLIENT and RUN, api_key, version, slot, requests, rejected, and first and
    last in seconds), and `snapshots` as those of Events."""

    rows: int
    first_slot: int | None
    last_us: int | None
    refusals: pa.Table
    snapshots: dict[str, int]

    @staticmethod
    def of_all(found: Sequence["Known"]) -> "Known":
        firsts = [each.first_slot for each in found if each.first_slot is not None]
        lasts = [each.last_us for each in found if each.last_us is not None]
        tables = [each.refusals for each in found]
        return Known(
            sum(each.rows for each in found),
            min(firsts, default=None),
            max(lasts, default=None),
            pa.concat_tables(tables) if tables else pa.table({}),
            _latest(each.snapshots for each in found),
        )


def _latest(found: Iterable[dict[str, int]]) -> dict[str, int]:
    latest: dict[str, int] = {}
    for each in found:
        for incarnation, at in each.items():
            latest[incarnation] = max(at, latest.get(incarnation, at))
    return latest


def tasks_for(files: Sequence[PartitionFile]) -> int:
    """How many tasks the events of these files are worth."""
    return max(_FEWEST_TASKS, sum(file.rows for file in files) // _EVENTS_OF_A_TASK)


def read(files: Iterable[PartitionFile], buckets: int) -> Iterator[tuple[int, Events]]:
    """(bucket, events) from data files of connection_events. All of one connection have the same bucket."""
    schema = pa.schema([CONNECTION_EVENTS.arrow_schema.field(name) for name in _READ])
    for file in files:
        for rows in file.row_groups(schema, as_dictionaries=True):
            rows = rows.filter(pc.not_equal(rows["kind"].cast(pa.string()), "authentication_failed"))
            if len(rows):
                yield from _by_connection(_events(rows), buckets)


def _events(rows: pa.Table) -> Events:
    numbers, firsts = numbered([rows[name] for name in _WHO])
    lists = _in_one(rows["api_uses"])
    counts = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    stored = pc.list_flatten(lists)
    fields = ("api_key", "version", "requests", "rejected", "first_request_at", "last_request_at")
    columns = {name: _of_use(stored, field) for name, field in zip(USE.names or (), fields, strict=True)}
    events = np.empty(len(rows), EVENT)
    events["who"], events["uses"] = numbers, counts
    events["sequence"] = _integers(rows["sequence"])
    events["connections"] = _integers(rows["connections"], 1)
    who = pa.table({name: _plain(rows[name].take(firsts)) for name in _WHO})
    owners = np.repeat(numbers, pc.fill_null(pc.list_value_length(rows["group_ids"]), 0).to_numpy())
    groups = pa.table({"who": owners, "group_id": pc.list_flatten(rows["group_ids"]).combine_chunks()})
    groups = groups.group_by(["who", "group_id"]).aggregate([])
    connections = _connections(who, events)
    order = np.lexsort((events["sequence"], connections))
    before = _previous(events, columns["api_key"], columns["version"], order, connections)
    same = before >= 0
    for name in ("requests", "rejected", "last_us"):
        same &= columns[name] == columns[name][before]
    differs = ~same
    uses = np.empty(np.count_nonzero(differs), USE)
    for name, values in columns.items():
        uses[name] = values[differs]
    events["uses"] = np.bincount(_owners(events)[differs], minlength=len(events))
    return Events(who, events, uses, groups, _snapshots(rows))


def _snapshots(rows: pa.Table) -> dict[str, int]:
    active = rows.filter(pc.equal(rows["kind"].cast(pa.string()), "active")).select(
        ["broker_incarnation", "observed_at"]
    )
    latest = active.group_by("broker_incarnation").aggregate([("observed_at", "max")])
    times = latest["observed_at_max"].cast(pa.timestamp("us", "UTC")).cast(pa.int64())
    return dict(zip(latest["broker_incarnation"].to_pylist(), times.to_pylist(), strict=True))


def _in_one(column: pa.ChunkedArray) -> pa.Array:
    """Without a copy of what is one already."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _of_use(stored: pa.StructArray, field: str) -> Vector:
    values = pc.struct_field(stored, field)
    if pa.types.is_timestamp(values.type):
        values = values.cast(pa.timestamp("us", "UTC")).cast(pa.int64())
    return (pc.fill_null(values, 0) if values.null_count else values).to_numpy()


def _by_connection(found: Events, buckets: int) -> Iterator[tuple[int, Events]]:
    columns = (
        found.who[name].to_pylist() for name in ("broker_incarnation", "connection_id", "client_address")
    )
    keys = [f"{run} {connection or address}" for run, connection, address in zip(*columns, strict=True)]
    bucket_of = _bucket(keys, buckets)
    events, groups = found.events["who"], found.groups["who"].to_numpy()
    owners = (None, events, events.repeat(found.events["uses"]), groups)
    for bucket, rows in _by_bucket(bucket_of, owners, buckets):
        own_who, own_events, own_uses, own_groups = rows
        place = np.zeros(len(bucket_of), np.int32)
        place[own_who] = np.arange(len(own_who))
        of_bucket = found.events.take(own_events)
        of_bucket["who"] = place[of_bucket["who"]]
        yield (
            bucket,
            Events(
                found.who.take(own_who),
                of_bucket,
                found.uses.take(own_uses),
                found.groups.take(own_groups).set_column(0, "who", pa.array(place[groups[own_groups]])),
                found.snapshots,
            ),
        )


def differences(
    pieces: Iterable[Events], slot_seconds: int, buckets: int
) -> Iterator[tuple[int, Uses | Known]]:
    """What connections did, all of whose events are in the pieces. (bucket, uses): all that a client did has the same bucket, where
    a client is a principal and a client id with its changing parts masked. (-1, what is known of all): once."""
    events = list(pieces)
    every = of_connections(events, slot_seconds)
    if every is None:
        return
    named, nobodys = _without_nobody(every)
    yield -1, _known(named, nobodys, _latest(each.snapshots for each in events))
    yield from _by_client(named, buckets)


def of_connections(pieces: Iterable[Events], slot_seconds: int) -> Uses | None:
    """What connections did, all of whose events are in the pieces: a row of USED for each two events that follow each other, API
    and version. None of no pieces."""
    found = list(pieces)
    if not found:
        return None
    who = pa.concat_tables(each.who for each in found)
    starts = np.concatenate([[0], np.cumsum([len(each.who) for each in found])])
    events = np.concatenate([each.events for each in found])
    events["who"] += np.repeat(starts[:-1], [len(each.events) for each in found]).astype(np.int32)
    uses = np.concatenate([each.uses for each in found])
    group_of = pa.concat_tables(
        each.groups.set_column(0, "who", pa.array(each.groups["who"].to_numpy() + start))
        for each, start in zip(found, starts, strict=False)
    )
    connections = _connections(who, events)
    order = np.lexsort((events["sequence"], connections))
    clients, of_client = numbered([who[name] for name in CLIENT])
    runs, of_run = numbered([who[name] for name in RUN])

    names = (np.ascontiguousarray(uses[name]) for name in ("api_key", "version"))
    before = _previous(events, *names, order, connections)
    has_before = before >= 0
    since = uses.take(before)
    requests = uses["requests"] - np.where(has_before, since["requests"], 0)
    rejected = uses["rejected"] - np.where(has_before, since["rejected"], 0)
    some = (requests > 0) | (rejected > 0)
    of_event = events["who"][_owners(events)[some]]
    used = np.empty(int(some.sum()), USED)
    used["client"], used["run"] = clients[of_event], runs[of_event]
    used["api_key"], used["version"] = uses["api_key"][some], uses["version"][some]
    used["requests"], used["rejected"] = requests[some], rejected[some]
    used["first_us"] = np.where(has_before, since["last_us"], uses["first_us"])[some]
    used["last_us"] = uses["last_us"][some]
    used["slot"] = _slot(used["last_us"], slot_seconds)

    in_order = connections[order]
    ends = np.flatnonzero(np.diff(in_order, append=-1))
    begins = np.concatenate([[0], ends[:-1] + 1]) if len(ends) else ends
    last = events["who"][order[ends]]
    opened = np.empty(len(ends), OPENED)
    opened["client"], opened["run"] = clients[last], runs[last]
    opened["slot"] = _slot(_integers(who["opened_at"].cast(pa.int64()))[last], slot_seconds)
    opened["opened"] = np.maximum.reduceat(events["connections"][order], begins) if len(ends) else 0

    groups = pa.table({"client": clients[group_of["who"].to_numpy()], "group_id": group_of["group_id"]})
    return Uses(
        who.select(CLIENT).take(of_client),
        who.select(RUN).take(of_run),
        used,
        opened,
        groups.group_by(["client", "group_id"]).aggregate([]),
    )


def _without_nobody(found: Uses) -> tuple[Uses, Uses]:
    """Uses but for those that were refused on connections that name nobody, and those."""
    is_nobody = pc.and_(
        pc.is_null(found.clients["client_id"]), pc.equal(pc.fill_null(found.clients["principal"], ""), "")
    ).to_numpy()
    refused = is_nobody[found.used["client"]] & (found.used["rejected"] > 0)
    return tuple(  # type: ignore[return-value]
        Uses(found.clients, found.runs, found.used.compress(mask), found.opened, found.groups)
        for mask in (~refused, refused)
    )


def _known(named: Uses, nobodys: Uses, snapshots: dict[str, int]) -> Known:
    lasts = [int(each.used["last_us"].max()) for each in (named, nobodys) if len(each.used)]
    used = added_up(nobodys.used)
    return Known(
        len(named.used),
        int(named.used["slot"].min()) if len(named.used) else None,
        max(lasts, default=None),
        table_of(nobodys.clients, nobodys.runs, used),
        snapshots,
    )


def _by_client(found: Uses, buckets: int) -> Iterator[tuple[int, Uses]]:
    bucket_of = bucket_of_clients(found.clients, buckets)
    owners = (None, found.used["client"], found.opened["client"], found.groups["client"].to_numpy())
    for bucket, rows in _by_bucket(bucket_of, owners, buckets):
        yield bucket, _taken(found, *rows)


def _by_bucket(
    bucket_of: Vector, owners: Sequence[Vector | None], buckets: int
) -> Iterator[tuple[int, list[Vector]]]:
    """(bucket, rows of each table that are in it): of tables whose rows have these owners, None = they are the owners.
    `bucket_of`: of each owner."""
    # Put in order by bucket once: to ask of each row in each bucket whether it is there takes as many looks as there are buckets.
    orders = [_in_buckets(bucket_of if own is None else bucket_of[own], buckets) for own in owners]
    for bucket in np.unique(bucket_of).tolist():
        yield bucket, [order[ends[bucket] : ends[bucket + 1]] for order, ends in orders]


def _in_buckets(bucket_of: Vector, buckets: int) -> tuple[Vector, Vector]:
    """(int64[n], int64[buckets + 1]): rows in order of their buckets, and where each bucket begins there, and the end."""
    # NumPy sorts small integers by radix.
    order = np.argsort(bucket_of.astype(np.min_scalar_type(buckets)), kind="stable")
    return order, starts(np.bincount(bucket_of, minlength=buckets))


def bucket_of_clients(clients: pa.Table, buckets: int) -> Vector:
    """int64[n]: the bucket of each row of a table with client_id and principal."""
    texts: dict[str | None, str] = {None: ""}
    keys = []
    for client_id, principal in zip(
        clients["client_id"].to_pylist(), clients["principal"].to_pylist(), strict=True
    ):
        text = texts.get(client_id)
        if text is None:
            text = texts[client_id] = f"={family(client_id).text}"
        keys.append(f"{text} {principal or ''}")
    return _bucket(keys, buckets)


def only(found: Uses, is_wanted: Vector) -> Uses:
    """`is_wanted`: bool[clients]."""
    owners = (found.used["client"], found.opened["client"], found.groups["client"].to_numpy())
    return _taken(found, *(np.flatnonzero(each) for each in (is_wanted, *(is_wanted[own] for own in owners))))


def _taken(found: Uses, clients: Vector, used: Vector, opened: Vector, groups: Vector) -> Uses:
    """Some clients and all that belongs to them, by the numbers of rows."""
    place = np.empty(len(found.clients), np.int32)
    place[clients] = np.arange(len(clients))
    own_used, own_opened = found.used.take(used), found.opened.take(opened)
    own_groups = found.groups.take(groups)
    own_used["client"], own_opened["client"] = place[own_used["client"]], place[own_opened["client"]]
    own_groups = own_groups.set_column(0, "client", pa.array(place[own_groups["client"].to_numpy()]))
    return Uses(found.clients.take(clients), found.runs, own_used, own_opened, own_groups)


def together(pieces: Iterable[Uses]) -> Uses:
    """All that is in the pieces, each client once, added up by broker incarnation, API, version and slot."""
    found = list(pieces)
    every = pa.concat_tables(each.clients for each in found)
    all_runs = pa.concat_tables(each.runs for each in found)
    clients, of_client = numbered([every[name] for name in CLIENT])
    runs, of_run = numbered([all_runs[name] for name in RUN])
    used: list[Vector] = []
    opened: list[Vector] = []
    groups = []
    client = run = 0
    for each in found:
        for rows, into in ((each.used, used), (each.opened, opened)):
            rows = rows.copy()
            rows["client"], rows["run"] = clients[rows["client"] + client], runs[rows["run"] + run]
            into.append(rows)
        owners = clients[each.groups["client"].to_numpy() + client]
        groups.append(each.groups.set_column(0, "client", pa.array(owners)))
        client, run = client + len(each.clients), run + len(each.runs)
    return Uses(
        every.take(of_client),
        all_runs.take(of_run),
        added_up(np.concatenate(used)),
        _opened_in_all(np.concatenate(opened)),
        pa.concat_tables(groups).group_by(["client", "group_id"]).aggregate([]),
    )


def added_up(used: Vector) -> Vector:
    """USED with one row for each client, run, slot, API and version, in this order."""
    order, begins = _alike(used, "client", "run", "slot", "api_key", "version")
    found = used.take(order[begins])
    for add, names in (
        (np.add, ("requests", "rejected")),
        (np.minimum, ("first_us",)),
        (np.maximum, ("last_us",)),
    ):
        for name in names:
            found[name] = add.reduceat(used[name].take(order), begins) if len(begins) else 0
    return found


def _opened_in_all(opened: Vector) -> Vector:
    order, begins = _alike(opened, "client", "run", "slot")
    found = opened.take(order[begins])
    found["opened"] = np.add.reduceat(opened["opened"].take(order), begins) if len(begins) else 0
    return found


def _alike(rows: Vector, *names: str) -> tuple[Vector, Vector]:
    """(int64[n], int64[distinct]): the order of the rows by these columns, and where in it each begins that differs."""
    numbers = in_one([rows[name] for name in names])
    order = np.argsort(numbers)
    return order, np.flatnonzero(np.diff(numbers[order], prepend=-1))


def table_of(clients: pa.Table, runs: pa.Table, used: Vector) -> pa.Table:
    """Rows of USED with the names of clients and broker incarnations; `first` and `last` in seconds."""
    names = {name: clients[name].take(used["client"]) for name in CLIENT}
    names |= {name: runs[name].take(used["run"]) for name in RUN}
    numbers = {name: used[name] for name in ("api_key", "version", "slot", "requests", "rejected")}
    times = {name: used[f"{name}_us"] / 1e6 for name in ("first", "last")}
    return pa.table({**names, **numbers, **times})


def _connections(who: pa.Table, events: Vector) -> Vector:
    """int64[events]: the number of its connection; an event that is tied to none stands for itself."""
    numbers, _ = numbered([who[name] for name in _CONNECTION])
    is_alone = pc.equal(pc.fill_null(who["connection_id"], ""), "").to_numpy()[events["who"]]
    return np.where(is_alone, len(who) + np.arange(len(events)), numbers[events["who"]])


def _previous(
    events: Vector, api_keys: Vector, versions: Vector, order: Vector, connections: Vector
) -> Vector:
    """int64[uses]: the use of the same API and version of the event before of its connection, -1 = none. `api_keys`,
    `versions`: of uses, one event's after the other's."""
    before = np.full(len(api_keys), -1, np.int64)
    if len(api_keys):
        starts = np.concatenate([[0], np.cumsum(events["uses"])]).astype(np.int64)
        of_connection = np.bincount(np.unique(connections, return_inverse=True)[1], events["uses"])
        size = 1 << int(4 * of_connection.max()).bit_length()
        _find_previous(order, connections, starts, api_keys, versions, np.full(size, -1, np.int64), before)
    return before


_NUMBERS = types.Array(types.int32, 1, "C", readonly=True)
"""As Arrow lends them."""


@compiled(
    types.void(
        types.int64[::1],
        types.int64[::1],
        types.int64[::1],
        _NUMBERS,
        _NUMBERS,
        types.int64[::1],
        types.int64[::1],
    )
)
def _find_previous(order, connections, starts, api_keys, versions, table, before):
    """`table`: places of uses by API and version, emptied after each connection."""
    mask = len(table) - 1
    place = 0
    while place < len(order):
        begin = place
        while place < len(order) and connections[order[place]] == connections[order[begin]]:
            event = order[place]
            for use in range(starts[event], starts[event + 1]):
                slot = (api_keys[use] * 67 + versions[use]) & mask
                while table[slot] >= 0 and (
                    api_keys[table[slot]] != api_keys[use] or versions[table[slot]] != versions[use]
                ):
                    slot = (slot + 1) & mask
                before[use] = table[slot]
                table[slot] = use
            place += 1
        for index in range(begin, place):
            event = order[index]
            for use in range(starts[event], starts[event + 1]):
                slot = (api_keys[use] * 67 + versions[use]) & mask
                # Whatever stands in the way was put there by this connection, too.
                while table[slot] >= 0:
                    table[slot] = -1
                    slot = (slot + 1) & mask


def _owners(events: Vector) -> Vector:
    """int64[uses]: the event of each use."""
    return np.repeat(np.arange(len(events)), events["uses"])


def _slot(at_us: Vector, slot_seconds: int) -> Vector:
    return np.floor(at_us / 1e6 / slot_seconds).astype(np.int64)


def _bucket(keys: Sequence[str], buckets: int) -> Vector:
    return np.array([zlib.crc32(key.encode()) % buckets for key in keys], np.int64)


def _integers(column: pa.ChunkedArray, instead_of_null: int = 0) -> Vector:
    return pc.fill_null(column.cast(pa.int64()), instead_of_null).to_numpy()


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    return column.cast(pa.timestamp("us", "UTC")) if pa.types.is_timestamp(column.type) else column
