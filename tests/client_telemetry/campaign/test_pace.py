from client_telemetry.campaign.pace import burn_down, forecast, moves
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


def test_burn_down_counts_each_day():
    changes = history(plan(), fleet(1, 5), day(4))
    assert [(each.left, each.fixed) for each in burn_down(changes, day(4))] == [
        (20, 0),
        (19, 1),
        (18, 2),
        (17, 3),
        (16, 4),
    ]
    assert moves(changes, day(1)) == (3, 0)
    assert burn_down([], day(4)) == []


def test_forecast_continues_the_pace_with_its_range():
    changes = history(plan(), fleet(1, 11), day(10))
    expected = forecast(changes, day(10), day(15))
    assert (expected.left, expected.of_days) == (5, 10)
    assert expected.low < expected.left < expected.high <= APPLICATIONS
    assert forecast(changes, day(10), day(60)).left == 0


def test_there_is_no_pace_without_a_history_or_a_change():
    assert forecast(history(plan(), fleet(1, 4), day(3)), day(3), day(20)) is None
    assert forecast(history(plan(), fleet(1, 11), day(10)), day(10), day(10)) is None
