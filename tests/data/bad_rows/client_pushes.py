"""Rows of client_pushes: a good one, and for each rule what makes it bad."""

import datetime as dt

_DAY = dt.date(2026, 11, 21)
_NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)

GOOD = {
    "cluster_id": "bad-rows",
    "dt": _DAY,
    "broker_id": 1,
    "broker_incarnation": "00112233445566778899aabbccddeeff",
    "sequence": 0,
    "received_at": _NOON,
    "client_instance_id": bytes(range(16)),
    "instance_id": "AAECAwQFBgcICQoLDA0ODw",
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
    "terminating": False,
    "content_type": "OTLP",
    "compression_type": 0,
    "payload_bytes": 100,
    "points": 1,
    "histogram_points": 0,
    "resources": [[("client_rack", "a")]],
    "scope_name": None,
    "scope_version": None,
    "push_interval_ms": 5000,
    "subscription_id": None,
    "error_code": None,
    "clock_skew_ms": 3,
    "flags": [],
    "source_object": "v1/dataset=client_pushes/x.zst",
    "source_offset": 0,
}

BAD = {
    "instance_id_has_16_bytes": {"client_instance_id": b"short"},
    "missing_instance_is_flagged": {"client_instance_id": None},
    "rejected_gives_no_points": {"flags": ["rejected"]},
    "flags_are_known": {"flags": ["odd"]},
    "rows_match_ledger": {},
    "points_match_tables": {"points": 7},
    "clients_have_instance_ids": {"client_instance_id": bytes(16), "flags": ["zero_instance_id"]},
}
