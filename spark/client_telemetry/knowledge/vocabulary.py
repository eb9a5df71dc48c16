"""The words of verdicts: the conclusion about a client, how surely, when and at which step; and answers of yes, no or unknown."""

from collections.abc import Iterable

BREAKS = "breaks"
INSUFFICIENT_EVIDENCE = "insufficient_evidence"
DEGRADES = "degrades"
UNSUPPORTED = "unsupported"
SAFE = "safe"
PRECEDENCE = (BREAKS, INSUFFICIENT_EVIDENCE, DEGRADES, UNSUPPORTED, SAFE)
"""The first of these that any deciding finding has is the client's verdict."""

OBSERVED, DECLARED, INFERRED, NONE = "observed", "declared", "inferred", "none"
CONFIDENCES = (OBSERVED, DECLARED, INFERRED, NONE)
"""Surest first."""

AT_ONCE, LATENT = "at_once", "latent"

YES, NO, CONDITION_UNKNOWN = "yes", "no", "unknown"


def negated(answer: str) -> str:
    return {YES: NO, NO: YES}.get(answer, CONDITION_UNKNOWN)


def all_of(answers: Iterable[str]) -> str:
    """YES when every answer is, NO when any is not, otherwise unknown."""
    found = set(answers)
    return NO if NO in found else CONDITION_UNKNOWN if CONDITION_UNKNOWN in found else YES


def any_of(answers: Iterable[str]) -> str:
    """YES when any answer is, NO when none can be, otherwise unknown."""
    return negated(all_of(map(negated, answers)))


ROLLING = "rolling"
NOT_FINALIZED = "not_finalized"
FINALIZED = "finalized"
ROLLBACK_BEFORE_FINALIZATION = "rollback_before_finalization"
ROLLBACK_AFTER_FINALIZATION = "rollback_after_finalization"
STEPS = (ROLLING, NOT_FINALIZED, FINALIZED, ROLLBACK_BEFORE_FINALIZATION, ROLLBACK_AFTER_FINALIZATION)
"""Brokers of both releases at work; all on the target with the source's feature levels; with the target's; back on the
source from either."""

APPLICATION_KINDS = {
    "application": "clients with their own client ids",
    "streams": "Kafka Streams: all threads and instances of one application.id",
    "connect": "Kafka Connect: a worker with its connectors",
    "mirrormaker": "MirrorMaker 2",
    "tool": "one of Kafka's command line tools",
    "product": "a product with its own client id",
    "default_client_id": "clients with a library's default client ids: possibly several programs",
}
"""What one application is: kind and its meaning."""
