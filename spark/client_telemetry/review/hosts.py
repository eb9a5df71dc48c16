"""A client id on several hosts: one of them may fail while the others go on, which their common track hides. Pure.

Addresses count as hosts if they were there before the first broker changed and after. What one of them stopped may have
moved to another (a rebalance, a load balancer): then nothing failed. Fetch rates follow the leaders and do not show where
partitions moved, so a host that stops fetching and is refused nothing is not called failing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from client_telemetry.activity.records import Activity
from client_telemetry.review import functions, outcome
from client_telemetry.review.outcome import Happened, Kind, Outcome
from client_telemetry.review.phases import Phase, Upgrade
from client_telemetry.review.tracks import Track, last_before, per_second

USUAL_RISE = 0.1
"""Healthy clients keep their rates within a tenth: only what exceeds it was taken over from another host."""
NAMED_ADDRESSES = 3
_HIDE_A_HOST = frozenset(
    (Happened.UNAFFECTED, Happened.CHANGED, Happened.NOT_TESTED, Happened.FAILING_BEFORE)
)


@dataclass(frozen=True)
class Hosts:
    """The hosts of one track, by address. `before`: the time before the first broker changed, as far as it was recorded.
    `has_come`: whether other addresses came since, to which a host may have moved.
    """

    by_address: dict[str, Track]
    before: tuple[float, float]
    has_come: bool
    _rises: dict[tuple[str, float, float], float] = field(default_factory=dict)

    def elsewhere(self, own: Track, phase: Phase) -> frozenset[str]:
        """Functions that a host may have handed to others by the end of the phase."""
        fetched = last_before(own.answered.get(functions.FETCH, []), phase.until)
        goes_on_fetching = fetched is not None and phase.recorded_until - fetched <= 60.0
        handed = {functions.FETCH}
        for name, spans in own.answered.items():
            if (name == functions.COMMIT and not goes_on_fetching) or self._rise(name, phase) >= per_second(
                spans, *self.before
            ) / 2:
                handed.add(name)
        return frozenset(handed)

    def _rise(self, name: str, phase: Phase) -> float:
        """How much more often the hosts whose rate rose do this in the second half of the phase, in all."""
        key = name, phase.since, phase.recorded_until
        if key not in self._rises:
            late = (phase.since + phase.recorded_until) / 2, phase.recorded_until
            rise = 0.0
            for track in self.by_address.values():
                spans = track.answered.get(name, ())
                was, now = per_second(spans, *self.before), per_second(spans, *late)
                if now > was * (1 + USUAL_RISE):
                    rise += now - was
            self._rises[key] = rise
        return self._rises[key]


def hosts_of(track: Track, upgrade: Upgrade, data_from: float) -> Hosts | None:
    """None unless the track has several hosts."""
    times: dict[str, tuple[float, float]] = {}
    for activity in track.activities:
        address = activity.client.address
        first, last = times.get(address, (activity.since, activity.until))
        times[address] = min(first, activity.since), max(last, activity.until)
    stay = addresses_that_stay(times, upgrade.began)
    if len(stay) < 2:
        return None
    activities: dict[str, list[Activity]] = {address: [] for address in sorted(stay)}
    for activity in track.activities:
        if activity.client.address in activities:
            activities[activity.client.address].append(activity)
    by_address = {address: Track(track.key, own).settle() for address, own in activities.items()}
    if _share_connections(list(by_address.values()), upgrade.began):
        return None
    before = upgrade.phases[0]
    has_come = any(first >= upgrade.began for first, _ in times.values())
    return Hosts(by_address, (max(before.since, data_from), before.until), has_come)


def addresses_that_stay(times: dict[str, tuple[float, float]], changed_at: float) -> set[str]:
    """Of addresses, with the times when each was first and last seen: those seen before the first broker changed, and
    after.
    """
    return {address for address, (first, last) in times.items() if address and first < changed_at < last}


def _share_connections(tracks: Sequence[Track], changed_at: float) -> bool:
    """Whether the connections of one client come from several addresses, as behind a NAT gateway with several: group
    members that never fetch are there beside consumers that are in no group.
    """
    does = [
        {name for name, spans in track.answered.items() if any(span.first < changed_at for span in spans)}
        for track in tracks
    ]
    fetches, is_member = functions.FETCH, functions.MEMBERSHIP
    return any(is_member in own and fetches not in own for own in does) and any(
        fetches in own and is_member not in own for own in does
    )


def with_hosts(
    together: Sequence[Outcome], hosts: Hosts, judged: Callable[[str, Track], Sequence[Outcome]]
) -> list[Outcome]:
    """The outcomes of all hosts as one client, with those of a host that fails. `judged`: the outcomes of a host."""
    by_address = {address: judged(address, track) for address, track in hosts.by_address.items()}
    return [
        _with_hosts(happened, {address: own[place] for address, own in by_address.items()}, hosts.has_come)
        for place, happened in enumerate(together)
    ]


def _with_hosts(together: Outcome, by_address: dict[str, Outcome], has_come: bool) -> Outcome:
    failing = [address for address, own in by_address.items() if own.outcome == Happened.FAILING]
    well = [
        address
        for address, own in by_address.items()
        if own.outcome in (Happened.UNAFFECTED, Happened.CHANGED, Happened.NOT_TESTED)
    ]
    was_failing = [address for address, own in by_address.items() if own.outcome == Happened.FAILING_BEFORE]
    if not failing and together.outcome == Happened.UNAFFECTED:
        return replace(together, reasons=(*together.reasons, *_gone(by_address, has_come)))
    if not failing or not (well or was_failing):
        return together
    where = f"only from {_listed(failing)}, " + (
        f"not from {_listed(well)}" if well else f"from {_listed(was_failing)} already before the upgrade"
    )
    if together.outcome == Happened.FAILING:
        return replace(together, reasons=(*together.reasons, where))
    if together.outcome not in _HIDE_A_HOST:
        return together
    worst = min(failing, key=lambda address: outcome.FAILURE_KINDS.index(str(by_address[address].kind)))
    since = [own.since for address in failing if (own := by_address[address]).since is not None]
    return replace(
        by_address[worst],
        since=min(since, default=None),
        reasons=(
            *(
                f"{address}: {'; '.join(by_address[address].reasons)}"
                for address in failing[:NAMED_ADDRESSES]
            ),
            where,
        ),
        rates=together.rates,
    )


def _gone(by_address: dict[str, Outcome], has_come: bool) -> list[str]:
    """Hosts that are gone or locked out, in sentences. Of one that merely fell silent while other addresses came, it is
    not known whether it is gone or has moved.
    """
    kinds = {Kind.FAILED_LOGINS} if has_come else {Kind.FAILED_LOGINS, Kind.SILENT}
    gone = [
        f"{address}: {'; '.join(own.reasons)}"
        for address, own in by_address.items()
        if own.outcome == Happened.GONE and own.kind in kinds
    ]
    more = len(gone) - NAMED_ADDRESSES
    return gone[:NAMED_ADDRESSES] + ([f"and {more} more addresses like these"] if more > 0 else [])


def _listed(addresses: Sequence[str]) -> str:
    """
    >>> _listed(["10.0.0.7"]), _listed(["a", "b", "c", "d", "e"])
    ('10.0.0.7', 'a, b, c and 2 more')
    """
    more = len(addresses) - NAMED_ADDRESSES
    named = ", ".join(addresses[:NAMED_ADDRESSES])
    return f"{named} and {more} more" if more > 0 else named
