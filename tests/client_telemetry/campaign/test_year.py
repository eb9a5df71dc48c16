"""A year of weekly changes: what holds of states whatever happens. Small here, whole where there is time."""

import datetime as dt
import random
from collections import defaultdict
from collections.abc import Iterator

import pytest
from client_telemetry.campaign.plan import WAIVE
from client_telemetry.campaign.recorded import added
from client_telemetry.campaign.recorded import history as standing
from client_telemetry.campaign.states import StateChange, history
from client_telemetry.campaign.vocabulary import FIXED, LEFT, RENAMED, WAIVED, WITHDRAWN

from benchmarks.campaign_year import Year, again, year

SIZES = [
    pytest.param((240, 3), id="240 clients"),
    pytest.param((5000, 12), id="5000 clients", marks=[pytest.mark.end_to_end, pytest.mark.long]),
]


@pytest.fixture(scope="module", params=SIZES)
def made(request) -> Year:
    return year(*request.param)


@pytest.fixture(scope="module")
def changes(made) -> list[StateChange]:
    return history(made.campaign, made.answers, made.until)


def lives(changes: list[StateChange]) -> Iterator[list[StateChange]]:
    of_key = defaultdict(list)
    for change in changes:
        of_key[change.key].append(change)
    yield from of_key.values()


def said(changes: list[StateChange]) -> list[tuple]:
    return sorted(
        (each.day, each.key, each.state, each.before, each.by, each.until or dt.date.min) for each in changes
    )


def test_the_year_has_every_kind_of_change(changes):
    assert {change.state for change in changes} >= {*LEFT, FIXED, WAIVED}


def test_nobody_leaves_what_is_to_do_without_evidence_or_a_waiver(made, changes):
    seen = {
        (report.report_id, each.name): {client.verdict for client in each.clients}
        for report in made.answers
        for each in report.applications
    }
    for change in changes:
        if change.before not in LEFT or change.state in LEFT or change.state == RENAMED:
            continue
        if change.state == WAIVED:
            assert any(
                each.kind == WAIVE
                and each.target.application == change.application
                and each.is_active(change.day)
                for each in made.campaign.statements
            )
        else:
            assert change.state == FIXED
            assert seen[change.report_id, change.application] & {"safe", "degrades"}


def test_a_waiver_ends_on_its_day(made, changes):
    waived = 0
    for life in lives(changes):
        for change, after in zip(life, [*life[1:], None], strict=True):
            if change.state == WAIVED:
                waived += 1
                ends = change.until + dt.timedelta(days=1)
                assert after.day <= ends if after else ends > made.until
    assert waived


def test_any_order_and_repetition_of_runs_gives_the_same_states(made, changes):
    dice = random.Random(7)
    shuffled = [*made.answers, *dice.sample(made.answers, len(made.answers) // 3)]
    dice.shuffle(shuffled)
    assert said(history(made.campaign, shuffled, made.until)) == said(changes)
    days = sorted({each.day for each in made.answers})
    runs = [*dice.sample(days, 6), made.until, days[10], made.until]
    recorded = []
    for day in runs:
        recorded += added(recorded, [each for each in changes if each.day <= day], day)
    assert said(standing(recorded)) == said(changes)
    assert {row.revision for row in recorded} == {1}, "nothing is recorded twice"


def test_an_old_day_that_is_processed_again_corrects_the_history_and_says_so(made, changes):
    recorded = added([], changes, made.until)
    before = list(recorded)
    old = made.answers[len(made.answers) // 4]
    now = history(made.campaign, [*made.answers, again(old, "breaks")], made.until)
    recorded += added(recorded, now, made.until)
    assert recorded[: len(before)] == before, "rows are added and never changed"
    assert said(standing(recorded)) == said(now) != said(changes)
    corrections = recorded[len(before) :]
    assert all(row.change.cluster == old.cluster and row.change.day >= old.day for row in corrections)
    assert any(row.revision > 1 for row in corrections) and all(row.change.why for row in corrections)
    assert any(row.change.state == WITHDRAWN for row in corrections)
