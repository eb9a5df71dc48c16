"""Rows of client_metric_histograms: a good one, and for each rule what makes it bad."""

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
    "kind": "histogram",
    "temporality": "delta",
    "attributes": [("topic", "orders")],
    "start_time": None,
    "time": _NOON,
    "count": 3,
    "sum": 6.0,
    "min": None,
    "max": None,
    "explicit_bounds": [1.0, 2.0],
    "bucket_counts": [1, 1, 1],
    "scale": None,
    "zero_count": None,
    "positive_offset": None,
    "positive_counts": None,
    "negative_offset": None,
    "negative_counts": None,
    "quantiles": None,
    "quantile_values": None,
    "resource_index": 0,
}

BAD = {
    "kind_is_known": {"kind": "gauge"},
    "count_is_not_negative": {"count": -1},
    "buckets_fit_bounds": {"bucket_counts": [1, 2]},
    "rows_match_pushes": {},
}
