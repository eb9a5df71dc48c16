"""Phases of rolling upgrades, from broker incarnations."""

import pytest
from client_telemetry.activity.records import BrokerRun, FeatureLevels
from client_telemetry.review.phases import NoSuchUpgrade, Upgrade, upgrade_of, upgrades

OLD, NEW, NEXT = "3.9.1", "4.0.0", "4.3.1"


def run(broker: int, release: str, started: float, until: float, running: bool = False) -> BrokerRun:
    return BrokerRun(broker, f"{broker}@{started}", (release,), started, until, running)


ROLL = [
    run(1, OLD, 0, 340),
    run(2, OLD, 0, 320),
    run(3, OLD, 0, 300),
    run(3, NEW, 310, 900, True),
    run(2, NEW, 330, 900, True),
    run(1, NEW, 350, 900, True),
]


def spans(upgrade: Upgrade) -> list[tuple[str, float, float]]:
    return [(p.name, p.since, p.until) for p in upgrade.phases]


def names(
    runs: list[BrokerRun], features: list[FeatureLevels], to: str = NEW, from_: str = OLD
) -> list[tuple]:
    return spans(upgrade_of(runs, features, from_, to))


def test_a_complete_roll_with_finalization() -> None:
    features = [FeatureLevels(1, {"metadata.version": 21}), FeatureLevels(600, {"metadata.version": 25})]

    assert names(ROLL, features) == [
        ("before", 0, 300),
        ("rolling", 300, 350),
        ("not_finalized", 350, 600),
        ("finalized", 600, 900),
    ]


def test_without_finalization_there_is_no_such_phase() -> None:
    features = [FeatureLevels(1, {"metadata.version": 21}), FeatureLevels(600, {"metadata.version": 21})]

    assert [name for name, *_ in names(ROLL, features)] == ["before", "rolling", "not_finalized"]


def test_a_halted_roll_goes_on_rolling() -> None:
    halted = [run(1, OLD, 0, 900, True), run(2, OLD, 0, 900, True), *ROLL[2:4]]

    found = upgrade_of(halted, [], OLD, NEW)

    assert [(p.name, p.since, p.until) for p in found.phases] == [("before", 0, 300), ("rolling", 300, 900)]
    assert not found.is_complete and found.upgraded == {3: 310}


def test_the_way_back_is_a_phase_of_its_own() -> None:
    back = [run(1, OLD, 0, 900, True), run(2, OLD, 0, 900, True), run(3, OLD, 0, 300)]
    back += [run(3, NEW, 310, 500), run(3, OLD, 510, 900, True)]

    assert names(back, []) == [("before", 0, 300), ("rolling", 300, 500), ("rolled_back", 500, 900)]


def test_a_way_back_of_all_brokers_comes_after_the_phases_of_the_target() -> None:
    back = [r._replace(until=600 + r.broker_id, is_running=False) if NEW in r.releases else r for r in ROLL]
    back += [run(b, OLD, 610 + b, 900, True) for b in (1, 2, 3)]

    found = upgrade_of(back, [], OLD, NEW)

    assert [(p.name, p.since, p.until) for p in found.phases] == [
        ("before", 0, 300),
        ("rolling", 300, 350),
        ("not_finalized", 350, 601),
        ("rolled_back", 601, 900),
    ]
    assert not found.is_mixed


ROLLED_AGAIN = [
    run(1, OLD, 0, 900),
    run(2, OLD, 0, 960),
    run(3, OLD, 0, 300),
    run(3, NEW, 306, 400),
    run(3, OLD, 406, 800),
    run(3, NEW, 806, 1500, True),
    run(1, NEW, 906, 1500, True),
    run(2, NEW, 966, 1500, True),
]
"""Broker 3 was upgraded and went back, and all brokers were upgraded later."""


def test_a_roll_after_a_way_back_is_an_upgrade_of_its_own() -> None:
    found = upgrade_of(ROLLED_AGAIN, [], OLD, NEW)

    assert spans(found) == [("before", 406, 800), ("rolling", 800, 966), ("not_finalized", 966, 1500)]
    assert found.is_complete and not found.is_mixed and found.upgraded == {3: 806, 1: 906, 2: 966}
    assert found.new == {"3@806", "1@906", "2@966"}
    assert [change[:] for change in upgrades(ROLLED_AGAIN)] == [(OLD, NEW, 300), (OLD, NEW, 800)]


def test_the_upgrade_before_the_way_back_can_be_asked_for() -> None:
    found = upgrade_of(ROLLED_AGAIN, [], OLD, NEW, began=300.0)

    assert spans(found) == [("before", 0, 300), ("rolling", 300, 400), ("rolled_back", 400, 800)]
    assert not found.is_complete and found.upgraded == {3: 306}


def test_all_brokers_that_went_back_are_rolled_again() -> None:
    back = [r._replace(until=600 + r.broker_id, is_running=False) if NEW in r.releases else r for r in ROLL]
    back += [run(b, OLD, 610 + b, 900 + b) for b in (1, 2, 3)]
    again = [*back, *(run(b, NEW, 910 + b, 1500, True) for b in (1, 2, 3))]

    assert spans(upgrade_of(again, [], OLD, NEW)) == [
        ("before", 613, 901),
        ("rolling", 901, 913),
        ("not_finalized", 913, 1500),
    ]


def test_a_restart_of_the_only_upgraded_broker_ends_nothing() -> None:
    restarted = [run(1, OLD, 0, 500), run(2, OLD, 0, 300), run(2, NEW, 306, 330), run(2, NEW, 350, 900, True)]
    restarted.append(run(1, NEW, 506, 900, True))

    assert spans(upgrade_of(restarted, [], OLD, NEW))[1] == ("rolling", 300, 506)


def test_a_broker_that_is_upgraded_again_while_others_stayed_upgraded_is_part_of_the_roll() -> None:
    again = [run(1, OLD, 0, 300), run(2, OLD, 0, 360), run(1, NEW, 306, 600), run(2, NEW, 366, 1500, True)]
    again += [run(1, OLD, 606, 700), run(1, NEW, 706, 1500, True)]

    found = upgrade_of(again, [], OLD, NEW)

    assert spans(found) == [("before", 0, 300), ("rolling", 300, 706), ("not_finalized", 706, 1500)]
    assert found.is_complete


def test_a_way_back_is_an_upgrade_only_if_it_is_asked_for() -> None:
    back = [
        run(1, OLD, 0, 960, True),
        run(3, OLD, 0, 300),
        run(3, NEW, 306, 400),
        run(3, OLD, 406, 960, True),
    ]

    assert [change[:2] for change in upgrades(back)] == [(OLD, NEW)]
    assert spans(upgrade_of(back, [], NEW, OLD)) == [
        ("before", 306, 400),
        ("rolling", 400, 406),
        ("not_finalized", 406, 960),
    ]
    downgraded = [run(1, NEW, 0, 300), run(1, OLD, 306, 900, True)]
    assert [change[:2] for change in upgrades(downgraded)] == [(NEW, OLD)]


def test_the_next_upgrade_ends_this_one() -> None:
    next_roll = [
        r._replace(until=700 + r.broker_id, is_running=False) if NEW in r.releases else r for r in ROLL
    ]
    next_roll += [run(b, NEXT, 710 + b, 1200, True) for b in (1, 2, 3)]

    assert names(next_roll, [])[-1] == ("not_finalized", 350, 701)
    assert [name for name, *_ in names(next_roll, [], NEXT, NEW)] == ["before", "rolling", "not_finalized"]


def test_a_restart_on_the_same_release_before_is_none_of_the_upgrade() -> None:
    restarted = [*ROLL, run(1, OLD, -200, -100)]

    assert names(restarted, [])[1] == ("rolling", 300, 350)


@pytest.mark.parametrize(
    ("from_", "to", "says"),
    [
        ("3.8.1", NEW, "no broker went from 3.8.1 to 4.0.0: broker 1: 3.9.1, then 4.0.0"),
        (NEW, OLD, "the brokers went from 3.9.1 to 4.0.0, not the other way"),
    ],
)
def test_an_upgrade_that_was_not_is_refused_with_what_was(from_: str, to: str, says: str) -> None:
    with pytest.raises(NoSuchUpgrade, match=says.replace(".", r"\.")):
        upgrade_of(ROLL, [], from_, to)
