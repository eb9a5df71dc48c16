"""Rows of client_sessions: a good one, and for each rule what makes it bad."""

import datetime as dt

_NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
_LATER = _NOON + dt.timedelta(hours=1)

GOOD = {
    "cluster_id": "bad-rows",
    "dt": dt.date(2026, 11, 21),
    "client_instance_id": bytes(range(16)),
    "instance_id": "AAECAwQFBgcICQoLDA0ODw",
    "first_evidence_at": _NOON,
    "last_evidence_at": _LATER,
    "started_at": _NOON,
    "started_before": None,
    "ended_at": _LATER,
    "end_reason": "gap_timeout",
    "pushes": 12,
    "terminating_pushes": 0,
    "rejected_pushes": 0,
    "points": 1200,
    "gaps": 0,
    "gap_seconds": 0.0,
    "push_interval_ms": 300_000,
    "push_interval_source": "broker",
    "subscription_changes": 0,
    "clock_skew_ms": 12,
    "broker_ids": [1, 2],
    "client_id": "orders",
    "principal": "User:orders",
    "client_software_name": "apache-kafka-java",
    "client_software_version": "4.3.1",
    "client_addresses": ["10.0.0.1"],
    "flags": [],
}

BAD = {
    "instance_id_has_16_bytes": {"client_instance_id": b"short"},
    "evidence_is_in_order": {"first_evidence_at": _LATER + dt.timedelta(seconds=1)},
    "start_is_seen_or_not": {"started_before": _NOON},
    "start_precedes_evidence": {"started_at": _NOON + dt.timedelta(seconds=1)},
    "end_reason_is_known": {"end_reason": "crashed"},
    "ended_unless_open": {"end_reason": "still_open"},
    "pushes_are_counted": {"terminating_pushes": 13},
    "points_are_counted": {"points": -1},
    "gaps_are_long": {"gaps": 2, "gap_seconds": 100.0},
    "interval_has_source": {"push_interval_source": None},
    "subscription_changes_are_counted": {"subscription_changes": 12},
    "broker_ids_are_sorted": {"broker_ids": [2, 1]},
    "addresses_are_sorted": {"client_addresses": ["10.0.0.2", "10.0.0.1"]},
    "zero_instance_is_flagged": {"client_instance_id": bytes(16)},
    "flags_are_known": {"flags": ["crashed"]},
    "evidence_is_of_the_day": {"first_evidence_at": _NOON - dt.timedelta(days=1)},
}
