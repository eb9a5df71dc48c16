"""What happened to a client: the vocabulary, and the evidence behind it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum


class Happened(StrEnum):
    """What happened to a client in a phase; what needs attention first."""

    FAILING = "failing"
    GONE = "gone_or_locked_out"
    FAILING_BEFORE = "failing_before"
    CHANGED = "changed"
    NOT_TESTED = "not_tested"
    NOT_SEEN = "not_seen"
    NEW = "new"
    UNAFFECTED = "unaffected"


OUTCOMES = tuple(Happened)


class Kind(StrEnum):
    """How a client fails; how it went: it left its group cleanly, failed logins from its address rose at that time and nothing
    known about its library would explain them, or neither; how it changed.
    """

    REFUSED = "refused"
    AUTHENTICATION_FAILED = "authentication_failed"
    STUCK = "stuck"
    SILENT_FUNCTION = "silent_function"
    PARTLY = "partly"
    LEFT_GROUP = "left_group"
    FAILED_LOGINS = "failed_logins"
    SILENT = "silent"
    FIXED = "fixed"
    WORSE = "worse"
    WORKS_AGAIN = "works_again"


FAILURE_KINDS = (
    Kind.REFUSED,
    Kind.AUTHENTICATION_FAILED,
    Kind.STUCK,
    Kind.SILENT_FUNCTION,
    Kind.PARTLY,
)
GONE_KINDS = (Kind.LEFT_GROUP, Kind.FAILED_LOGINS, Kind.SILENT)

FunctionRates = tuple[str, float, float]
"""A function, and its requests per minute before and in the phase. A plain tuple, as there are many: pickling an
instance of a class takes several times as long.
"""


@dataclass(frozen=True)
class Outcome:
    """`since`: when it began, in seconds. `confidence`: `certain` if the broker names the client, `likely` if address,
    API and time leave no other, `possible` if they leave several. `reasons`: what the broker says, in sentences.
    """

    phase: str
    outcome: Happened
    kind: Kind | None = None
    since: float | None = None
    confidence: str = "certain"
    reasons: tuple[str, ...] = ()
    rates: tuple[FunctionRates, ...] = field(default=())
    lost: tuple[str, ...] = ()
    """Functions that stopped."""
    api_keys: tuple[int, ...] = ()
    """APIs that were refused, or permanently answered with an error."""


def last_of(outcomes: Sequence[Outcome]) -> Outcome:
    """The latest outcome that says something: a client that was not seen in the last phase keeps its previous one."""
    telling = [happened for happened in outcomes if happened.outcome != Happened.NOT_SEEN]
    return telling[-1] if telling else outcomes[-1]


def is_well_again(outcomes: Sequence[Outcome]) -> bool:
    """Whether it failed in some phase and works since."""
    has_failed = any(happened.outcome == Happened.FAILING for happened in outcomes)
    return has_failed and last_of(outcomes).outcome == Happened.UNAFFECTED
