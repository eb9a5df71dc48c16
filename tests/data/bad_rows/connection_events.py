"""Rows of connection_events: a good one, and for each rule what makes it bad."""

import datetime as dt

_DAY = dt.date(2026, 11, 21)
_NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)

_USE = {
    "api_key": 0,
    "version": 9,
    "requests": 5,
    "rejected": 0,
    "first_request_at": _NOON,
    "last_request_at": _NOON,
}

GOOD = {
    "cluster_id": "bad-rows",
    "dt": _DAY,
    "broker_id": 1,
    "broker_incarnation": "00112233445566778899aabbccddeeff",
    "sequence": 0,
    "observed_at": _NOON,
    "kind": "active",
    "client_id": "orders",
    "principal": "User:orders",
    "client_address": "10.0.0.1",
    "client_port": 40001,
    "listener_name": "CLIENTS",
    "security_protocol": "PLAINTEXT",
    "connection_id": "10.0.0.9:9092-10.0.0.1:40001-0-1",
    "client_software_name": "apache-kafka-java",
    "client_software_version": "3.9.1",
    "sent_software_name": "apache-kafka-java",
    "sent_software_version": "3.9.1",
    "api_versions_error": None,
    "opened_at": _NOON,
    "last_request_at": _NOON,
    "api_uses": [_USE],
    "group_ids": [],
    "transactional_ids": [],
    "failure_reason": None,
    "connections": None,
    "cut_fields": [],
    "sasl_mechanism": None,
    "given_instance_ids": [b"0123456789abcdef"],
    "topics": ["orders"],
    "api_errors": [],
    "flags": [],
    "source_object": "v1/dataset=connections/x.zst",
    "source_offset": 0,
}

BAD = {
    "kind_is_known": {"kind": "paused"},
    "stands_for_something": {"kind": "summary", "connections": 0},
    "uses_are_counted": {"api_uses": [_USE | {"requests": -1}]},
    "opened_before_observed": {"opened_at": _NOON + dt.timedelta(seconds=1)},
    "flags_are_known": {"flags": ["odd"]},
    "rows_match_ledger": {},
}
