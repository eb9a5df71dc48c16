"""Connections, one row each and day."""

from client_telemetry.tables.table import (
    API_USES,
    BROKER_ID,
    BROKER_INCARNATION,
    CLIENT_CONNECTION,
    CLUSTER_ID,
    DT,
    LONG,
    STRING,
    STRINGS,
    TIMESTAMP,
    Column,
    Table,
)

NAMING_APIS = (17, 18, 36)
"""SaslHandshake, ApiVersions, SaslAuthenticate: what a client asks before the broker can know its software name."""

CLOSED_BY = {
    "closed_event": "the broker saw the connection close",
    "broker_restart": "a later incarnation of the broker had started by the end of the day: the connection cannot "
    "have lived on",
    "still_open": "no evidence of an end until the end of the day; if the next day has no row, there was none later",
}

CLIENT_CONNECTIONS = Table(
    name="client_connections",
    comment=(
        "One row per connection and day with an event: who, to which broker release, and which request versions were "
        "used. Uses the events and broker incarnations of the seven days before and nothing later. The day of an "
        "event is its `dt`; an event that is flagged `other_day` counts in the slice of its object. Principal, client "
        "id, address and software are the last that any event of the connection told: a connection is one client, so "
        "a name that came late holds for all of it, and a name that an old ApiVersions request reset to `unknown` "
        "(KIP-511, versions 0 to 2) stays, flagged `name_reset`."
    ),
    columns=(
        CLUSTER_ID,
        DT,
        BROKER_ID,
        BROKER_INCARNATION,
        Column("opened_at", TIMESTAMP, "First evidence of the connection", nullable=False),
        Column("first_seen_at", TIMESTAMP, "First evidence within the day", nullable=False),
        Column("last_seen_at", TIMESTAMP, "Last evidence within the day", nullable=False),
        Column(
            "closed_at",
            TIMESTAMP,
            "When the broker saw it close, or the last evidence where its end is known otherwise; null = it may go on",
        ),
        Column(
            "end_known_by", STRING, "; ".join(f"`{k}`: {v}" for k, v in CLOSED_BY.items()), nullable=False
        ),
        *CLIENT_CONNECTION,
        Column("broker_software_version", STRING, "Release of the broker incarnation; null = not known"),
        Column(
            "api_uses",
            API_USES,
            "Requests per API and version of the day, sorted: the increase since the last event before it. An "
            "ApiVersions request that the broker refused with error 35 counts as rejected, not as a version in use. "
            "`first_request_at` is null where the pair was in use before the day",
            nullable=False,
        ),
        Column(
            "uses_object",
            STRING,
            "Raw object with the event of the day that counts the most requests: it shows every pair of `api_uses`",
            nullable=False,
        ),
        Column("uses_sequence", LONG, "Sequence of that event", nullable=False),
        Column("group_ids", STRINGS, "Seen in requests, sorted, at most 16", nullable=False),
        Column("transactional_ids", STRINGS, "Seen in requests, sorted, at most 16", nullable=False),
        Column("events", LONG, "Registry events of the day", nullable=False),
        Column(
            "source_objects",
            STRINGS,
            "Keys of the raw objects with the events of the day, sorted",
            nullable=False,
        ),
        Column("first_sequence", LONG, "Smallest sequence of the events of the day", nullable=False),
        Column("last_sequence", LONG, "Largest sequence of the events of the day", nullable=False),
        Column("flags", STRINGS, "Sorted; see the vocabulary", nullable=False),
    ),
    key=(
        "cluster_id",
        "broker_id",
        "broker_incarnation",
        "connection_id",
        "client_address",
        "opened_at",
        "dt",
    ),
    flags={
        "no_connection": "a refusal that is tied to no connection; only the address is known",
        "name_reset": "the broker went back to `unknown` after it had registered a name; the name was kept",
        "name_refused": "the broker refused the software name or version (ApiVersions error 42)",
        "never_named": "requests beyond ApiVersions and SASL were seen, and the broker registered no software name",
        "counts_reset": "request counts of the registry went down; the event with the most requests was used",
        "counts_from_before": "opened before the day and no earlier event is known: counts may be older than the day",
    },
)
