"""What the files of a campaign say, from its history. No markup."""

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from client_telemetry.campaign.answers import Facts, newest
from client_telemetry.campaign.corrections import Correction, Published, corrections
from client_telemetry.campaign.gate import Decision
from client_telemetry.campaign.pace import DayCount, Forecast, burn_down, forecast, most_urgent
from client_telemetry.campaign.plan import Campaign
from client_telemetry.campaign.states import StateChange, current
from client_telemetry.campaign.vocabulary import FIXED, LEFT, RENAMED, STATES
from client_telemetry.compatibility.go_no_go import CANNOT_TELL, GO
from client_telemetry.console.counted import counted
from client_telemetry.console.grouped import grouped

RECENT_DAYS: Final = 7


@dataclass(frozen=True)
class ApplicationRow:
    """An application, once for all clusters. `state`: its most urgent. `on`: its states, by cluster. `age_days`: since it is affected."""

    name: str
    principal: str
    owner: str | None
    contact: str | None
    state: str
    on: tuple[StateChange, ...]
    age_days: int
    deadline: dt.date

    @property
    def deciding(self) -> StateChange:
        return next(change for change in self.on if change.state == self.state)

    @property
    def good_on(self) -> tuple[str, ...]:
        """Clusters on which it was fixed, while it is left on others: that proves a change, not this cluster."""
        return tuple(change.cluster for change in self.on if change.state == FIXED and self.state in LEFT)


@dataclass(frozen=True)
class OwnerRow:
    """`left`, `promised`, `fixed`: applications. `oldest_days`: of those that are left; None if none is."""

    owner: str | None
    contact: str | None
    deadline: dt.date
    left: int
    promised: int
    fixed: int
    oldest_days: int | None
    is_late: bool


@dataclass(frozen=True)
class CampaignView:
    """`changes`: the whole history, oldest first. `recent`: newest first."""

    campaign: Campaign
    day: dt.date
    decision: Decision
    sentence: str
    counts: dict[str, int]
    burn_down: tuple[DayCount, ...]
    forecast: Forecast | None
    applications: tuple[ApplicationRow, ...]
    owners: tuple[OwnerRow, ...]
    recent: tuple[StateChange, ...]
    changes: tuple[StateChange, ...]
    reports: tuple[Facts, ...]
    """The newest of each cluster."""
    corrections: tuple[Correction, ...] = ()

    @property
    def since(self) -> dt.date:
        """The day after which changes are recent."""
        return self.day - dt.timedelta(days=RECENT_DAYS)

    @property
    def left(self) -> tuple[ApplicationRow, ...]:
        return tuple(row for row in self.applications if row.state in LEFT)

    @property
    def settled(self) -> tuple[ApplicationRow, ...]:
        return tuple(row for row in self.applications if row.state not in LEFT)

    @property
    def late(self) -> int:
        """Owners past their deadline."""
        return sum(owner.is_late for owner in self.owners)

    @property
    def ending(self) -> tuple[StateChange, ...]:
        """Waivers and promises in force, those that end first first."""
        in_force = (change for row in self.applications for change in row.on if change.until)
        return tuple(sorted(in_force, key=lambda change: (change.until or self.day, change.application)))


def view(
    campaign: Campaign,
    changes: Sequence[StateChange],
    reports: Iterable[Facts],
    decision: Decision,
    day: dt.date,
    before: Published | None = None,
) -> CampaignView:
    """`before`: the history that readers have seen so far; what differs from it is listed as corrected."""
    applications = _applications(campaign, current(changes), day)
    counts = Counter(row.state for row in applications)
    pace = burn_down(changes, day)
    expected = forecast(pace, campaign.date)
    since = day - dt.timedelta(days=RECENT_DAYS)
    last = {each.cluster: each for each in newest(reports, campaign.to_release) if each.day <= day}
    return CampaignView(
        campaign=campaign,
        day=day,
        decision=decision,
        sentence=_sentence(applications, decision, changes, since, expected),
        counts={state: counts[state] for state in STATES if state != RENAMED},
        burn_down=tuple(pace),
        forecast=expected,
        applications=applications,
        owners=_owners(campaign, applications, day),
        recent=tuple(change for change in reversed(changes) if change.day > since),
        changes=tuple(changes),
        reports=tuple(last[cluster] for cluster in campaign.clusters if cluster in last),
        corrections=tuple(corrections(before, changes, day)) if before else (),
    )


def _applications(
    campaign: Campaign, states: Iterable[StateChange], day: dt.date
) -> tuple[ApplicationRow, ...]:
    """Most urgent first, then by deadline and age."""
    on = grouped((each for each in states if each.state != RENAMED), lambda each: each.application_key)
    rows = []
    for (principal, name), of_one in on.items():
        state = most_urgent(change.state for change in of_one)
        deciding = next(change for change in of_one if change.state == state)
        rows.append(
            ApplicationRow(
                name,
                principal,
                deciding.owner,
                deciding.contact,
                state,
                tuple(of_one),
                (day - min(change.affected_since for change in of_one)).days,
                campaign.deadline(deciding.owner),
            )
        )
    order = list(STATES)
    return tuple(sorted(rows, key=lambda r: (order.index(r.state), r.deadline, -r.age_days, r.name)))


def _owners(campaign: Campaign, applications: Iterable[ApplicationRow], day: dt.date) -> tuple[OwnerRow, ...]:
    """Late ones first, then by deadline and by what is left."""
    owners = []
    for owner, rows in grouped(applications, lambda row: row.owner).items():
        left = [row for row in rows if row.state in LEFT]
        deadline = campaign.deadline(owner)
        owners.append(
            OwnerRow(
                owner,
                next((row.contact for row in rows if row.contact), None),
                deadline,
                len(left),
                sum(row.state == "promised" for row in rows),
                sum(row.state == FIXED for row in rows),
                max((row.age_days for row in left), default=None),
                bool(left) and day > deadline,
            )
        )
    return tuple(
        sorted(owners, key=lambda o: (not o.is_late, not o.left, o.deadline, -o.left, o.owner or ""))
    )


def _sentence(
    applications: Sequence[ApplicationRow],
    decision: Decision,
    changes: Sequence[StateChange],
    since: dt.date,
    expected: Forecast | None,
) -> str:
    """The decision line: whether the upgrade may start, what is left, how fast it goes."""
    left = [row for row in applications if row.state in LEFT]
    ready = {GO: "Ready", CANNOT_TELL: "Cannot tell yet"}.get(decision.code, "Not ready")
    if not left:
        return f"{ready}: {decision.sentence.partition(': ')[2]}."
    owners = {row.owner for row in left if row.owner}
    unowned = sum(row.owner is None for row in left)
    whose = f" of {counted(len(owners), 'owner')}" if owners else ""
    nobody = (
        f" ({unowned} without an owner)" if unowned and owners else " without an owner" if unowned else ""
    )
    fixed = {change.application_key for change in changes if change.state == FIXED and change.day > since}
    is_fixed = sum((row.principal, row.name) in fixed and row.state == FIXED for row in applications)
    parts = [
        f"{ready}: {counted(len(left), 'application')}{whose}{nobody} left, {is_fixed or 'none'} fixed since {since}"
    ]
    if expected:
        span = f" ({expected.low} to {expected.high})" if expected.high > expected.low else ""
        verb = "is" if expected.left == 1 else "are"
        parts.append(f"at this pace {expected.left or 'none'}{span} {verb} left on {expected.day}")
    return "; ".join(parts) + "."
