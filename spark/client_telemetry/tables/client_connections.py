"""Connections: one row per connection and day."""

from client_telemetry.tables import rows
from client_telemetry.tables.connection_events import INSTANCES_AND_TOPICS
from client_telemetry.tables.suite import (
    WARNING,
    every,
    flags_are_known,
    is_one_of,
    is_zero,
    rows_satisfy,
    share_is,
)
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
    STRING,
    STRINGS,
    TIMESTAMP,
    Column,
    Table,
    required,
)

IDLE_LIMIT_MINUTES = 70
"""A broker closes a connection that is idle for connections.max.idle.ms, 10 minutes by default, and the registry
tells of every open connection at the end of an hour."""

MANY_CLIENT_IDS, MANY_SOFTWARES = 16, 4
"""More client ids, or software names and versions, than one host is expected to have."""

CLOSED_BY = {
    "closed_event": "the broker saw the connection close",
    "port_reused": "another connection from the same address and port to the same listener followed",
    "broker_restart": "a later incarnation of the broker had started by the end of the day: the connection cannot "
    "have survived",
    "idle_limit": f"it was not reported for {IDLE_LIMIT_MINUTES} minutes, while the incarnation reported others: "
    "a broker closes idle connections after 10 minutes, unless connections.max.idle.ms says otherwise, and the "
    "registry reports open ones every hour",
    "still_open": "no evidence of a close by the end of the day; if the next day has no row, there was none later",
}

MOST_INSTANCES = 50
"""More instances of one client at one address within a day are not distinguished by time."""

LINK_RULES = {
    "push_on_connection": ("exact", "pushes of one instance arrived on this connection"),
    "push_from_port": (
        "exact",
        "pushes of one instance came from its address and port to the same broker incarnation while it was open; "
        "their source has no connection ids",
    ),
    "only_instance_at_the_time": (
        "likely",
        "of the instances of this client at this address, only one existed at the time: from 1.5 push intervals "
        "before its first push until its last",
    ),
    "only_instance_that_long": ("likely", "of several, only one existed as long as the connection"),
    "several_at_the_time": ("ambiguous", "several instances of this client existed that long"),
    "too_many_instances": (
        "ambiguous",
        f"more than {MOST_INSTANCES} instances of this client at this address within the day",
    ),
    "several_on_connection": ("ambiguous", "pushes of several instances arrived on this connection"),
    "no_instance_at_the_time": ("none", "instances of this client pushed from this address, at other times"),
    "no_instance": ("none", "no instance of this client pushed from this address"),
    "summary": ("none", "the row represents many short connections"),
    "unknown_client": ("none", "neither principal nor client id is known"),
}
"""Rule -> link and what it says. The client: principal, client id, software name and version."""

_LINKS = ", ".join(f"('{link}', '{rule}')" for rule, (link, _) in LINK_RULES.items())

CLIENT_CONNECTIONS: "Table[rows.ClientConnectionRow]" = Table(
    name="client_connections",
    comment=(
        "One row per connection and day with an event: the client, the broker release, and the request versions "
        "used. Uses the events and broker incarnations of the seven days before and nothing later. The day of an "
        "event is its `dt`; an event flagged `other_day` counts in the partition of its object. Principal, client "
        "id, address and software are the last ones in any event of the connection: a connection is one client, so "
        "a name that was registered late applies to all of it, and a name that an old ApiVersions request reset to `unknown` "
        "(KIP-511, versions 0 to 2) is kept, flagged `name_reset`. Connections of the brokers themselves are left out: "
        "those with a client id that Kafka's brokers use (identity/broker_clients.py), or an answered request that only "
        "brokers send, unless a request was answered that brokers never send. (Replica fetchers are left out by the writer of "
        "the dump, which sees their replica id.) A row flagged `summary` represents "
        "many short connections (its id is `summary-` and a sequence). Failed logins and events of unknown kinds are not "
        "connections: they are in connection_events."
    ),
    columns=(
        CLUSTER_ID,
        DT,
        BROKER_ID,
        BROKER_INCARNATION,
        required("opened_at", TIMESTAMP, "First evidence of the connection"),
        required("first_seen_at", TIMESTAMP, "First evidence within the day"),
        required("last_seen_at", TIMESTAMP, "Last evidence within the day"),
        Column(
            "closed_at",
            TIMESTAMP,
            "When the broker saw it close, or the last evidence if its end is known otherwise; null = it may still be open",
        ),
        required("end_known_by", STRING, "; ".join(f"`{k}`: {v}" for k, v in CLOSED_BY.items())),
        *CLIENT_CONNECTION,
        Column(
            "broker_software_version",
            STRING,
            "What the broker incarnation reported: a release of Apache Kafka, or other software with its name in front; "
            "null = not known",
        ),
        required(
            "api_uses",
            API_USES,
            "Requests per API and version of the day, sorted: the increase since the last event before it. An "
            "ApiVersions request that the broker refused with error 35 counts as rejected, not as a version in use. "
            "`first_request_at` is null if the pair was in use before the day",
        ),
        required(
            "uses_object",
            STRING,
            "Raw object with the event of the day that has the most requests: it shows every pair of `api_uses`",
        ),
        required("uses_sequence", LONG, "Sequence of that event"),
        required("group_ids", STRINGS, "Seen in requests, sorted, at most 16"),
        required("transactional_ids", STRINGS, "Seen in requests, sorted, at most 16"),
        *INSTANCES_AND_TOPICS,
        Column(
            "api_errors",
            API_ERRORS,
            "Answers of the day in which nothing succeeded, per API, version and error code; they count as `requests` in `api_uses`, "
            "too. Without ApiVersions and telemetry; null or empty if the source has no responses",
        ),
        Column(
            "client_instance_id",
            BINARY,
            "Client instance (KIP-714) that the connection belongs to, by `link_rule`; null = not linked",
        ),
        required(
            "link",
            STRING,
            "How certain that is: `exact`, `likely`, `ambiguous` (several instances are possible, none is named), `none`; "
            "docs/links.md has the accuracy of each",
        ),
        required(
            "link_rule",
            STRING,
            "The first rule that applies. "
            + "; ".join(f"`{k}` ({link}): {v}" for k, (link, v) in LINK_RULES.items()),
        ),
        required("link_candidates", LONG, "Number of instances that the rule leaves possible"),
        required(
            "connections",
            LONG,
            "Number of connections that the row represents: 1, or more with flag `summary`",
        ),
        Column(
            "sasl_mechanism",
            STRING,
            "SASL mechanism, or several separated by bars if the source cannot distinguish them (docs/sources.md); null = not "
            "known to the source, or not SASL",
        ),
        required("events", LONG, "Registry events of the day"),
        required("source_objects", STRINGS, "Keys of the raw objects with the events of the day, sorted"),
        required("first_sequence", LONG, "Smallest sequence of the events of the day"),
        required("last_sequence", LONG, "Largest sequence of the events of the day"),
        required("flags", STRINGS, "Sorted; see the vocabulary"),
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
        "no_connection": "a refusal that cannot be attributed to a connection; only the address is known",
        "summary": "a summary of many short connections from one address, client id and software",
        "name_reset": "the broker reset the name to `unknown` after it had registered one; the name was kept",
        "name_invalid": "the software name or version as sent violates KIP-511: a broker refuses it",
        "name_refused": "the broker refused the software name or version (ApiVersions error 42)",
        "never_named": "requests other than ApiVersions and SASL were seen, but the broker registered no software name",
        "crowded_address": f"more than {MANY_CLIENT_IDS} client ids (that differ in more than numbers and UUIDs), or more than {MANY_SOFTWARES} software names and "
        "versions, came from this address within the day: a proxy, NAT or a shared host; the address does not identify a host",
        "counts_reset": "request counts of the registry went down; the event with the most requests was used",
        "counts_from_before": "opened before the day, and no earlier event is known: counts may include earlier days",
    },
    expectations=lambda: {
        "seen_in_order": rows_satisfy(
            "first_seen_at <= last_seen_at", "the first evidence of the day is not after the last"
        ),
        "end_is_known": is_one_of("end_known_by", CLOSED_BY, "end_known_by is a value of the vocabulary"),
        "closed_unless_open": rows_satisfy(
            "(closed_at is null) = (end_known_by = 'still_open')",
            "a connection that ended has an end time; one that may still be open has none",
        ),
        "uses_are_sorted": rows_satisfy(
            "api_uses = array_sort(api_uses)", "uses are sorted by API and version"
        ),
        "uses_are_counted": rows_satisfy(
            every("api_uses", "u", "u.requests >= 0 and u.rejected >= 0 and u.requests + u.rejected > 0"),
            "counts are not negative, and a pair without a request of the day is not listed",
        ),
        "ids_are_sorted": rows_satisfy(
            "size(group_ids) <= 16 and group_ids = array_sort(array_distinct(group_ids)) and "
            "size(transactional_ids) <= 16 and transactional_ids = array_sort(array_distinct(transactional_ids))",
            "at most 16 groups and transactional ids, without duplicates, sorted",
        ),
        "events_have_sources": rows_satisfy(
            "events >= 1 and first_sequence <= last_sequence and size(source_objects) between 1 and events",
            "each connection of the day can be traced to its raw records",
        ),
        "uses_have_a_source": rows_satisfy(
            "array_contains(source_objects, uses_object) and uses_sequence between first_sequence and last_sequence",
            "the requests of each connection can be found in a raw record",
        ),
        "links_have_rules": rows_satisfy(
            f"(link, link_rule) in ({_LINKS})",
            "a link and its rule are values of the vocabulary, and belong together",
        ),
        "linked_where_one_is_left": rows_satisfy(
            "(client_instance_id is not null) = (link in ('exact', 'likely')) "
            "and (client_instance_id is null or (octet_length(client_instance_id) = 16 and link_candidates = 1))",
            "an instance is given if a rule leaves exactly one",
        ),
        "no_connection_is_flagged": rows_satisfy(
            "(connection_id = '') = array_contains(flags, 'no_connection')",
            "a refusal without a connection has the flag, and no connection has it",
        ),
        "summaries_are_flagged": rows_satisfy(
            "connections = 1 or (connections > 0 and array_contains(flags, 'summary'))",
            "a row represents one connection, unless the broker summarised several",
        ),
        "flags_are_known": flags_are_known(CLIENT_CONNECTIONS),
        "opened_before_seen": rows_satisfy(
            "opened_at <= first_seen_at",
            "no connection is seen before it opened; otherwise the registry of the broker is wrong",
            severity=WARNING,
        ),
        "nothing_after_the_close": rows_satisfy(
            "closed_at is null or closed_at >= last_seen_at",
            "nothing is seen of a connection after its close",
            severity=WARNING,
        ),
        "pairs_are_listed_once": rows_satisfy(
            "size(array_distinct(transform(api_uses, u -> struct(u.api_key, u.version)))) = size(api_uses)",
            "the registry lists each API and version only once per event",
            severity=WARNING,
        ),
        "no_event_is_lost": is_zero(
            "coalesce(sum(events), 0) - {events}",
            "every registry event of the day about a client's connection is counted in exactly one connection",
        ),
        "releases_are_known": share_is(
            "broker_software_version is null",
            "at most 0 % of connections are to brokers with an unknown release: those are not evidence for an upgrade question",
            at_most=0,
        ),
        "counts_are_of_the_day": share_is(
            "array_contains(flags, 'counts_from_before')",
            "at most 5 % of connections have counts that may include earlier days",
            at_most=0.05,
        ),
        "connections_are_identified": share_is(
            "client_id is null and coalesce(principal, '') = ''",
            "at most 10 % of connections have neither principal nor client id: those were rejected before authentication, "
            "often one broken client that keeps retrying",
            at_most=0.1,
        ),
    },
)
