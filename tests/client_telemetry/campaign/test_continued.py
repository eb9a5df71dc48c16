"""States that are continued from what an earlier run kept are those that all reports give, and cost the new reports only."""

import datetime as dt
from dataclasses import dataclass, replace

import pytest
from client_telemetry.campaign.answers import Answer
from client_telemetry.campaign.continued import stand
from client_telemetry.campaign.kept import Kept, NotKept, kept_text, read_kept
from client_telemetry.campaign.plan import WAIVE, Statement, Target
from client_telemetry.campaign.states import history
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.campaign_year import again, year
from tests.client_telemetry.campaign.made_answers import answer, application, client, day, plan
from tests.client_telemetry.campaign.test_state_properties import DAYS, some_answers, some_statements


@dataclass
class Stored:
    """A report that counts how often it was read."""

    content: Answer
    reads: int = 0

    @property
    def digest(self) -> str:
        return str(hash(self.content))

    def answer(self) -> Answer:
        self.reads += 1
        return self.content


def carried(kept: Kept | None) -> Kept | None:
    """As a file takes it to the next run."""
    return kept and read_kept(kept_text(kept))


def of_days(*numbers: int) -> list[Stored]:
    return [
        Stored(answer(number, application("a", client("breaks" if number < 4 else "safe", number, "a"))))
        for number in numbers
    ]


def after(campaign, reports, until: int) -> Kept:
    kept = stand(campaign, reports, day(until)).kept
    for report in reports:
        report.reads = 0
    return carried(kept)


def reads(reports: list[Stored]) -> list[int]:
    return [report.reads for report in reports]


def test_a_new_day_reads_its_report_alone():
    reports = of_days(*range(9))
    kept = after(plan(), reports[:8], 8)
    now = stand(plan(), reports, day(9), kept)
    assert reads(reports) == [0] * 8 + [1]
    assert list(now.changes) == history(plan(), [each.content for each in reports], day(9))
    assert [change.state for change in now.changes] == ["open", "fixed"]
    assert stand(plan(), reports, day(9), now.kept).kept is None, "nothing new to keep"


@pytest.mark.parametrize("late", [6, 8])
def test_a_late_day_reads_from_there(late):
    reports = of_days(*range(9))
    kept = after(plan(), reports, 9)
    reports[late] = Stored(again(reports[late].content, "breaks"))
    now = stand(plan(), reports, day(9), kept)
    assert reads(reports) == [0] * late + [1] * (9 - late)
    assert list(now.changes) == history(plan(), [each.content for each in reports], day(9))


def test_a_report_that_is_gone_is_missing_from_the_history():
    reports = of_days(*range(5))
    kept = after(plan(), reports, 9)
    assert [each.state for each in stand(plan(), reports[:4], day(9), kept).changes] == ["open"]


def test_what_people_say_later_reads_nothing_and_what_they_said_before_reads_all():
    reports = of_days(*range(4))
    kept = after(plan(), reports, 4)
    later = plan(Statement(WAIVE, Target(application="a"), "ann", day(5), day(7), "retired"))
    now = stand(later, reports, day(8), kept)
    assert reads(reports) == [0] * 4
    assert [change.state for change in now.changes] == ["open", "waived", "open"]
    before = plan(Statement(WAIVE, Target(application="a"), "ann", day(0), day(9), "retired"))
    assert [change.state for change in stand(before, reports, day(8), kept).changes] == ["waived"]
    assert reads(reports) == [1] * 4


def test_another_threshold_target_or_cluster_counts_at_once():
    reports = of_days(*range(4))
    kept = after(plan(), reports, 4)
    stricter = replace(plan().gate, fail_on=("breaks", "safe"))
    assert list(stand(replace(plan(), gate=stricter), reports, day(9), kept).changes) == history(
        replace(plan(), gate=stricter), [each.content for each in reports], day(9)
    )
    assert not stand(replace(plan(), to_release="4.1.0"), reports, day(9), kept).changes
    assert not stand(replace(plan(), clusters=("west",)), reports, day(9), kept).reports


@settings(max_examples=80, deadline=None)
@given(some_answers(), some_statements(), st.data())
def test_runs_in_any_order_are_what_all_reports_give(answers, statements, data):
    """Reports come one by one, in any order, some of them later than the runs; statements are added and taken back."""
    waiting = data.draw(st.permutations([Stored(each) for each in answers]))
    there: list[Stored] = []
    kept = None
    while waiting:
        there.append(waiting.pop())
        campaign = plan(
            *data.draw(st.lists(st.sampled_from(statements), unique=True) if statements else st.just([]))
        )
        until = day(data.draw(st.integers(0, DAYS)))
        now = stand(campaign, there, until, kept)
        assert list(now.changes) == history(campaign, [each.content for each in there], until)
        kept = carried(now.kept) or kept


@pytest.mark.parametrize(
    "size",
    [
        pytest.param((240, 3), id="240 clients"),
        pytest.param((5000, 12), id="5000 clients", marks=[pytest.mark.end_to_end, pytest.mark.long]),
    ],
)
def test_a_year_week_by_week(size):
    made = year(*size)
    reports = [Stored(each) for each in made.answers]
    kept = None
    for week in range(53):
        until = made.answers[0].day + dt.timedelta(weeks=week)
        now = stand(made.campaign, [each for each in reports if each.content.day <= until], until, kept)
        kept = carried(now.kept) or kept
    assert list(now.changes) == history(made.campaign, made.answers, made.until)
    assert set(reads(reports)) == {1}


@pytest.mark.parametrize("text", ["", "{}\n", "{}\n[]\n1\n", '{"a": {}}\n[]\n', "[]\n{}\n", "\n\n\n"])
def test_what_is_damaged_is_not_used(text):
    with pytest.raises(NotKept):
        read_kept(text)


def test_damaged_tracks_are_computed_again():
    reports = of_days(*range(4))
    kept = after(plan(), reports, 4)
    damaged = replace(kept, points=tuple(replace(point, tracks="[{}]") for point in kept.points))
    assert list(stand(plan(), reports, day(9), damaged).changes) == history(
        plan(), [each.content for each in reports], day(9)
    )
