"""Connection events as rows of `connection_events`, without cluster_id and dt."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

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
    observed_at = event.observed_at_nanos // 1000
    flags = []
    if not event.client.connection_id and event.kind not in _STANDS_FOR_MANY:
        flags.append("no_connection")
    if event.kind not in _KINDS:
        flags.append("unknown_kind")
    if event.cut_fields:
        flags.append("cut_fields")
    if is_other_day:
        flags.append("other_day")
    return (
        event.broker_id,
        event.incarnation.hex(),
        event.sequence,
        observed_at,
        _KINDS.get(event.kind, str(event.kind)),
        *connection_columns(event.client),
        # If the opening time is missing, this event is the first evidence.
        (event.opened_at_nanos or event.observed_at_nanos) // 1000,
        event.last_request_at_nanos // 1000 or None,
        _api_uses(event.api_uses),
        sorted(event.group_ids),
        sorted(event.transactional_ids),
        event.failure_reason if event.HasField("failure_reason") else None,
        _connections(event),
        sorted(event.cut_fields),
        event.client.sasl_mechanism if event.client.HasField("sasl_mechanism") else None,
        sorted({instance_id for instance_id in event.client_instance_ids if len(instance_id) == 16}),
        sorted(set(event.topics)),
        _api_errors(event.api_errors),
        sorted(flags),
        object_key,
        offset,
    )


def _connections(event: ConnectionEvent) -> int | None:
    if event.HasField("connections"):
        return event.connections
    return 1 if event.kind in _STANDS_FOR_MANY else None


def _api_uses(uses: Sequence[ApiUse]) -> list[tuple[Any, ...]]:
    """One entry per API and version, sorted; entries for the same pair are added up."""
    rows = sorted(
        [
            (
                use.api_key,
                use.version,
                use.requests,
                use.rejected,
                use.first_request_at_nanos // 1000 or None,
                use.last_request_at_nanos // 1000 or None,
            )
            for use in uses
        ],
        key=itemgetter(0, 1),
    )
    if len({row[:2] for row in rows}) == len(rows):
        return rows
    return [_added_up(list(uses)) for _, uses in groupby(rows, key=itemgetter(0, 1))]


def _api_errors(errors: Sequence[ApiError]) -> list[tuple[int, ...]]:
    """One entry per API, version and error code, sorted; entries for the same ones are added up."""
    if not errors:
        return []
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
