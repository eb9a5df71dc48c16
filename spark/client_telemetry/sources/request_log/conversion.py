"""From request logs to a contract v1 dump: pushes and connections, as a plugin in the brokers would have dumped them.

The same logs give the same dump, byte for byte: incarnations are derived from the logs (incarnations.py), so that a
second conversion replaces the first. Later lines of a log continue the incarnation with which the earlier ones ended
(open_incarnation.py). Refused requests and failed logins in a server log next to it are merged in by time.
"""

import base64
import binascii
import hashlib
import heapq
import uuid
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import NamedTuple

import numpy as np

from client_telemetry.formats.raw.garbage_collection import collector_paused
from client_telemetry.formats.raw.quarantine import MAX_EVIDENCE_BYTES
from client_telemetry.formats.raw.raw_dump_v1_pb2 import ClientPush
from client_telemetry.formats.raw.writer import DumpWriter
from client_telemetry.sources.compression import CutOff
from client_telemetry.sources.log_files import UNKNOWN_BROKER, LogFile, line_blocks, lines, opened_text
from client_telemetry.sources.request_log.broker_releases import BrokerReleases
from client_telemetry.sources.request_log.broker_survey import (
    Endpoint,
    Survey,
    SurveyedBroker,
    SurveyedFile,
    endpoint_of,
    id_told_apart,
    is_numbered,
    report_from,
)
from client_telemetry.sources.request_log.connection_watch import (
    FORGOTTEN_AFTER_NANOS,
    ConnectionWatch,
    EntryFacts,
    SeenRequest,
    seen,
)
from client_telemetry.sources.request_log.incarnations import BrokerIncarnation
from client_telemetry.sources.request_log.line_scan import Head, Scanned, Shape, head_of, scan, shapes_of
from client_telemetry.sources.request_log.log_line import MARK, LineReader, begins_entry
from client_telemetry.sources.request_log.open_incarnation import HOUR_NANOS, OpenIncarnation
from client_telemetry.sources.request_log.request_entry import (
    PUSH_TELEMETRY,
    READ_WHOLE,
    BadEntry,
    RequestEntry,
    parse_entry,
)
from client_telemetry.sources.request_log.server_log import ServerEvent, ServerLines

SILENCE_NANOS = 300 * 10**9
"""If a broker logs no line for longer than that, it was not watched: its log was off, is not among the files, or it was
down. A connected client asks for Metadata at least every five minutes (metadata.max.age.ms).
"""

_ESSENCES_IN_MEMORY = 100_000
_CONNECTIONS_IN_MEMORY = 100_000
_SHAPES_IN_MEMORY = 10_000

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


def is_entry(reader: LineReader, line: bytes) -> bool:
    """Whether a line is whole and from the request logger."""
    parsed = reader.read(line)
    try:
        return parsed is not None and parsed.nanos is not None and parse_entry(parsed.message) is not None
    except BadEntry:
        return False


def convert(
    survey: Survey,
    releases: BrokerReleases,
    cluster_id: str,
    root: Path,
    zone: tzinfo = UTC,
    report: Callable[[int], None] = lambda n: None,
    before: Sequence[OpenIncarnation] = (),
) -> Converted:
    """Write the dump below `root`. `releases`: what the brokers run (broker_releases.py). `before`: incarnations that
    may continue; `Converted.open_incarnations` are those that may continue from here.
    """
    converted = Converted()
    for part in parts(survey, releases, cluster_id, zone, before):
        converted.add(part.convert(root, report_from(report, converted.lines)))
    return converted


@dataclass(frozen=True)
class ConversionPart:
    """Brokers whose lines are in the same files, with these files: their conversion is independent of the others. Files
    that belong to no broker are a part without brokers. `unreadable_of`: the broker to which a file's unreadable
    pieces are assigned, if there is one. `first`, `last`: time range (ns) of the lines of all parts; 0 = none.
    """

    survey: Survey
    releases: BrokerReleases
    cluster_id: str
    zone: tzinfo
    before: Sequence[OpenIncarnation]
    unreadable_of: Mapping[LogFile, int]
    first: int
    last: int

    def convert(self, root: Path, report: Callable[[int], None] = lambda n: None) -> Converted:
        conversion = _Conversion(self, root, report)
        try:
            with collector_paused():
                return conversion.run()
        finally:
            conversion.abandon()

    def __str__(self) -> str:
        """The brokers of the part, for messages."""
        ids = [str(broker.broker_id) for broker in self.survey.brokers]
        return f"broker{'s' * (len(ids) > 1)} {', '.join(ids)}" if ids else "files that tell of no broker"


def parts(
    survey: Survey,
    releases: BrokerReleases,
    cluster_id: str,
    zone: tzinfo,
    before: Sequence[OpenIncarnation],
) -> list[ConversionPart]:
    """Every file and every broker belongs to exactly one part."""
    whose = _Whose(survey.brokers)
    groups: dict[int, list[SurveyedBroker]] = {}
    of_family: dict[str, int] = {}
    of_broker: dict[int, int] = {}
    for number, broker in enumerate(survey.brokers):
        families = {at.stream[0] for at in (*broker.endpoints, *broker.controllers)}
        merged = sorted({of_family[family] for family in families if family in of_family})
        groups[number] = [*(broker for other in merged for broker in groups.pop(other)), broker]
        of_family |= {family: number for family, other in of_family.items() if other in merged}
        of_family |= dict.fromkeys(families, number)
        of_broker |= {broker.broker_id: number for broker in groups[number]}
    of_server_log = {
        source.log: of_broker[broker.broker_id] for broker in survey.brokers for source in broker.server_logs
    }
    files: dict[int | None, list[SurveyedFile]] = {}
    for file in survey.files:
        log = file.log
        group = of_family.get(log.family) if file.entries else of_server_log.get(log)
        if group is None and (broker_id := whose.unreadable_of(log)) is not None:
            group = of_broker[broker_id]
        files.setdefault(group, []).append(file)
    first = min((broker.first for broker in survey.brokers), default=0)
    last = max((broker.last for broker in survey.brokers), default=0)

    def part(
        brokers: list[SurveyedBroker], files: list[SurveyedFile], without_log: list[int]
    ) -> ConversionPart:
        of_part = replace(survey, brokers=brokers, files=files, without_log=without_log)
        unreadable_of = {file.log: whose.unreadable_of(file.log) for file in files}
        open_ = [
            open_incarnation
            for open_incarnation in before
            if any(open_incarnation.is_of(broker) for broker in brokers)
        ]
        return ConversionPart(
            of_part,
            releases,
            cluster_id,
            zone,
            open_,
            {k: v for k, v in unreadable_of.items() if v is not None},
            first,
            last,
        )

    result = [part(brokers, files.get(group, []), []) for group, brokers in groups.items()]
    if files.get(None) or survey.without_log:
        result.append(part([], files.get(None, []), survey.without_log))
    return result


class _Whose:
    """To which broker an unreadable piece of a file belongs: the one whose log it is, or the only one whose log is next
    to it.
    """

    def __init__(self, brokers: Sequence[SurveyedBroker]) -> None:
        self._of_family: dict[str, int] = {}
        self._of_folder: dict[str, set[int]] = {}
        for broker in brokers:
            for family in (at.stream[0] for at in broker.endpoints):
                self._of_family.setdefault(family, broker.broker_id)
                self._of_folder.setdefault(family.rpartition("/")[0], set()).add(broker.broker_id)

    def unreadable_of(self, log: LogFile) -> int | None:
        if log.family in self._of_family or log.broker_id is not None:
            return self._of_family.get(log.family)
        beside = self._of_folder.get(log.file.folder, set())
        return next(iter(beside)) if len(beside) == 1 else None


class _Entry(NamedTuple):
    """What a line says: its request, time (ns), label, and essence (line_scan.py; 0 = none)."""

    seen: SeenRequest
    nanos: int
    label: str
    essence: int = 0


class _Origin(NamedTuple):
    """Of a connection: its id, and the broker, which is None for a controller's listener. `is_plain`: whether the broker is known
    by the id alone; otherwise the lines have to be looked at one by one.
    """

    connection_id: str
    broker: "_Broker | None" = None
    is_plain: bool = False


class _Conversion:
    def __init__(self, part: ConversionPart, root: Path, report: Callable[[int], None]) -> None:
        self._survey = survey = part.survey
        self._cluster_id, self._root = part.cluster_id, root
        self._first, self._last = part.first, part.last
        self._zone = part.zone
        self._reader = LineReader(part.zone)
        self._report = report
        self.done = Converted()
        self._brokers: list[_Broker] = []
        self._at: dict[Endpoint, _Broker | None] = {}
        for surveyed in survey.brokers:
            open_ = next(
                (open_incarnation for open_incarnation in part.before if open_incarnation.is_of(surveyed)),
                None,
            )
            incarnations = [
                _Incarnation(
                    surveyed, i, part.releases, part.cluster_id, root, self.done, open_ if i == 0 else None
                )
                for i in range(len(surveyed.incarnations))
            ]
            broker = _Broker(surveyed, incarnations, self._server_events(surveyed))
            self._brokers.append(broker)
            for endpoint in surveyed.endpoints:
                self._at[endpoint] = broker
            for endpoint in surveyed.controllers:
                self._at[endpoint] = None
        by_id = {
            surveyed.broker_id: broker for surveyed, broker in zip(survey.brokers, self._brokers, strict=True)
        }
        self._unreadable_of = {
            log: by_id[broker_id] for log, broker_id in part.unreadable_of.items() if broker_id in by_id
        }
        self._of_controllers: set[int] = set()
        self._of_shape: dict[int, tuple[RequestEntry, EntryFacts]] = {}
        self._of_no_broker: dict[int, DumpWriter] = {}

    def run(self) -> Converted:
        if self._survey.without_log and self._first:
            self._describe_brokers_without_log()
        files = [f for f in self._survey.files if f.same_as is None]
        for file in sorted((f for f in files if f.entries), key=lambda f: (f.first, f.log.file)):
            self._file(file.log)
        for file in files:
            if file.is_no_log:
                self.done.no_logs.append(file.log.file.name)
            elif not file.entries and not file.is_server_log and (file.lines or file.cut):
                self._without_entries(file)
        for broker in self._brokers:
            broker.take_until(None)
            for incarnation in broker.incarnations:
                incarnation.close()
            if broker.incarnations[-1].is_latest:
                self.done.open_incarnations.append(broker.incarnations[-1].open_incarnation())
        for dump in self._of_no_broker.values():
            dump.close()
        return self.done

    def abandon(self) -> None:
        """Discard what is not closed."""
        for broker in self._brokers:
            for incarnation in broker.incarnations:
                incarnation.abandon()
        for dump in self._of_no_broker.values():
            dump.abandon()

    def _file(self, log: LogFile) -> None:  # noqa: C901
        converted = self.done
        cut = CutOff()
        self._reader = LineReader.of_file(log, self._zone, self._survey.year)
        current: _Incarnation | None = None
        origins: dict[int, _Origin] = {}
        for offset, block in line_blocks(log, cut):
            scanned = scan(block)
            shapes = shapes_of(block, scanned, self._new_rows(scanned, current))
            rows = zip(
                scanned.essence.tolist(),
                self._reader.utc_nanos(scanned.local_ms).tolist(),
                scanned.total_ns.tolist(),
                scanned.connection.tolist(),
                strict=True,
            )
            for row, (essence, nanos, total, number) in enumerate(rows):
                if current is not None and current.since <= nanos < current.due:
                    counted = current.watch.known.get(essence)
                    if counted is not None:
                        # Like `_Incarnation.add`, if nothing but the time is new.
                        connection, use, error = counted
                        use[0] += 1
                        if error is not None:
                            connection.errors[error] += 1
                        at = nanos - total
                        if at > use[3]:
                            use[3] = at
                        elif at < use[2]:
                            use[2] = at
                        if at > connection.last:
                            connection.last = at
                        elif at < connection.opened:
                            connection.opened = at
                        connection.unsaid = True
                        if nanos > current.now:
                            current.now = nanos
                        converted.entries += 1
                        continue
                if essence in self._of_controllers:
                    converted.entries += 1
                    converted.of_controllers += 1
                    continue
                taken = None
                if essence:
                    shape = shapes.get(row) or shapes_of(block, scanned, [row])[row]
                    if number not in origins:
                        if len(origins) == _CONNECTIONS_IN_MEMORY:
                            origins.clear()
                        origins[number] = self._origin(log, head_of(block, shape))
                    origin, known = origins[number], self._of_shape.get(shape[0])
                    if known is None:
                        taken = self._first_of_shape(scanned.line(block, row), shape, nanos, essence)
                    else:
                        correlation_id = int(block[shape[1][0] : shape[1][1]])
                        request = SeenRequest(origin.connection_id, correlation_id, nanos - total, *known)
                        taken = _Entry(request, nanos, "", essence)
                    if taken is not None and origin.is_plain:
                        current = self._count(origin.broker, taken, current)
                        continue
                line = scanned.line(block, row)
                current = self._line(log, line, offset + int(scanned.bounds[row]), current, taken)
            converted.lines += len(scanned.key)
            self._report(converted.lines)
        if cut.reason and log.end is None:
            converted.cut.append(cut.reason)
            self._pass_on(log, cut.stored, f"{log.file.name}: {cut.reason}", "the compressed file is cut off")

    def _new_rows(self, scanned: Scanned, current: "_Incarnation | None") -> list[int]:
        """The first row of each essence that was not seen before."""
        known = current.watch.known if current is not None else {}
        essences, rows = np.unique(scanned.essence, return_index=True)
        return [
            row
            for essence, row in zip(essences.tolist(), rows.tolist(), strict=True)
            if essence and essence not in known and essence not in self._of_controllers
        ]

    def _origin(self, log: LogFile, head: Head) -> _Origin:
        """Where a connection is from. Not plain: its id is no pair of addresses, masked, or of two brokers."""
        if not is_numbered(head.connection_id):
            return _Origin(head.connection_id)
        endpoint = endpoint_of((log.family, ""), head.connection_id, head.listener)
        if endpoint is None or endpoint in self._survey.doubled or endpoint not in self._at:
            return _Origin(head.connection_id)
        return _Origin(head.connection_id, self._at[endpoint], is_plain=True)

    def _first_of_shape(self, line: bytes, shape: Shape, nanos: int, essence: int) -> "_Entry | None":
        """Of a line that the compiled reader took; later ones of its shape are not parsed. None if it cannot be parsed."""
        try:
            entry = parse_entry(line[line.index(MARK) :].decode("utf-8", "replace"))
        except ValueError:
            return None
        request = seen(entry, nanos)
        if entry.api_key != PUSH_TELEMETRY and not entry.is_forwarded:
            if len(self._of_shape) == _SHAPES_IN_MEMORY:
                self._of_shape.clear()
            kept = entry if entry.api_key in READ_WHOLE else entry.shortened()
            self._of_shape[shape[0]] = kept, request.facts
        return _Entry(request, nanos, "", essence)

    def _line(
        self,
        log: LogFile,
        line: bytes,
        offset: int,
        current: "_Incarnation | None",
        taken: "_Entry | None",
    ) -> "_Incarnation | None":
        """Returns the incarnation that the line belongs to, or `current`. `taken`: what it says, if that is known."""
        converted = self.done
        nanos = None
        try:
            if taken is None:
                parsed = self._reader.read(line)
                if parsed is None:
                    converted.other_lines += 1
                    return current
                nanos = parsed.nanos
                if nanos is None:
                    raise BadEntry(parsed.problem or "no time that can be read")
                taken = _Entry(seen(parse_entry(parsed.message), nanos), nanos, parsed.label)
            nanos = taken.nanos
            connection_id, entry = taken.seen.connection_id, taken.seen.entry
            endpoint = endpoint_of((log.family, taken.label), connection_id, entry.listener)
            if endpoint is None:
                raise BadEntry(f"not an id of a connection: {connection_id[:80]!r}")
            if endpoint in self._survey.doubled:
                converted.other_lines += 1
                return current
            broker = self._broker_at(endpoint)
        except BadEntry as error:
            converted.unreadable[str(error).partition(":")[0]] += 1
            any_broker = self._unreadable_of.get(log)
            incarnation = current or (any_broker.incarnations[0] if any_broker else None)
            if incarnation is not None:
                incarnation.add_unreadable(line, f"{log.file.name}, byte {offset}: {error}", nanos)
            return current
        told_apart = taken.seen._replace(connection_id=id_told_apart(connection_id, entry))
        return self._count(broker, taken._replace(seen=told_apart), current)

    def _count(
        self, broker: "_Broker | None", taken: "_Entry", current: "_Incarnation | None"
    ) -> "_Incarnation | None":
        """`broker`: None for an entry of a controller's listener."""
        self.done.entries += 1
        if (
            taken.seen.entry.is_forwarded
        ):  # a controller's entry for what a broker passed on: its client is the broker
            self.done.forwarded += 1
            return current
        if broker is None:
            self.done.of_controllers += 1
            if taken.essence and len(self._of_controllers) < _ESSENCES_IN_MEMORY:
                self._of_controllers.add(taken.essence)
            return current
        return broker.add(taken)

    def _server_events(self, broker: SurveyedBroker) -> Iterator[ServerEvent]:
        """Refusals and failed logins of a broker in order of time, each once: the console repeats the lines of the
        file.
        """
        families: dict[str, dict[LogFile, set[str]]] = {}
        for source in sorted(broker.server_logs, key=lambda source: (source.first, source.log)):
            families.setdefault(source.log.family, {}).setdefault(source.log, set()).add(source.label)
        last = 0
        at_once: set[ServerEvent] = set()
        for event in heapq.merge(*map(self._events_of, families.values())):
            if event.nanos != last:
                last = event.nanos
                at_once.clear()
            if event not in at_once:
                at_once.add(event)
                yield event

    def _events_of(self, logs: Mapping[LogFile, set[str]]) -> Iterator[ServerEvent]:
        """`logs`: with the labels of the broker's lines."""
        for log, labels in logs.items():
            server, reader = ServerLines(), LineReader.of_file(log, self._zone, self._survey.year)
            for _, line in lines(log, CutOff()):
                if not begins_entry(line) and server.is_notable(line):
                    yield from _counted(server.read(reader.read_other(line)), labels)
            yield from _counted(server.end(), labels)

    def _without_entries(self, file: SurveyedFile) -> None:
        """For a file whose lines belong to no broker, one piece is passed on, from the first line that may have been
        meant as an entry.
        """
        log, at = file.log, file.log.start
        if file.marked:
            at = next(offset for offset, line in lines(log, CutOff()) if begins_entry(line))
        with opened_text(replace(log, start=at), CutOff()) as text:
            piece = text.read(MAX_EVIDENCE_BYTES)
        where = (
            f"{log.file.name}, byte {at}: none of its {file.lines} lines is an entry of kafka.request.logger at DEBUG, "
            f"{file.marked} begin like one"
        )
        self.done.without_entries.append(str(log.file))
        if piece:
            self._pass_on(log, piece, where, "a file without an entry")
        if file.cut and log.end is None:
            cut = CutOff()
            for _ in lines(log, cut):
                pass
            self._pass_on(log, cut.stored, f"{log.file.name}: {file.cut}", "the compressed file is cut off")

    def _pass_on(self, log: LogFile, piece: bytes, where: str, reason: str) -> None:
        """Pass a piece of a file that belongs to no broker on to the one whose log it seems to be."""
        self.done.unreadable[reason] += 1
        broker = self._unreadable_of.get(log)
        if broker is not None:
            broker.incarnations[0].add_unreadable(piece, where, None)
            return
        broker_id = UNKNOWN_BROKER if log.broker_id is None else log.broker_id
        at = int(log.file.modified_at().timestamp()) * 10**9
        if self._first:
            at = min(max(at, self._first), self._last)
        if broker_id not in self._of_no_broker:
            digest = hashlib.sha256(where.encode() + piece).hexdigest()
            name = f"request-log/{self._cluster_id}/{broker_id}/{digest}"
            self._of_no_broker[broker_id] = _unwatched(
                self._root, self._cluster_id, broker_id, name, _time(at)
            )
        self._of_no_broker[broker_id].append_unreadable("connections", piece, where, at)

    def _describe_brokers_without_log(self) -> None:
        """Write a manifest that says that nothing was watched: otherwise nobody would know that the broker exists."""
        first = _time(self._first)
        for broker_id in self._survey.without_log:
            name = f"request-log/{self._cluster_id}/{broker_id}/none"
            dump = _unwatched(self._root, self._cluster_id, broker_id, name, first)
            dump.describe_hour(first)
            dump.close()

    def _broker_at(self, endpoint: Endpoint) -> "_Broker | None":
        """None for a controller's listener."""
        if endpoint not in self._at:
            raise BadEntry("an address that the log did not have before: it grew while it was read")
        return self._at[endpoint]


def _counted(events: Iterator[ServerEvent], labels: set[str]) -> Iterator[ServerEvent]:
    """Refusals and failed logins of the lines with these labels, without the label: the console repeats the file."""
    return (
        event._replace(label="")
        for event in events
        if event.kind in ("refused", "login_failed") and event.label in labels
    )


class _Broker:
    """The incarnations of a broker, and what its server log says between the entries."""

    def __init__(
        self,
        surveyed: SurveyedBroker,
        incarnations: "list[_Incarnation]",
        server_events: Iterator[ServerEvent],
    ) -> None:
        self.incarnations = incarnations
        self._since = [incarnation.since for incarnation in incarnations]
        self._listeners = surveyed.listeners
        self._server_events = server_events
        self._next = next(server_events, None)

    def add(self, taken: _Entry) -> "_Incarnation":
        """Returns the incarnation that the entry belongs to."""
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

    def _incarnation_at(self, nanos: int) -> "_Incarnation":
        if len(self.incarnations) == 1:
            return self.incarnations[0]
        return self.incarnations[bisect_right(self._since, nanos, lo=1) - 1]


def _unwatched(root: Path, cluster_id: str, broker_id: int, name: str, started_at: datetime) -> DumpWriter:
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


class _Incarnation:
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
            broker_started_at=_time(started),
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

    def add(self, taken: _Entry) -> None:
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
            for hour, times in _hours(*map(_time, window)):
                hours.setdefault(hour, []).append(times)
        for hour, windows in hours.items():
            fields: dict[str, object] = {"registry": {"mode": "sampled", "windows": windows}}
            end = int(hour.timestamp() + 3600) * 10**9
            finalized = [features for since, features in self._incarnation.features if since < end]
            if finalized:
                fields["finalized_features"] = finalized[-1]
                fields["feature_levels"] = [
                    {"since": _time(since).isoformat(), "levels": levels}
                    for since, levels in self._incarnation.features
                    if since < end
                ]
            self._dump.describe_hour(hour, fields)
        if self._broker.server_logs or self._failed_logins:
            watched = {int(hour.timestamp()) * 10**9 for hour in hours}
            for nanos in watched | self._failed_logins.keys():
                self._dump.describe_hour(_time(nanos), {"failed_logins": self._failed_logins[nanos]})
        if not hours and self._incarnation.release:
            self._dump.describe_hour(_time(self._started))
        self._dump.close()

    def abandon(self) -> None:
        self._dump.abandon()

    def open_incarnation(self) -> OpenIncarnation:
        """What later lines continue; call after `close`."""
        return OpenIncarnation.of(
            self._broker,
            self._incarnation,
            name=self._name,
            since=self._started,
            windows=self._windows,
            dump=self._dump.continued(),
            watch=self.watch.state(),
            failed_logins=self._failed_logins,
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


def _time(nanos: int) -> datetime:
    return datetime.fromtimestamp(nanos // 10**9, UTC) + timedelta(microseconds=nanos % 10**9 // 1000)


def surveyed_days(survey: Survey) -> Sequence[str]:
    """UTC days that the logs cover, oldest first."""
    days = set()
    for broker in survey.brokers:
        day = _time(broker.first).date()
        while day <= _time(broker.last).date():
            days.add(day.isoformat())
            day += timedelta(days=1)
    return sorted(days)
