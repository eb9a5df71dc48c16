from client_telemetry.campaign.pace import burn_down, forecast
from client_telemetry.campaign.states import history

from tests.client_telemetry.campaign.made_answers import answer, application, client, day, plan

APPLICATIONS = 20


def fleet(fixed_per_day, days):
    """Every day some more applications are good."""
    for number in range(days):
        yield answer(
            number,
            *(
                application(
                    f"a{i}", client("safe" if i < fixed_per_day * number else "breaks", number, f"a{i}")
                )
                for i in range(APPLICATIONS)
            ),
        )


def pace(fixed_per_day, days):
    return burn_down(history(plan(), fleet(fixed_per_day, days), day(days - 1)), day(days - 1))


def test_burn_down_counts_each_day():
    counts = pace(1, 5)
    assert [(each.left, each.fixed) for each in counts] == [(20, 0), (19, 1), (18, 2), (17, 3), (16, 4)]
    assert [(each.done, each.came) for each in counts] == [(0, 20), (1, 0), (1, 0), (1, 0), (1, 0)]
    assert burn_down([], day(4)) == []


def test_an_application_on_two_clusters_is_one_and_left_until_it_is_fixed_on_both():
    both = plan(clusters=("east", "west"))
    answers = [
        answer(number, application("a", client(verdict, number)), cluster=cluster)
        for cluster, verdicts in (("east", ("breaks", "safe")), ("west", ("breaks", "breaks", "safe")))
        for number, verdict in enumerate(verdicts)
    ]
    counts = burn_down(history(both, answers, day(2)), day(2))
    assert [(each.left, each.fixed) for each in counts] == [(1, 0), (1, 0), (0, 1)]


def test_a_renamed_application_is_neither_done_nor_new():
    answers = [answer(n, application(name, client("breaks", n, "id"))) for n, name in enumerate(("a", "b"))]
    [_, second] = burn_down(history(plan(), answers, day(1)), day(1))
    assert (second.left, second.done, second.came) == (1, 0, 0)


def test_forecast_continues_the_pace_with_its_range():
    expected = forecast(pace(1, 11), day(15))
    assert (expected.left, expected.of_days) == (5, 10)
    assert expected.low < expected.left < expected.high <= APPLICATIONS
    assert forecast(pace(1, 11), day(60)).left == 0


def test_there_is_no_pace_without_a_history_a_change_or_a_future():
    assert forecast(pace(1, 4), day(20)) is None
    assert forecast(pace(0, 11), day(20)) is None
    assert forecast(pace(1, 11), day(10)) is None
