"""The goals of the verdicts on clients that log in, and that missing one is noticed."""

import dataclasses
from pathlib import Path

import pytest

from benchmarks import accuracy_authentication as accuracy

PAGE = Path(__file__).parents[2] / "docs" / "accuracy-authentication.md"


@pytest.fixture(scope="module")
def predictions():
    return accuracy.predictions()


def test_goals_are_reached(predictions):
    assert accuracy.goals_missed(predictions) == []


def test_with_the_mechanism_known_every_outcome_is_predicted(predictions):
    assert [each for each in predictions if each.kind == accuracy.KNOWN and not each.is_right] == []


def test_misses_are_noticed(predictions):
    known = [each for each in predictions if each.kind == accuracy.KNOWN]
    broken = next(each for each in known if each.outcome == "breaks")
    assert accuracy.goals_missed([dataclasses.replace(broken, verdict="safe")]) == [
        "mechanism known: 1 wrong safe, none allowed"
    ]
    works = next(each for each in known if each.outcome == "works")
    assert "false alarms" in accuracy.goals_missed([dataclasses.replace(works, verdict="breaks")])[0]


def test_the_page_is_current(predictions):
    text = accuracy.report(predictions, accuracy.without_libraries())
    assert PAGE.read_text(encoding="utf-8") == text, "write it again: make accuracy"
