"""Each client below is a row of cells: `#` where it sent something, `.` where it was silent."""

import pytest
from client_telemetry.compatibility import well_observed
from client_telemetry.compatibility.well_observed import CELLS, DAY_S, SHORTEST_S, is_well_observed
from client_telemetry.knowledge import roles
from client_telemetry.knowledge.vocabulary import Role
from hypothesis import given
from hypothesis import strategies as st

MINUTE, HOUR = 60, 3600
FETCH, LIST_OFFSETS, METADATA, PRODUCE, HEARTBEAT = 1, 2, 3, 0, 12
CELL_SECONDS = st.sampled_from((10, MINUTE, 10 * MINUTE, HOUR, 2.7 * HOUR))
DAYS = st.lists(st.booleans(), min_size=1, max_size=CELLS).map(
    lambda cells: "".join(".#"[cell] for cell in cells)
)


def bits(cells: str) -> int:
    return sum(1 << n for n, cell in enumerate(cells) if cell == "#")


def observed(cells: str, cell_s: float, watched: str = "") -> bool:
    return is_well_observed(
        (Role.PRODUCER,), {PRODUCE: bits(cells)}, bits(watched or "#" * len(cells)), cell_s
    )


@pytest.mark.parametrize(
    ("client", "cells", "cell_s", "well"),
    [
        ("every few seconds for ten minutes", "#" * 60, 10, True),
        ("every few seconds for eight minutes", "#" * 48, 10, False),
        ("every two minutes for ten minutes", ("#" + "." * 11) * 5, 10, True),
        ("every five minutes for ten minutes", ("#" + "." * 29) * 2, 10, False),
        ("every five minutes for half an hour", "#....#....#....#....#....#....", MINUTE, True),
        ("gone after two of ten minutes", "#" * 12 + "." * 48, 10, False),
        ("a nightly batch, seen once", "#" + "." * 23, HOUR, False),
        ("a nightly batch, seen twice", ("#" + "." * 23) * 2, HOUR, False),
        ("a nightly batch in a week", ("#" + "." * 8) * 6, 24 * HOUR / 9, True),
        ("new on the last day, without a pause", "." * 36 + "#" * 24, HOUR, True),
        ("new, seen for a day every two hours", "." * 48 + "#" * 12, 2 * HOUR, True),
        ("new, seen for 20 hours after 4 of a day", "." * 50 + "#" * 10, 2 * HOUR, True),
        ("new, seen for 18 hours", "." * 51 + "#" * 9, 2 * HOUR, False),
        ("new in the last hours", "." * 50 + "#" * 12, HOUR, False),
        ("gone after a day without a pause", "#" * 24 + "." * 36, HOUR, True),
        ("two requests a week apart", "#" + "." * 60 + "#", 2.7 * HOUR, False),
        ("never", "." * 60, HOUR, False),
    ],
)
def test_a_client_is_well_observed_by_its_own_rhythm(client: str, cells: str, cell_s: float, well: bool):
    assert observed(cells, cell_s) is well


def test_time_that_nobody_watched_is_no_silence():
    """The request log was on for an hour, and for another one some hours later."""
    watched = ("#" * 8 + "." * 20) * 2
    assert not observed(watched, 8 * MINUTE)
    assert observed(watched, 8 * MINUTE, watched)
    assert not observed("#" * 8 + "." * 48, 8 * MINUTE, watched)


def test_every_role_has_its_own_rhythm():
    """A consumer that wrote once within an hour: what it does as a producer was hardly seen."""
    steady, once, watched = bits("#" * 60), bits("#"), bits("#" * 60)
    consumer, both = (Role.GROUP_CONSUMER,), (Role.PRODUCER, Role.GROUP_CONSUMER)
    assert is_well_observed(consumer, {FETCH: steady, PRODUCE: once}, watched, MINUTE)
    assert not is_well_observed(both, {FETCH: steady, PRODUCE: once}, watched, MINUTE)
    assert is_well_observed(both, {FETCH: steady, PRODUCE: steady}, watched, MINUTE)


def test_a_request_of_the_role_that_was_never_sent_adds_nothing():
    """A group consumer has Heartbeat too. Silent for 19 of 60 cells: one less would do."""
    assert not is_well_observed(
        (Role.GROUP_CONSUMER,), {FETCH: bits("." * 19 + "#" * 41)}, bits("#" * 60), MINUTE
    )
    assert is_well_observed(
        (Role.GROUP_CONSUMER,), {FETCH: bits("." * 18 + "#" * 42)}, bits("#" * 60), MINUTE
    )


def test_requests_that_all_roles_share_or_that_wait_for_an_event_show_no_rhythm():
    steady = bits("#" * 60)
    for key in (METADATA, LIST_OFFSETS):
        assert not is_well_observed((Role.GROUP_CONSUMER,), {key: steady}, steady, MINUTE)
    assert is_well_observed((Role.GROUP_CONSUMER,), {HEARTBEAT: steady}, steady, MINUTE)


def test_a_client_without_a_role_is_seen_by_all_that_it_sends():
    steady = bits("#" * 60)
    assert is_well_observed((), {METADATA: steady}, steady, MINUTE)
    assert not is_well_observed((), {}, steady, MINUTE)


def test_every_role_has_requests_that_recur():
    assert all(well_observed.recurring(role) for role in roles.ROLES)


@given(DAYS, CELL_SECONDS, st.integers(0, CELLS - 1))
def test_one_more_request_never_turns_well_observed_into_so_far(cells: str, cell_s: float, place: int):
    place %= len(cells)
    with_it = cells[:place] + "#" + cells[place + 1 :]
    assert observed(with_it, cell_s) or not observed(cells, cell_s)


@given(DAYS, CELL_SECONDS, st.integers(1, CELLS))
def test_a_longer_window_in_which_it_goes_on_never_does(cells: str, cell_s: float, more: int):
    more = min(more, CELLS - len(cells))
    assert observed(cells + "#" * more, cell_s) or not observed(cells, cell_s)
    assert observed("#" * more + cells, cell_s) or not observed(cells, cell_s)


@given(DAYS, CELL_SECONDS, st.text(".#", max_size=CELLS), st.text(".#", max_size=CELLS))
def test_nor_does_any_longer_window_once_a_day_was_watched(
    cells: str, cell_s: float, before: str, after: str
):
    """Whatever it does before and after, silence for good included."""
    room = CELLS - len(cells)
    before = before[:room]
    after = after[: room - len(before)]
    if len(cells) * cell_s >= DAY_S and observed(cells, cell_s):
        assert observed(before + cells + after, cell_s)


@given(DAYS, CELL_SECONDS)
def test_no_rhythm_makes_up_for_a_short_window(cells: str, cell_s: float):
    if len(cells) * cell_s < SHORTEST_S:
        assert not observed(cells, cell_s)
