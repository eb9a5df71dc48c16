"""What a recomputed history changes in a published one: published rows stay, corrections are added with what they correct."""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass

from client_telemetry.campaign.states import StateChange


@dataclass(frozen=True)
class Correction:
    """`published`: what stood in the history; None: nothing. `now`: what stands instead; None: no change of state on that day."""

    published: StateChange | None
    now: StateChange | None

    @property
    def text(self) -> str:
        """For readers: what was corrected, and why."""
        change = self.now or self.published
        assert change is not None
        was = self.published.state if self.published else "no change"
        now = f"{self.now.state}: {self.now.why}" if self.now else "no change of state"
        return f"corrected, since reports or statements up to {change.day} changed: {change.application} on {change.day} was {was}, is {now}"


def corrections(
    published: Iterable[StateChange], computed: Iterable[StateChange], until: dt.date
) -> list[Correction]:
    """Oldest first. `published`: the history up to the day `until`; what was computed for later days is no correction."""
    before = {(change.day, change.key): change for change in published}
    now = {(change.day, change.key): change for change in computed if change.day <= until}
    places = sorted(before.keys() | now.keys())
    return [
        Correction(before.get(place), now.get(place))
        for place in places
        if _said(before.get(place)) != _said(now.get(place))
    ]


def _said(change: StateChange | None) -> tuple[str, str, str] | None:
    return (change.state, change.by, str(change.until)) if change else None
