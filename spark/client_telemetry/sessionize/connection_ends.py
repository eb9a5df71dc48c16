"""What happened to the connection that carried a session's last push."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from client_telemetry.lake.files import PartitionFile, portions
from client_telemetry.sessionize.distinct_rows import decode_dictionaries, distinct_rows, integers
from client_telemetry.sessionize.push_groups import LAST, TCP
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS

_CONNECTION = ("cluster_id", *TCP)


@dataclass(frozen=True)
class Connections:
    """Connections with known endpoints: `table` has cluster_id and TCP, `opened_at`, and `closed_at` if a broker saw it
    close, or `open_at` if it was last seen open: microseconds since 1970.
    """

    table: pa.Table


def read(files: Sequence[PartitionFile], buckets: int) -> Iterator[tuple[int, Connections]]:
    """(bucket, connections) from data files of client_connections: those with known TCP endpoints."""
    names = {*TCP, "connection_id", "opened_at", "last_seen_at", "closed_at", "end_known_by"}
    schema = pa.schema([field for field in CLIENT_CONNECTIONS.arrow_schema if field.name in names])
    for portion in portions(files, schema):
        has_endpoints = pc.not_equal(portion["connection_id"], "")
        for name in TCP:
            has_endpoints = pc.and_(has_endpoints, pc.is_valid(portion[name]))
        portion = decode_dictionaries(portion.filter(has_endpoints))
        end = portion["end_known_by"]
        connections = pa.table(
            {
                **{name: portion[name] for name in _CONNECTION},
                "opened_at": portion["opened_at"].cast(pa.int64()),
                "closed_at": pc.if_else(
                    pc.equal(end, "closed_event"), portion["closed_at"].cast(pa.int64()), None
                ),
                "open_at": pc.if_else(
                    pc.equal(end, "still_open"), portion["last_seen_at"].cast(pa.int64()), None
                ),
            }
        )
        for bucket, rows in by_port(connections, buckets):
            yield bucket, Connections(rows)


def by_port(table: pa.Table, buckets: int) -> Iterator[tuple[int, pa.Table]]:
    """(bucket, rows): a session and the connection of its last push have the same client port and so the same bucket."""
    bucket_of = integers(table["client_port"]) % buckets
    for bucket in np.unique(bucket_of).tolist():
        yield bucket, table.take(np.flatnonzero(bucket_of == bucket))


def ends_of_connections(
    sessions: pa.Table, connections: Sequence[Connections]
) -> tuple[np.ndarray, np.ndarray]:
    """(closed at, last seen open at), int64[sessions], of the connection that had the endpoints of a session's last
    push at that time. LAST if there is none, or it is unknown.
    """
    if not connections:
        return np.full(len(sessions), LAST), np.full(len(sessions), LAST)
    candidates = pa.concat_tables([part.table for part in connections])
    both = pa.concat_tables([sessions.select(_CONNECTION), candidates.select(_CONNECTION)])
    endpoints, _ = distinct_rows(both)
    is_session = np.arange(len(both)) < len(sessions)
    none = np.full(len(sessions), LAST)
    at = np.concatenate([integers(sessions["last_evidence_at"]), integers(candidates["opened_at"])])
    closed_at = np.concatenate([none, integers(candidates["closed_at"], LAST)])
    open_at = np.concatenate([none, integers(candidates["open_at"], LAST)])
    order = np.lexsort((open_at, closed_at, is_session, at, endpoints))
    opened_last = np.maximum.accumulate(np.where(is_session[order], -1, np.arange(len(order))))
    places = np.flatnonzero(is_session[order])
    session, connection = order[places], order[opened_last[places]]
    carried_it = (opened_last[places] >= 0) & (endpoints[connection] == endpoints[session])
    # Brokers tell of a close in whole milliseconds: one in the millisecond of the push came after it.
    carried_it &= (closed_at[connection] == LAST) | (closed_at[connection] >= at[session] // 1000 * 1000)
    ends = none.copy(), none
    for end, of_connections in zip(ends, (closed_at, open_at), strict=True):
        end[session] = np.where(carried_it, of_connections[connection], LAST)
    return ends
