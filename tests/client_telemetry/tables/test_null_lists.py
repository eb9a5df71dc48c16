"""A list of records that is null stays null, written and read without Spark."""

import datetime as dt

from client_telemetry.tables import null_lists
from client_telemetry.tables.broker_hours import BROKER_HOURS
from client_telemetry.tables.lake import Lake
from pyiceberg.io.pyarrow import ArrowProjectionVisitor

REQUESTS = [{"api_key": 0, "version": 9, "requests": 7}]


def _round_trip(folder, *told: list | None) -> list:
    lake = Lake(None, str(folder))
    lake.create([BROKER_HOURS])
    row = {"cluster_id": "c", "dt": dt.date(2026, 11, 21), "broker_id": 1, "completeness": ["complete"]}
    rows = [{**row, "hour": hour, "requests_counted": each} for hour, each in enumerate(told)]
    lake.append(BROKER_HOURS, rows)
    found = sorted(lake.rows(BROKER_HOURS), key=lambda row: row["hour"])
    return [row["requests_counted"] for row in found]


def test_null_and_empty_are_kept_apart(tmp_path):
    assert _round_trip(tmp_path / "some", [], REQUESTS, None) == [[], REQUESTS, None]
    assert _round_trip(tmp_path / "all", None, None) == [None, None]
    assert _round_trip(tmp_path / "first", None, REQUESTS) == [None, REQUESTS]


def test_without_the_repair_null_becomes_empty(tmp_path, monkeypatch):
    """When this fails, pyiceberg has repaired it, and the module can go."""
    monkeypatch.setattr(ArrowProjectionVisitor, "list", null_lists._rebuild)
    assert _round_trip(tmp_path, [], REQUESTS, None) == [[], REQUESTS, []]
