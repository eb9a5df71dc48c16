"""Rows of raw_objects: a good one, and for each rule what makes it bad."""

import datetime as dt

_DAY = dt.date(2026, 11, 21)
_NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)

GOOD = {
    "cluster_id": "bad-rows",
    "dt": _DAY,
    "object_key": "v1/dataset=connections/x.zst",
    "dataset": "connections",
    "hour": 12,
    "broker_id": 1,
    "broker_incarnation": "00112233445566778899aabbccddeeff",
    "first_sequence": 0,
    "last_sequence": 9,
    "bytes": 100,
    "modified_at": _NOON,
    "sha256": None,
    "status": "decoded",
    "error": None,
    "records": 10,
    "rows": 8,
    "duplicates": 1,
    "undecodable": 1,
    "points": 0,
    "flags": [],
    "collected_at": _NOON,
}

BAD = {
    "status_is_known": {"status": "half"},
    "records_add_up": {"rows": 9},
    "name_tells_a_range": {"first_sequence": 10},
    "fault_has_a_reason": {"status": "torn"},
    "flags_are_known": {"flags": ["odd"]},
    "objects_are_readable": {"status": "damaged", "error": "cut"},
    "objects_match_manifests": {"flags": ["digest_mismatch"]},
}
