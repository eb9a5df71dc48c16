"""When a broker process began, from its request log, and from its server log if that is next to it.

A KRaft broker's ApiVersions answer follows the active controller: of the APIs that it forwards it offers what both know
(ApiVersionsResponse.intersectForwardableApis), so a changed answer does not mean a restart. The APIs of data and
connections are the broker's own: if they change, so has the release and hence the process.

A restart on the same release shows in all connections at once: for a second or longer there is no line, no earlier
connection continues, and the numbers of new connections, which begin at 0 with each process and only rise within a
listener (SocketServer: Acceptor and Processor), are lower than before. The server log says it outright.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from client_telemetry.knowledge import apis, broker_guess
from client_telemetry.sources.request_log.server_log import ServerEvent

ApiRanges = tuple[tuple[int, int, int], ...]
"""(api key, min, max) as ApiVersions offers them, sorted."""

SILENCE_NANOS = 10**9
"""A restarting broker answers nothing for longer than that: its JVM alone takes that long."""

_START_NANOS = 60 * 10**9
"""Within that time a process prints the lines of its start that stand before its settings or after them."""

_FORGOTTEN_AFTER_NANOS = 3600 * 10**9
_CONNECTIONS_IN_MEMORY = 200_000


class Offer(NamedTuple):
    """An ApiVersions answer that differs from the previous one. `repeated`: when (ns) it was last given again."""

    nanos: int
    api_versions: ApiRanges
    features: dict[str, int]
    repeated: int = 0

    @property
    def own(self) -> ApiRanges:
        return own_ranges(self.api_versions)


def own_ranges(offered: Iterable[Sequence[int]]) -> ApiRanges:
    """The part of an ApiVersions answer that does not follow the active controller."""
    own = apis.keys_used_by("data", "connection")
    return tuple((key, low, high) for key, low, high in offered if key in own)


class BrokerIncarnation(NamedTuple):
    """A broker incarnation. `since`: in nanoseconds; the first one begins with the log unless the server log has its
    start. `api_versions`: the last answer, None if none was seen. `features`: what was finalized from when on (ns).
    `candidates`: releases that explain the answers. `release`, `settings`: according to the server log, None = it does
    not say (broker_settings.py); `is_start`: it has the start of the process.
    """

    since: int
    api_versions: ApiRanges | None
    features: tuple[tuple[int, dict[str, int]], ...]
    candidates: tuple[str, ...] | None
    release: str | None = None
    is_start: bool = False
    settings: dict[str, str] | None = None

    @property
    def possible(self) -> tuple[str, ...] | None:
        """The releases that it may run by its logs; None if they do not show it."""
        return (self.release,) if self.release else self.candidates


@dataclass
class Segment:
    """Lines of one log without silence, or with connections that continue across it. `low`, `high`: connection numbers
    by listener and processor: the lowest among new ones, the highest of all.
    """

    first: int
    last: int
    low: dict[str, int] = field(default_factory=dict)
    high: dict[str, int] = field(default_factory=dict)

    def absorb(self, later: "Segment") -> None:
        self.first, self.last = min(self.first, later.first), max(self.last, later.last)
        for key, number in later.low.items():
            self.low[key] = min(number, self.low.get(key, number))
        for key, number in later.high.items():
            self.high[key] = max(number, self.high.get(key, number))

    def numbers_begin_again_in(self, later: "Segment") -> bool:
        return any(number < self.high.get(key, -1) for key, number in later.low.items())


class ConnectionSegments:
    """The segments of one log, from its lines in order of time."""

    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self._last_seen: dict[str, int] = {}

    def add(self, connection: str, listener: str, nanos: int) -> None:
        if not self.segments or nanos - self.segments[-1].last > SILENCE_NANOS:
            self.segments.append(Segment(nanos, nanos))
            self._forget(nanos)
        before = self._last_seen.get(connection)
        self._last_seen[connection] = nanos
        if before is None:
            self._number(connection, listener)
        else:
            while len(self.segments) > 1 and before < self.segments[-1].first:
                later = self.segments.pop()
                self.segments[-1].absorb(later)
        current = self.segments[-1]
        if nanos > current.last:
            current.last = nanos

    def __contains__(self, connection: str) -> bool:
        return connection in self._last_seen

    def shares_connections(self, segments: "ConnectionSegments") -> bool:
        return not self._last_seen.keys().isdisjoint(segments._last_seen)  # noqa: SLF001

    def _number(self, connection: str, listener: str) -> None:
        listener, number = _numbered(connection, listener)
        current = self.segments[-1]
        current.low[listener] = min(number, current.low.get(listener, number))
        current.high[listener] = max(number, current.high.get(listener, number))

    def _forget(self, now: int) -> None:
        if len(self._last_seen) > _CONNECTIONS_IN_MEMORY:
            begin = now - _FORGOTTEN_AFTER_NANOS
            self._last_seen = {c: at for c, at in self._last_seen.items() if at >= begin}


def _numbered(connection: str, listener: str) -> tuple[str, int]:
    """What counts connections, and a connection's number: `…-INDEX` up to 3.9, `…-PROCESSOR-INDEX` since.

    >>> _numbered("10.0.0.9:9092-10.0.1.1:40001-2-17", "CLIENTS"), _numbered("10.0.0.9:9092-10.0.1.1:40001-17", "CLIENTS")
    (('CLIENTS-2', 17), ('CLIENTS', 17))
    """
    _, _, numbers = connection.rpartition(":")
    _, *rest = numbers.split("-")
    return "-".join([listener, *rest[:-1]]), int(rest[-1]) if rest and rest[-1].isdigit() else 0


def open_segment(connections: Mapping[str, Mapping[str, object]], first: int, last: int) -> Segment:
    """A segment for the incarnation with which earlier lines ended: its connections that were open
    (connection_watch.py).
    """
    segment = Segment(first, last)
    for connection, fields in connections.items():
        listener, number = _numbered(connection, str(fields["listener"]))
        segment.high[listener] = max(number, segment.high.get(listener, number))
    return segment


def incarnations(
    logs: Sequence[ConnectionSegments],
    offers: Sequence[Offer],
    events: Sequence[ServerEvent],
    first: int = 0,
) -> list[BrokerIncarnation]:
    """Incarnations of one broker, oldest first: from the segments of its logs, its ApiVersions answers and the events
    of its server log (except refusals and failed logins). `first`: when it was first seen, if that is all.
    """
    logs = sorted((log for log in logs if log.segments), key=lambda log: log.segments[0].first)
    segments = _merged(sorted((s for log in logs for s in log.segments), key=lambda s: s.first))
    ongoing = {
        later.segments[0].first
        for place, later in enumerate(logs)
        if any(later.shares_connections(before) for before in logs[:place])
    }
    offers = sorted(offers, key=lambda offer: offer.nanos)
    cuts = [
        later.first
        for before, later in _pairs(segments)
        if later.first not in ongoing and before.numbers_begin_again_in(later)
    ]
    cuts += _other_answers(segments, offers, cuts)
    starts = _starts(events)
    for start in starts:
        first_line = next((s.first for s in segments if s.first >= start), None)
        is_silent = not any(s.first < start < s.last for s in segments)
        if first_line in cuts and is_silent:
            cuts.remove(first_line)  # the process began before its first line
    begin = min(
        [s.first for s in segments[:1]]
        + [e.nanos for e in events if e.kind not in ("release", "settings")][:1],
        default=first,
    )
    sinces = sorted({*cuts, *starts})
    if not sinces or begin < sinces[0]:
        if segments and (not sinces or segments[0].first < sinces[0]):
            sinces.insert(0, segments[0].first)
        elif not sinces:
            sinces = [begin]
    settings = _settings(events, sinces, starts)
    result: list[BrokerIncarnation] = []
    for since, until in zip(sinces, [*sinces[1:], None], strict=True):
        within = _offers_between(offers, since, until)
        is_start = since in starts
        from_ = since if result or is_start else _end_of_previous(events, since)
        releases = [
            e.text
            for e in events
            if e.kind == "release" and e.nanos >= from_ and (until is None or e.nanos < until)
        ]
        release = releases[-1] if releases else None
        incarnation = _incarnation(since, within, release)._replace(
            is_start=is_start, settings=settings.get(since)
        )
        if release is None and result and not is_start and _answers_alike(result[-1], incarnation):
            incarnation = incarnation._replace(release=result[-1].release)
        result.append(incarnation)
    return result


def _settings(
    events: Sequence[ServerEvent], sinces: Sequence[int], starts: Sequence[int]
) -> dict[int, dict[str, str]]:
    """The settings that each process printed, by when it began. Most releases print them before the line with which a
    process begins here, some again after it.
    """
    settings: dict[int, dict[str, str]] = {}
    for event in events:
        if event.kind != "settings":
            continue
        place = bisect_right(sinces, event.nanos)
        before, after = sinces[max(0, place - 1)], sinces[place : place + 1]
        is_next = event.nanos < before or event.nanos - before > _START_NANOS
        if after and is_next and after[0] in starts and after[0] - event.nanos <= _START_NANOS:
            before = after[0]
        settings[before] = dict(event.settings)
    return settings


def _end_of_previous(events: Sequence[ServerEvent], since: int) -> int:
    """When the process before the one that ran at that time stopped; 0 = nothing shows one."""
    stops = (event.nanos for event in events if event.kind == "stopping")
    return max((nanos for nanos in stops if nanos < since), default=0)


def _answers_alike(before: BrokerIncarnation, after: BrokerIncarnation) -> bool:
    if before.api_versions is None or after.api_versions is None:
        return False
    return own_ranges(before.api_versions) == own_ranges(after.api_versions)


def _incarnation(since: int, offers: Sequence[Offer], release: str | None) -> BrokerIncarnation:
    features: list[tuple[int, dict[str, int]]] = []
    for offer in offers:
        if offer.features and (not features or features[-1][1] != offer.features):
            features.append((offer.nanos, offer.features))
    if not offers:
        return BrokerIncarnation(since, None, (), None, release)
    last = features[-1][1] if features else {}
    candidates = broker_guess.candidates(offers[-1].api_versions, last)
    return BrokerIncarnation(since, offers[-1].api_versions, tuple(features), candidates, release)


def _offers_between(offers: Sequence[Offer], since: int, until: int | None) -> list[Offer]:
    """Those first given in the time, after the one that was given before and is given again in it."""
    within = [o for o in offers if o.nanos >= since and (until is None or o.nanos < until)]
    earlier = [o for o in offers if o.nanos < since <= o.repeated]
    if earlier and (not within or within[0].nanos > since):
        within.insert(0, earlier[-1]._replace(nanos=since))
    return within


def _merged(segments: Sequence[Segment]) -> list[Segment]:
    """Segments of several logs of one broker: overlapping ones belong to one process."""
    merged: list[Segment] = []
    for segment in segments:
        if merged and segment.first <= merged[-1].last + SILENCE_NANOS:
            merged[-1].absorb(segment)
        else:
            merged.append(Segment(segment.first, segment.last, dict(segment.low), dict(segment.high)))
    return merged


def _pairs(segments: Sequence[Segment]) -> list[tuple[Segment, Segment]]:
    """Each segment with all earlier ones that no cut separates from it; connections that ended count too."""
    pairs = []
    so_far: Segment | None = None
    for segment in segments:
        if so_far is None:
            so_far = Segment(segment.first, segment.last, dict(segment.low), dict(segment.high))
            continue
        pairs.append((so_far, segment))
        if so_far.numbers_begin_again_in(segment):
            so_far = Segment(segment.first, segment.last, dict(segment.low), dict(segment.high))
        else:
            so_far = Segment(so_far.first, so_far.last, dict(so_far.low), dict(so_far.high))
            so_far.absorb(segment)
    return pairs


def _other_answers(segments: Sequence[Segment], offers: Sequence[Offer], cuts: Sequence[int]) -> list[int]:
    """Where the own answers changed without a known cut: at the silence before, otherwise at the answer."""
    changes = []
    for before, after in pairwise(offers):
        if before.own == after.own or any(before.nanos < cut <= after.nanos for cut in cuts):
            continue
        silences = [s.first for s in segments if before.nanos < s.first <= after.nanos]
        changes.append(silences[-1] if silences else after.nanos)
    return changes


def _starts(events: Sequence[ServerEvent]) -> list[int]:
    """When processes began: a process writes each line of its start once."""
    starts: list[int] = []
    lines_seen: set[str] = set()
    is_up = False
    for event in sorted(events, key=lambda e: e.nanos):
        if event.kind == "starting":
            if not starts or is_up or event.text in lines_seen:
                starts.append(event.nanos)
                lines_seen.clear()
            lines_seen.add(event.text)
            is_up = False
        elif event.kind in ("started", "stopping"):
            is_up = True
    return starts
