"""What must hold for clients."""

from client_telemetry.expectations.suite import RowRule, SliceRule, Suite, every, flags_are_known
from client_telemetry.identity.applications import KINDS
from client_telemetry.knowledge import kip511
from client_telemetry.tables.clients import CLIENTS, MAX_RELATED, RELATIONS

_UNKNOWN = f"not ({kip511.is_declared('client_software_name')})"
_KINDS = ", ".join(f"'{kind}'" for kind in KINDS)
_RELATIONS = ", ".join(f"'{relation}'" for relation in RELATIONS)

SUITE = Suite(
    CLIENTS,
    (
        RowRule(
            "seen_in_order",
            "first_seen_at <= last_seen_at",
            "critical",
            "the first evidence of the day is not after the last",
        ),
        RowRule(
            "something_was_seen",
            "instances >= 0 and connections >= 0 and refusals >= 0 and instances + connections + refusals > 0",
            "critical",
            "a client has at least one instance, connection or refusal",
        ),
        RowRule(
            "sample_is_of_the_addresses",
            "size(address_sample) = least(addresses, 5) and address_sample = array_sort(array_distinct(address_sample))",
            "critical",
            "the sample has the five smallest addresses, or all if there are fewer",
        ),
        RowRule(
            "lists_are_sorted",
            "listeners = array_sort(array_distinct(listeners)) "
            "and security_protocols = array_sort(array_distinct(security_protocols)) "
            "and broker_software_versions = array_sort(array_distinct(broker_software_versions))",
            "critical",
            "listeners, security protocols and releases are listed without duplicates, sorted",
        ),
        RowRule(
            "ids_are_sorted",
            "size(group_ids) <= 64 and group_ids = array_sort(array_distinct(group_ids)) and "
            "size(transactional_ids) <= 64 and transactional_ids = array_sort(array_distinct(transactional_ids))",
            "critical",
            "at most 64 groups and transactional ids, without duplicates, sorted",
        ),
        RowRule(
            "uses_are_sorted",
            "api_uses = array_sort(api_uses) and "
            "size(array_distinct(transform(api_uses, u -> struct(u.api_key, u.version)))) = size(api_uses)",
            "critical",
            "uses are sorted by API and version, without duplicates",
        ),
        RowRule(
            "uses_are_counted",
            every("api_uses", "u", "u.requests >= 0 and u.rejected >= 0 and u.requests + u.rejected > 0"),
            "critical",
            "counts are not negative, and a pair without a request of the day is not listed",
        ),
        RowRule(
            "client_id_is_spelled",
            "(client_id is null) = (client_id_sanitized is null) and (client_id is null) = (client_id_jmx is null) "
            "and coalesce(client_id_sanitized, '') rlike '^[A-Za-z0-9._%-]*$'",
            "critical",
            "a client id has both of Kafka's spellings (KIP-190)",
        ),
        RowRule(
            "client_id_has_family",
            "(client_id is null) = (client_family is null) "
            "and (size(family_masks) = 0) = coalesce(client_id = client_family, true)",
            "critical",
            "a client id has a family, and the masks are given if the two differ",
        ),
        RowRule(
            "guesses_stand_beside_names",
            f"(looks_like is null or {_UNKNOWN}) and (identified_as is null or not {_UNKNOWN})",
            "critical",
            "looks_like is only set for clients that declare no name",
        ),
        RowRule(
            "related_clients_are_others",
            f"size(related) <= {MAX_RELATED} and "
            + every(
                "related",
                "r",
                f"r.relation in ({_RELATIONS}) and not (r.client_id <=> client_id and "
                "r.client_software_name <=> client_software_name and "
                "r.client_software_version <=> client_software_version)",
            ),
            "critical",
            "relations are values of the vocabulary, and no client is related to itself",
        ),
        RowRule(
            "short_lives_are_counted",
            "short_lived_instances between 0 and instances and short_lived_connections between 0 and connections",
            "critical",
            "short-lived instances and connections do not outnumber all of them",
        ),
        RowRule(
            "application_is_named",
            f"application is not null and application_kind in ({_KINDS}) and "
            "application_notes = array_sort(array_distinct(application_notes))",
            "critical",
            "every client belongs to an application with a kind from the vocabulary",
        ),
        RowRule(
            "owner_has_rule",
            "(owner is null) = (owner_rule is null) and (owner is not null or owner_contact is null)",
            "critical",
            "an owner comes from a rule",
        ),
        RowRule(
            "unknown_software_is_flagged",
            f"({_UNKNOWN}) = array_contains(flags, 'software_unknown')",
            "critical",
            "a client without a software name has the flag, and no other client has it",
        ),
        flags_are_known(CLIENTS),
        SliceRule(
            "no_connection_is_lost",
            "coalesce(sum(connections + refusals), 0) - {connections}",
            "critical",
            "every connection and refusal of the day belongs to exactly one client",
            minimum=0,
            maximum=0,
        ),
        SliceRule(
            "no_session_is_lost",
            "coalesce(sum(instances), 0) - {sessions}",
            "critical",
            "every session of the day belongs to exactly one client",
            minimum=0,
            maximum=0,
        ),
        SliceRule(
            "clients_have_owners",
            "coalesce(avg(cast(owner is null as double)), 0)",
            "warning",
            "at most 20 % of clients match no owner rule: add rules, otherwise nobody is notified of what breaks",
            maximum=0.2,
        ),
        SliceRule(
            "software_is_known",
            f"coalesce(avg(cast({_UNKNOWN} as double)), 0)",
            "warning",
            "at most 50 % of clients declare no library (KIP-511): those can be identified only by their requests",
            maximum=0.5,
        ),
    ),
)
