"""Tracks: one client before and after the upgrade, and what it did when. Pure.

A track follows its client by the client id and the principal, through restarts and new versions. Of client ids that
came or went, changing parts are masked, as one may have taken the place of another. Two programs with one client id are
two tracks if both software names were there at the same time.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from client_telemetry.activity.records import Activity
from client_telemetry.activity.samples import Sample
from client_telemetry.identity import broker_clients
from client_telemetry.identity.client_families import family
from client_telemetry.knowledge import apis, kip511, software
from client_telemetry.review import functions

SPANS_LOOKED_BACK = 64
"""Fewer spans than this overlap: those that began earlier have ended before."""
ENDED_SECONDS = 60.0
"""A client id that was not seen for so long while others were has ended."""
_Member = TypeVar("_Member")


class Span(NamedTuple):
    """A number of requests between two times, on one broker incarnation."""

    first: float
    last: float
    requests: int
    incarnation: str


class Failures(NamedTuple):
    """Requests of an API and version that failed or were refused. `code`: the most frequent error code in the record."""

    first: float
    last: float
    failed: int
    refused: int
    api_key: int
    version: int
    incarnation: str
    code: int | None


class TrackKey(NamedTuple):
    """`client_id`: as the client sends it, the first of those that took each other's place; `software_name` as registered."""

    client_id: str | None
    principal: str
    software_name: str


@dataclass
class Track:
    """`answered`: spans by function; `all_requests`: of everything that was answered, failed or refused; `versions`:
    when each (software name, version) was there. `used`: (API key, version) that were answered, with the
    incarnations.
    """

    key: TrackKey
    activities: list[Activity] = field(default_factory=list)
    is_tool: bool = False
    answered: dict[str, list[Span]] = field(default_factory=dict)
    by_api: dict[int, list[Span]] = field(default_factory=dict)
    all_requests: list[Span] = field(default_factory=list)
    failures: list[Failures] = field(default_factory=list)
    versions: dict[tuple[str, str], tuple[float, float]] = field(default_factory=dict)
    used: dict[tuple[int, int], set[str]] = field(default_factory=dict)
    by_version: dict[tuple[int, int], list[Span]] = field(default_factory=dict)
    addresses: set[str] = field(default_factory=set)
    protocols: set[str] = field(default_factory=set)
    groups: set[str] = field(default_factory=set)
    opened: list[Sample] = field(default_factory=list)

    @property
    def software(self) -> tuple[str, str]:
        """Name and version, the latest of the track's software name."""
        named = [v for v in self.versions if v[0] == self.key.software_name] or list(self.versions)
        return max(named, key=lambda v: self.versions[v][1], default=(self.key.software_name, ""))

    def settle(self) -> "Track":
        """Derive the other fields from `activities`."""
        self.activities.sort(
            key=lambda activity: (
                activity.since,
                activity.broker_id,
                activity.incarnation,
                activity.client[0] or "",
                activity.client[1:],
            )
        )
        self.is_tool = not functions.of_client(
            {key for activity in self.activities for key, _ in activity.uses}
        )
        for recorded in self.activities:
            self._add(recorded)
        for spans in (
            *self.answered.values(),
            *self.by_api.values(),
            *self.by_version.values(),
            self.all_requests,
        ):
            spans.sort()
        self.failures.sort(key=lambda failure: failure[:-1])
        return self

    def _add(self, activity: Activity) -> None:
        client, incarnation = activity.client, activity.incarnation
        self.addresses.add(client.address)
        self.protocols.add(client.security_protocol)
        self.groups |= activity.groups
        times: list[float] = []
        count = 0
        if activity.opened:
            self.opened.append(Sample(activity.since, activity.until, activity.opened))
        for (key, version), use in activity.uses.items():
            if use.answered and use.first is not None and use.last is not None:
                times += (use.first, use.last)
                span = Span(use.first, use.last, use.answered, incarnation)
                self.by_api.setdefault(key, []).append(span)
                name = functions.function(key, is_tool=self.is_tool)
                if name is not None:
                    self.answered.setdefault(name, []).append(span)
                self.used.setdefault((key, version), set()).add(incarnation)
                self.by_version.setdefault((key, version), []).append(span)
            if use.failed_first is not None and use.failed_last is not None:
                times += (use.failed_first, use.failed_last)
                codes = {code: n for (of_key, code), n in activity.errors.items() if of_key == key and code}
                code = max(sorted(codes), key=lambda code: codes[code], default=None)
                self.failures.append(
                    Failures(
                        use.failed_first,
                        use.failed_last,
                        use.failed,
                        use.refused,
                        key,
                        version,
                        incarnation,
                        code,
                    )
                )
            count += use.answered + use.failed + use.refused
        if times:
            self.all_requests.append(Span(min(times), max(times), count, incarnation))
            name_and_version = (kip511.registered(client.software_name), client.software_version)
            first, last = self.versions.get(name_and_version, (min(times), max(times)))
            self.versions[name_and_version] = (min(first, *times), max(last, *times))


def last_before(spans: list[Span], at: float) -> float | None:
    """The time of the latest request among spans that began by `at`."""
    index = bisect_right(spans, at, key=lambda span: span.first)
    times = [min(span.last, at) for span in spans[max(0, index - SPANS_LOOKED_BACK) : index]]
    return max(times, default=None)


def within(spans: Iterable[Span], since: float, until: float) -> list[Span]:
    """The spans within the time, cut at both ends (counts are kept)."""
    return [
        Span(max(span.first, since), min(span.last, until), span.requests, span.incarnation)
        for span in spans
        if span.last >= since and span.first < until
    ]


def per_second(spans: Iterable[Span], since: float, until: float) -> float:
    """Requests of the spans within the time, on average."""
    if until <= since:
        return 0.0
    return sum(span.requests for span in within(spans, since, until)) / (until - since)


def tracks(activities: Iterable[Activity], changed_at: float) -> list[Track]:
    """Activities of clients as tracks, without those of brokers. `changed_at`: when the first broker changed."""
    families: dict[tuple[str | None, str], list[Activity]] = {}
    masked: dict[str, str] = {}
    for activity in activities:
        client_id = activity.client.client_id
        answered = frozenset(key for (key, _), use in activity.uses.items() if use.answered)
        is_sasl = activity.client.security_protocol.startswith("SASL")
        if broker_clients.is_broker(client_id, answered, is_sasl=is_sasl):
            continue
        text = None
        if client_id is not None:
            text = masked.get(client_id)
            if text is None:
                text = masked[client_id] = family(client_id).text
        families.setdefault((text, activity.client.principal), []).append(activity)
    all_tracks = []
    by_client = ((key[1], own) for key, members in families.items() for own in _by_id(members, changed_at))
    for principal, members in by_client:
        for name, own in _by_software(members, changed_at).items():
            client_id = min(
                (activity.client.client_id for activity in own if activity.client.client_id is not None),
                default=None,
            )
            all_tracks.append(Track(TrackKey(client_id, principal, name), own).settle())
    return sorted(all_tracks, key=lambda track: (track.key.client_id or "", *track.key[1:]))


def _by_id(members: list[Activity], changed_at: float) -> Iterable[list[Activity]]:
    times: dict[str | None, tuple[float, float]] = {}
    for activity in members:
        client_id = activity.client.client_id
        first, last = times.get(client_id, (activity.since, activity.until))
        times[client_id] = min(first, activity.since), max(last, activity.until)
    return by_id(((activity.client.client_id, activity) for activity in members), times, changed_at)


def by_id(
    members: Iterable[tuple[str | None, _Member]],
    times: Mapping[str | None, tuple[float, float]],
    changed_at: float,
) -> Iterable[list[_Member]]:
    """Groups members of a family, each given with its client id: one group per id that stays, and one for all others.
    `times`: see ids_that_stay.
    """
    stay = ids_that_stay(times, changed_at)
    groups: dict[str | None, list[_Member]] = {}
    for client_id, member in members:
        groups.setdefault(client_id if client_id in stay else None, []).append(member)
    return groups.values()


def ids_that_stay(times: Mapping[str | None, tuple[float, float]], changed_at: float) -> set[str | None]:
    """Of client ids that differ in masked parts, with the times when each was first and last seen: those that no other id
    replaced. They were seen before and after the first broker changed, and alongside any that came or went.
    """
    if len(times) == 1:
        return set(times)
    went = min((last for _, last in times.values() if last <= changed_at), default=float("inf"))
    has_come = any(first >= changed_at for first, _ in times.values())
    end = max(last for _, last in times.values()) - ENDED_SECONDS if has_come else changed_at
    return {
        client_id
        for client_id, (first, last) in times.items()
        if first < min(changed_at, went) and changed_at < last and end <= last
    }


def _by_software(members: list[Activity], changed_at: float) -> Mapping[str, list[Activity]]:
    """Activities of one client id and principal, split if programs of several libraries were there at the same time."""
    by_name: dict[str, list[Activity]] = {}
    for activity in members:
        by_name.setdefault(kip511.registered(activity.client.software_name), []).append(activity)
    named = [name for name in by_name if kip511.is_known(name)]
    if (
        kip511.UNKNOWN in by_name
        and len(named) == 1
        and not _are_apart(by_name[kip511.UNKNOWN], by_name[named[0]])
    ):
        by_name[named[0]] += by_name.pop(kip511.UNKNOWN)
    if len(by_name) == 1:
        return by_name
    last = {name: max(activity.until for activity in own) for name, own in by_name.items()}
    first = {name: min(activity.since for activity in own) for name, own in by_name.items()}
    ended = [name for name in by_name if first[name] < changed_at]
    came = [name for name in by_name if first[name] >= changed_at]
    if ended and len(came) == 1 and max(last[name] for name in ended) <= first[came[0]] + 60:
        before = [activity for name in ended for activity in by_name.pop(name)]
        by_name[came[0]] = before + by_name[came[0]]
    return by_name


def _are_apart(unnamed: list[Activity], named: list[Activity]) -> bool:
    """Whether unnamed requests belong to another program: the library never leaves connections unnamed, and the same
    broker answered the two in different versions of one API, while one library sends one broker only one.
    """
    client = named[0].client
    identity = software.identify_name(client.software_name, client.software_version)
    if identity is not None and identity.leaves_connections_unnamed:
        return False
    versions: dict[tuple[str, int], int] = {}
    for activity in named:
        for key, version in activity.uses:
            versions[activity.incarnation, key] = max(version, versions.get((activity.incarnation, key), 0))
    return any(
        key != apis.API_VERSIONS and version < versions.get((activity.incarnation, key), version)
        for activity in unnamed
        for key, version in activity.uses
    )
