"""What holds of any campaign, whatever was reported and said, and in whatever order the runs came."""

from client_telemetry.campaign.plan import Statement, Target
from client_telemetry.campaign.states import history
from client_telemetry.campaign.vocabulary import LEFT, STATES
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.client_telemetry.campaign.made_answers import answer, application, client, day, plan

DAYS = 7
NAMES = ("a", "b", "c")
VERDICTS = st.sampled_from(("breaks", "insufficient_evidence", "degrades", "safe"))


@st.composite
def some_clients(draw, number):
    """Clients of one application: ids move between applications, and some were last seen on an earlier day."""
    return [
        client(
            draw(VERDICTS), max(0, number - draw(st.integers(0, 3))), draw(st.sampled_from("xyz")), since=0
        )
        for _ in range(draw(st.integers(1, 2)))
    ]


@st.composite
def some_answers(draw):
    answers = []
    for number in range(DAYS):
        for version in range(draw(st.integers(0, 2))):
            names = draw(st.sets(st.sampled_from(NAMES)))
            parts = [application(name, *draw(some_clients(number))) for name in sorted(names)]
            share = draw(st.sampled_from((1.0, 1.0, 0.2, None)))
            answers.append(answer(number, *parts, version=version, complete_share=share))
    return answers


@st.composite
def some_statements(draw):
    made = []
    for _ in range(draw(st.integers(0, 4))):
        kind = draw(st.sampled_from(("acknowledge", "promise", "waive")))
        on = draw(st.integers(0, DAYS))
        until = None if kind == "acknowledge" else day(on + draw(st.integers(0, 5)))
        target = draw(st.sampled_from(("application", "client_id")))
        name = draw(st.sampled_from(NAMES if target == "application" else "xyz"))
        made.append(Statement(kind, Target(**{target: name}), "ann", day(on), until, "why"))
    return made


@settings(max_examples=60, deadline=None)
@given(some_answers(), some_statements(), st.randoms())
def test_order_and_repetition_of_runs_make_no_difference(answers, statements, random):
    expected = history(plan(*statements), answers, day(DAYS))
    again = [*answers, *answers]
    random.shuffle(again)
    assert [(c.day, c.key, c.state) for c in history(plan(*statements), again, day(DAYS))] == [
        (c.day, c.key, c.state) for c in expected
    ]


@settings(max_examples=60, deadline=None)
@given(some_answers(), some_statements())
def test_a_day_that_is_added_changes_no_earlier_state(answers, statements):
    whole = history(plan(*statements), answers, day(DAYS))
    for last in range(DAYS):
        part = history(plan(*statements), [a for a in answers if a.day <= day(last)], day(last))
        assert part == [change for change in whole if change.day <= day(last)]


@settings(max_examples=80, deadline=None)
@given(some_answers(), some_statements())
def test_nobody_leaves_what_is_to_do_without_evidence_or_a_waiver(answers, statements):
    by_report = {each.report_id: each for each in answers}
    for change in history(plan(*statements), answers, day(DAYS)):
        assert change.state in STATES
        assert change.why
        if change.before not in LEFT or change.state in LEFT:
            continue
        if change.state == "waived":
            assert any(s.kind == "waive" and s.is_active(change.day) for s in statements)
            continue
        report = by_report[change.report_id]
        assert report.day == change.day
        if change.state == "fixed":
            [seen] = [each for each in report.applications if each.name == change.application]
            assert any(each.verdict in ("safe", "degrades") for each in seen.clients)
        else:
            assert change.state == "renamed"


@settings(max_examples=60, deadline=None)
@given(some_answers(), some_statements())
def test_a_waiver_ends_on_its_day(answers, statements):
    changes = history(plan(*statements), answers, day(DAYS))
    for number in range(DAYS + 1):
        now = {change.key: change for change in changes if change.day <= day(number)}
        for change in now.values():
            if change.state in ("waived", "promised"):
                assert change.until >= day(number)
