"""Outcomes and predictions in words, the same on the page and in messages to owners."""

from client_telemetry.review import outcome
from client_telemetry.review.model import ReviewedClient
from client_telemetry.review.outcome import Happened, Kind
from client_telemetry.review.phases import ROLLING

OUTCOME_WORDS = {
    Happened.UNAFFECTED: "unaffected",
    Happened.FAILING: "failing",
    Happened.FAILING_BEFORE: "failed before",
    Happened.GONE: "gone",
    Happened.CHANGED: "changed",
    Happened.NEW: "new",
    Happened.NOT_TESTED: "not tested",
    Happened.NOT_SEEN: "not seen",
}
KIND_WORDS = {
    Kind.REFUSED: "requests refused",
    Kind.AUTHENTICATION_FAILED: "cannot log in",
    Kind.SILENT_FUNCTION: "stopped part of its work",
    Kind.STUCK: "stuck",
    Kind.PARTLY: "refused by some brokers",
    Kind.LEFT_GROUP: "left its group",
    Kind.FAILED_LOGINS: "failed logins from its address",
    Kind.SILENT: "silent",
    Kind.FIXED: "other software",
    Kind.WORSE: "other software, failing since",
    Kind.WORKS_AGAIN: "works again",
}


def happened(last: outcome.Outcome) -> str:
    """
    >>> happened(outcome.Outcome("finalized", Happened.GONE, Kind.SILENT, None))
    'gone (silent)'
    """
    kind = f" ({KIND_WORDS.get(last.kind, last.kind)})" if last.kind else ""
    return OUTCOME_WORDS[last.outcome] + kind


def well_again(client: ReviewedClient) -> str:
    """`failed during the roll, well again`; empty if it did not fail, or still does."""
    if not client.is_well_again:
        return ""
    failed_in = {happened.phase for happened in client.outcomes if happened.outcome == Happened.FAILING}
    return f"failed during the {'roll' if failed_in == {ROLLING} else 'upgrade'}, well again"


def predicted(client: ReviewedClient) -> str:
    if client.prediction is None:
        return "did not exist before"
    verdict = client.prediction.verdict.replace("_", " ")
    when = f" ({client.prediction.when.replace('_', ' ')})" if client.prediction.when else ""
    return verdict + when
