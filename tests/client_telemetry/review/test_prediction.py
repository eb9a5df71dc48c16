"""Fix and prediction belong to a cause, not to a client."""

from typing import Any

import scenarios
from client_telemetry.reports.review.wording import well_again
from client_telemetry.review.in_parts import review
from client_telemetry.review.model import ReviewedClient
from client_telemetry.review.outcome import Happened, Kind, Outcome
from client_telemetry.review.prediction import Comparison, FoundRule, Prediction, compared


def reviewed(*clients: tuple[Any, str]) -> dict[str | None, ReviewedClient]:
    found = review(scenarios.evidence(list(clients)), "3.9.1", "4.0.1")
    return {client.client_id: client for client in found.clients}


def who(name: str) -> Any:
    return scenarios.client(name)._replace(principal=f"User:{name}")


def of_rule(rule_id: str, api_key: int | None, when: str = "at_once") -> Prediction:
    rule = FoundRule(rule_id, "breaks", when, api_key, None, "it breaks", "upgrade it")
    return Prediction("breaks", "observed", when, "it breaks", "upgrade it", {}, (rule,))


def test_a_new_client_that_meets_what_was_predicted_gets_the_fix_and_counts() -> None:
    clients = reviewed(
        (who("old"), "Produce:9@0-900/2"),
        (who("new"), "Metadata:1@400-900/5 Produce:2@400-900/2x"),
    )
    new = clients["new"]
    assert new.is_down and new.comparison == Comparison.HAPPENED
    assert "upgrade" in new.fix
    assert clients["old"].comparison == Comparison.AS_SAFE


def test_a_new_client_that_fails_for_a_reason_of_its_own_gets_no_fix() -> None:
    new = reviewed(
        (who("old"), "Produce:9@0-900/2"),
        (who("new"), "InitProducerId:4@400-900/1!90"),
    )["new"]
    assert (new.comparison, new.fix) == (Comparison.NOT_COUNTED, "")


def test_a_client_that_fails_for_another_reason_was_not_predicted() -> None:
    commits = Outcome("finalized", Happened.FAILING, Kind.REFUSED, 400.0, lost=("commit",), api_keys=(8,))
    cannot_log_in = Outcome("finalized", Happened.FAILING, Kind.AUTHENTICATION_FAILED, 400.0)
    stopped = Outcome("finalized", Happened.FAILING, Kind.SILENT_FUNCTION, 400.0, lost=("fetch",))
    login, offsets = "librdkafka_scram_nonce", "observed_version_refused"
    for rule, api_key, happened, comparison in (
        (offsets, 8, commits, Comparison.HAPPENED),
        (offsets, 2, commits, Comparison.UNEXPECTED),
        (offsets, 2, stopped, Comparison.HAPPENED),  # ListOffsets serves reading
        (offsets, 8, cannot_log_in, Comparison.UNEXPECTED),
        (login, None, cannot_log_in, Comparison.HAPPENED),
        (login, None, commits, Comparison.UNEXPECTED),
    ):
        assert compared(of_rule(rule, api_key), [happened]) == comparison, (rule, api_key, happened.kind)
    assert compared(of_rule(offsets, 2, "latent"), [commits]) == Comparison.NOT_TRIGGERED


def test_who_failed_during_the_roll_alone_is_well_again() -> None:
    stuck = Outcome("rolling", Happened.FAILING, Kind.STUCK, 320.0)
    refused = Outcome("rolling", Happened.FAILING, Kind.REFUSED, 320.0, api_keys=(0,))
    later = Outcome("not_finalized", Happened.FAILING, Kind.STUCK, 400.0)
    well = Outcome("finalized", Happened.UNAFFECTED)
    safe = Prediction("safe", "observed", None, "", "", {}, ())
    assert compared(safe, [stuck, well]) == Comparison.NOT_COUNTED
    assert compared(safe, [refused, well]) == Comparison.UNEXPECTED
    assert compared(safe, [stuck, later, well]) == Comparison.UNEXPECTED
    assert compared(safe, [stuck, Outcome("rolled_back", Happened.UNAFFECTED)]) == Comparison.UNEXPECTED
    assert compared(of_rule("observed_version_refused", 0), [refused, well]) == Comparison.HAPPENED

    client = ReviewedClient("a", "User:a", "", "", (), safe, (stuck, well), Comparison.NOT_COUNTED)
    assert well_again(client) == "failed during the roll, well again" and not client.is_down
    client = ReviewedClient("a", "User:a", "", "", (), safe, (later, well), Comparison.UNEXPECTED)
    assert well_again(client) == "failed during the upgrade, well again"
    client = ReviewedClient("a", "User:a", "", "", (), safe, (stuck,), Comparison.UNEXPECTED)
    assert well_again(client) == "" and client.is_down
