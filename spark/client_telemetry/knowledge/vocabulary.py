"""The words of verdicts: the conclusion about a client, how surely, when and at which step; its roles; yes, no or unknown."""

from collections.abc import Iterable
from enum import StrEnum


class Verdict(StrEnum):
    """The first of these that any deciding finding has is the client's verdict."""

    BREAKS = "breaks"
    INSUFFICIENT_EVIDENCE = "insufficient_evidence"
    DEGRADES = "degrades"
    UNSUPPORTED = "unsupported"
    SAFE = "safe"


PRECEDENCE = tuple(Verdict)


class Confidence(StrEnum):
    """Surest first."""

    OBSERVED = "observed"
    DECLARED = "declared"
    INFERRED = "inferred"
    NONE = "none"


CONFIDENCES = tuple(Confidence)


class KnownBy(StrEnum):
    """What a verdict rests on beside the evidence: a rule of the knowledge base; what the target's own brokers answered; what its
    library did on the target; how brokers answered the requests that it sends.
    """

    RULE = "rule"
    MEASURED_TARGET = "measured_target"
    REHEARSED = "rehearsed"
    REPLAYED = "replayed"


class When(StrEnum):
    AT_ONCE = "at_once"
    LATENT = "latent"


class Role(StrEnum):
    """What a client does with Kafka; roles.csv says which requests show each and which it needs."""

    PRODUCER = "producer"
    TRANSACTIONAL_PRODUCER = "transactional_producer"
    GROUP_CONSUMER = "group_consumer"
    STREAMS_GROUP_MEMBER = "streams_group_member"
    SHARE_CONSUMER = "share_consumer"
    ASSIGNED_CONSUMER = "assigned_consumer"
    ADMIN = "admin"


class Answer(StrEnum):
    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


def negated(answer: str) -> Answer:
    match answer:
        case Answer.YES:
            return Answer.NO
        case Answer.NO:
            return Answer.YES
    return Answer.UNKNOWN


def all_of(answers: Iterable[str]) -> Answer:
    """YES when every answer is, NO when any is not, otherwise unknown."""
    found = set(answers)
    return Answer.NO if Answer.NO in found else Answer.UNKNOWN if Answer.UNKNOWN in found else Answer.YES


def any_of(answers: Iterable[str]) -> Answer:
    """YES when any answer is, NO when none can be, otherwise unknown."""
    return negated(all_of(map(negated, answers)))


class Step(StrEnum):
    """Brokers of both releases at work; all on the target with the source's feature levels; with the target's; back on the
    source from either.
    """

    ROLLING = "rolling"
    NOT_FINALIZED = "not_finalized"
    FINALIZED = "finalized"
    ROLLBACK_BEFORE_FINALIZATION = "rollback_before_finalization"
    ROLLBACK_AFTER_FINALIZATION = "rollback_after_finalization"


STEPS = tuple(Step)


class Completeness(StrEnum):
    """How completely an hour of a broker was seen: what it lacks, or nothing (tables/broker_hours.py says what each means)."""

    COMPLETE = "complete"
    NO_MANIFEST = "no_manifest"
    BAD_MANIFEST = "bad_manifest"
    MISSING_OBJECTS = "missing_objects"
    SEQUENCE_GAP = "sequence_gap"
    DROPPED_RECORDS = "dropped_records"
    UNREAD_RECORDS = "unread_records"
    REGISTRY_NOT_WATCHING = "registry_not_watching"
    REGISTRY_INCOMPLETE = "registry_incomplete"


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
