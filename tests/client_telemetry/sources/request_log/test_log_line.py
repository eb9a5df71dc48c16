import csv
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from client_telemetry.sources.request_log.log_line import LineReader

CASES = Path(__file__).parents[3] / "data" / "sources" / "log_lines.csv"


def _cases() -> list[dict]:
    with CASES.open(newline="", encoding="utf-8") as rows:
        return list(csv.DictReader(rows))


@pytest.mark.parametrize("case", _cases(), ids=lambda case: case["case"])
def test_line(case):
    read = LineReader().read(case["line"].encode())
    if case["message"] == "-":
        assert read is None
        return
    assert (read.label, read.message) == (case["label"], case["message"])
    if not case["written_at"]:
        assert read.nanos is None
    else:
        expected = datetime.fromisoformat(case["written_at"])
        assert datetime.fromtimestamp(read.nanos // 1000 / 10**6, UTC) == expected


def test_a_time_without_a_zone_is_of_the_specified_zone():
    line = b"[2026-07-21 05:00:00,000] DEBUG Completed request:{}"
    berlin = LineReader(ZoneInfo("Europe/Berlin")).read(line)
    assert LineReader().read(line).nanos - berlin.nanos == 2 * 3600 * 10**9


@pytest.mark.parametrize(
    ("zone", "name", "hour", "problem"),
    [
        ("UTC", "CEST", None, "specify the zone"),
        ("UTC", "MESZ", None, "specify the zone"),
        ("UTC", "Europe/Berlin", 3, ""),
        ("UTC", "Europe/Nowhere", None, "Europe/Nowhere is not a known time zone"),
        ("Europe/Berlin", "CEST", 3, ""),
        ("Europe/Berlin", "PST", None, "the zone name PST, which Europe/Berlin does not have at that time"),
        ("America/Sao_Paulo", "BRT", 8, ""),
    ],
)
def test_names_of_zones(zone, name, hour, problem):
    """A name that the specified zone does not have would be hours off."""
    reader = LineReader(UTC if zone == "UTC" else ZoneInfo(zone))
    read = reader.read(f"[2026-07-21 05:00:00,000 {name}] DEBUG Completed request:{{}}".encode())
    assert problem in read.problem
    assert (read.nanos is None) == (hour is None)
    assert hour is None or datetime.fromtimestamp(read.nanos // 10**9, UTC).hour == hour
