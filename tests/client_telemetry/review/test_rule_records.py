"""How often each rule was right, case by case."""

import pytest
from client_telemetry.knowledge.vocabulary import Verdict, When
from client_telemetry.review.outcome import Happened, Kind, Outcome
from client_telemetry.review.prediction import Comparison, FoundRule, Prediction
from client_telemetry.review.rule_records import COUNTS, RuleRecord, rule_records, totals


def rule(
    rule_id: str = "a", when: str = When.AT_ONCE, api_key: int | None = 0, *, decides: bool = True
) -> FoundRule:
    return FoundRule(rule_id, Verdict.BREAKS, when, api_key, None if decides else "unknown", "why", "fix")


def predicted(*rules: FoundRule) -> Prediction:
    verdict = Verdict.BREAKS if rules else Verdict.SAFE
    return Prediction(verdict, "observed", None, "", "", {}, rules)


def failing(*api_keys: int) -> tuple[Outcome, ...]:
    return (Outcome("rolling", Happened.FAILING, Kind.REFUSED, 1.0, api_keys=api_keys),)


@pytest.mark.parametrize(
    ("case", "when", "comparison", "counted"),
    [
        ("it broke as foreseen", When.AT_ONCE, Comparison.HAPPENED, "happened"),
        ("it goes on", When.AT_ONCE, Comparison.DID_NOT_HAPPEN, "did_not_happen"),
        (
            "a latent one goes on: neither right nor wrong",
            When.LATENT,
            Comparison.DID_NOT_HAPPEN,
            "not_triggered",
        ),
        ("its trigger did not come", When.LATENT, Comparison.NOT_TRIGGERED, "not_triggered"),
        ("it was not seen since", When.AT_ONCE, Comparison.CANNOT_TELL, "cannot_tell"),
    ],
)
def test_a_client_counts_once(case: str, when: str, comparison: str, counted: str) -> None:
    (found,) = rule_records([(predicted(rule(when=when), rule(when=when)), failing(0), comparison)])
    assert {name: getattr(found, name) for name in COUNTS if getattr(found, name)} == {
        "predicted": 1,
        counted: 1,
    }, case


def test_a_rule_that_decides_nothing_is_not_counted() -> None:
    assert rule_records([(predicted(rule(decides=False)), failing(0), Comparison.HAPPENED)]) == ()


def test_who_failed_unexpectedly_in_what_a_rule_is_about_was_missed_by_it() -> None:
    clients = [
        (predicted(rule()), failing(0), Comparison.HAPPENED),
        (predicted(), failing(0), Comparison.UNEXPECTED),
        (predicted(), failing(1), Comparison.UNEXPECTED),
        (None, failing(0), "not_counted"),
    ]
    (found,) = rule_records(clients)
    assert (found.happened, found.missed) == (1, 1)
    assert (found.precision, found.recall) == (1.0, 0.5)


def test_without_anything_that_can_be_told_there_is_no_precision() -> None:
    nothing = RuleRecord("a", 2, 0, 0, 1, 1)
    assert (nothing.precision, nothing.recall) == (None, None)


def test_totals_add_up_over_reviews() -> None:
    found = totals(
        [RuleRecord("b", 1, 1, 0, 0, 0), RuleRecord("a", 1, 0, 1, 0, 0), RuleRecord("b", 2, 1, 0, 1, 0, 3)]
    )
    assert found == (RuleRecord("a", 1, 0, 1, 0, 0), RuleRecord("b", 3, 2, 0, 1, 0, 3))
