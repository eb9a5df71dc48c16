"""Every fix that the knowledge base recommends was run against a real broker, or says why not."""

import re

import pytest
from client_telemetry.compatibility import ClientEvidence, judge

from benchmarks.fixes import __main__ as command
from benchmarks.fixes import table
from benchmarks.fixes.clients import STEPS
from benchmarks.fixes.recommended import recommendations
from benchmarks.fixes.table import Plan

PLANS, RESULTS = table.plans(), table.results()


def test_every_recommendation_has_a_plan_or_a_reason():
    planned = {each.recommendation for each in PLANS}
    assert recommendations() - planned == set(), (
        "add them to benchmarks/fixes/plan.csv and run python -m benchmarks.fixes --broker 4.0.1 (and 4.3.1)"
    )
    assert planned - recommendations() == set(), "the knowledge base recommends these no more"
    assert all(bool(each.program) != bool(each.not_run) for each in PLANS)


def test_every_plan_was_run_on_every_broker_that_it_names():
    run = {(each.client, each.broker) for each in RESULTS}
    missing = {(each.client, release) for each in PLANS if each.program for release in each.releases} - run
    assert not missing, "run python -m benchmarks.fixes --broker RELEASE"


def test_what_was_expected_came_of_it():
    """A fix works, and the version before it does not: the trouble was there when the fix was run."""
    works = {(each.client, each.broker): each.works for each in RESULTS}
    surprises = [
        (each.recommendation, each.client, release)
        for each in PLANS
        if each.program
        for release in each.releases
        if works[each.client, release] != {"works": True, "fails": False}[each.expected]
    ]
    assert surprises == []


def test_nothing_was_run_that_is_not_planned():
    planned = {each.client for each in PLANS}
    assert [each for each in RESULTS if each.client not in planned] == []


@pytest.mark.parametrize("result", RESULTS, ids=lambda each: f"{'-'.join(each.client)}-{each.broker}")
def test_a_result_is_complete(result):
    steps = [getattr(result, step) for step in STEPS]
    assert set(steps) <= {"ok", "failed", "n/a", ""}
    assert bool(result.error) == ("failed" in steps)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", result.ran_on)
    assert not re.search(r"127\.0\.0\.1|/home|/root|/tmp", result.error)


def test_a_client_that_has_a_row_is_not_run_again(capsys, monkeypatch):
    done = next(each for each in RESULTS if each.broker == "4.0.1")
    plan = Plan("x 1", *done.client, brokers="4.0.1", expected="works", not_run="")
    monkeypatch.setattr(table, "plans", lambda: [plan])
    assert command.main(["--broker", "4.0.1"]) == 0
    assert capsys.readouterr().out == "nothing to run against 4.0.1\n"


NAMES = {
    "confluent-kafka-go": "librdkafka",
    "franz-go": "kgo",
    "kafka-clients": "apache-kafka-java",
    "kafka-python": "kafka-python",
    "platformatic-kafka": "platformatic-kafka",
}
"""Programs whose library declares its name -> that name."""


@pytest.mark.parametrize(
    "result",
    [
        each
        for each in RESULTS
        if each.program in NAMES
        and re.fullmatch(r"4\.\d\.\d", each.broker)
        and "api_version" not in each.configuration
    ],
    ids=lambda each: f"{'-'.join(each.client)}-{each.broker}",
)
def test_what_was_run_is_what_the_verdicts_say(result):
    """By name, version and mechanism alone, from 3.9.2; the features of these brokers are at their newest."""
    protocol = "SASL_PLAINTEXT" if result.mechanism else "PLAINTEXT"
    evidence = ClientEvidence(
        NAMES[result.program],
        result.version,
        sasl_mechanism=result.mechanism or None,
        security_protocol=protocol,
    )
    verdict = judge(evidence, "3.9.2", result.broker)
    assert (verdict.verdict == "breaks") == (not result.works), verdict.explanation
