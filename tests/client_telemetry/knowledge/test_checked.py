"""When rows that people wrote were last checked."""

import datetime as dt

import pytest
from client_telemetry import knowledge
from client_telemetry.knowledge import CHECKED_FILES, DamagedKnowledge, checked
from client_telemetry.knowledge.checked import CheckedRow

DAY = dt.date(2026, 11, 30)


def row(key: str, day: dt.date | None) -> CheckedRow:
    return CheckedRow("known_issues.csv", 2, key, day, "a test")


def test_every_row_that_people_wrote_has_a_day_that_has_come():
    rows = checked.shipped()
    assert {row.file for row in rows} == set(CHECKED_FILES)
    assert [row for row in rows if row.checked_on is None] == []
    checked.refuse_future(rows, dt.datetime.now(dt.UTC))


def test_its_key_identifies_a_row():
    names = [(row.file, row.key) for row in checked.shipped()]
    assert len(set(names)) == len(names)


def test_files_that_commands_write_have_no_such_day():
    texts = knowledge.shipped_texts()
    dated = {file for file, text in texts.items() if knowledge.CHECKED_ON in text.partition("\n")[0]}
    assert dated == set(CHECKED_FILES)


def test_a_row_is_stale_after_more_than_365_days_oldest_first():
    days = [DAY - dt.timedelta(days=each) for each in (365, 366, 400)]
    rows = [row("unknown", None), *(row(str(day), day) for day in days)]
    assert [each.checked_on for each in checked.stale(rows, DAY)] == [days[2], days[1]]
    assert checked.sentence(rows, DAY) == (
        "Rows written by people: 4; last checked on 2025-10-26 or later, 2 of them more than 365 days before "
        "2026-11-30; of 1 the day is not known"
    )
    assert (
        checked.sentence(rows[:1], DAY)
        == "Rows written by people: 1; when they were last checked is not known"
    )


def test_a_day_is_in_the_future_where_it_has_begun_nowhere():
    tomorrow = [row("x", DAY + dt.timedelta(days=1))]
    checked.refuse_future(tomorrow, dt.datetime(2026, 11, 30, 10, tzinfo=dt.UTC))
    with pytest.raises(
        DamagedKnowledge, match=r"known_issues\.csv line 2: checked_on 2026-12-01 is in the future"
    ):
        checked.refuse_future(tomorrow, dt.datetime(2026, 11, 30, 9, 59, tzinfo=dt.UTC))
