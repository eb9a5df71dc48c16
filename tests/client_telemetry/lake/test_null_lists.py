"""A list of records that is null stays null, written and read without Spark. pyiceberg 0.12 takes it for an empty one
(apache/iceberg-python issue 3833), which is why rows go through lake/files.py and lake/writer.py."""

import datetime as dt

from client_telemetry.lake.lake import Lake
from client_telemetry.tables.broker_hours import BROKER_HOURS

REQUESTS = [{"api_key": 0, "version": 9, "requests": 7}]


def _round_trip(folder, *lists: list | None) -> list:
    lake = Lake(None, str(folder))
    lake.create([BROKER_HOURS])
    row = {"cluster_id": "c", "dt": dt.date(2026, 11, 21), "broker_id": 1, "completeness": ["complete"]}
    rows = [{**row, "hour": hour, "requests_counted": each} for hour, each in enumerate(lists)]
    lake.append(BROKER_HOURS, rows)
    found = sorted(lake.rows(BROKER_HOURS), key=lambda row: row["hour"])
    return [row["requests_counted"] for row in found]


def test_null_and_empty_are_kept_apart(tmp_path):
    assert _round_trip(tmp_path / "some", [], REQUESTS, None) == [[], REQUESTS, None]
    assert _round_trip(tmp_path / "all", None, None) == [None, None]
    assert _round_trip(tmp_path / "first", None, REQUESTS) == [None, REQUESTS]
