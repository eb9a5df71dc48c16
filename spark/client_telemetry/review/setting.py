"""What all clients of a review have in common, and the results of some of them. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from client_telemetry.identity.owners import OwnerRule
from client_telemetry.review.judge_client import Surroundings
from client_telemetry.review.metric_changes import Compare, CompareColumns
from client_telemetry.review.metric_curves import GroupSums
from client_telemetry.review.metric_curves import Span as CurveSpan
from client_telemetry.review.model import ReviewedClient
from client_telemetry.review.phases import Upgrade
from client_telemetry.review.prediction import Prediction
from client_telemetry.review.tracks import Track
from client_telemetry.review.windows import Windows

Predictions = Mapping[tuple[str | None, str, str], Prediction]
"""By client id, principal and software name."""


@dataclass(frozen=True)
class Setting:
    """What is the same for all clients. `refused`: address, API key and version of refusals without a known client.
    `times`: the windows over which metrics are compared; None = too short. `shown`: the time range of curves.
    `owner_rules`: the user's. `scram_users`: principals with SCRAM credentials, for clients that no report predicted;
    None = unknown. `offered`: SASL mechanisms of the listeners, by security protocol, for the same clients.
    """

    from_release: str
    to_release: str
    around: Surroundings
    refused: frozenset[tuple[str, int, int]]
    slot_seconds: float
    times: Windows | None
    shown: CurveSpan
    owner_rules: Sequence[OwnerRule] = ()
    scram_users: frozenset[str] | None = None
    offered: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def upgrade(self) -> Upgrade:
        return self.around.upgrade


class Part(NamedTuple):
    """Results for some of the clients. `suspects`: those that are not judged yet, with what was predicted for them.
    `columns`: more comparisons; `answered`: see Review.
    """

    clients: list[ReviewedClient]
    suspects: list[tuple[Track, Prediction | None]]
    comparisons: list[Compare]
    curves: GroupSums
    answered: dict[int, set[tuple[str | None, str]]]
    columns: tuple[CompareColumns, ...] = ()
