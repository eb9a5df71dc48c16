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

CLOSED_BY = {
    "closed_event": "the broker saw the connection close",
    "broker_restart": "a later incarnation of the broker is known: the connection cannot have lived on",
    "still_open": "no evidence of an end until the end of the day",
}

CLIENT_CONNECTIONS = Table(
    name="client_connections",
    comment="One row per connection and day: who, to which broker release, and which request versions were used.",
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
            "Last evidence if the connection ended within the day; null = it may go on",
        ),
        Column(
            "end_known_by", STRING, "; ".join(f"`{k}`: {v}" for k, v in CLOSED_BY.items()), nullable=False
        ),
        *CLIENT_CONNECTION,
        Column("broker_software_version", STRING, "Release of the broker incarnation; null = not known"),
        Column(
            "api_uses",
            API_USES,
            "Requests per API and version within the day. An ApiVersions request that the broker refused with "
            "error 35 counts as rejected, not as a version in use",
            nullable=False,
        ),
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
        "name_refused": "the broker refused the software name or version (ApiVersions error 42)",
        "never_named": "requests beyond ApiVersions were seen and no software name was ever registered",
        "counts_reset": "request counts of the registry went down; the larger ones were kept",
    },
)
