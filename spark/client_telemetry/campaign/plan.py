"""What people write about a planned upgrade: the plan itself, and what they say about applications."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from client_telemetry import Unusable
from client_telemetry.knowledge.vocabulary import Verdict

ACKNOWLEDGE, PROMISE, WAIVE = "acknowledge", "promise", "waive"
KINDS: Final = (ACKNOWLEDGE, PROMISE, WAIVE)


class BadCampaign(Unusable):
    """The campaigns file cannot be used; the message names the line, the mistake and what to write."""


@dataclass(frozen=True)
class Target:
    """To which applications a statement applies: all that match every given field. `client_id` and `rule` select clients and
    what they are affected by: a waiver then covers an application only if it covers all its affected clients.
    """

    application: str | None = None
    client_id: str | None = None
    rule: str | None = None
    owner: str | None = None
    principal: str | None = None
    cluster: str | None = None


@dataclass(frozen=True)
class Statement:
    """`until`: last UTC day of a promise or waiver; None for an acknowledgement. `text`: note or reason."""

    kind: str
    target: Target
    by: str
    on: dt.date
    until: dt.date | None = None
    text: str = ""

    def is_active(self, day: dt.date) -> bool:
        """Made by that day, and not ended before it."""
        return self.on <= day and (self.until is None or day <= self.until)


@dataclass(frozen=True)
class Thresholds:
    """What the gate asks for. `least_coverage`: share of broker hours seen completely. `evidence_days`, `knowledge_days`: greatest
    age of the newest report's last day, and of the newest Kafka release in the knowledge base.
    """

    fail_on: tuple[str, ...] = (Verdict.BREAKS,)
    least_coverage: float = 0.9
    evidence_days: int = 2
    knowledge_days: int = 180


@dataclass(frozen=True)
class Campaign:
    """`clusters`: names, as in the clusters file. `to_release`: exact, or the name of a measured target. `to`: as the file has it, where that
    is something else. `deadlines`: owner to day, where it is not `date`."""

    name: str
    clusters: tuple[str, ...]
    to_release: str
    date: dt.date
    contact: str
    deadlines: Mapping[str, dt.date] = field(default_factory=dict)
    gate: Thresholds = field(default_factory=Thresholds)
    statements: tuple[Statement, ...] = ()
    to: str = ""

    @property
    def target(self) -> str:
        """For people: the release; of a measured target its name, and its file or profile."""
        return f"{self.to_release} ({self.to})" if self.to else self.to_release

    @property
    def to_argument(self) -> str:
        """What stands after `--to` in a command."""
        return self.to or self.to_release

    def deadline(self, owner: str | None) -> dt.date:
        """Last day for the owner's changes."""
        return self.deadlines.get(owner or "", self.date)
