"""From request logs to a contract v1 dump: pushes and connections, as a plugin in the brokers would have dumped them.

The same logs give the same dump, byte for byte: incarnations are derived from the logs (incarnations.py), so that a
second conversion replaces the first. Later lines of a log continue the incarnation with which the earlier ones ended
(open_incarnation.py). Refused requests and failed logins in a server log next to it are merged in by time.
"""

import hashlib
import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, timedelta, tzinfo
from pathlib import Path
from typing import NamedTuple

import numpy as np

from client_telemetry.formats.raw.garbage_collection import collector_paused
from client_telemetry.formats.raw.quarantine import MAX_EVIDENCE_BYTES
from client_telemetry.formats.raw.writer import DumpWriter, moment_of
from client_telemetry.sources.compression import CutOff
from client_telemetry.sources.log_files import UNKNOWN_BROKER, LogFile, line_blocks, lines, opened_text
from client_telemetry.sources.request_log.broker_releases import BrokerReleases
from client_telemetry.sources.request_log.broker_survey import report_from
from client_telemetry.sources.request_log.connection_ids import (
    Endpoint,
    endpoint_of,
    id_told_apart,
    is_numbered,
)
from client_telemetry.sources.request_log.connection_watch import (
    EntryFacts,
    SeenRequest,
    seen,
)
from client_telemetry.sources.request_log.line_scan import Head, Scanned, Shape, head_of, scan, shapes_of
from client_telemetry.sources.request_log.log_line import LineReader, begins_entry
from client_telemetry.sources.request_log.open_incarnation import OpenIncarnation
from client_telemetry.sources.request_log.request_entry import (
    PUSH_TELEMETRY,
    READ_WHOLE,
    BadEntry,
    RequestEntry,
    parse_entry,
)
from client_telemetry.sources.request_log.server_log import ServerEvent, ServerLines
from client_telemetry.sources.request_log.surveyed import Survey, SurveyedBroker, SurveyedFile
from client_telemetry.sources.request_log.wrapping import MARK
from client_telemetry.sources.request_log.written_incarnations import (
    Converted,
    TakenEntry,
    WrittenBroker,
    WrittenIncarnation,
    unwatched,
)

_ESSENCES_IN_MEMORY = 100_000
_CONNECTIONS_IN_MEMORY = 100_000
_SHAPES_IN_MEMORY = 10_000


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
        whose_is_known = {log: broker_id for log, broker_id in unreadable_of.items() if broker_id is not None}
        open_ = [each for each in before if any(map(each.is_of, brokers))]
        return ConversionPart(of_part, releases, cluster_id, zone, open_, whose_is_known, first, last)

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


class _Origin(NamedTuple):
    """Of a connection: its id, and the broker, which is None for a controller's listener. `is_plain`: whether the broker is known
    by the id alone; otherwise the lines have to be looked at one by one.
    """

    connection_id: str
    broker: WrittenBroker | None = None
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
        self._brokers: list[WrittenBroker] = []
        self._at: dict[Endpoint, WrittenBroker | None] = {}
        for surveyed in survey.brokers:
            open_ = next((each for each in part.before if each.is_of(surveyed)), None)
            incarnations = [
                WrittenIncarnation(
                    surveyed, i, part.releases, part.cluster_id, root, self.done, open_ if i == 0 else None
                )
                for i in range(len(surveyed.incarnations))
            ]
            broker = WrittenBroker(surveyed, incarnations, self._server_events(surveyed))
            self._brokers.append(broker)
            self._at |= dict.fromkeys(surveyed.endpoints, broker)
            self._at |= dict.fromkeys(surveyed.controllers)
        by_id = dict(zip((each.broker_id for each in survey.brokers), self._brokers, strict=True))
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
        current: WrittenIncarnation | None = None
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
                        # Like `WrittenIncarnation.add`, if nothing but the time is new.
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
                        taken = TakenEntry(request, nanos, "", essence)
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

    def _new_rows(self, scanned: Scanned, current: WrittenIncarnation | None) -> list[int]:
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

    def _first_of_shape(self, line: bytes, shape: Shape, nanos: int, essence: int) -> TakenEntry | None:
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
        return TakenEntry(request, nanos, "", essence)

    def _line(
        self,
        log: LogFile,
        line: bytes,
        offset: int,
        current: WrittenIncarnation | None,
        taken: TakenEntry | None,
    ) -> WrittenIncarnation | None:
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
                taken = TakenEntry(seen(parse_entry(parsed.message), nanos), nanos, parsed.label)
            nanos = taken.nanos
            connection_id, entry = taken.seen.connection_id, taken.seen.entry
            endpoint = endpoint_of((log.family, taken.label), connection_id, entry.listener)
            if endpoint is None:
                raise BadEntry(f"not an id of a connection: {connection_id[:80]!r}")
            if endpoint in self._survey.doubled:
                converted.other_lines += 1
                return current
            if endpoint not in self._at:
                raise BadEntry("an address that the log did not have before: it grew while it was read")
            broker = self._at[endpoint]
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
        self, broker: WrittenBroker | None, taken: TakenEntry, current: WrittenIncarnation | None
    ) -> WrittenIncarnation | None:
        """`broker`: None for an entry of a controller's listener."""
        self.done.entries += 1
        if taken.seen.entry.is_forwarded:
            # A controller's entry for what a broker passed on: its client is the broker.
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
            self._of_no_broker[broker_id] = unwatched(
                self._root, self._cluster_id, broker_id, name, moment_of(at)
            )
        self._of_no_broker[broker_id].append_unreadable("connections", piece, where, at)

    def _describe_brokers_without_log(self) -> None:
        """Write a manifest that says that nothing was watched: otherwise nobody would know that the broker exists."""
        first = moment_of(self._first)
        for broker_id in self._survey.without_log:
            name = f"request-log/{self._cluster_id}/{broker_id}/none"
            dump = unwatched(self._root, self._cluster_id, broker_id, name, first)
            dump.describe_hour(first)
            dump.close()


def _counted(events: Iterator[ServerEvent], labels: set[str]) -> Iterator[ServerEvent]:
    """Refusals and failed logins of the lines with these labels, without the label: the console repeats the file."""
    return (
        event._replace(label="")
        for event in events
        if event.kind in ("refused", "login_failed") and event.label in labels
    )


def surveyed_days(survey: Survey) -> Sequence[str]:
    """UTC days that the logs cover, oldest first."""
    days = set()
    for broker in survey.brokers:
        day = moment_of(broker.first).date()
        while day <= moment_of(broker.last).date():
            days.add(day.isoformat())
            day += timedelta(days=1)
    return sorted(days)
