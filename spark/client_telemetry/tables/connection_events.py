"""Events of the connection registry (KIP-511)."""

from client_telemetry.tables.table import (
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
)

CONNECTION_EVENTS = Table(
    name="connection_events",
    comment="One row per event of the connection registry: a connection opened, was active, or closed; a login failed; "
    "short connections summed up.",
    columns=(
        CLUSTER_ID,
        DT,
        BROKER_ID,
        BROKER_INCARNATION,
        SEQUENCE,
        Column("observed_at", TIMESTAMP, "Broker clock", nullable=False),
        Column(
            "kind",
            STRING,
            "`opened`, `active` (a periodic snapshot), `closed`; `authentication_failed`: a login that the broker "
            "refused; `summary`: short connections of one address, client id and software summed up. The number of a "
            "kind that is unknown here, flagged `unknown_kind`",
            nullable=False,
        ),
        *CLIENT_CONNECTION,
        Column("opened_at", TIMESTAMP, "First evidence of the connection", nullable=False),
        Column("last_request_at", TIMESTAMP, "Latest request until this event; null = none"),
        Column(
            "api_uses", API_USES, "Requests per API and version since the connection opened", nullable=False
        ),
        Column("group_ids", STRINGS, "Seen in requests, sorted, at most 16", nullable=False),
        Column("transactional_ids", STRINGS, "Seen in requests, sorted, at most 16", nullable=False),
        Column(
            "failure_reason", STRING, "authentication_failed: the broker's own words; null = it gave none"
        ),
        Column(
            "connections",
            LONG,
            "How many failures (authentication_failed) or connections (summary) the event stands for; null = one "
            "connection",
        ),
        Column(
            "cut_fields",
            STRINGS,
            "Names of the contract's fields whose client-supplied strings were cut to a bound and end in a digest of "
            "the whole, sorted",
            nullable=False,
        ),
        Column("sasl_mechanism", STRING, "SASL mechanism; null = the source cannot tell, or not SASL"),
        Column(
            "given_instance_ids",
            ArrayType(BINARY),
            "Client instance ids (KIP-714), 16 bytes each, that the broker gave or confirmed in answers to "
            "GetTelemetrySubscriptions, sorted, at most 16; null or empty where the source has no answers",
        ),
        Column("flags", STRINGS, "Sorted; see the vocabulary", nullable=False),
        *SOURCE,
    ),
    key=("cluster_id", "broker_id", "broker_incarnation", "sequence"),
    flags={
        "other_day": "observed on another day than the object's key says",
        "no_connection": "a refusal that is tied to no connection; only the address is known",
        "unknown_kind": "of a kind that this release does not know; no evidence of a connection",
        "cut_fields": "client-supplied strings were cut to a bound: see `cut_fields`",
    },
)
