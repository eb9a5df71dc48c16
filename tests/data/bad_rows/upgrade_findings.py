"""Rows of upgrade_findings: a good one, and for each rule what makes it bad."""

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
    "finding": 0,
    "rule_id": "served",
    "verdict": "safe",
    "confidence": "observed",
    "when": None,
    "trigger": None,
    "condition": None,
    "condition_met": None,
    "settled_by": None,
    "api_key": 0,
    "api_name": "Produce",
    "versions": "9",
    "requests": 10,
    "first_seen_at": _NOON,
    "last_seen_at": _NOON,
    "broker_ids": [1],
    "source_objects": ["v1/dataset=connections/x.zst"],
    "source_sequences": [7],
    "explanation": "Produce 9 is served",
    "fix": None,
    "source": "KIP-896",
}

BAD = {
    "verdict_is_known": {"verdict": "fine"},
    "rule_has_a_source": {"source": ""},
    "explanation_is_present": {"explanation": ""},
    "observed_means_requests": {"requests": None},
    "condition_is_settled_or_not": {"condition": "with Kerberos"},
    "observed_cites_its_source": {"source_objects": [], "source_sequences": []},
    "records_have_a_sequence": {"source_sequences": []},
}
