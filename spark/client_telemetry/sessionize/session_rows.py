"""How sessions ended, and the rows of client_sessions. tables/client_sessions.py has the rules."""

import datetime as dt
from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa

from client_telemetry.sessionize.connection_ends import Connections, ends_of_connections
from client_telemetry.sessionize.distinct_rows import distinct_rows, integers
from client_telemetry.sessionize.look_back import first_day, midnight_us
from client_telemetry.sessionize.push_groups import FIRST, LAST
from client_telemetry.subscriptions.instances import kafka_uuid
from client_telemetry.tables.client_sessions import (
    BROKER_STOP_MS,
    CLIENT_SESSIONS,
    IN_FLIGHT_MS,
)


def session_rows(
    evidence: Iterable[pa.Table | Connections], stopped: Mapping[tuple[str, str], int], day: dt.date
) -> list[pa.RecordBatch]:
    """Rows of client_sessions, from the results of sessions_of and the connections. `stopped`: when broker incarnations
    (cluster, incarnation) stopped, microseconds since 1970.
    """
    evidence = list(evidence)
    sessions = [piece for piece in evidence if isinstance(piece, pa.Table)]
    if not sessions:
        return []
    sessions = pa.concat_tables(sessions)
    connections = [piece for piece in evidence if isinstance(piece, Connections)]
    last_at, gap_us = integers(sessions["last_evidence_at"]), integers(sessions["gap_ms"]) * 1000
    closed_at, open_at = ends_of_connections(sessions, connections)
    reason = _end_reason(
        sessions, closed_at, open_at, _stopped_at(sessions, stopped), midnight_us(day + dt.timedelta(days=1))
    )
    ended_at = np.where(reason == "connection_closed", np.maximum(closed_at, last_at), last_at)
    first_at = integers(sessions["session_first_at"])
    start_seen = first_at - midnight_us(first_day(day)) > gap_us
    columns = {
        **dict(zip(sessions.column_names, sessions.columns, strict=True)),
        "instance_id": pa.array(map(kafka_uuid, sessions["client_instance_id"].to_pylist()), pa.string()),
        "dt": pa.repeat(pa.scalar(day), len(sessions)),
        "started_at": pa.array(first_at, mask=~start_seen),
        "started_before": pa.array(first_at, mask=start_seen),
        "ended_at": pa.array(ended_at, mask=reason == "still_open"),
        "end_reason": pa.array(reason, pa.string()),
    }
    schema = CLIENT_SESSIONS.arrow_schema
    table = pa.table([columns[f.name] for f in schema], names=schema.names).cast(schema)
    return table.to_batches()


def _end_reason(
    sessions: pa.Table, closed_at: np.ndarray, open_at: np.ndarray, stopped_at: np.ndarray, end_of_day: int
) -> np.ndarray:
    last_at, gap_us = integers(sessions["last_evidence_at"]), integers(sessions["gap_ms"]) * 1000
    said_so = integers(sessions["last_terminating_at"]) >= last_at - IN_FLIGHT_MS * 1000
    silent = end_of_day - np.maximum(last_at, open_at) > gap_us
    closed = closed_at != LAST
    by_the_stop = closed & (stopped_at <= closed_at + BROKER_STOP_MS * 1000)
    return np.select(
        [said_so, ~silent, closed & ~by_the_stop, stopped_at <= last_at + gap_us],
        ["terminating_push", "still_open", "connection_closed", "broker_restart"],
        "gap_timeout",
    )


def _stopped_at(sessions: pa.Table, stopped: Mapping[tuple[str, str], int]) -> np.ndarray:
    """When the broker incarnation of each last push stopped; FIRST if it did not."""
    columns = sessions.select(("cluster_id", "broker_incarnation"))
    kind_of, firsts = distinct_rows(columns)
    kinds = columns.take(firsts).to_pylist()
    return np.array([stopped.get(tuple(kind.values()), FIRST) for kind in kinds], np.int64)[kind_of]
