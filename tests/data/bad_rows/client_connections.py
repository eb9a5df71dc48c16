"""Rows of client_connections: a good one, and for each rule what makes it bad."""

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
    "dt": dt.date(2026, 11, 21),
    "broker_id": 1,
    "broker_incarnation": "0f" * 16,
    "opened_at": _NOON,
    "first_seen_at": _NOON,
    "last_seen_at": _LATER,
    "closed_at": _LATER,
    "end_known_by": "closed_event",
    "client_id": "orders",
    "principal": "User:orders",
    "client_address": "10.0.0.1",
    "client_port": 50_000,
    "listener_name": "CLIENTS",
    "security_protocol": "SASL_SSL",
    "connection_id": "10.1.0.1:9093-10.0.0.1:50000-0-17",
    "client_software_name": "apache-kafka-java",
    "client_software_version": "4.3.1",
    "sent_software_name": "apache-kafka-java",
    "sent_software_version": "4.3.1",
    "api_versions_error": None,
    "broker_software_version": "3.9.1",
    "api_uses": [_use(0, 11, 500), _use(18, 4, 1)],
    "uses_object": "v1/two.zst",
    "uses_sequence": 80,
    "group_ids": [],
    "transactional_ids": ["orders-1"],
    "given_instance_ids": [b"0123456789abcdef"],
    "topics": ["orders"],
    "api_errors": [],
    "client_instance_id": b"0123456789abcdef",
    "link": "exact",
    "link_rule": "push_on_connection",
    "link_candidates": 1,
    "connections": 1,
    "sasl_mechanism": "SCRAM-SHA-512",
    "events": 3,
    "source_objects": ["v1/one.zst", "v1/two.zst"],
    "first_sequence": 10,
    "last_sequence": 80,
    "flags": [],
}

BAD = {
    "seen_in_order": {"first_seen_at": _LATER + dt.timedelta(seconds=1)},
    "end_is_known": {"end_known_by": "guess"},
    "closed_unless_open": {"closed_at": None},
    "uses_are_sorted": {"api_uses": [_use(18, 4, 1), _use(0, 11, 500)]},
    "uses_are_counted": {"api_uses": [_use(0, 11, 0)]},
    "ids_are_sorted": {"group_ids": ["b", "a"]},
    "events_have_sources": {"source_objects": []},
    "uses_have_a_source": {"uses_object": "v1/three.zst"},
    "links_have_rules": {"link": "likely"},
    "linked_where_one_is_left": {"client_instance_id": None},
    "summaries_are_flagged": {"connections": 2},
    "no_connection_is_flagged": {"connection_id": ""},
    "flags_are_known": {"flags": ["slow"]},
    "opened_before_seen": {"opened_at": _NOON + dt.timedelta(seconds=1)},
    "nothing_after_the_close": {"closed_at": _NOON},
    "pairs_are_listed_once": {"api_uses": [_use(0, 11, 1), _use(0, 11, 2)]},
}
