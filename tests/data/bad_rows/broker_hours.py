"""Rows of broker_hours: a good one, and for each rule what makes it bad."""

import datetime as dt

_DAY = dt.date(2026, 11, 21)
_NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)

GOOD = {
    "cluster_id": "bad-rows",
    "dt": _DAY,
    "broker_id": 1,
    "hour": 12,
    "completeness": ["complete"],
    "incarnations": ["00112233445566778899aabbccddeeff"],
    "objects": 1,
    "pushes_expected": 1,
    "pushes_read": 1,
    "connection_events_expected": 1,
    "connection_events_read": 1,
    "dropped": {},
    "requests_counted": [{"api_key": 0, "version": 9, "requests": 7}],
    "registry_mode": "continuous",
    "registry_windows": None,
    "connections_missed": None,
    "connections_counted": None,
    "requests_missed": None,
}

BAD = {
    "hour_is_of_the_day": {"hour": 24},
    "completeness_is_known": {"completeness": ["fine"]},
    "complete_stands_alone": {"completeness": ["complete", "sequence_gap"]},
    "every_broker_has_a_day": {"broker_id": 999},
    "nothing_was_lost": {"completeness": ["sequence_gap"]},
}
