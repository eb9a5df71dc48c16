"""Events of the connection registry (KIP-511)."""

from client_telemetry.tables import rows
from client_telemetry.tables.suite import WARNING, every, flags_are_known, row_count_is, rows_satisfy
from client_telemetry.tables.table import (
    API_ERRORS,
    API_USES,
    BINARY,
    BROKER_ID,
    BROKER_INCARNATION,
    CLIENT_CONNECTION,
    CLUSTER_ID,
    DT,
    LONG,
    SEQUENCE,
    SOURCE,
    STRING,
    STRINGS,
    TIMESTAMP,
    ArrayType,
    Column,
    Table,
    required,
)

INSTANCES_AND_TOPICS = (
    Column(
        "given_instance_ids",
        ArrayType(BINARY),
        "Client instance ids (KIP-714), 16 bytes each, that the broker assigned or confirmed in "
        "GetTelemetrySubscriptions responses, sorted, at most 16; null or empty if the source has no responses",
    ),
    Column(
        "topics",
        STRINGS,
        "Named in requests, perhaps not all, sorted, at most 16; null or empty if the source has no requests",
    ),
)

CONNECTION_EVENTS: "Table[rows.ConnectionEventRow]" = Table(
    name="connection_events",
    comment="One row per event of the connection registry: a connection opened, was active, or closed; a login failed; "
    "a summary of short connections.",
    columns=(
        CLUSTER_ID,
        DT,
        BROKER_ID,
        BROKER_INCARNATION,
        SEQUENCE,
        required("observed_at", TIMESTAMP, "Broker clock"),
        required(
            "kind",
            STRING,
            "`opened`, `active` (a periodic snapshot), `closed`; `authentication_failed`: a login that the broker "
            "refused; `summary`: several short connections from one address, client id and software. For an "
            "unknown kind, its number, flagged `unknown_kind`",
        ),
        *CLIENT_CONNECTION,
        required("opened_at", TIMESTAMP, "First evidence of the connection"),
        Column("last_request_at", TIMESTAMP, "Latest request up to this event; null = none"),
        required("api_uses", API_USES, "Requests per API and version since the connection opened"),
        required("group_ids", STRINGS, "Seen in requests, sorted, at most 16"),
        required("transactional_ids", STRINGS, "Seen in requests, sorted, at most 16"),
        Column("failure_reason", STRING, "authentication_failed: the broker's error message; null = none"),
        Column(
            "connections",
            LONG,
            "Number of failures (authentication_failed) or connections (summary) that the event represents; null = one "
            "connection",
        ),
        required(
            "cut_fields",
            STRINGS,
            "Names of the contract's fields whose client-supplied strings were truncated and end in a digest of "
            "the full string, sorted",
        ),
        Column("sasl_mechanism", STRING, "SASL mechanism; null = not known to the source, or not SASL"),
        *INSTANCES_AND_TOPICS,
        Column(
            "api_errors",
            API_ERRORS,
            "Answers in which nothing succeeded, per API, version and error code, since the connection opened; they count as "
            "`requests` in `api_uses`, too. Of an answer with several codes, the smallest positive one. Without ApiVersions and "
            "telemetry; null or empty if the source has no responses",
        ),
        required("flags", STRINGS, "Sorted; see the vocabulary"),
        *SOURCE,
    ),
    key=("cluster_id", "broker_id", "broker_incarnation", "sequence"),
    flags={
        "other_day": "observed on a different day than the object's key says",
        "no_connection": "a refusal that cannot be attributed to a connection; only the address is known",
        "unknown_kind": "of a kind that this release does not know; not evidence of a connection",
        "cut_fields": "client-supplied strings were truncated: see `cut_fields`",
    },
    expectations=lambda: {
        "kind_is_known": rows_satisfy(
            "kind in ('opened', 'active', 'closed', 'authentication_failed', 'summary') "
            "or array_contains(flags, 'unknown_kind')",
            "the event is of a known kind, or flagged",
        ),
        "stands_for_something": rows_satisfy(
            "connections is null or connections > 0",
            "a summary of failures or connections represents at least one",
            severity=WARNING,
        ),
        "uses_are_counted": rows_satisfy(
            every("api_uses", "u", "u.requests >= 0 and u.rejected >= 0"), "request counts are not negative"
        ),
        "opened_before_observed": rows_satisfy(
            "opened_at <= observed_at", "no event is dated before its connection opened", severity=WARNING
        ),
        "flags_are_known": flags_are_known(CONNECTION_EVENTS),
        "rows_match_ledger": row_count_is("event_rows", "the number of events matches the ledger"),
    },
)
