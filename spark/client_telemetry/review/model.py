"""A review: an upgrade, its clients with what was predicted and what happened, and how often each rule was right. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from client_telemetry import Unusable
from client_telemetry.activity.records import FailedLogin
from client_telemetry.review import outcome
from client_telemetry.review.outcome import Happened, Kind, Outcome
from client_telemetry.review.phases import Upgrade
from client_telemetry.review.prediction import Comparison, Prediction
from client_telemetry.review.rule_records import RuleRecord


class WindowWithoutData(Unusable):
    """Nothing was recorded of any client before or after; the message says which."""


@dataclass(frozen=True)
class ReviewedClient:
    """`outcomes`: one for each phase after `before`. `comparison`: see Prediction."""

    client_id: str | None
    principal: str
    software_name: str
    software_version: str
    addresses: tuple[str, ...]
    prediction: Prediction | None
    outcomes: tuple[Outcome, ...]
    comparison: Comparison
    groups: tuple[str, ...] = ()
    owner: str | None = None
    owner_contact: str | None = None
    application: str = ""
    """Identifies the application together with principal and owner (applications.py). Empty: an application of its own."""
    track_name: str = ""
    """The software name of its track (tracks.TrackKey)."""

    @property
    def key(self) -> tuple[str | None, str, str]:
        """What it is identified by: that of its track."""
        return self.client_id, self.principal, self.track_name

    @cached_property
    def last_outcome(self) -> Outcome:
        """See outcome.last_of."""
        return outcome.last_of(self.outcomes)

    @property
    def is_well_again(self) -> bool:
        """Whether it failed during the upgrade and works at the end of the records."""
        return outcome.is_well_again(self.outcomes)

    @property
    def is_failing(self) -> bool:
        """Whether it fails at the end of the records and did not before the upgrade."""
        return self.last_outcome.outcome == Happened.FAILING

    @property
    def is_down(self) -> bool:
        """Whether it fails at the end of the records, whatever caused it and whenever that began."""
        last = self.last_outcome
        if last.outcome == Happened.CHANGED:
            return last.kind == Kind.WORSE
        return last.outcome in (Happened.FAILING, Happened.FAILING_BEFORE) and last.kind != Kind.WORKS_AGAIN

    @property
    def fix(self) -> str:
        """Of what was predicted. Empty where nothing was, and where it fails otherwise than predicted: that fix would not
        help."""
        if self.prediction is None or self.comparison == Comparison.AS_SAFE:
            return ""
        is_other = self.is_failing and self.comparison in (Comparison.UNEXPECTED, Comparison.NOT_TRIGGERED)
        return "" if is_other else self.prediction.fix

    @property
    def failed(self) -> Outcome | None:
        """The first phase in which it failed."""
        return next((happened for happened in self.outcomes if happened.outcome == Happened.FAILING), None)


@dataclass(frozen=True)
class Review:
    cluster_id: str
    upgrade: Upgrade
    clients: tuple[ReviewedClient, ...]
    rules: tuple[RuleRecord, ...]
    unexplained_logins: tuple[FailedLogin, ...] = ()
    unexplained_refusals: int = 0
    has_failed_logins: bool = True
    has_refusals: bool = True
    broker_events: tuple[str, ...] = ()
    """Sentences about what happened to brokers beside the upgrade itself."""
    answered: Mapping[int, frozenset[tuple[str | None, str]]] = field(default_factory=dict, repr=False)
    """Upgraded broker -> (client id, principal) of those that it has answered since."""
