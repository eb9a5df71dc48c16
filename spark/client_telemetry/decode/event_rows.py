"""Connection events as rows of `connection_events`, without cluster_id and dt."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter

from client_telemetry.decode.slow_decoder import connection_columns
from client_telemetry.formats.raw.raw_dump_v1_pb2 import ApiError, ApiUse, ConnectionEvent

_KINDS = {
    ConnectionEvent.OPENED: "opened",
    ConnectionEvent.ACTIVE: "active",
    ConnectionEvent.CLOSED: "closed",
    ConnectionEvent.AUTHENTICATION_FAILED: "authentication_failed",
    ConnectionEvent.SUMMARY: "summary",
}
_STANDS_FOR_MANY = (ConnectionEvent.AUTHENTICATION_FAILED, ConnectionEvent.SUMMARY)


def event_row(object_key: str, offset: int, event: ConnectionEvent, is_other_day: bool) -> tuple[object, ...]:
    """A fleet that retries has many more events than pushes: what most events lack is not sorted, counted or looked up."""
    client, kind, observed_at = event.client, event.kind, event.observed_at_nanos // 1000
    stands_for_many = kind in _STANDS_FOR_MANY
    cut_fields = sorted(event.cut_fields) if event.cut_fields else []
    # Sorted.
    flags = ["cut_fields"] if cut_fields else []
    if not client.connection_id and not stands_for_many:
        flags.append("no_connection")
    if is_other_day:
        flags.append("other_day")
    if kind not in _KINDS:
        flags.append("unknown_kind")
    if event.HasField("connections"):
        connections: int | None = event.connections
    else:
        connections = 1 if stands_for_many else None
    return (
        event.broker_id,
        event.incarnation.hex(),
        event.sequence,
        observed_at,
        _KINDS.get(kind) or str(kind),
        *connection_columns(client),
        # If the opening time is missing, this event is the first evidence.
        event.opened_at_nanos // 1000 or observed_at,
        event.last_request_at_nanos // 1000 or None,
        _api_uses(event.api_uses) if event.api_uses else [],
        sorted(event.group_ids) if event.group_ids else [],
        sorted(event.transactional_ids) if event.transactional_ids else [],
        event.failure_reason if event.HasField("failure_reason") else None,
        connections,
        cut_fields,
        client.sasl_mechanism if client.HasField("sasl_mechanism") else None,
        sorted({instance for instance in event.client_instance_ids if len(instance) == 16})
        if event.client_instance_ids
        else [],
        sorted(set(event.topics)) if event.topics else [],
        _api_errors(event.api_errors) if event.api_errors else [],
        flags,
        object_key,
        offset,
    )


def _api_uses(uses: Sequence[ApiUse]) -> list[tuple[object, ...]]:
    """One entry per API and version, sorted; entries for the same pair are added up."""
    rows: list[tuple[object, ...]] = [
        (
            use.api_key,
            use.version,
            use.requests,
            use.rejected,
            use.first_request_at_nanos // 1000 or None,
            use.last_request_at_nanos // 1000 or None,
        )
        for use in uses
    ]
    if len(rows) == 1:
        return rows
    rows.sort(key=itemgetter(0, 1))
    if len({row[:2] for row in rows}) == len(rows):
        return rows
    return [_added_up(list(uses)) for _, uses in groupby(rows, key=itemgetter(0, 1))]


def _api_errors(errors: Sequence[ApiError]) -> list[tuple[int, ...]]:
    """One entry per API, version and error code, sorted; entries for the same ones are added up."""
    counts: Counter[tuple[int, ...]] = Counter()
    for error in errors:
        counts[error.api_key, error.version, error.error_code] += error.requests
    return [(*error, requests) for error, requests in sorted(counts.items())]


def _added_up(rows: Sequence[tuple[object, ...]]) -> tuple[object, ...]:
    pair, requests, rejected, first, last = rows[0][:2], *zip(*(row[2:] for row in rows), strict=True)
    return (
        *pair,
        sum(requests),
        sum(rejected),
        min(filter(None, first), default=None),
        max(filter(None, last), default=None),
    )
