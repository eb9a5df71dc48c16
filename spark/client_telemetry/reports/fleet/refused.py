"""Pushes that brokers refused, by client and error, and what each error means for the client.

Source: ClientMetricsManager for when a broker answers with an error, ClientTelemetryUtils.maybeFetchErrorIntervalMs for
what a Java client does then. Delta values are counted before the answer comes, so those of a refused push are lost."""

from collections.abc import Iterable
from datetime import datetime

from client_telemetry.identity.client_key import HasClientKey
from client_telemetry.reports.fleet.model import RefusedPushes

_DELTAS = "the delta values since the previous push are lost"
ERRORS = {
    42: ("INVALID_REQUEST", f"{_DELTAS}; a Java client never pushes again"),
    76: (
        "UNSUPPORTED_COMPRESSION_TYPE",
        f"{_DELTAS}; the client asks again for its subscription and tries another",
    ),
    87: ("INVALID_RECORD", f"{_DELTAS}; a Java client never pushes again"),
    89: (
        "THROTTLING_QUOTA_EXCEEDED",
        f"arrived before its interval had passed: {_DELTAS}; the client waits one interval",
    ),
    117: (
        "UNKNOWN_SUBSCRIPTION_ID",
        f"the subscription had changed: {_DELTAS}; the client requests the new one",
    ),
    118: ("TELEMETRY_TOO_LARGE", f"larger than telemetry.max.bytes: {_DELTAS}, at each push"),
}
"""Error code -> Kafka's name, and what it means."""


class RefusedRow(HasClientKey):
    """Row of fleet/instances.refused_pushes."""

    error_code: int
    pushes: int
    instances: int
    first_at: datetime
    last_at: datetime


def refused_pushes(rows: Iterable[RefusedRow]) -> tuple[RefusedPushes, ...]:
    """Rows of fleet/instances.refused_pushes."""
    found = []
    for row in rows:
        name, consequence = ERRORS.get(row["error_code"], (f"error {row['error_code']}", _DELTAS))
        found.append(RefusedPushes(**row, error=name, consequence=consequence))
    return tuple(sorted(found, key=lambda each: (-each.pushes, each.error_code, each.client_id or "")))
