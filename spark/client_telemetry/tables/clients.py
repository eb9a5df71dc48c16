"""Clients: one row per client and day."""

from pyspark.sql.types import ArrayType

from client_telemetry.identity import client_key
from client_telemetry.knowledge import kip511
from client_telemetry.knowledge.vocabulary import APPLICATION_KINDS
from client_telemetry.tables import rows
from client_telemetry.tables.suite import every, flags_are_known, is_zero, rows_satisfy, share_is
from client_telemetry.tables.table import (
    API_USES,
    CLIENT,
    CLUSTER_ID,
    CLUSTER_NAME,
    DOUBLE,
    DT,
    INTS,
    LONG,
    SOFTWARE,
    STRING,
    STRINGS,
    TIMESTAMP,
    Column,
    Table,
    listed,
    required,
    struct,
)

CLIENT_KEY = client_key.CLIENT_KEY
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
    required(
        "application",
        STRING,
        "What an owner would call one program: clients with the same principal, owner and application are counted as one "
        "(docs/clients.md)",
    ),
    required(
        "application_kind",
        STRING,
        "; ".join(f"`{kind}`: {meaning}" for kind, meaning in APPLICATION_KINDS.items()),
    ),
    Column(
        "product",
        STRING,
        "Product or framework, recognised by a client id that it sets itself; null = not known to be one",
    ),
    required(
        "application_notes",
        STRINGS,
        "Whether grouping the clients is a guess, and whether a row may be several programs, sorted",
    ),
)
OF_THE_PROFILE = ("owner", "owner_contact", *(column.name for column in APPLICATION))
"""What verdicts take from a client's profile."""

_UNKNOWN = f"not ({kip511.is_declared('client_software_name')})"
_KINDS = listed(APPLICATION_KINDS)
_RELATIONS = listed(RELATIONS)

CLIENTS: "Table[rows.ClientRow]" = Table(
    name="clients",
    comment=(
        "One row per client and day: declared identity (`unknown` is kept), what it uses, who owns it. Rows are "
        "never merged based on a guess: guesses are in the columns `looks_like` and `related`."
    ),
    columns=(
        CLUSTER_ID,
        CLUSTER_NAME,
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
        required("family_masks", STRINGS, "Names of the masks that were applied, in order"),
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
        Column(
            "library_version_numbers",
            INTS,
            "library_version as four numbers, so that versions compare rightly: `library_version_numbers < [2, 6, 1]` (Spark: `< array(2, 6, 1)`), "
            "where the text `2.10.0` would be before `2.6.1`; null = not known",
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
        required("looks_like_because", STRINGS, "Reasons for the guess"),
        required("roles", STRINGS, "What the client was seen to do, sorted; see docs/knowledge-base.md"),
        required(
            "related",
            RELATED,
            f"Other clients of the same principal that may be the same application, at most {MAX_RELATED}. Relations: "
            + "; ".join(f"`{k}`: {v}" for k, v in RELATIONS.items()),
        ),
        *APPLICATION,
        required("instances", LONG, "Client instances that pushed metrics"),
        required(
            "short_lived_instances",
            LONG,
            f"Of these, those that ended within {SHORT_LIFE_SECONDS} s of their first push",
        ),
        Column(
            "median_instance_seconds",
            DOUBLE,
            "Median time from an instance's first push to its last one of the day; null = none pushed",
        ),
        required("connections", LONG, "Connections seen"),
        required(
            "short_lived_connections",
            LONG,
            f"Of these, those that closed within {SHORT_LIFE_SECONDS} s of opening",
        ),
        Column(
            "median_connection_seconds",
            DOUBLE,
            "Median time from opening to the last evidence of the day, in whole seconds; null = no connection",
        ),
        required("refusals", LONG, "Refusals that cannot be attributed to a connection"),
        required("addresses", LONG, "Distinct client addresses"),
        required("address_sample", STRINGS, "The first 5 of them in sort order"),
        required("listeners", STRINGS, "Listeners, sorted"),
        required("security_protocols", STRINGS, "Security protocols, sorted"),
        required(
            "api_uses",
            API_USES,
            "Requests per API and version of the day, sorted; `first_request_at` as in client_connections",
        ),
        Column(
            "request_versions",
            STRINGS,
            "API and version of each entry of api_uses, in that order, by name: `JoinGroup v1`; null = written before there were names",
        ),
        required("group_ids", STRINGS, "Seen in requests, sorted, at most 64"),
        required("transactional_ids", STRINGS, "Seen in requests, sorted, at most 64"),
        required("broker_software_versions", STRINGS, "Releases of the brokers that it talked to, sorted"),
        required("first_seen_at", TIMESTAMP, "First evidence within the day"),
        required("last_seen_at", TIMESTAMP, "Last evidence within the day"),
        Column("owner", STRING, "Owner by the first matching rule; null = no rule matches"),
        Column("owner_contact", STRING, "How to reach the owner, from the rule"),
        Column("owner_rule", STRING, "Name of the rule that matched"),
        Column(
            "topics",
            STRINGS,
            "Named in requests, perhaps not all, sorted, at most 64; null or empty if the source has no requests",
        ),
        required("flags", STRINGS, "Sorted; see the vocabulary"),
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
    expectations=lambda: {
        "seen_in_order": rows_satisfy(
            "first_seen_at <= last_seen_at", "the first evidence of the day is not after the last"
        ),
        "something_was_seen": rows_satisfy(
            "instances >= 0 and connections >= 0 and refusals >= 0 and instances + connections + refusals > 0",
            "a client has at least one instance, connection or refusal",
        ),
        "sample_is_of_the_addresses": rows_satisfy(
            "size(address_sample) = least(addresses, 5) and address_sample = array_sort(array_distinct(address_sample))",
            "the sample has the five smallest addresses, or all if there are fewer",
        ),
        "lists_are_sorted": rows_satisfy(
            "listeners = array_sort(array_distinct(listeners)) "
            "and security_protocols = array_sort(array_distinct(security_protocols)) "
            "and broker_software_versions = array_sort(array_distinct(broker_software_versions))",
            "listeners, security protocols and releases are listed without duplicates, sorted",
        ),
        "ids_are_sorted": rows_satisfy(
            "size(group_ids) <= 64 and group_ids = array_sort(array_distinct(group_ids)) and "
            "size(transactional_ids) <= 64 and transactional_ids = array_sort(array_distinct(transactional_ids))",
            "at most 64 groups and transactional ids, without duplicates, sorted",
        ),
        "uses_are_sorted": rows_satisfy(
            "api_uses = array_sort(api_uses) and "
            "size(array_distinct(transform(api_uses, u -> struct(u.api_key, u.version)))) = size(api_uses)",
            "uses are sorted by API and version, without duplicates",
        ),
        "uses_are_counted": rows_satisfy(
            every("api_uses", "u", "u.requests >= 0 and u.rejected >= 0 and u.requests + u.rejected > 0"),
            "counts are not negative, and a pair without a request of the day is not listed",
        ),
        "client_id_is_spelled": rows_satisfy(
            "(client_id is null) = (client_id_sanitized is null) and (client_id is null) = (client_id_jmx is null) "
            "and coalesce(client_id_sanitized, '') rlike '^[A-Za-z0-9._%-]*$'",
            "a client id has both of Kafka's spellings (KIP-190)",
        ),
        "client_id_has_family": rows_satisfy(
            "(client_id is null) = (client_family is null) "
            "and (size(family_masks) = 0) = coalesce(client_id = client_family, true)",
            "a client id has a family, and the masks are given if the two differ",
        ),
        "guesses_stand_beside_names": rows_satisfy(
            f"(looks_like is null or {_UNKNOWN}) and (identified_as is null or not {_UNKNOWN})",
            "looks_like is only set for clients that declare no name",
        ),
        "related_clients_are_others": rows_satisfy(
            f"size(related) <= {MAX_RELATED} and "
            + every(
                "related",
                "r",
                f"r.relation in ({_RELATIONS}) and not (r.client_id <=> client_id and "
                "r.client_software_name <=> client_software_name and "
                "r.client_software_version <=> client_software_version)",
            ),
            "relations are values of the vocabulary, and no client is related to itself",
        ),
        "short_lives_are_counted": rows_satisfy(
            "short_lived_instances between 0 and instances and short_lived_connections between 0 and connections",
            "short-lived instances and connections do not outnumber all of them",
        ),
        "application_is_named": rows_satisfy(
            f"application is not null and application_kind in ({_KINDS}) and "
            "application_notes = array_sort(array_distinct(application_notes))",
            "every client belongs to an application with a kind from the vocabulary",
        ),
        "owner_has_rule": rows_satisfy(
            "(owner is null) = (owner_rule is null) and (owner is not null or owner_contact is null)",
            "an owner comes from a rule",
        ),
        "unknown_software_is_flagged": rows_satisfy(
            f"({_UNKNOWN}) = array_contains(flags, 'software_unknown')",
            "a client without a software name has the flag, and no other client has it",
        ),
        "flags_are_known": flags_are_known(CLIENTS),
        "no_connection_is_lost": is_zero(
            "coalesce(sum(connections + refusals), 0) - {connections}",
            "every connection and refusal of the day belongs to exactly one client",
        ),
        "no_session_is_lost": is_zero(
            "coalesce(sum(instances), 0) - {sessions}",
            "every session of the day belongs to exactly one client",
        ),
        "clients_have_owners": share_is(
            "owner is null",
            "at most 20 % of clients match no owner rule: add rules, otherwise nobody is notified of what breaks",
            at_most=0.2,
        ),
        "software_is_known": share_is(
            f"{_UNKNOWN}",
            "at most 50 % of clients declare no library (KIP-511): those can be identified only by their requests",
            at_most=0.5,
        ),
    },
)
