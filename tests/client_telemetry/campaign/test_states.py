import pytest
from client_telemetry.campaign.corrections import Published, corrections
from client_telemetry.campaign.plan import Statement, Target, Thresholds
from client_telemetry.campaign.states import current, history

from tests.client_telemetry.campaign.made_answers import answer, application, client, day, plan


def states(campaign, answers, until=40, name="orders"):
    """Day number and state of each change of an application."""
    changes = history(campaign, answers, day(until))
    return [((each.day - day(0)).days, each.state) for each in changes if each.application == name]


def bad(number, name="orders"):
    return answer(number, application(name, client("breaks", number, name)))


def good(number, name="orders"):
    return answer(number, application(name, client("safe", number, name)))


def acknowledged(on, by="ann", **target):
    return Statement("acknowledge", Target(**(target or {"application": "orders"})), by, day(on))


def promised(on, until, **target):
    return Statement("promise", Target(**(target or {"application": "orders"})), "ann", day(on), day(until))


def waived(on, until, **target):
    return Statement(
        "waive", Target(**(target or {"application": "orders"})), "bob", day(on), day(until), "retired soon"
    )


def test_affected_in_the_first_report_is_open_and_later_is_new():
    answers = [bad(0), answer(1, *bad(1).applications, application("late", client("breaks", 1, "late")))]
    assert states(plan(), answers) == [(0, "open")]
    assert states(plan(), answers, name="late") == [(1, "new")]


def test_fixed_once_seen_good_after_it_was_last_seen_affected():
    answers = [bad(0), bad(1), good(2)]
    assert states(plan(), answers) == [(0, "open"), (2, "fixed")]
    [_, fixed] = history(plan(), answers, day(9))
    assert fixed.why == "last seen with verdict breaks 2026-11-02 12:00, safe 2026-11-03 12:00"
    assert fixed.report_id == "r2-0"


def test_not_fixed_while_the_window_has_it_beside_a_good_client():
    both = [client("breaks", 1, "orders"), client("safe", 1, "orders")]
    answers = [bad(0), answer(1, application("orders", *both))]
    assert states(plan(), answers) == [(0, "open")]
    # A batch client of the day before, which may come again: the good one runs beside it since before.
    both = [client("breaks", 1, "orders"), client("safe", 2, "orders", since=0)]
    assert states(plan(), [bad(0), answer(2, application("orders", *both))]) == [(0, "open")]


def test_fixed_while_still_in_the_window_if_the_same_client_id_began_anew():
    replaced = [client("breaks", 1, "orders"), client("safe", 3, "orders", since=2)]
    assert states(plan(), [bad(0), answer(3, application("orders", *replaced))]) == [
        (0, "open"),
        (3, "fixed"),
    ]
    other_id = [client("breaks", 1, "orders"), client("safe", 3, "orders-new", since=2)]
    assert states(plan(), [bad(0), answer(3, application("orders", *other_id))]) == [(0, "open")]


def test_a_better_verdict_on_old_evidence_fixes_nothing():
    judged_anew = answer(1, application("orders", client("safe", 0)))
    assert states(plan(), [bad(0), judged_anew]) == [(0, "open")]


def test_silent_is_quiet_and_seen_again_open():
    other = application("other", client("safe", 1, "other"))
    answers = [bad(0), answer(1, other), bad(2)]
    assert states(plan(), answers) == [(0, "open"), (1, "quiet"), (2, "open")]


@pytest.mark.parametrize(
    "fields", [{"complete_share": 0.5}, {"complete_share": None}, {"unseen_brokers": (3,)}]
)
def test_nobody_is_quiet_in_a_report_that_did_not_see_all_brokers(fields):
    assert states(plan(), [bad(0), answer(1, **fields)]) == [(0, "open")]


def test_regressed_only_with_new_evidence():
    answers = [bad(0), good(1), answer(2, application("orders", client("breaks", 0), client("safe", 2)))]
    assert states(plan(), answers) == [(0, "open"), (1, "fixed")], (
        "a longer window shows the old client again"
    )
    assert states(plan(), [*answers, bad(3)]) == [(0, "open"), (1, "fixed"), (3, "regressed")]


def test_without_evidence_it_is_open_and_settled_by_evidence():
    unknown = answer(0, application("orders", client("insufficient_evidence", 0)))
    assert states(plan(), [unknown, good(1)]) == [(0, "open"), (1, "fixed")]


def test_what_fails_the_gate_keeps_open():
    degrades = [answer(0, application("orders", client("degrades", 0)))]
    assert states(plan(), degrades) == []
    assert states(plan(gate=Thresholds(fail_on=("breaks", "degrades"))), degrades) == [(0, "open")]


def test_statements_and_their_ends():
    said = plan(acknowledged(2), promised(3, 6))
    assert states(said, [bad(0), bad(9)]) == [(0, "open"), (2, "acknowledged"), (3, "promised"), (7, "open")]
    *_, ended = history(said, [bad(0), bad(9)], day(9))
    assert ended.why == "ann promised it until 2026-11-07: it breaks"
    assert states(plan(acknowledged(2)), [bad(0), good(3)])[-1] == (3, "fixed")


def test_a_promise_from_before_a_regression_is_over():
    answers = [bad(0), good(1), bad(5)]
    assert states(plan(promised(0, 30)), answers) == [(0, "promised"), (1, "fixed"), (5, "regressed")]
    assert states(plan(promised(0, 30), promised(6, 9)), answers, until=8)[-1] == (6, "promised")


def test_a_waiver_ends_after_its_day():
    assert states(plan(waived(1, 4)), [bad(0)]) == [(0, "open"), (1, "waived"), (5, "open")]
    *_, ended = history(plan(waived(1, 4)), [bad(0)], day(9))
    assert ended.why == "the waiver of bob ended on 2026-11-05: it breaks"


def test_a_waived_rule_covers_only_what_has_no_other_rule():
    rule = plan(waived(0, 9, rule="telemetry"))
    one = [answer(0, application("orders", client("breaks", 0, rules=("telemetry",))))]
    two = [answer(0, application("orders", client("breaks", 0, rules=("old_requests", "telemetry"))))]
    no_rule = [answer(0, application("orders", client("insufficient_evidence", 0, rules=())))]
    assert states(rule, one)[0] == (0, "waived")
    assert states(rule, two) == [(0, "open")]
    assert states(rule, no_rule) == [(0, "open")]
    both = plan(waived(0, 9, rule="telemetry"), waived(0, 5, rule="old_requests"))
    assert states(both, two)[:1] == [(0, "waived")]


def test_a_waived_client_id_covers_only_that_client():
    two = [answer(0, application("orders", client("breaks", 0, "a"), client("breaks", 0, "b")))]
    assert states(plan(waived(0, 9, client_id="a")), two) == [(0, "open")]
    assert states(plan(waived(0, 9, client_id="a"), waived(0, 5, client_id="b")), two, until=7) == [
        (0, "waived"),
        (6, "open"),
    ]


def test_statements_of_another_cluster_owner_or_principal_do_not_count():
    for target in ({"cluster": "west"}, {"owner": "other"}, {"principal": "User:b"}):
        said = plan(acknowledged(0, application="orders", **target))
        assert states(said, [bad(0)]) == [(0, "open")]
    assert states(plan(acknowledged(0, owner="shop")), [bad(0)]) == [(0, "acknowledged")]


def test_history_survives_another_name():
    renamed = answer(1, application("shop-orders", client("breaks", 1, "orders")))
    assert states(plan(acknowledged(0)), [bad(0), renamed]) == [(0, "acknowledged"), (1, "renamed")]
    [heir] = [each for each in history(plan(acknowledged(0)), [bad(0), renamed], day(9)) if each.formerly]
    assert (heir.application, heir.state, heir.affected_since) == ("shop-orders", "acknowledged", day(0))
    assert "until then counted as orders" in heir.why


def test_history_survives_a_split():
    whole = answer(0, application("orders", client("breaks", 0, "a"), client("breaks", 0, "b")))
    parts = answer(
        1, application("orders-a", client("breaks", 1, "a")), application("orders-b", client("safe", 1, "b"))
    )
    now = {each.application: each.state for each in current(history(plan(), [whole, parts], day(9)))}
    assert now == {"orders": "renamed", "orders-a": "open", "orders-b": "fixed"}


def test_a_split_does_not_fix_the_part_that_keeps_the_name():
    whole = answer(0, application("orders", client("breaks", 0, "a"), client("safe", 0, "b")))
    parts = answer(
        1, application("orders", client("safe", 1, "b")), application("orders-a", client("breaks", 1, "a"))
    )
    now = {each.application: each.state for each in current(history(plan(), [whole, parts], day(9)))}
    assert now == {"orders": "renamed", "orders-a": "open"}


def test_a_part_that_is_silent_stays_to_do():
    whole = answer(0, application("orders", client("breaks", 0, "a"), client("breaks", 0, "b")))
    part = answer(1, application("orders-a", client("safe", 1, "a")))
    now = {each.application: each.state for each in current(history(plan(), [whole, part], day(9)))}
    assert now == {"orders": "quiet", "orders-a": "fixed"}


def test_a_reprocessed_day_corrects_the_history_and_says_so():
    before = Published(day(2), tuple(history(plan(), [bad(0), good(1), good(2)], day(2))), ())
    reprocessed = answer(1, application("orders", client("breaks", 1)), version=5)
    now = history(plan(), [bad(0), good(1), reprocessed, good(2), bad(3)], day(3))
    first, second = corrections(before, now, day(3))
    assert (first.day, first.was, first.now) == (day(1), "fixed", "")
    assert (second.day, second.was, second.now, second.found_on) == (day(2), "", "fixed", day(3))
    later = Published(day(3), tuple(now), (first, second))
    assert corrections(later, now, day(4)) == [first, second], "what was corrected stays said"


def test_what_is_new_is_no_correction():
    before = Published(day(2), tuple(history(plan(), [bad(0)], day(2))), ())
    assert corrections(before, history(plan(), [bad(0), good(3)], day(3)), day(3)) == []
    assert corrections(before, history(plan(), [], day(-1)), day(-1)) == [], (
        "an earlier day than the published one"
    )
