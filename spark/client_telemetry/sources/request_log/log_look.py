"""Reads the log files of one family for the first pass: what they tell of brokers, of their releases and of the time."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import tzinfo
from operator import itemgetter
from typing import Any

import numpy as np

from client_telemetry.knowledge.api_key import ApiKey
from client_telemetry.sources.compression import CutOff, reason_not_read
from client_telemetry.sources.cut_lines import PARTIAL
from client_telemetry.sources.log_files import LogFile, line_blocks, lines
from client_telemetry.sources.request_log.connection_ids import NO_CONNECTION, Endpoint, addresses
from client_telemetry.sources.request_log.incarnations import (
    ConnectionSegments,
    Offer,
    own_ranges,
)
from client_telemetry.sources.request_log.line_scan import SLOW, Head, head_of, scan, shapes_of
from client_telemetry.sources.request_log.log_line import LineReader, begins_entry
from client_telemetry.sources.request_log.log_time import NO_TIME
from client_telemetry.sources.request_log.other_logs import LINES_LOOKED_AT, kind_of_log
from client_telemetry.sources.request_log.request_entry import (
    API_VERSIONS,
    DESCRIBE_CLUSTER,
    FIND_COORDINATOR,
    METADATA,
    PRODUCE,
    BadEntry,
    RequestEntry,
    parse_entry,
)
from client_telemetry.sources.request_log.server_log import (
    ServerEvent,
    ServerLines,
    is_of_kafka,
    shows_a_broker,
)
from client_telemetry.sources.request_log.surveyed import (
    LIKE_AN_ENTRY,
    EndpointEvidence,
    EntryTime,
    FileLook,
    LogLook,
    ServerSource,
    SurveyedFile,
)
from client_telemetry.sources.request_log.wrapping import MARK, TRACE_MARK
from client_telemetry.sources.stored_file import StoredFile

_LOOKED_AT = 200
"""Metadata answers and Produce requests that are examined per address."""

_OF_CONTROLLERS = frozenset(
    (
        ApiKey.VOTE,
        ApiKey.BEGIN_QUORUM_EPOCH,
        ApiKey.END_QUORUM_EPOCH,
        ApiKey.FETCH_SNAPSHOT,
        ApiKey.BROKER_REGISTRATION,
        ApiKey.BROKER_HEARTBEAT,
        ApiKey.CONTROLLER_REGISTRATION,
        ApiKey.ASSIGN_REPLICAS_TO_DIRS,
        ApiKey.UPDATE_RAFT_VOTER,
    )
)
"""Only a KRaft controller answers these, on a listener that no client of brokers uses (controller.listener.names may not be
advertised).
"""

_CONTROLLER_KEYS = np.array(sorted(_OF_CONTROLLERS), np.int32)
_LOOKED_AT_KEYS = (API_VERSIONS, METADATA, PRODUCE, FIND_COORDINATOR, DESCRIBE_CLUSTER)
_NO_MESSAGE = re.compile(rb'^\{.*"MESSAGE" ?: ?null')
_LEVEL = re.compile(rb"\b(?:TRACE|DEBUG|INFO|WARN|ERROR)\b")
_SEVERAL_ENTRIES = re.compile(
    rb"^[^{\"]*(?:Completed|Handling) request:.*\d{4}-\d\d-\d\d[ T][\d:,.]+\S* (?:DEBUG|INFO|TRACE) (?:Completed|Handling) request:",
    re.MULTILINE,
)
"""A line of several entries, which something joined: the others are read as a part of the first."""
_MARK_IN_UTF_16 = "Completed request:".encode("utf-16-le")
_CONNECTIONS_IN_MEMORY = 500_000


def _note_several(block: bytearray, entries: int, file: SurveyedFile) -> None:
    """`entries`: lines of the block that begin one."""
    if block.count(MARK) + block.count(TRACE_MARK) > entries:
        for match in _SEVERAL_ENTRIES.finditer(block):
            file.note_unused("several in one line, of which one is read", match[0])


def time_and_name(look: FileLook) -> tuple[int, StoredFile]:
    """Sorts rotated files of a log in the order in which they were written."""
    return look.begin, look.file.log.file


class LogReader:
    """Reads the files of one log."""

    def __init__(self, zone: tzinfo, year: int | None, report: Callable[[int], None]) -> None:
        self._zone, self._year = zone, year
        self._reader = LineReader(zone)
        self._report = report
        self._seen: dict[Endpoint, EndpointEvidence] = {}
        self._segments: dict[tuple[str, str], ConnectionSegments] = {}
        self._endpoints: dict[tuple[str, str, str, str], tuple[Endpoint, EndpointEvidence] | None] = {}
        self._connections: dict[int, tuple[str, Endpoint, EndpointEvidence]] = {}
        self._lines = 0
        self._lines_to_look_at = 0

    def look(self, files: Sequence[LogFile]) -> LogLook:
        looks = sorted((FileLook(self._begin(log), SurveyedFile(log)) for log in files), key=time_and_name)
        for self._current in looks:
            before = len(self._seen)
            self._file(self._current.file)
            self._current.endpoints = list(self._seen)[before:]
        _leave_out_clients([look.file for look in looks])
        return LogLook(looks, self._seen, self._segments)

    def _begin(self, log: LogFile) -> int:
        """Time of the first line that has one, in nanoseconds."""
        reader = LineReader.of_file(log, self._zone, self._year)
        for number, (_, line) in enumerate(lines(log, CutOff())):
            entry = reader.read(line)
            nanos = reader.nanos_of(line) if entry is None else entry.nanos
            if nanos is not None:
                return nanos
            if number > LINES_LOOKED_AT:
                break
        return 0

    def _file(self, file: SurveyedFile) -> None:
        log, cut = file.log, CutOff()
        self._reader = LineReader.of_file(log, self._zone, self._year)
        self._lines_to_look_at = LINES_LOOKED_AT
        server = ServerLines()
        for _, block in line_blocks(log, cut):
            self._block(log, block, server, file)
            self._report(self._lines)
        for event in server.end():
            _note(event, file)
        file.unread_server_lines = server.unread
        file.cut = cut.reason
        if not file.entries and not file.counted:
            with log.file.open() as stored:
                file.foreign = reason_not_read(stored.read(16))

    def _block(self, log: LogFile, block: bytearray, server: ServerLines, file: SurveyedFile) -> None:
        """What the lines say about their connections. Parsed one by one are only: the first line of a connection,
        answers that reveal which broker is which, and what the compiled reader left.
        """
        scanned, marked = scan(block, with_bodies=False), file.marked
        self._lines += len(scanned.key)
        file.lines += len(scanned.key)
        is_slow = scanned.essence == SLOW
        rows = np.flatnonzero(~is_slow)
        nanos = self._reader.utc_nanos(scanned.local_ms[rows])
        connections, firsts, places, counts = np.unique(
            scanned.connection[rows], return_index=True, return_inverse=True, return_counts=True
        )
        place_of = np.full(len(scanned.key), -1)
        place_of[rows] = places
        begins_at = dict(zip(rows[firsts].tolist(), connections.tolist(), strict=True))
        shapes = shapes_of(
            block,
            scanned,
            [row for row, number in begins_at.items() if number not in self._connections],
            with_bodies=False,
        )
        is_looked_at = is_slow | np.isin(scanned.key, _LOOKED_AT_KEYS)
        is_looked_at[rows[firsts]] = True
        times: list[EntryTime] = []
        whose: dict[int, tuple[str, Endpoint, EndpointEvidence] | None] = {}
        looked_at = np.flatnonzero(is_looked_at)
        for row, place, key in zip(
            *(values.tolist() for values in (looked_at, place_of[looked_at], scanned.key[looked_at])),
            strict=True,
        ):
            if place < 0:
                self._line(log, scanned.line(block, row), row, server, file, times)
                continue
            if row in begins_at:
                number = begins_at[row]
                origin = self._connections.get(number)
                if origin is None:
                    shape = shapes.get(row) or shapes_of(block, scanned, [row])[row]
                    origin = self._connection(log, number, head_of(block, shape))
                whose[place] = origin
            origin = whose[place]
            if origin is not None and _is_looked_at(key, origin[2]):
                nanos_of_row = int(nanos[np.searchsorted(rows, row)])
                self._look(origin[2], _parsed(scanned.line(block, row)), nanos_of_row)
        file.marked += len(rows)
        _note_several(block, file.marked - marked, file)
        levels = np.frombuffer(block, np.uint8)[scanned.bounds[rows] + len("[2026-11-22 10:48:20,123] ")]
        file.at_info += int(np.count_nonzero(levels == ord("I")))
        del levels  # the block grows
        begin = np.full(len(connections), 2**63 - 1, np.int64)
        end = np.zeros(len(connections), np.int64)
        np.minimum.at(begin, places, nanos)
        np.maximum.at(end, places, nanos)
        of_controllers = set(places[np.isin(scanned.key[rows], _CONTROLLER_KEYS)].tolist())
        spans = list(zip(*(values.tolist() for values in (begin, end, counts, rows[firsts])), strict=True))
        for place, origin in whose.items():
            first, last, count, row = spans[place]
            if origin is None:
                file.note_unused(NO_CONNECTION, scanned.line(block, row))
                continue
            connection, endpoint, evidence = origin
            self._note_entries(log, evidence, file, count, first, last)
            evidence.is_controller |= place in of_controllers
            times += [EntryTime(at, row, connection, endpoint) for at in (first, last)]
        for at, _, connection, endpoint in sorted(times, key=itemgetter(0, 1)):
            self._segments[endpoint.stream].add(connection, endpoint.listener, at)

    def _connection(
        self, log: LogFile, number: int, head: Head
    ) -> tuple[str, Endpoint, EndpointEvidence] | None:
        """The connection and endpoint behind the compiled reader's number for a connection; `head`: of one of its lines.
        None if the connection id is not a pair of addresses.
        """
        endpoint = self._endpoint((log.family, ""), head.connection_id, head.listener, head.security_protocol)
        if endpoint is None:
            return None
        if len(self._connections) > _CONNECTIONS_IN_MEMORY:
            self._connections.clear()
        self._connections[number] = (head.connection_id, *endpoint)
        return self._connections[number]

    def _note_entries(
        self, log: LogFile, evidence: EndpointEvidence, file: SurveyedFile, count: int, first: int, last: int
    ) -> None:
        """Add `count` entries of one connection, between `first` and `last`."""
        evidence.entries += count
        evidence.first, evidence.last = min(evidence.first, first), max(evidence.last, last)
        evidence.given_broker_id = log.broker_id
        file.entries += count
        file.note_times(first, last)

    def _line(
        self,
        log: LogFile,
        line: bytes,
        row: int,
        server: ServerLines,
        file: SurveyedFile,
        times: list[EntryTime],
    ) -> None:
        """A line in another layout, forwarded, damaged, or of another logger."""
        if not file.may_be_damaged and not file.entries:
            file.may_be_damaged = LIKE_AN_ENTRY.search(line) is not None
        if not begins_entry(line):
            self._other_line(line, server, file)
            return
        file.marked += 1
        parsed = self._reader.read(line)
        if parsed is None:
            return
        if parsed.nanos is None:
            file.note_unused(parsed.problem or NO_TIME.problem, line)
            return
        try:
            entry = parse_entry(parsed.message)
        except BadEntry as error:
            reason = str(error).partition(":")[0]
            file.note_unused("a part of the line is missing" if PARTIAL in line else reason, line)
            return
        nanos = parsed.nanos
        file.has_no_year |= parsed.has_no_year
        file.at_info += _is_at_info(line)
        at_endpoint = self._endpoint(
            (log.family, parsed.label), entry.connection_id, entry.listener, entry.security_protocol
        )
        if at_endpoint is None:
            file.note_unused(NO_CONNECTION, line)
            return
        endpoint, evidence = at_endpoint
        self._note_entries(log, evidence, file, 1, nanos, nanos)
        if parsed.node_id is not None:
            evidence.node_ids[parsed.node_id] += 1
        times.append(EntryTime(nanos, row, entry.connection_id, endpoint))
        key = entry.api_key
        evidence.is_controller = evidence.is_controller or key in _OF_CONTROLLERS
        if key in _LOOKED_AT_KEYS and _is_looked_at(key, evidence):
            self._look(evidence, entry, nanos)

    def _other_line(self, line: bytes, server: ServerLines, file: SurveyedFile) -> None:
        """A line that is no entry of the request log."""
        if _MARK_IN_UTF_16 in line:
            file.note_unused(
                "in UTF-16 within a file that begins otherwise (PowerShell's >>)", line.replace(b"\0", b"")
            )
            return
        if self._lines_to_look_at and not file.entries:
            self._lines_to_look_at -= 1
            if kind := kind_of_log(line):
                file.kinds[kind] += 1
        if server.is_notable(line):
            for event in server.read(self._reader.read_other(line)):
                _note(event, file)
        elif _NO_MESSAGE.search(line):
            file.without_message += 1
        elif file.of_kafka < LINES_LOOKED_AT and not file.entries and is_of_kafka(line):
            file.of_kafka += 1

    def _endpoint(
        self, stream: tuple[str, str], connection: str, listener: str, protocol: str
    ) -> tuple[Endpoint, EndpointEvidence] | None:
        local = (*stream, connection.partition("-")[0], listener)
        if local not in self._endpoints:
            ends = addresses(connection)
            self._endpoints[local] = None
            if ends is not None:
                at = Endpoint(stream, ends.local_host, ends.local_port, listener)
                self._endpoints[local] = at, self._seen.setdefault(at, EndpointEvidence(protocol))
                self._segments.setdefault(stream, ConnectionSegments())
        return self._endpoints[local]

    def _look(self, evidence: EndpointEvidence, entry: RequestEntry, nanos: int) -> None:
        evidence.looked_at[entry.api_key] += 1
        # A damaged answer may still be JSON; it then says nothing.
        with suppress(AttributeError, KeyError, TypeError):
            self._look_at_answer(evidence, entry, nanos)

    def _look_at_answer(self, evidence: EndpointEvidence, entry: RequestEntry, nanos: int) -> None:
        answer = entry.response
        if entry.api_key == API_VERSIONS:
            _note_offer(evidence, answer, nanos)
        elif entry.api_key == METADATA:
            self._look_at_metadata(answer)
        elif entry.api_key in (FIND_COORDINATOR, DESCRIBE_CLUSTER):
            for broker in answer.get("coordinators") or answer.get("brokers") or [answer]:
                node = broker.get("nodeId", broker.get("brokerId"))
                if isinstance(node, int) and node >= 0 and broker.get("host"):
                    at = str(broker["host"]), broker["port"]
                    self._current.addresses.setdefault(at, Counter())[node] += 1
        else:
            evidence.accepted.update(
                (topic.get("name") or topic.get("topicId"), part.get("index"))
                for topic in answer.get("responses") or ()
                for part in topic.get("partitionResponses") or ()
                if part.get("errorCode") == 0
            )

    def _look_at_metadata(self, answer: dict[str, Any]) -> None:
        if isinstance(answer.get("clusterId"), str) and answer["clusterId"]:
            self._current.cluster_ids[answer["clusterId"]] += 1
        for broker in answer.get("brokers") or ():
            at, node = (str(broker["host"]), broker["port"]), broker["nodeId"]
            if isinstance(node, int):
                self._current.addresses.setdefault(at, Counter())[node] += 1
        for topic in answer.get("topics") or ():
            for part in topic.get("partitions") or ():
                for name in (topic.get("name"), topic.get("topicId")):
                    if name and part.get("leaderId", -1) >= 0:
                        self._current.leaders[name, part.get("partitionIndex")] = part["leaderId"]


def _leave_out_clients(files: Sequence[SurveyedFile]) -> None:
    """Forget what files of one log say of releases if nothing in them is of a broker: Kafka Connect beside a broker, and any
    other client, logs its own version in the words of a broker.
    """
    if any(file.entries for file in files):
        return
    for label in {label for file in files for label in file.server}:
        sources = [(file, file.server[label]) for file in files if label in file.server]
        if not shows_a_broker({kind for _, source in sources for kind in source.counted}):
            for file, source in sources:
                del file.server[label]
                file.of_client = next((e.text for e in source.events if e.kind == "release"), file.of_client)


def _note_offer(evidence: EndpointEvidence, answer: dict[str, Any], nanos: int) -> None:
    """What an endpoint advertises, from an answer to ApiVersions. A refusal (35) lists ApiVersions only."""
    offered = tuple(
        sorted((r["apiKey"], r["minVersion"], r["maxVersion"]) for r in answer.get("apiKeys") or ())
    )
    if len(offered) < 2 or answer.get("errorCode"):
        return
    if offered[0][0] != PRODUCE:  # a controller's
        evidence.is_controller = True
        return
    features = {f["name"]: f["maxVersionLevel"] for f in answer.get("finalizedFeatures") or ()}
    last = evidence.offers[-1] if evidence.offers else None
    if last is None or last.api_versions != offered or (features and features != last.features):
        finalized = features or (last.features if last and last.own == own_ranges(offered) else {})
        evidence.offers.append(Offer(nanos, offered, finalized))
    else:
        evidence.offers[-1] = last._replace(repeated=max(nanos, last.repeated))


def _is_at_info(line: bytes) -> bool:
    """Whether the request logger wrote a line at INFO: the level that stands next before the message. What carries lines
    has levels of its own farther out, and mostly calls all of them INFO.
    """
    levels = _LEVEL.findall(line[: max(0, line.find(MARK))][-200:])
    return bool(levels) and levels[-1] == b"INFO"


def _is_looked_at(key: int, evidence: EndpointEvidence) -> bool:
    return key == API_VERSIONS or (key in _LOOKED_AT_KEYS and evidence.looked_at[key] < _LOOKED_AT)


def _parsed(line: bytes) -> RequestEntry:
    """Parses an entry in Kafka's layout that the compiled reader accepted."""
    return parse_entry(line[line.find(MARK) :].decode("utf-8", "replace"))


def _note(event: ServerEvent, file: SurveyedFile) -> None:
    file.server.setdefault(event.label, ServerSource(file.log, event.label)).add(event)
    file.note_times(event.nanos, event.nanos)
