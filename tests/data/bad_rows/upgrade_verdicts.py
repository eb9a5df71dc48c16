"""Rows of upgrade_verdicts: a good one, and for each rule what makes it bad."""

import datetime as dt

_DAY = dt.date(2026, 11, 21)
_NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)

GOOD = {
    "cluster_id": "bad-rows",
    "report_id": "report",
    "client_id": "orders",
    "principal": "User:orders",
    "client_software_name": "apache-kafka-java",
    "client_software_version": "3.9.1",
    "verdict": "safe",
    "confidence": "observed",
    "when": None,
    "roles": ["producer"],
    "explanation": "all that it uses is served",
    "fix": None,
    "missing": [],
    "identified_as": "kafka-clients 3.9.1",
    "owner": None,
    "owner_contact": None,
    "connections": 1,
    "requests": 10,
    "broker_ids": [1],
    "first_seen_at": _NOON,
    "last_seen_at": _NOON,
}

BAD = {
    "verdict_is_known": {"verdict": "fine"},
    "confidence_is_known": {"confidence": "sure"},
    "no_verdict_without_evidence": {"confidence": "none"},
    "breaking_says_when": {"verdict": "breaks"},
    "reason_is_told": {"explanation": ""},
    "missing_evidence_is_told": {"verdict": "insufficient_evidence", "confidence": "none"},
    "every_client_is_judged": {},
}
