"""Rows of rule_records: a good one, and for each rule what makes it bad."""

import datetime as dt

GOOD = {
    "cluster_id": "bad-rows",
    "review_id": "review",
    "from_release": "3.9.1",
    "to_release": "4.0.1",
    "rule_id": "observed_version_refused",
    "predicted": 6,
    "happened": 3,
    "did_not_happen": 1,
    "not_triggered": 1,
    "cannot_tell": 1,
    "missed": 2,
    "reviewed_at": dt.datetime(2026, 11, 22, 12, tzinfo=dt.UTC),
}

BAD = {
    "counts_are_not_negative": {"missed": -1},
    "every_client_is_counted_once": {"happened": 4},
}
