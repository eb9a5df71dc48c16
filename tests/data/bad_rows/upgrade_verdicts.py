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
    "program": "Produce v2",
    "verdict": "safe",
    "confidence": "observed",
    "when": None,
    "roles": ["producer"],
    "explanation": "all that it uses is served",
    "fix": None,
    "missing": [],
    "identified_as": "kafka-clients 3.9.1",
    "condition": None,
    "already_failing": False,
    "works_again": False,
    "as_before": False,
    "steps": [{"step": "rolling", "verdict": "safe", "when": None, "explanation": "nothing happens"}],
    "rollback_verdict": "safe",
    "rollback_explanation": "3.9.1 accepts the same again",
    "mixed_verdict": "safe",
    "mixed_explanation": "both releases serve what it uses",
    "other_targets": [
        {"to_release": "4.0.1", "verdict": "breaks", "when": "at_once", "reason": "Produce v2"}
    ],
    "owner": None,
    "owner_contact": None,
    "application": "orders",
    "application_kind": "application",
    "product": None,
    "application_notes": [],
    "connections": 1,
    "requests": 10,
    "broker_ids": [1],
    "first_seen_at": _NOON,
    "last_seen_at": _NOON,
    "well_observed": True,
}

BAD = {
    "verdict_is_known": {"verdict": "fine"},
    "confidence_is_known": {"confidence": "sure"},
    "no_verdict_without_evidence": {"confidence": "none"},
    "breaking_says_when": {"verdict": "breaks"},
    "explanation_is_present": {"explanation": ""},
    "missing_evidence_is_listed": {"verdict": "insufficient_evidence", "confidence": "none"},
    "outlooks_are_known": {"mixed_verdict": "fine"},
    "rollback_and_mixed_window_are_explained": {"rollback_explanation": None},
    "works_again_was_failing": {"works_again": True},
    "steps_are_known": {"steps": [{"step": "later", "verdict": "safe", "when": None, "explanation": "-"}]},
    "other_targets_differ": {
        "other_targets": [{"to_release": "4.0.1", "verdict": "safe", "when": None, "reason": "Produce v2"}]
    },
    "every_client_is_judged": {},
}
