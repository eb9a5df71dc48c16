"""Rows of brokers: a good one, and for each rule what makes it bad."""

import datetime as dt

_DAY = dt.date(2026, 11, 21)
_NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)

GOOD = {
    "cluster_id": "bad-rows",
    "dt": _DAY,
    "broker_id": 1,
    "broker_incarnation": "00112233445566778899aabbccddeeff",
    "software_name": "apache-kafka",
    "software_version": "3.9.1",
    "releases": ["3.9.1"],
    "releases_known_by": "declared",
    "started_at": _NOON,
    "last_evidence_at": _NOON,
    "api_versions": [{"api_key": 0, "min_version": 0, "max_version": 12}],
    "finalized_features": {"metadata.version": 21},
    "feature_levels": [{"at": _NOON, "levels": {"metadata.version": 21}}],
    "listeners": [{"name": "CLIENTS", "security_protocol": "SASL_SSL", "sasl_mechanisms": ["PLAIN"]}],
    "subscriptions": [],
    "scram_users": [{"principal": "User:alice", "mechanisms": ["SCRAM-SHA-256"]}],
    "failed_logins": 3,
    "settings": {"sasl.enabled.mechanisms": "[PLAIN]"},
}

BAD = {
    "incarnation_is_hex": {"broker_incarnation": "first"},
    "release_is_declared": {"software_version": None},
    "releases_have_a_reason": {"releases_known_by": "none_explains"},
    "evidence_follows_the_start": {"started_at": _NOON + dt.timedelta(hours=1)},
}
