import re
from datetime import timedelta
from importlib import resources

import pytest
from client_telemetry.reports.charts import bar, coverage_strip, patterns
from client_telemetry.reports.upgrade.build import build_report
from client_telemetry.reports.upgrade.model import OUTCOMES


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
