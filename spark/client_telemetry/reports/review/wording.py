"""Outcomes and predictions in words, the same on the page and in messages to owners."""

from client_telemetry.review import outcome
from client_telemetry.review.model import ReviewedClient
from client_telemetry.review.phases import ROLLING

OUTCOME_WORDS = {
    outcome.UNAFFECTED: "unaffected",
    outcome.FAILING: "failing",
    outcome.FAILING_BEFORE: "failed before",
    outcome.GONE: "gone",
    outcome.CHANGED: "changed",
    outcome.NEW: "new",
    outcome.NOT_TESTED: "not tested",
    outcome.NOT_SEEN: "not seen",
}
KIND_WORDS = {
    outcome.REFUSED: "requests refused",
    outcome.AUTHENTICATION_FAILED: "cannot log in",
    outcome.SILENT_FUNCTION: "stopped part of its work",
    outcome.STUCK: "stuck",
    outcome.PARTLY: "refused by some brokers",
    outcome.LEFT_GROUP: "left its group",
    outcome.FAILED_LOGINS: "failed logins from its address",
    outcome.SILENT: "silent",
    outcome.FIXED: "other software",
    outcome.WORSE: "other software, failing since",
    outcome.WORKS_AGAIN: "works again",
}


def happened(last: outcome.Outcome) -> str:
    """
    >>> happened(outcome.Outcome("finalized", outcome.GONE, outcome.SILENT, None))
    'gone (silent)'
    """
    kind = f" ({KIND_WORDS.get(last.kind, last.kind)})" if last.kind else ""
    return OUTCOME_WORDS[last.outcome] + kind


def well_again(client: ReviewedClient) -> str:
    """`failed during the roll, well again`; empty if it did not fail, or still does."""
    if not client.is_well_again:
        return ""
    failed_in = {happened.phase for happened in client.outcomes if happened.outcome == outcome.FAILING}
    return f"failed during the {'roll' if failed_in == {ROLLING} else 'upgrade'}, well again"


def predicted(client: ReviewedClient) -> str:
    if client.prediction is None:
        return "did not exist before"
    verdict = client.prediction.verdict.replace("_", " ")
    when = f" ({client.prediction.when.replace('_', ' ')})" if client.prediction.when else ""
    return verdict + when
