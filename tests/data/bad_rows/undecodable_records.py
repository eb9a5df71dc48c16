"""Rows of undecodable_records: a good one, and for each rule what makes it bad."""

import datetime as dt

_DAY = dt.date(2026, 11, 21)
_NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)

GOOD = {
    "cluster_id": "bad-rows",
    "dt": _DAY,
    "dataset": "client_pushes",
    "source_object": "v1/dataset=client_pushes/x.zst",
    "source_offset": 0,
    "stage": "decode",
    "error_class": "NotProtobuf",
    "message": "not a message. Look at the writer.",
    "bytes": b"abc",
    "bytes_total": 3,
    "broker_id": 1,
    "broker_incarnation": "00112233445566778899aabbccddeeff",
    "sequence": None,
    "client_instance_id": None,
}

BAD = {
    "error_class_is_known": {"error_class": "Strange"},
    "message_is_there": {"message": ""},
    "bytes_are_kept": {"bytes": b"", "bytes_total": 3},
    "rows_match_ledger": {},
    "few_are_undecodable": {},
}
