"""What many clients have in common is the brokers': the same minute for twenty clients that stopped without being refused. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from client_telemetry.activity.records import clock
from client_telemetry.review.model import ReviewedClient
from client_telemetry.review.outcome import Happened, Kind, Outcome
from client_telemetry.review.prediction import Comparison

TOGETHER = 20
"""Clients; fewer may have a reason of their own in common."""
MINUTE = 60.0
_WITHOUT_A_CAUSE = frozenset(
    (
        (Happened.FAILING, Kind.SILENT_FUNCTION),
        (Happened.FAILING, Kind.STUCK),
        (Happened.GONE, Kind.SILENT),
    )
)
"""Outcomes that no answer of a broker explains."""


def with_common_minutes(
    clients: Sequence[ReviewedClient],
) -> tuple[tuple[ReviewedClient, ...], tuple[str, ...]]:
    """The clients in the same order, and a sentence for each minute in which at least twenty of them stopped.

    A client of such a minute gets the sentence as a reason. If nothing was predicted for it, it no longer counts as
    unexpected: it is the brokers' minute, not its own.
    """
    stopped = sorted(
        ((at, place) for place, client in enumerate(clients) if (at := _stopped(client)) is not None)
    )
    changed = list(clients)
    sentences = []
    first = 0
    while first < len(stopped):
        began = stopped[first][0]
        places = [place for at, place in stopped[first:] if at < began + MINUTE]
        if len(places) < TOGETHER:
            first += 1
            continue
        first += len(places)
        sentence = f"{len(places):,} clients stopped within a minute from {clock(began)} on: that is the brokers', not theirs"
        sentences.append(sentence)
        for place in places:
            changed[place] = _of_the_brokers(clients[place], sentence)
    return tuple(changed), tuple(sentences)


def _stopped(client: ReviewedClient) -> float | None:
    own = next((each for each in client.outcomes if _is_without_a_cause(each)), None)
    return own.since if own is not None else None


def _is_without_a_cause(happened: Outcome) -> bool:
    return (happened.outcome, happened.kind) in _WITHOUT_A_CAUSE and not happened.api_keys


def _of_the_brokers(client: ReviewedClient, sentence: str) -> ReviewedClient:
    outcomes = tuple(
        replace(each, reasons=(*each.reasons, sentence)) if _is_without_a_cause(each) else each
        for each in client.outcomes
    )
    comparison = Comparison.NOT_COUNTED if client.comparison == Comparison.UNEXPECTED else client.comparison
    return replace(client, outcomes=outcomes, comparison=comparison)
