"""The goals of the verdicts on programs and on the fleet, and that missing one is noticed."""

import dataclasses
from pathlib import Path

import pytest

from benchmarks import accuracy_programs as accuracy

PAGE = Path(__file__).parents[2] / "docs" / "accuracy-programs.md"


@pytest.fixture(scope="module")
def predictions():
    return accuracy.predictions()


def test_goals_are_reached(predictions):
    assert accuracy.goals_missed(predictions) == []


def test_a_wrong_safe_is_noticed(predictions):
    broken = next(each for each in predictions if each.outcome == "breaks")
    assert any(
        "wrong safe" in each for each in accuracy.goals_missed([dataclasses.replace(broken, verdict="safe")])
    )


def test_the_fleets_second_upgrade():
    """Twelve applications are refused by 4.0.0, and two that came later give up by themselves; two work again."""
    judged = accuracy.fleet("4.0.0", "4.3.1")
    failing = accuracy.applications_of(who for who, verdict in judged.items() if verdict.already_failing)
    assert failing == accuracy.failing_applications() and len(failing) == 14
    again = accuracy.applications_of(who for who, verdict in judged.items() if verdict.works_again)
    assert again == {"click-enrich", "click-sink"}
    others = {who: verdict for who, verdict in judged.items() if not verdict.already_failing}
    latent = {who: verdict for who, verdict in others.items() if verdict.verdict != "safe"}
    assert accuracy.applications_of(latent) == {"fraud-scorer", "erp-report"}, "work until an offset is reset"
    assert {(each.verdict, each.when, each.as_before) for each in latent.values()} == {
        ("breaks", "latent", True)
    }


def test_nothing_of_the_fleet_fails_before_its_first_upgrade():
    assert not any(verdict.already_failing for verdict in accuracy.fleet("3.9.1", "4.0.0").values())


def test_the_page_is_current(predictions):
    assert PAGE.read_text(encoding="utf-8") == accuracy.report(predictions), "write it again: make accuracy"
