"""Rows of clients: a good one, and for each rule what makes it bad."""

import datetime as dt

_NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
_LATER = _NOON + dt.timedelta(hours=1)


def _use(api_key: int, version: int, requests: int) -> dict:
    return {
        "api_key": api_key,
        "version": version,
        "requests": requests,
        "rejected": 0,
        "first_request_at": _NOON,
        "last_request_at": _LATER,
    }


GOOD = {
    "cluster_id": "bad-rows",
    "cluster_name": "orders-eu",
    "dt": dt.date(2026, 11, 21),
    "client_id": "orders producer",
    "principal": "User:orders",
    "client_software_name": "apache-kafka-java",
    "client_software_version": "4.3.1",
    "client_id_sanitized": "orders%20producer",
    "client_id_jmx": "orders producer",
    "client_family": "orders producer",
    "family_masks": [],
    "library": "kafka-clients",
    "library_version": "4.3.1",
    "library_version_numbers": [4, 3, 1, 0],
    "binding": None,
    "identified_as": "kafka-clients 4.3.1",
    "looks_like": None,
    "looks_like_because": [],
    "roles": ["producer"],
    "related": [],
    "application": "orders producer",
    "application_kind": "application",
    "product": None,
    "application_notes": [],
    "instances": 2,
    "short_lived_instances": 1,
    "median_instance_seconds": 300.0,
    "connections": 6,
    "short_lived_connections": 0,
    "median_connection_seconds": 300.0,
    "refusals": 0,
    "addresses": 2,
    "address_sample": ["10.0.0.1", "10.0.0.2"],
    "listeners": ["CLIENTS"],
    "security_protocols": ["SASL_SSL"],
    "api_uses": [_use(0, 11, 500), _use(18, 4, 1)],
    "request_versions": ["Produce v11", "ApiVersions v4"],
    "group_ids": [],
    "transactional_ids": [],
    "broker_software_versions": ["3.9.1"],
    "first_seen_at": _NOON,
    "last_seen_at": _LATER,
    "owner": "orders",
    "owner_contact": "orders@example.com",
    "owner_rule": "orders",
    "topics": ["orders"],
    "flags": [],
}

BAD = {
    "seen_in_order": {"first_seen_at": _LATER + dt.timedelta(seconds=1)},
    "something_was_seen": {"instances": 0, "connections": 0},
    "sample_is_of_the_addresses": {"addresses": 1},
    "lists_are_sorted": {"listeners": ["INTERNAL", "CLIENTS"]},
    "ids_are_sorted": {"group_ids": ["b", "a"]},
    "uses_are_sorted": {"api_uses": [_use(0, 11, 1), _use(0, 11, 2)]},
    "uses_are_counted": {"api_uses": [_use(0, 11, -1)]},
    "client_id_is_spelled": {"client_id_sanitized": "orders producer"},
    "client_id_has_family": {"family_masks": ["uuid"]},
    "guesses_stand_beside_names": {"looks_like": "probably sarama"},
    "related_clients_are_others": {
        "related": [
            {
                "relation": "doubtful",
                "client_id": "orders producer",
                "client_software_name": "apache-kafka-java",
                "client_software_version": "4.3.1",
                "because": "it is itself",
            }
        ]
    },
    "short_lives_are_counted": {"short_lived_connections": 7},
    "application_is_named": {"application_kind": "pile"},
    "owner_has_rule": {"owner_rule": None},
    "unknown_software_is_flagged": {"client_software_name": "unknown", "identified_as": None},
    "flags_are_known": {"flags": ["noisy"]},
}
