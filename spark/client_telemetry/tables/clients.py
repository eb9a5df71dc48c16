"""Clients: what a person would call an application's client, one row each and day."""

from client_telemetry.tables.table import (
    API_USES,
    CLIENT,
    CLUSTER_ID,
    DT,
    LONG,
    SOFTWARE,
    STRING,
    STRINGS,
    TIMESTAMP,
    Column,
    Table,
)

CLIENT_KEY = ("principal", "client_id", "client_software_name", "client_software_version")
"""What tells clients of one cluster apart. Null and `unknown` are values of their own."""

CLIENTS = Table(
    name="clients",
    comment="One row per client and day: declared identity (`unknown` is kept), what it uses, who owns it.",
    columns=(
        CLUSTER_ID,
        DT,
        *CLIENT,
        *SOFTWARE,
        Column("client_id_sanitized", STRING, "client_id URL-encoded as Kafka's Sanitizer does (KIP-190)"),
        Column("client_id_jmx", STRING, "client_id as it stands in Kafka's JMX metric names (KIP-190)"),
        Column("instances", LONG, "Client instances that pushed metrics", nullable=False),
        Column("connections", LONG, "Connections seen", nullable=False),
        Column("refusals", LONG, "Refusals that are tied to no connection", nullable=False),
        Column("addresses", LONG, "Distinct client addresses", nullable=False),
        Column("address_sample", STRINGS, "The smallest 5 of them", nullable=False),
        Column("listeners", STRINGS, "Listeners, sorted", nullable=False),
        Column("security_protocols", STRINGS, "Security protocols, sorted", nullable=False),
        Column(
            "api_uses",
            API_USES,
            "Requests per API and version of the day, sorted; `first_request_at` as in client_connections",
            nullable=False,
        ),
        Column("group_ids", STRINGS, "Seen in requests, sorted, at most 64", nullable=False),
        Column("transactional_ids", STRINGS, "Seen in requests, sorted, at most 64", nullable=False),
        Column(
            "broker_software_versions",
            STRINGS,
            "Releases of the brokers it talked to, sorted",
            nullable=False,
        ),
        Column("first_seen_at", TIMESTAMP, "First evidence within the day", nullable=False),
        Column("last_seen_at", TIMESTAMP, "Last evidence within the day", nullable=False),
        Column("owner", STRING, "By the first owner rule that matches; null = no rule matches"),
        Column("owner_contact", STRING, "How to reach the owner, from the rule"),
        Column("owner_rule", STRING, "Name of the rule that matched"),
        Column("flags", STRINGS, "Sorted; see the vocabulary", nullable=False),
    ),
    key=("cluster_id", "dt", *CLIENT_KEY),
    flags={
        "name_refused": "a broker refused the software name or version of some connection (KIP-511, error 42)",
        "software_unknown": "no software name is registered",
        "shared_client_id": "another client of the day has the same principal and client id with other software",
        "no_client_id": "requests carried no client id",
        "unidentified": "neither principal nor client id nor software is known: connections that the broker refused "
        "before it knew whose they are. They may belong to other clients of the day",
    },
)
