"""What a recomputed history changes in a published one: reports of old days were made again, or statements were changed."""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass

from client_telemetry import Unusable
from client_telemetry.campaign.states import StateChange
from client_telemetry.formats.typed_values import typed


class NotAHistory(Unusable):
    """A document is not the campaign.json of a campaign."""


@dataclass(frozen=True)
class Correction:
    """An application's history on `day` said `was`, and says `now` since `found_on`; both are states, or "" for no change."""

    found_on: dt.date
    day: dt.date
    cluster: str
    application: str
    was: str
    now: str
    why: str


@dataclass(frozen=True)
class Published:
    """The history that readers have seen, up to `day`, and what was corrected in it before."""

    day: dt.date
    changes: tuple[StateChange, ...]
    corrections: tuple[Correction, ...]


def published(document: object) -> Published:
    """From the content of campaign.json. Raises NotAHistory."""
    try:
        return typed(Published, document)
    except (LookupError, TypeError, ValueError, AttributeError):
        raise NotAHistory("not the campaign.json of a campaign") from None


def corrections(before: Published, computed: Iterable[StateChange], day: dt.date) -> list[Correction]:
    """All that are known, oldest first: those from before, and how the history computed on `day` differs from the published one up
    to its last day.
    """
    until = min(before.day, day)
    was = {(change.day, change.key): change for change in before.changes if change.day <= until}
    now = {(change.day, change.key): change for change in computed if change.day <= until}
    found = [
        _difference(was.get(place), now.get(place), day)
        for place in sorted(was.keys() | now.keys())
        if _said(was.get(place)) != _said(now.get(place))
    ]
    return [*before.corrections, *(each for each in found if each is not None)]


def _difference(was: StateChange | None, now: StateChange | None, day: dt.date) -> Correction | None:
    change = now or was
    if change is None:
        return None
    return Correction(
        found_on=day,
        day=change.day,
        cluster=change.cluster,
        application=change.application,
        was=was.state if was else "",
        now=now.state if now else "",
        why=now.why if now else "reports or statements of that day changed",
    )


def _said(change: StateChange | None) -> tuple[str, str, str] | None:
    return (change.state, change.by, str(change.until)) if change else None
