"""Rows of client_metrics: a good one, and for each rule what makes it bad."""

import datetime as dt

_DAY = dt.date(2026, 11, 21)
_NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)

GOOD = {
    "cluster_id": "bad-rows",
    "dt": _DAY,
    "broker_id": 1,
    "broker_incarnation": "00112233445566778899aabbccddeeff",
    "sequence": 0,
    "point_index": 0,
    "client_instance_id": bytes(range(16)),
    "received_at": _NOON,
    "metric": "org.apache.kafka.producer.record.send.rate",
    "kind": "gauge",
    "temporality": None,
    "is_monotonic": None,
    "attributes": [("topic", "orders")],
    "start_time": None,
    "time": _NOON,
    "value": 1.0,
    "value_int": None,
    "resource_index": 0,
}

BAD = {
    "kind_is_known": {"kind": "counter"},
    "only_sums_accumulate": {"temporality": "delta"},
    "metric_has_a_name": {"metric": ""},
    "point_has_a_value": {"value": None},
    "rows_match_pushes": {},
}
