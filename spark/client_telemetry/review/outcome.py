"""What happened to a client: the vocabulary, and the evidence behind it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field

UNAFFECTED, FAILING, FAILING_BEFORE = "unaffected", "failing", "failing_before"
GONE, CHANGED, NEW = "gone_or_locked_out", "changed", "new"
NOT_TESTED, NOT_SEEN = "not_tested", "not_seen"
OUTCOMES = (FAILING, GONE, FAILING_BEFORE, CHANGED, NOT_TESTED, NOT_SEEN, NEW, UNAFFECTED)
"""What needs attention first."""

REFUSED, AUTHENTICATION_FAILED = "refused", "authentication_failed"
SILENT_FUNCTION, STUCK, PARTLY = "silent_function", "stuck", "partly"
FAILURE_KINDS = (REFUSED, AUTHENTICATION_FAILED, STUCK, SILENT_FUNCTION, PARTLY)

LEFT_GROUP, FAILED_LOGINS, SILENT = "left_group", "failed_logins", "silent"
GONE_KINDS = (LEFT_GROUP, FAILED_LOGINS, SILENT)
"""How a client went: it left its group cleanly; failed logins from its address rose at that time and nothing known
about its library would explain them; neither.
"""
FIXED, WORSE, WORKS_AGAIN = "fixed", "worse", "works_again"


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
    outcome: str
    kind: str | None = None
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
    telling = [happened for happened in outcomes if happened.outcome != NOT_SEEN]
    return telling[-1] if telling else outcomes[-1]


def is_well_again(outcomes: Sequence[Outcome]) -> bool:
    """Whether it failed in some phase and works since."""
    has_failed = any(happened.outcome == FAILING for happened in outcomes)
    return has_failed and last_of(outcomes).outcome == UNAFFECTED
