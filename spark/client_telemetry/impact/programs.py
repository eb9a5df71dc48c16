"""Which connections of a client id shared by several programs belong to which: identity/programs.py decides, for
clients whose day gives a reason to look.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from client_telemetry.identity.programs import Seen, may_be_several, programs
from client_telemetry.impact.evidence_columns import CONNECTION, each_item, last_requests
from client_telemetry.knowledge.apis import SET_UP
from client_telemetry.tables.clients import CLIENT_KEY
from client_telemetry.workers.columns import ALWAYS, Vector, distinct, integers, micros, numbered


def may_be_shared(profiled: pa.Table) -> Vector:
    """bool[n]: rows of `clients` that may be several programs: two answered versions of an API are a reason to look."""
    client, use = each_item(profiled["api_uses"])
    api_key, version, requests = (
        integers(pc.struct_field(use, name)) for name in ("api_key", "version", "requests")
    )
    compared = (requests > 0) & ~np.isin(api_key, sorted(SET_UP))
    client, api_key, version = client[compared], api_key[compared], version[compared]
    size = len(profiled)
    apis = np.bincount(distinct(client, api_key)[0], minlength=size)
    several = apis < np.bincount(client, minlength=size)
    for place in np.flatnonzero(several).tolist():
        own = slice(*np.searchsorted(client, [place, place + 1]))
        versions: dict[int, set[int]] = {}
        for key, sent in zip(api_key[own].tolist(), version[own].tolist(), strict=True):
            versions.setdefault(key, set()).add(sent)
        several[place] = may_be_several(profiled["client_id"][place].as_py(), versions)
    return several


def with_programs(connections: pa.Table, shared: pa.Table | None) -> pa.Table:
    """`connections` (of evidence_columns.py) with `program`, empty if a client id is one program. A connection that can
    belong to several is repeated for each: its requests may be anyone's. `shared`: CLIENT_KEY of the clients that may be
    several programs.
    """
    programs_of = _programs(connections, shared) if shared is not None else {}
    if not programs_of:
        return connections.append_column("program", pa.repeat("", len(connections)))
    names = [programs_of.get(row, ("",)) for row in range(len(connections))]
    row = np.repeat(np.arange(len(names)), [len(of_it) for of_it in names])
    program = pa.array([name for of_it in names for name in of_it], pa.string())
    return connections.take(pa.array(row)).append_column("program", program)


def _programs(connections: pa.Table, shared: pa.Table) -> dict[int, tuple[str, ...]]:
    """Row -> its programs, for rows that have any."""
    keys = pa.concat_tables([shared, connections.select(CLIENT_KEY)])
    client, _ = numbered([keys[name] for name in CLIENT_KEY])
    is_shared = np.isin(client[len(shared) :], client[: len(shared)])
    rows = np.flatnonzero(is_shared & connections["is_evidence"].to_numpy())
    if not len(rows):
        return {}
    of_them, client = connections.take(pa.array(rows)), client[len(shared) :][rows]
    row, use = each_item(of_them["api_uses"])
    apis: list[set[tuple[int, int]]] = [set() for _ in rows]
    fields = ("api_key", "version", "requests")
    numbers = (integers(pc.struct_field(use, name)).tolist() for name in fields)
    for place, api_key, version, requests in zip(row.tolist(), *numbers, strict=True):
        if requests > 0:
            apis[place].add((api_key, version))
    connection, _ = numbered([pa.chunked_array([client]), *(of_them[name] for name in CONNECTION)])
    connections_seen = map(
        Seen,
        pc.fill_null(of_them["client_address"], "").to_pylist(),
        micros(of_them["first_seen_at"], ALWAYS).tolist(),
        last_requests(of_them, row, use).tolist(),
        map(frozenset, apis),
    )
    by_client: dict[int, dict[int, Seen]] = {}
    for of_client, number, of_a_day in zip(
        client.tolist(), connection.tolist(), connections_seen, strict=True
    ):
        of_it = by_client.setdefault(of_client, {})
        of_it[number] = _of_all_days(of_it.get(number), of_a_day)
    client_ids = dict(zip(client.tolist(), of_them["client_id"].to_pylist(), strict=True))
    programs_of: dict[int, tuple[str, ...]] = {}
    for of_client, of_it in by_client.items():
        # In a fixed order, whatever the order of the files.
        order = sorted(of_it, key=lambda row: (*of_it[row][:3], sorted(of_it[row].uses)))
        names = programs(client_ids[of_client], [of_it[row] for row in order])
        programs_of |= zip(order, names, strict=True)
    return {
        place: programs_of[number]
        for place, number in zip(rows.tolist(), connection.tolist(), strict=True)
        if programs_of[number]
    }


def _of_all_days(before: Seen | None, later: Seen) -> Seen:
    if before is None:
        return later
    first, last = min(later.first, before.first), max(later.last, before.last)
    return Seen(later.address, first, last, later.uses | before.uses)
