"""The goals of the verdicts on real clients, and that missing one is noticed."""

import dataclasses
from pathlib import Path

import pytest

from benchmarks import accuracy, review_accuracy

PAGE = Path(__file__).parents[2] / "docs" / "accuracy.md"


@pytest.fixture(scope="module")
def predictions():
    return accuracy.predictions()


def test_goals_are_reached(predictions):
    assert accuracy.goals_missed(predictions) == []


def test_every_client_and_pair_of_releases_is_replayed(predictions):
    by_kind = accuracy.grouped(predictions, lambda each: each.kind)
    assert {kind: len(some) for kind, some in by_kind.items()} == {
        "all requests seen": 114 * 4 * 4,
        "short window": 114 * 4 * 4,
        "name and version alone": 47 * 4 * 4,
        "client id alone": 114 * 4 * 4,
    }


def test_with_all_requests_seen_every_outcome_is_predicted(predictions):
    wrong = [each for each in predictions if each.kind == "all requests seen" and not each.is_right]
    assert wrong == []


@pytest.mark.parametrize(("outcome", "verdict"), [("breaks", "safe"), ("breaks", "degrades")])
def test_one_wrong_safe_is_noticed(predictions, outcome, verdict):
    spoiled = [dataclasses.replace(predictions[0], outcome=outcome, verdict=verdict), *predictions[1:]]
    assert accuracy.goals_missed(spoiled) == ["all requests seen: 1 wrong safe"]


def test_false_alarms_are_noticed(predictions):
    spoiled = [dataclasses.replace(each, verdict="breaks") for each in predictions]
    assert [each.split(":")[0] for each in accuracy.goals_missed(spoiled)] == [
        "all requests seen",
        "name and version alone",
    ]


def test_what_the_runs_taught_is_marked(predictions):
    """Without its runs librdkafka up to 1.7.0 would be taken for harmless; protocol facts carry the rest."""
    without = accuracy.predictions_without_own_runs()
    all_seen = [each for each in without if each.kind == "all requests seen"]
    assert all(each.is_right for each in all_seen)
    wrong = {
        each.seen.client.library for each in without if (each.outcome, each.verdict) == ("breaks", "safe")
    }
    assert wrong == {"confluent-kafka", "confluent-kafka-go"}
    assert accuracy.predictions() == predictions  # and nothing of it stays behind


def test_the_report_names_every_miss(predictions):
    text = accuracy.report(
        predictions,
        accuracy.predictions_without_own_runs(),
        accuracy.predictions_without_libraries(),
        review_accuracy.rules_of_all(review_accuracy.recordings()),
    )
    assert PAGE.read_text(encoding="utf-8") == text, (
        "write it again: python -m benchmarks.accuracy --write docs/accuracy.md"
    )
    for each in predictions:
        if not each.is_right:
            assert str(each.seen.client) in text


def test_a_library_that_is_not_known_is_never_called_safe_wrongly():
    without = accuracy.predictions_without_libraries()
    assert not [
        each for each in without if each.outcome == "breaks" and each.verdict in ("safe", "unsupported")
    ]
