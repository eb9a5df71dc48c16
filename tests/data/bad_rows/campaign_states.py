"""Rows of campaign_states: a good one, and for each rule what makes it bad."""

import datetime as dt

GOOD = {
    "cluster_id": "bad-rows",
    "campaign": "orders-4.0",
    "cluster": "orders-eu",
    "principal": "User:orders",
    "application": "orders",
    "day": dt.date(2026, 12, 1),
    "revision": 1,
    "recorded_on": dt.date(2026, 12, 3),
    "state": "promised",
    "before": "open",
    "why": "with the next release",
    "by": "ann@example.com",
    "until": dt.date(2026, 12, 20),
    "owner": None,
    "owner_contact": None,
    "verdict": "breaks",
    "fix": None,
    "rules": ["observed_version_refused"],
    "report_id": "report",
    "affected_since": dt.date(2026, 11, 21),
    "formerly": [],
}

BAD = {
    "state_is_known": {"state": "done"},
    "revisions_are_counted": {"revision": 0},
    "statements_have_authors": {"by": None},
    "promises_and_waivers_end": {"until": None},
    "states_are_not_of_the_future": {"day": dt.date(2026, 12, 4)},
    "nothing_recorded_is_lost": {},
}
