"""Rows of upgrade_outcomes: a good one, and for each rule what makes it bad."""

import datetime as dt

_NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)

GOOD = {
    "cluster_id": "bad-rows",
    "review_id": "review",
    "from_release": "3.9.1",
    "to_release": "4.0.1",
    "report_id": None,
    "client_id": "orders",
    "principal": "User:orders",
    "client_software_name": "unknown",
    "client_software_version": "",
    "addresses": ["10.0.0.7"],
    "phase": "rolling",
    "phase_from": _NOON,
    "phase_until": _NOON + dt.timedelta(minutes=2),
    "predicted": "breaks",
    "predicted_when": "at_once",
    "rules": ["observed_version_refused"],
    "outcome": "failing",
    "kind": "refused",
    "since": _NOON,
    "confidence": "certain",
    "comparison": "happened",
    "lost_functions": ["produce"],
    "api_keys": [0],
    "api_names": ["Produce"],
    "reasons": ["Produce v2 refused 12 times"],
    "rates": [{"function": "produce", "before": 40.0, "after": 0.0}],
    "fix": "upgrade it",
    "owner": None,
    "owner_contact": None,
    "reviewed_at": _NOON,
}

BAD = {
    "outcome_is_known": {"outcome": "broken"},
    "phase_is_known": {"phase": "before"},
    "failing_says_how_and_since_when": {"since": None},
    "gone_says_how": {"outcome": "gone_or_locked_out"},
    "harm_has_its_evidence": {"reasons": []},
    "confidence_is_known": {"confidence": "sure"},
    "comparison_is_known": {"comparison": "right"},
    "safe_is_not_said_to_have_happened": {"comparison": "as_predicted"},
    "phase_ends_after_it_begins": {"phase_until": _NOON - dt.timedelta(minutes=1)},
}
