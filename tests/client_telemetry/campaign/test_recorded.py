"""A history that runs record one after the other: whatever their order, the recorded one is the computed one in the end."""

from client_telemetry.campaign import recorded
from client_telemetry.campaign.states import history
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.client_telemetry.campaign.made_answers import answer, application, client, day, plan
from tests.client_telemetry.campaign.test_state_properties import DAYS, some_answers, some_statements


def said(changes):
    return [(c.day, c.key, c.state, c.before, c.by, c.until) for c in changes]


@settings(max_examples=80, deadline=None)
@given(some_answers(), some_statements(), st.data())
def test_any_order_and_repetition_of_runs_record_the_same_history(answers, statements, data):
    """Runs know any part of the reports, and compute up to any day; the last one knows all."""
    rows = []
    for _ in range(data.draw(st.integers(0, 4))):
        part = data.draw(st.lists(st.sampled_from(answers))) if answers else []
        until = day(data.draw(st.integers(0, DAYS)))
        rows += recorded.added(rows, history(plan(*statements), part, until), until)
    computed = history(plan(*statements), answers, day(DAYS))
    rows += recorded.added(rows, computed, day(DAYS))
    assert said(recorded.history(rows)) == said(computed)
    assert recorded.added(rows, computed, day(DAYS)) == []
    places = [(row.change.day, row.change.key, row.revision) for row in rows]
    assert len(places) == len(set(places))


def bad(number):
    return answer(number, application("orders", client("breaks", number, "x", since=0)))


def good(number):
    return answer(number, application("orders", client("safe", number, "x", since=number)))


def test_an_old_day_that_is_made_again_corrects_what_was_recorded_and_says_so():
    first = recorded.added([], history(plan(), [bad(0), good(3)], day(4)), day(4))
    assert [(row.change.state, row.revision) for row in first] == [("open", 1), ("fixed", 1)]
    again = answer(3, application("orders", client("breaks", 3, "x", since=0)), version=1)
    second = recorded.added(first, history(plan(), [bad(0), good(3), again], day(5)), day(5))
    (row,) = second
    assert (row.change.state, row.change.day, row.revision, row.recorded_on) == (
        "withdrawn",
        day(3),
        2,
        day(5),
    )
    assert row.change.why == "reports or statements of that day changed"
    third = recorded.added([*first, *second], history(plan(), [bad(0), good(3)], day(6)), day(6))
    assert [(row.change.state, row.revision) for row in third] == [("fixed", 3)]


def test_a_run_for_an_early_day_withdraws_nothing_later():
    rows = recorded.added([], history(plan(), [bad(0), good(3)], day(4)), day(4))
    assert recorded.added(rows, history(plan(), [bad(0)], day(1)), day(1)) == []
