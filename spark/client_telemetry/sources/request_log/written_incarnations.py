"""What the entries of one broker become: a dump for each of its incarnations, written in the order of time."""

import base64
import binascii
import uuid
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from client_telemetry.formats.raw.raw_dump_v1_pb2 import ClientPush
from client_telemetry.formats.raw.writer import DumpWriter, moment_of
from client_telemetry.sources.request_log.broker_releases import BrokerReleases
from client_telemetry.sources.request_log.connection_watch import (
    FORGOTTEN_AFTER_NANOS,
    ConnectionWatch,
    SeenRequest,
)
from client_telemetry.sources.request_log.incarnations import BrokerIncarnation
from client_telemetry.sources.request_log.open_incarnation import HOUR_NANOS, OpenIncarnation
from client_telemetry.sources.request_log.request_entry import (
    PUSH_TELEMETRY,
)
from client_telemetry.sources.request_log.server_log import ServerEvent
from client_telemetry.sources.request_log.surveyed import SurveyedBroker

SILENCE_NANOS = 300 * 10**9
"""If a broker logs no line for longer than that, it was not watched: its log was off, is not among the files, or it was
down. A connected client asks for Metadata at least every five minutes (metadata.max.age.ms).
"""

_NAMESPACE = uuid.UUID("6d2f3c2e-8a55-5d0c-9a43-6c1f4f0f5b11")


@dataclass
class Converted:
    """The result of converting the lines. `connections` are those of clients. `of_controllers`: entries of listeners of
    KRaft controllers, which no client of brokers uses. `refused`, `failed_logins`: from server logs. `unreadable`:
    unreadable entries by reason. `cut`: why files ended early. `without_entries`: files without a single entry;
    `no_logs`: those that are plainly not request logs, of which nothing is kept.
    """

    lines: int = 0
    entries: int = 0
    other_lines: int = 0
    forwarded: int = 0
    of_controllers: int = 0
    refused: int = 0
    failed_logins: int = 0
    pushes: int = 0
    connections: int = 0
    between_brokers: int = 0
    unreadable: Counter[str] = field(default_factory=Counter)
    cut: list[str] = field(default_factory=list)
    without_entries: list[str] = field(default_factory=list)
    no_logs: list[str] = field(default_factory=list)
    open_incarnations: list[OpenIncarnation] = field(default_factory=list)

    def add(self, more: "Converted") -> None:
        for counter in fields(self):
            setattr(self, counter.name, getattr(self, counter.name) + getattr(more, counter.name))


class TakenEntry(NamedTuple):
    """What a line says: its request, time (ns), label, and essence (line_scan.py; 0 = none)."""

    seen: SeenRequest
    nanos: int
    label: str
    essence: int = 0


class WrittenBroker:
    """The incarnations of a broker, and what its server log says between the entries."""

    def __init__(
        self,
        surveyed: SurveyedBroker,
        incarnations: "list[WrittenIncarnation]",
        server_events: Iterator[ServerEvent],
    ) -> None:
        self.incarnations = incarnations
        self._since = [incarnation.since for incarnation in incarnations]
        self._listeners = surveyed.listeners
        self._server_events = server_events
        self._next = next(server_events, None)

    def add(self, taken: TakenEntry) -> "WrittenIncarnation":
        """Returns the incarnation that the entry belongs to."""
        if self._next is not None:
            self.take_until(taken.nanos)
        incarnation = self._incarnation_at(taken.nanos)
        incarnation.add(taken)
        # From that time on something has to be done before an entry is counted.
        due = incarnation.watch.due
        if len(self.incarnations) > 1:
            due = min((due, *self._since[self.incarnations.index(incarnation) + 1 :][:1]))
        if self._next is not None:
            due = min(due, self._next.nanos + 1)
        incarnation.due = due
        return incarnation

    def take_until(self, nanos: int | None) -> None:
        """Take the events of the server log before that time; None = all that remain. A request is logged before the
        next one of its connection is read.
        """
        while self._next is not None and (nanos is None or self._next.nanos < nanos):
            self._incarnation_at(self._next.nanos).add_server_event(self._next, self._listeners)
            self._next = next(self._server_events, None)

    def _incarnation_at(self, nanos: int) -> "WrittenIncarnation":
        if len(self.incarnations) == 1:
            return self.incarnations[0]
        return self.incarnations[bisect_right(self._since, nanos, lo=1) - 1]


def unwatched(root: Path, cluster_id: str, broker_id: int, name: str, started_at: datetime) -> DumpWriter:
    """For a broker of which nothing was seen."""
    return DumpWriter(
        root,
        cluster_id,
        broker_id,
        uuid.uuid5(_NAMESPACE, name).bytes,
        broker_started_at=started_at,
        broker_software_version="",
        manifest_fields={"registry": {"mode": "sampled", "windows": []}},
    )


class WrittenIncarnation:
    """A broker's incarnation and its part of the dump, which begins with the first entry, or continues where `open_`
    ended.
    """

    def __init__(
        self,
        broker: SurveyedBroker,
        index: int,
        releases: BrokerReleases,
        cluster_id: str,
        root: Path,
        converted: Converted,
        open_: OpenIncarnation | None,
    ) -> None:
        incarnation: BrokerIncarnation = broker.incarnations[index]
        self.since = incarnation.since
        until = broker.incarnations[index + 1].since if index + 1 < len(broker.incarnations) else broker.last
        self._done, self._broker = converted, broker
        self._first, self._last = incarnation.since, until
        started, name = incarnation.since, f"request-log/{cluster_id}/{broker.broker_id}/{incarnation.since}"
        self.is_latest = open_ is None or broker.last >= open_.last
        resumed = open_ if open_ is not None and open_.is_continued_by(incarnation, broker) else None
        if resumed is not None:
            incarnation = resumed.completed(incarnation)
            started, name = resumed.since, resumed.name
        elif open_ is not None and open_.since <= incarnation.since and open_.answers_as(incarnation):
            # Late lines belong to that incarnation too if no restart is known to have ended it. Its sequences are in
            # use.
            started, name = open_.since, f"{name}/{open_.last}"
        self._incarnation, self._name, self._started = incarnation, name, started
        self._windows = resumed.windows if resumed is not None else []
        self._failed_logins: Counter[int] = Counter()
        for hour, count in resumed.failed_logins if resumed is not None else ():
            self._failed_logins[hour] = count
        self.now, self.due = self._windows[-1][1] if self._windows else incarnation.since, 0
        fields: dict[str, object] = {"registry": {"mode": "sampled", "windows": []}}
        if incarnation.api_versions:
            fields["api_versions"] = incarnation.api_versions
        if incarnation.features:
            fields["finalized_features"] = incarnation.features[0][1]
        if incarnation.settings is not None:
            fields["settings"] = incarnation.settings
        self._dump = DumpWriter(
            root,
            cluster_id,
            broker.broker_id,
            uuid.uuid5(_NAMESPACE, name).bytes,
            broker_started_at=moment_of(started),
            broker_software_version=releases.of(broker.broker_id, incarnation),
            manifest_fields=fields,
            continues=None if resumed is None else resumed.continued(),
        )
        begins_here = incarnation.is_start or index > 0 or (open_ is not None and open_.last < started)
        self.watch = ConnectionWatch(
            self._dump.append_connection_event, started + (0 if begins_here else FORGOTTEN_AFTER_NANOS)
        )
        if resumed is not None:
            self.watch.resume(resumed.watch)

    def _watched(self, logged: int) -> None:
        if self._windows and 0 <= logged - self.now <= SILENCE_NANOS and self.now >= self._windows[-1][1]:
            self._windows[-1][1] = self.now = logged
            return
        if self._windows:
            self._windows[-1][1] = max(self._windows[-1][1], self.now)
        if not self._windows or logged - self._windows[-1][1] > SILENCE_NANOS:
            self._windows.append([logged, logged])
        self.now = max(self.now, logged)
        self._windows[-1][1] = max(self.now, self._windows[-1][1])

    def add_server_event(self, event: ServerEvent, listeners: dict[int, tuple[str, str]]) -> None:
        if event.kind == "refused":
            self._done.refused += 1
            self.watch.refuse(event, listeners)
        else:
            self._done.failed_logins += 1
            self._failed_logins[event.nanos // HOUR_NANOS * HOUR_NANOS] += 1
            self.watch.fail_login(event, listeners)

    def add(self, taken: TakenEntry) -> None:
        logged = taken.nanos
        self._watched(logged)
        self.watch.add(taken.seen, logged, taken.essence)
        entry = taken.seen.entry
        if entry.api_key == PUSH_TELEMETRY and entry.request:
            self._dump.append_push(_push(taken.seen, self.watch))
            self._done.pushes += 1

    def add_unreadable(self, line: bytes, where: str, logged: int | None) -> None:
        """A line that begins like an entry. Its time is used only if plausible: a client can make one up."""
        if logged is None or not self._first <= logged <= self._last:
            logged = self.now
        self._dump.append_unreadable("connections", line, where, logged)

    def close(self) -> None:
        if self._windows:
            self._windows[-1][1] = max(self._windows[-1][1], self.now)
            self.watch.write_snapshots_until(self.now)
        self.watch.end()
        self._done.connections += self.watch.connections - self.watch.between_brokers
        self._done.between_brokers += self.watch.between_brokers
        hours: dict[datetime, list[list[str]]] = {}
        for window in self._windows:
            for hour, times in _hours(*map(moment_of, window)):
                hours.setdefault(hour, []).append(times)
        for hour, windows in hours.items():
            fields: dict[str, object] = {"registry": {"mode": "sampled", "windows": windows}}
            end = int(hour.timestamp() + 3600) * 10**9
            finalized = [features for since, features in self._incarnation.features if since < end]
            if finalized:
                fields["finalized_features"] = finalized[-1]
                fields["feature_levels"] = [
                    {"since": moment_of(since).isoformat(), "levels": levels}
                    for since, levels in self._incarnation.features
                    if since < end
                ]
            self._dump.describe_hour(hour, fields)
        if self._broker.server_logs or self._failed_logins:
            watched = {int(hour.timestamp()) * 10**9 for hour in hours}
            for nanos in watched | self._failed_logins.keys():
                self._dump.describe_hour(moment_of(nanos), {"failed_logins": self._failed_logins[nanos]})
        if not hours and self._incarnation.release:
            self._dump.describe_hour(moment_of(self._started))
        self._dump.close()

    def abandon(self) -> None:
        self._dump.abandon()

    def open_incarnation(self) -> OpenIncarnation:
        """What later lines continue; call after `close`. Only with windows and manifests that future lines may still belong to: of
        this hour, and of the hour before, in which a request may have arrived that is answered now.
        """
        broker, incarnation = self._broker, self._incarnation
        begin = (broker.last // HOUR_NANOS - 1) * HOUR_NANOS
        return OpenIncarnation(
            broker.broker_id,
            broker.id_known_by,
            tuple(broker.endpoints),
            self._name,
            self._started,
            broker.last,
            incarnation.api_versions,
            incarnation.features,
            incarnation.candidates,
            incarnation.release,
            [[max(first, begin), last] for first, last in self._windows if last >= begin],
            self._dump.continued().since(begin)._asdict(),
            self.watch.state(),
            [[hour, count] for hour, count in sorted(self._failed_logins.items()) if hour >= begin],
            incarnation.settings,
        )


def _push(seen: SeenRequest, watch: ConnectionWatch) -> ClientPush:
    """The push of a PushTelemetry entry (KIP-714): its payload is base64, still compressed, and the entry has the
    broker's answer.
    """
    entry = seen.entry
    request = entry.request
    push = ClientPush(
        received_at_nanos=seen.received,
        client=watch.client(seen.connection_id),
        client_instance_id=_bytes(request.get("clientInstanceId"), urlsafe=True),
        terminating=bool(request.get("terminating")),
        content_type="OTLP",
        compression_type=int(request.get("compressionType") or 0),
        payload=_bytes(request.get("metrics"), urlsafe=False),
        error_code=int(entry.response.get("errorCode") or 0),
    )
    if request.get("subscriptionId") is not None:
        push.subscription_id = int(request["subscriptionId"])
    return push


def _bytes(text: object, urlsafe: bool) -> bytes:
    """Uuid.toString is URL-safe base64 without padding, BinaryNode is standard base64."""
    if not isinstance(text, str):
        return b""
    if urlsafe:
        text = text.replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error:
        return b""


def _hours(first: datetime, last: datetime) -> list[tuple[datetime, list[str]]]:
    """Hours from `first` to `last`, each with the times of day between which it was watched."""
    hours = []
    hour = first.replace(minute=0, second=0, microsecond=0)
    while hour <= last:
        end = hour + timedelta(hours=1)
        window = (max(first, hour), min(last, end - timedelta(seconds=1)))
        hours.append((hour, [f"{moment:%H:%M:%S}" for moment in window]))
        hour = end
    return hours
