"""The text is that of Python's own writer."""

import datetime as dt
import json
from dataclasses import fields, is_dataclass
from typing import Any

import pytest
from client_telemetry.reports.json_text import json_text, timestamp
from client_telemetry.reports.upgrade.document import report_json

NOON = dt.datetime(2026, 11, 21, 12, 0, 0, 5, tzinfo=dt.timezone(dt.timedelta(hours=2)))


def plain(value: Any) -> Any:
    """What json can write: dataclasses as objects, tuples as arrays, times as text."""
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, dt.datetime):
        return timestamp(value)
    return value.isoformat() if isinstance(value, dt.date) else value


@pytest.mark.parametrize(
    "value",
    [
        [],
        {},
        {"a": [], "b": {}, "c": ()},
        ['ü\u202e"\\\n\ud800', 1, -2.5, 1e300, True, False, None, 2**70],
        [[{"a": [1, {"b": ("c",)}]}], NOON, NOON.date()],
    ],
)
def test_as_json_writes_it(value):
    assert json_text(value) == json.dumps(plain(value), indent=1, allow_nan=False)


def test_what_is_no_number_is_refused():
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_text([float("nan")])


def test_times_are_in_utc_to_the_microsecond():
    assert timestamp(NOON) == "2026-11-21T10:00:00.000005Z"


def test_a_whole_report(fleet_report):
    text = "".join(report_json(fleet_report))
    assert json.dumps(json.loads(text), indent=1) + "\n" == text
