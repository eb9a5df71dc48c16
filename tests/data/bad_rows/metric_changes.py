"""Rows of metric_changes: a good one, and for each rule what makes it bad."""

import datetime as dt

_NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
_MINUTE = dt.timedelta(minutes=1)

GOOD = {
    "cluster_id": "bad-rows",
    "review_id": "review",
    "scope": "client",
    "client_id": "orders",
    "principal": "User:orders",
    "client_instance_id": None,
    "instance_id": None,
    "client_software_name": "apache-kafka-java",
    "client_software_version": "3.9.1",
    "owner": None,
    "metric": "requests.Produce",
    "unit": "a minute",
    "form": "ratio",
    "before_from": _NOON,
    "before_until": _NOON + 5 * _MINUTE,
    "after_from": _NOON + 8 * _MINUTE,
    "after_until": _NOON + 13 * _MINUTE,
    "before": 40.0,
    "after": 20.0,
    "estimate": 0.5,
    "low": 0.4,
    "high": 0.6,
    "instances": 1,
    "p_value": 0.001,
    "changed": True,
    "direction": "down",
    "worse": True,
}

BAD = {
    "scope_is_known": {"scope": "cluster"},
    "form_is_known": {"form": "guess"},
    "interval_is_ordered": {"low": 0.7},
    "p_value_is_a_probability": {"p_value": 1.5},
    "direction_is_known": {"direction": "sideways"},
    "unchanged_is_not_worse": {"changed": False},
    "windows_do_not_overlap": {"after_from": _NOON},
    "has_instances": {"instances": 0},
}
