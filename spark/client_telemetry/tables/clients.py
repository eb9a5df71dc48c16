"""Clients: one row per client and day."""

from typing import TYPE_CHECKING

from pyspark.sql.types import ArrayType

from client_telemetry.identity.applications import KINDS as APPLICATION_KINDS
from client_telemetry.tables.table import (
    API_USES,
    CLIENT,
    CLUSTER_ID,
    DOUBLE,
    DT,
    LONG,
    SOFTWARE,
    STRING,
    STRINGS,
    TIMESTAMP,
    Column,
    Table,
    struct,
)

if TYPE_CHECKING:
    from client_telemetry.tables.rows import ClientRow

CLIENT_KEY = ("principal", "client_id", "client_software_name", "client_software_version")
"""What tells clients of one cluster apart. Null and `unknown` are values of their own."""

PROGRAM = Column(
    "program",
    STRING,
    "Which of several programs behind one client id: the request versions that distinguish it (docs/clients.md); null = "
    "the client id is one program, or its connections cannot be distinguished",
)
"""Of tables that judge programs apart. Part of their key, where null is a value of its own."""

MAX_RELATED = 16
"""How many other clients `related` names."""

RELATED = ArrayType(
    struct(
        "client_id",
        "client_software_name",
        "client_software_version",
        relation=STRING,
        client_id=STRING,
        client_software_name=STRING,
        client_software_version=STRING,
        because=STRING,
    )
)
"""Other clients of the same principal that may be the same application."""

SHORT_LIFE_SECONDS = 60
"""An instance or connection that ended before is short-lived."""

RELATIONS = {
    "one_application": "same principal and client id, one of the two without a software name: the unnamed "
    "connections are those of the named application",
    "two_applications": "likewise, but they cannot be: two applications share the client id",
    "doubtful": "likewise, but the evidence does not settle it",
    "same_principal_and_address": "another client id, one of the two a library's default: possibly one application "
    "that sends its client id on only some of its connections",
}

APPLICATION = (
    Column(
        "application",
        STRING,
        "What an owner would call one program: clients with the same principal, owner and application are counted as one "
        "(docs/clients.md)",
        nullable=False,
    ),
    Column(
        "application_kind",
        STRING,
        "; ".join(f"`{kind}`: {meaning}" for kind, meaning in APPLICATION_KINDS.items()),
        nullable=False,
    ),
    Column(
        "product",
        STRING,
        "Product or framework, recognised by a client id that it sets itself; null = not known to be one",
    ),
    Column(
        "application_notes",
        STRINGS,
        "Whether grouping the clients is a guess, and whether a row may be several programs, sorted",
        nullable=False,
    ),
)

CLIENTS: "Table[ClientRow]" = Table(
    name="clients",
    comment=(
        "One row per client and day: declared identity (`unknown` is kept), what it uses, who owns it. Rows are "
        "never merged based on a guess: guesses are in the columns `looks_like` and `related`."
    ),
    columns=(
        CLUSTER_ID,
        DT,
        *CLIENT,
        *SOFTWARE,
        Column("client_id_sanitized", STRING, "client_id URL-encoded as by Kafka's Sanitizer (KIP-190)"),
        Column("client_id_jmx", STRING, "client_id as in Kafka's JMX metric names (KIP-190)"),
        Column(
            "client_family",
            STRING,
            "client_id with its variable parts masked (identity/client_families.py); with cluster, principal and "
            "software name it is the client family, which survives restarts and upgrades. Null = no client id",
        ),
        Column("family_masks", STRINGS, "Names of the masks that were applied, in order", nullable=False),
        Column(
            "library",
            STRING,
            "Library that actually sends the requests, by the declared name; null = not known",
        ),
        Column(
            "library_version",
            STRING,
            "Version of the library: vendor suffixes removed, the Kafka version of a Confluent Platform version, the librdkafka inside a "
            "binding; null = not known",
        ),
        Column("binding", STRING, "Binding of librdkafka that declared its name; null = none"),
        Column(
            "identified_as", STRING, "Library and version in readable form; null = no name, or an unknown one"
        ),
        Column(
            "looks_like",
            STRING,
            "If no name was declared: a guess by default client id and request versions; null = no guess",
        ),
        Column("looks_like_because", STRINGS, "Reasons for the guess", nullable=False),
        Column(
            "roles",
            STRINGS,
            "What the client was seen to do, sorted; see docs/knowledge-base.md",
            nullable=False,
        ),
        Column(
            "related",
            RELATED,
            f"Other clients of the same principal that may be the same application, at most {MAX_RELATED}. Relations: "
            + "; ".join(f"`{k}`: {v}" for k, v in RELATIONS.items()),
            nullable=False,
        ),
        *APPLICATION,
        Column("instances", LONG, "Client instances that pushed metrics", nullable=False),
        Column(
            "short_lived_instances",
            LONG,
            f"Of these, those that ended within {SHORT_LIFE_SECONDS} s of their first push",
            nullable=False,
        ),
        Column(
            "median_instance_seconds",
            DOUBLE,
            "Median time from an instance's first push to its last one of the day; null = none pushed",
        ),
        Column("connections", LONG, "Connections seen", nullable=False),
        Column(
            "short_lived_connections",
            LONG,
            f"Of these, those that closed within {SHORT_LIFE_SECONDS} s of opening",
            nullable=False,
        ),
        Column(
            "median_connection_seconds",
            DOUBLE,
            "Median time from opening to the last evidence of the day, in whole seconds; null = no connection",
        ),
        Column("refusals", LONG, "Refusals that cannot be attributed to a connection", nullable=False),
        Column("addresses", LONG, "Distinct client addresses", nullable=False),
        Column("address_sample", STRINGS, "The first 5 of them in sort order", nullable=False),
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
            "Releases of the brokers that it talked to, sorted",
            nullable=False,
        ),
        Column("first_seen_at", TIMESTAMP, "First evidence within the day", nullable=False),
        Column("last_seen_at", TIMESTAMP, "Last evidence within the day", nullable=False),
        Column("owner", STRING, "Owner by the first matching rule; null = no rule matches"),
        Column("owner_contact", STRING, "How to reach the owner, from the rule"),
        Column("owner_rule", STRING, "Name of the rule that matched"),
        Column(
            "topics",
            STRINGS,
            "Named in requests, perhaps not all, sorted, at most 64; null or empty if the source has no requests",
        ),
        Column("flags", STRINGS, "Sorted; see the vocabulary", nullable=False),
    ),
    key=("cluster_id", "dt", *CLIENT_KEY),
    flags={
        "name_refused": "a broker refused the software name or version of some connection (KIP-511, error 42)",
        "crowded_address": "many client ids or software versions came from one of its addresses (see client_connections): "
        "the address does not identify a host",
        "software_unknown": "no software name is registered",
        "shared_client_id": "another client of the day has the same principal and client id but different software",
        "one_application": "its unnamed and its named connections are two rows: see `related`",
        "doubtful_application": "it is not known whether another row with its principal and client id is the same application: "
        "see `related`",
        "no_client_id": "requests contained no client id",
        "unidentified": "neither principal nor client id nor software is known: connections that the broker rejected "
        "before authentication. They may belong to other clients of the day",
    },
)
