"""Twenty clients that stop in one minute are the brokers' matter."""

import pytest
from client_telemetry.review.common_minutes import TOGETHER, with_common_minutes
from client_telemetry.review.model import ReviewedClient
from client_telemetry.review.outcome import Happened, Kind, Outcome
from client_telemetry.review.prediction import Comparison

STOPPED = (Happened.FAILING, Kind.SILENT_FUNCTION)


def clients(count: int, every: float, happened: tuple[str, str] = STOPPED) -> list[ReviewedClient]:
    word, kind = happened
    return [
        ReviewedClient(
            f"c{n}", "User:a", "", "", (), None,
            (Outcome("finalized", word, kind, 1000.0 + n * every, reasons=("it stopped",)),), Comparison.UNEXPECTED,
        )
        for n in range(count)
    ]  # fmt: skip


@pytest.mark.parametrize("happened", [STOPPED, (Happened.GONE, Kind.SILENT), (Happened.FAILING, Kind.STUCK)])
def test_a_minute_that_twenty_have_in_common_is_the_brokers(happened: tuple[str, str]) -> None:
    changed, (sentence,) = with_common_minutes(clients(TOGETHER, 2.0, happened))
    assert sentence.startswith("20 clients stopped within a minute from 00:16:40 on")
    assert {client.comparison for client in changed} == {Comparison.NOT_COUNTED}
    assert all(client.last_outcome.reasons == ("it stopped", sentence) for client in changed)
    assert [client.client_id for client in changed] == [f"c{n}" for n in range(TOGETHER)]


@pytest.mark.parametrize(
    "some",
    [
        clients(TOGETHER - 1, 1.0),
        clients(TOGETHER, 4.0),
        clients(TOGETHER, 1.0, (Happened.FAILING, Kind.REFUSED)),
        clients(TOGETHER, 1.0, (Happened.FAILING, Kind.AUTHENTICATION_FAILED)),
        [],
    ],
    ids=["nineteen", "over more than a minute", "refused", "cannot log in", "none"],
)
def test_others_are_their_own(some: list[ReviewedClient]) -> None:
    assert with_common_minutes(some) == (tuple(some), ())


def test_what_was_predicted_stays_so() -> None:
    some = clients(TOGETHER, 1.0)
    some[3] = ReviewedClient("p", "User:a", "", "", (), None, some[3].outcomes, Comparison.HAPPENED)
    changed, _ = with_common_minutes(some)
    assert changed[3].comparison == Comparison.HAPPENED and len(changed[3].last_outcome.reasons) == 2
