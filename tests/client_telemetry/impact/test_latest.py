"""Which answer to a question is marked as the latest: the one about the latest day, and of these the one made last."""

import datetime as dt
from pathlib import Path

import pytest
from client_telemetry.impact.latest import marked
from client_telemetry.lake.lake import Lake
from client_telemetry.tables.upgrade_reports import UPGRADE_REPORTS

from tests.data.bad_rows.upgrade_reports import GOOD

DAY = GOOD["last_dt"]


def report(report_id: str, *, day: int = 0, hour: int = 0, **changes) -> dict:
    made = GOOD["created_at"] + dt.timedelta(hours=hour)
    row = {**GOOD, "report_id": report_id, "last_dt": DAY + dt.timedelta(days=day), "created_at": made}
    return row | {"is_latest": None} | changes


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    lake = Lake(None, str(tmp_path))
    lake.create([UPGRADE_REPORTS])
    return lake


def marks(lake: Lake, *stored: dict, asked: dict) -> dict[str, bool]:
    """What asking changes: report id to mark."""
    lake.append(UPGRADE_REPORTS, stored)
    return {row["report_id"]: row["is_latest"] for row in marked(lake, asked)}


def test_a_later_day_or_a_later_answer_about_the_same_is_the_latest(lake):
    stored = report("stored", is_latest=True)
    assert marks(lake, stored, asked=report("next day", day=1)) == {"next day": True, "stored": False}
    assert marks(lake, asked=report("again", hour=1)) == {"again": True, "stored": False}
    assert marks(lake, asked=report("same time")) == {"same time": False}


def test_a_question_about_an_earlier_day_leaves_the_latest(lake):
    assert marks(lake, report("stored", is_latest=True), asked=report("last week", day=-7, hour=1)) == {
        "last week": False
    }


def test_another_question_or_cluster_has_a_latest_of_its_own(lake):
    stored = [
        report("other target", is_latest=True, to_release="4.0.1"),
        report("other source", is_latest=True, from_release="3.8.0"),
        report("other cluster", is_latest=True, cluster_id="other"),
    ]
    assert marks(lake, *stored, asked=report("first", day=-1)) == {"first": True}


def test_answers_of_before_there_were_marks_get_them(lake):
    stored = [report("a"), report("b", day=1), report("c", day=-1)]
    assert marks(lake, *stored, asked=report("now", hour=3)) == {
        "now": False,
        "a": False,
        "b": True,
        "c": False,
    }


def test_a_report_that_is_made_again_is_not_beside_itself(lake):
    assert marks(lake, report("same", is_latest=True), asked=report("same", hour=1)) == {"same": True}


def test_files_of_older_answers_are_not_opened(lake):
    lake.append(UPGRADE_REPORTS, [report(f"of {day}", day=-day, is_latest=day == 0) for day in range(30)])
    planned = lake.files(UPGRADE_REPORTS, is_latest=[True, None])
    assert [file.rows for file in planned] == [1]
