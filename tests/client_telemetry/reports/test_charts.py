import re
from datetime import UTC, datetime, timedelta
from importlib import resources

import pytest
from client_telemetry.reports.charts import (
    DAYS_SEEN_WIDTH,
    LEAST_WIDTH,
    bar,
    coverage_strip,
    days_seen_strip,
    patterns,
)
from client_telemetry.reports.evidence import DaySeen
from client_telemetry.reports.outcomes import OUTCOMES
from client_telemetry.reports.upgrade.build import build_report


def test_bar_is_as_long_as_its_clients():
    counts = dict.fromkeys(OUTCOMES, 0) | {"breaks_at_once": 1, "safe": 3}
    svg = bar(counts, scale=8)
    assert re.findall(r'class="f-(\w+)" x="([\d.]+)%" width="([\d.]+)%"', svg) == [
        ("breaks_at_once", "0", "12.5"),
        ("safe", "12.5", "37.5"),
    ]
    assert "breaks at once 1, safe 3" in svg


def test_every_outcome_has_a_look_of_its_own():
    css = resources.files("client_telemetry.reports").joinpath("page.css").read_text()
    for outcome in OUTCOMES:
        assert f".f-{outcome} {{" in css and f".o-{outcome} {{" in css and f"--{outcome}:" in css
    assert set(re.findall(r"url\(#([\w-]+)\)", css)) == set(re.findall(r'id="([\w-]+)"', patterns()))


def strip(rows, **changes) -> str:
    hours = [
        rows.broker_hour(1, 5),
        rows.broker_hour(2, 5, "sequence_gap"),
        rows.broker_hour(2, 4, "no_manifest"),
    ]
    report = build_report(rows.question(0, **changes), [], [], hours, [])
    return coverage_strip(report.coverage, report.question.evidence_from, report.question.evidence_until)


def test_strip_has_a_row_for_each_broker_and_tells_its_hours(rows):
    svg = strip(rows)
    assert re.findall(r"<text x=\"0\"[^>]*>(.*?)</text>", svg) == ["broker 1", "broker 2"]
    assert re.findall(r'<rect class="(\w+)"', svg) == ["none", "whole", "none", "partly"]
    assert "broker 2, 2026-11-21 05:00 to 2026-11-21 06:00: records are missing" in svg
    assert "1 of 12 broker hours" in svg and "evidence until 2026-11-21 05:47" in svg


@pytest.mark.parametrize(("days", "labels"), [(1, 4), (2, 2), (7, 7), (30, 10), (365, 10)])
def test_ticks_do_not_crowd(rows, days, labels):
    svg = strip(rows, evidence_until=None, last_dt=rows.DAY + timedelta(days=days - 1))
    assert svg.count('class="axis"') == labels


def test_nothing_to_draw(rows):
    report = build_report(rows.question(0), [], [], [], [])
    assert (
        coverage_strip(report.coverage, report.question.evidence_from, report.question.evidence_until) == ""
    )


def test_days_seen_are_bars_from_the_first_to_the_last_evidence_of_each():
    begin, end = moment(0), moment(100)
    svg = str(days_seen_strip([seen(25, 75), seen(90, 90), seen(100, 100)], begin, end))
    bars = re.findall(r'class="whole" x="([\d.]+)" width="([\d.]+)"', svg)
    assert [tuple(map(float, bar)) for bar in bars] == [
        (0.25 * DAYS_SEEN_WIDTH, 0.5 * DAYS_SEEN_WIDTH),
        (0.9 * DAYS_SEEN_WIDTH, LEAST_WIDTH),
        (DAYS_SEEN_WIDTH - LEAST_WIDTH, LEAST_WIDTH),
    ]
    assert "seen on 3 days of the evidence" in svg and "7 connections" in svg
    assert "seen on 1 day of the evidence" in days_seen_strip([seen(1, 2)], begin, end)


def test_days_seen_outside_the_evidence_end_at_its_ends():
    svg = str(days_seen_strip([seen(-50, 150)], moment(0), moment(100)))
    assert f'class="whole" x="0" width="{DAYS_SEEN_WIDTH}"' in svg


def test_no_time_or_no_day_is_no_strip_of_days():
    assert days_seen_strip([], moment(0), moment(1)) == ""
    assert days_seen_strip([seen(0, 0)], moment(0), moment(0)) == ""


def moment(hour: int) -> datetime:
    return datetime(2026, 11, 1, tzinfo=UTC) + timedelta(hours=hour)


def seen(first: int, last: int) -> DaySeen:
    return DaySeen(moment(first).date(), moment(first), moment(last), 7)
