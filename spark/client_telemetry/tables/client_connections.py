"""Connections, one row each and day."""

from client_telemetry.tables.table import (
    API_USES,
    BINARY,
    BROKER_ID,
    BROKER_INCARNATION,
    CLIENT_CONNECTION,
    CLUSTER_ID,
    DT,
    LONG,
    STRING,
    STRINGS,
    TIMESTAMP,
    ArrayType,
    Column,
    Table,
)

NAMING_APIS = (17, 18, 36)
"""SaslHandshake, ApiVersions, SaslAuthenticate: what a client asks before the broker can know its software name."""

IDLE_LIMIT_MINUTES = 70
"""A broker closes a connection that is idle for connections.max.idle.ms, 10 minutes by default, and the registry
tells of every open connection at the end of an hour."""

MANY_CLIENT_IDS, MANY_SOFTWARES = 16, 4
"""More client ids, or software names and versions, than one host is expected to have."""

CLOSED_BY = {
    "closed_event": "the broker saw the connection close",
    "port_reused": "another connection from the same address and port to the same listener followed",
    "broker_restart": "a later incarnation of the broker had started by the end of the day: the connection cannot "
    "have lived on",
    "idle_limit": f"nothing was reported of it for {IDLE_LIMIT_MINUTES} minutes, while the incarnation reported others: "
    "a broker closes idle connections after 10 minutes, unless connections.max.idle.ms says otherwise, and the "
    "registry tells of open ones each hour",
    "still_open": "no evidence of an end until the end of the day; if the next day has no row, there was none later",
}

MOST_INSTANCES = 50
"""More instances of one client at one address within a day are not distinguished by time."""

LINK_RULES = {
    "push_on_connection": ("exact", "pushes of one instance came on this connection"),
    "push_from_port": (
        "exact",
        "pushes of one instance came from its address and port to the same broker incarnation while it was open; "
        "their source tells no connection id",
    ),
    "only_instance_at_the_time": (
        "likely",
        "of the instances of this client at this address, one only was there at the time: from 1.5 push intervals "
        "before its first push until its last",
    ),
    "only_instance_that_long": ("likely", "of several, one only was there as long as the connection"),
    "several_at_the_time": ("ambiguous", "several instances of this client were there as long"),
    "too_many_instances": (
        "ambiguous",
        f"more than {MOST_INSTANCES} instances of this client at this address within the day",
    ),
    "several_on_connection": ("ambiguous", "pushes of several instances came on this connection"),
    "no_instance_at_the_time": ("none", "instances of this client pushed from this address, at other times"),
    "no_instance": ("none", "no instance of this client pushed from this address"),
    "summary": ("none", "it stands for many short connections"),
    "unknown_client": ("none", "neither principal nor client id is known"),
}
"""Rule -> link and what it says. The client: principal, client id, software name and version."""

CLIENT_CONNECTIONS = Table(
    name="client_connections",
    comment=(
        "One row per connection and day with an event: who, to which broker release, and which request versions were "
        "used. Uses the events and broker incarnations of the seven days before and nothing later. The day of an "
        "event is its `dt`; an event that is flagged `other_day` counts in the slice of its object. Principal, client "
        "id, address and software are the last that any event of the connection had: a connection is one client, so "
        "a name that came late holds for all of it, and a name that an old ApiVersions request reset to `unknown` "
        "(KIP-511, versions 0 to 2) stays, flagged `name_reset`. Connections of the brokers themselves are left out: "
        "those with a client id of Kafka's own (identity/broker_clients.py), or an answered request that only "
        "brokers send, unless one was answered that brokers never send. A row that is flagged `summary` stands for "
        "many short connections (its id is `summary-` and a sequence). Failed logins and events of unknown kinds are no "
        "connections: connection_events has them."
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
        Column(
            "broker_software_version",
            STRING,
            "What the broker incarnation declares to run: a release of Apache Kafka, or with its name before it other "
            "software; null = not known",
        ),
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
        Column(
            "given_instance_ids",
            ArrayType(BINARY),
            "Client instance ids (KIP-714), 16 bytes each, that the broker gave or confirmed in answers to "
            "GetTelemetrySubscriptions, sorted, at most 16; null or empty where the source has no answers",
        ),
        Column(
            "client_instance_id",
            BINARY,
            "Client instance (KIP-714) that it belongs to, by `link_rule`; null = not linked",
        ),
        Column(
            "link",
            STRING,
            "How sure that is: `exact`, `likely`, `ambiguous` (several instances are possible, none is named), `none`; "
            "docs/links.md has how often each is right",
            nullable=False,
        ),
        Column(
            "link_rule",
            STRING,
            "The first that holds. "
            + "; ".join(f"`{k}` ({link}): {v}" for k, (link, v) in LINK_RULES.items()),
            nullable=False,
        ),
        Column("link_candidates", LONG, "Instances that the rule leaves", nullable=False),
        Column(
            "connections",
            LONG,
            "How many connections the row stands for: 1, or more with flag `summary`",
            nullable=False,
        ),
        Column(
            "sasl_mechanism",
            STRING,
            "SASL mechanism, or those that the source cannot tell apart with a bar between them (docs/sources.md); null = the "
            "source cannot tell, or not SASL",
        ),
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
        "summary": "many short connections of one address, client id and software that the broker summed up",
        "name_reset": "the broker went back to `unknown` after it had registered a name; the name was kept",
        "name_invalid": "the software name or version as sent is not what KIP-511 allows: a broker refuses it",
        "name_refused": "the broker refused the software name or version (ApiVersions error 42)",
        "never_named": "requests beyond ApiVersions and SASL were seen, and the broker registered no software name",
        "crowded_address": f"more than {MANY_CLIENT_IDS} client ids (that differ in more than numbers and UUIDs), or more than {MANY_SOFTWARES} software names and "
        "versions, came from this address within the day: a proxy, NAT or a shared host; it tells no hosts apart",
        "counts_reset": "request counts of the registry went down; the event with the most requests was used",
        "counts_from_before": "opened before the day and no earlier event is known: counts may be older than the day",
    },
)
