"""What must hold for connections."""

from client_telemetry.expectations.suite import RowRule, SliceRule, Suite, every, flags_are_known
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS, CLOSED_BY, LINK_RULES

_ENDS = ", ".join(f"'{end}'" for end in CLOSED_BY)
_LINKS = ", ".join(f"('{link}', '{rule}')" for rule, (link, _) in LINK_RULES.items())

SUITE = Suite(
    CLIENT_CONNECTIONS,
    (
        RowRule(
            "seen_in_order",
            "first_seen_at <= last_seen_at",
            "critical",
            "the first evidence of the day is not after the last",
        ),
        RowRule(
            "end_is_known",
            f"end_known_by in ({_ENDS})",
            "critical",
            "end_known_by is a value of the vocabulary",
        ),
        RowRule(
            "closed_unless_open",
            "(closed_at is null) = (end_known_by = 'still_open')",
            "critical",
            "a connection that ended has an end time; one that may still be open has none",
        ),
        RowRule(
            "uses_are_sorted",
            "api_uses = array_sort(api_uses)",
            "critical",
            "uses are sorted by API and version",
        ),
        RowRule(
            "uses_are_counted",
            every("api_uses", "u", "u.requests >= 0 and u.rejected >= 0 and u.requests + u.rejected > 0"),
            "critical",
            "counts are not negative, and a pair without a request of the day is not listed",
        ),
        RowRule(
            "ids_are_sorted",
            "size(group_ids) <= 16 and group_ids = array_sort(array_distinct(group_ids)) and "
            "size(transactional_ids) <= 16 and transactional_ids = array_sort(array_distinct(transactional_ids))",
            "critical",
            "at most 16 groups and transactional ids, without duplicates, sorted",
        ),
        RowRule(
            "events_have_sources",
            "events >= 1 and first_sequence <= last_sequence and size(source_objects) between 1 and events",
            "critical",
            "each connection of the day can be traced to its raw records",
        ),
        RowRule(
            "uses_have_a_source",
            "array_contains(source_objects, uses_object) and uses_sequence between first_sequence and last_sequence",
            "critical",
            "the requests of each connection can be found in a raw record",
        ),
        RowRule(
            "links_have_rules",
            f"(link, link_rule) in ({_LINKS})",
            "critical",
            "a link and its rule are values of the vocabulary, and belong together",
        ),
        RowRule(
            "linked_where_one_is_left",
            "(client_instance_id is not null) = (link in ('exact', 'likely')) "
            "and (client_instance_id is null or (octet_length(client_instance_id) = 16 and link_candidates = 1))",
            "critical",
            "an instance is given if a rule leaves exactly one",
        ),
        RowRule(
            "no_connection_is_flagged",
            "(connection_id = '') = array_contains(flags, 'no_connection')",
            "critical",
            "a refusal without a connection has the flag, and no connection has it",
        ),
        RowRule(
            "summaries_are_flagged",
            "connections = 1 or (connections > 0 and array_contains(flags, 'summary'))",
            "critical",
            "a row represents one connection, unless the broker summarised several",
        ),
        flags_are_known(CLIENT_CONNECTIONS),
        RowRule(
            "opened_before_seen",
            "opened_at <= first_seen_at",
            "warning",
            "no connection is seen before it opened; otherwise the registry of the broker is wrong",
        ),
        RowRule(
            "nothing_after_the_close",
            "closed_at is null or closed_at >= last_seen_at",
            "warning",
            "nothing is seen of a connection after its close",
        ),
        RowRule(
            "pairs_are_listed_once",
            "size(array_distinct(transform(api_uses, u -> struct(u.api_key, u.version)))) = size(api_uses)",
            "warning",
            "the registry lists each API and version only once per event",
        ),
        SliceRule(
            "no_event_is_lost",
            "coalesce(sum(events), 0) - {events}",
            "critical",
            "every registry event of the day about a client's connection is counted in exactly one connection",
            minimum=0,
            maximum=0,
        ),
        SliceRule(
            "releases_are_known",
            "coalesce(avg(cast(broker_software_version is null as double)), 0)",
            "warning",
            "at most 0 % of connections are to brokers with an unknown release: those are not evidence for an upgrade question",
            maximum=0,
        ),
        SliceRule(
            "counts_are_of_the_day",
            "coalesce(avg(cast(array_contains(flags, 'counts_from_before') as double)), 0)",
            "warning",
            "at most 5 % of connections have counts that may include earlier days",
            maximum=0.05,
        ),
        SliceRule(
            "connections_are_identified",
            "coalesce(avg(cast(client_id is null and coalesce(principal, '') = '' as double)), 0)",
            "warning",
            "at most 10 % of connections have neither principal nor client id: those were rejected before authentication, "
            "often one broken client that keeps retrying",
            maximum=0.1,
        ),
    ),
)
