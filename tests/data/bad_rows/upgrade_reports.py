"""Rows of upgrade_reports: a good one, and for each rule what makes it bad."""

import datetime as dt

_DAY = dt.date(2026, 11, 21)
_NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)


def _target(release: str, safe: int = 1) -> dict:
    counts = dict.fromkeys(
        ("breaks_at_once", "breaks_latent", "insufficient_evidence", "degrades", "unsupported"), 0
    )
    return {"to_release": release} | counts | {"safe": safe, "works_again": 0}


GOOD = {
    "cluster_id": "bad-rows",
    "cluster_name": "orders-eu",
    "report_id": "report",
    "from_release": "3.9.1",
    "to_release": "4.0.0",
    "first_dt": _DAY,
    "last_dt": _DAY,
    "evidence_from": _NOON,
    "evidence_until": None,
    "evidence_until_reason": None,
    "clients": 1,
    "clients_by_pushes_only": 0,
    "already_failing": 0,
    "connections": 1,
    "connections_elsewhere": 0,
    "connections_unidentified": 0,
    "connections_counted_only": None,
    "targets": [_target("4.0.0"), _target("4.0.1")],
    "knowledge_version": "0123456789ab",
    "knowledge_built_at": _NOON,
    "measured_targets": None,
    "knowledge_gaps": None,
    "snapshots": [("clients", 1)],
    "is_latest": True,
    "code_version": "0.1.0",
    "created_at": _NOON,
}

BAD = {
    "days_are_a_range": {"first_dt": dt.date(2026, 11, 22)},
    "evidence_is_before_the_cut": {"evidence_until": _NOON},
    "clients_were_seen": {"clients": 0},
    "parts_are_clients": {"already_failing": 2},
    "asked_release_is_compared": {"targets": [_target("4.0.1")]},
    "targets_add_up": {"targets": [_target("4.0.0", safe=2)]},
    "one_row": {},
}
