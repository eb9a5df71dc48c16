"""First pass over a cluster's logs: which brokers they belong to, their time range, which processes wrote them, and
which releases these may run.

An entry names its broker only by the local address of the connection. The node id behind it follows from answers to
clients: Metadata lists the brokers with address and node id, and a broker that accepts a Produce leads the partition
whose leader Metadata names; otherwise from the server log in the same folder. What clients did is read in the second
pass (conversion.py).
"""

import hashlib
import ipaddress
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from client_telemetry.knowledge.api_key import ApiKey
from client_telemetry.sources.adapter import Refused
from client_telemetry.sources.compression import CutOff, reason_not_read
from client_telemetry.sources.cut_lines import PARTIAL
from client_telemetry.sources.log_files import LogFile, line_blocks, lines
from client_telemetry.sources.request_log.incarnations import (
    BrokerIncarnation,
    ConnectionSegments,
    Offer,
    incarnations,
    own_ranges,
)
from client_telemetry.sources.request_log.line_scan import SLOW, Head, head_of, scan, shapes_of
from client_telemetry.sources.request_log.log_line import MARK, LineReader, begins_entry
from client_telemetry.sources.request_log.log_time import NO_TIME
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
from client_telemetry.sources.request_log.server_log import ServerEvent, ServerLines, UnreadLines, is_of_kafka
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
NO_CONNECTION = "no id of a connection"
_CONNECTIONS_IN_MEMORY = 500_000

_DOCUMENT = re.compile(
    r"(?:readme|licen[cs]e|notice|changelog)(?:\..*)?|.+\.(?:md|rst|adoc|html?|properties|ya?ml|xml|ini|conf|cfg|toml|csv|sh|py|jar|png|pdf)"
)
"""Names of files next to logs that are not logs, in lower case."""
_CALLED_LIKE_A_LOG = re.compile(r"request|\.(?:log|out|txt|json)(?![a-z])")
_LIKE_AN_ENTRY = re.compile(
    rb"[\x00-\x08\x0e-\x1a]|\xff|Completed request|requestHeader|apiKey|securityProtocol", re.IGNORECASE
)
"""Bytes that are not text, and words of an entry."""

_CONNECTION = re.compile(r"(?P<local>.+):(?P<local_port>\d+)-(?P<remote>.+):(?P<remote_port>\d+)-[\d-]+")
_MASKED_LOCAL = re.compile(r"(?P<local>[^-\s]+)-(?P<remote>[^\s-]+):(?P<remote_port>\d+)-[\d-]+")
_MASKED = re.compile(r"(?=.*(?:[*#<>\[\]{}Xx]|[A-Z_]{4,}))[^\s\"]{1,200}")
_NUMBERED = re.compile(r":\d+-\d+(?:-\d+)?$|-\d+$")
_NODE_IN_NAME = re.compile(r"(?<![a-z])broker[-_.]?(\d{1,9})(?!\d)", re.IGNORECASE)
_LINES_LOOKED_AT = 200


class TwoClusters(Refused):
    """The logs come from brokers of different clusters."""


class Endpoint(NamedTuple):
    """Where connections arrive. `stream`: the family of log files, and the label if lines carry one."""

    stream: tuple[str, str]
    host: str
    port: int
    listener: str


class Remote(NamedTuple):
    local_host: str
    local_port: int
    host: str
    port: int


@lru_cache(maxsize=4096)
def addresses(connection_id: str) -> Remote | None:
    """Both ends of a connection, from Kafka's connection id: `LOCAL:PORT-REMOTE:PORT-INDEX`, since 4.0
    `…-PROCESSOR-INDEX` (ServerConnectionId); IPv6 without brackets. Amazon MSK and scrubbers of logs mask addresses: what
    is masked is empty or 0, except for the local side, which keeps the mask. None for anything else.
    """
    match = _CONNECTION.fullmatch(connection_id)
    if match is not None:
        host = match["remote"] if _is_address(match["remote"]) else ""
        return Remote(match["local"], int(match["local_port"]), host, int(match["remote_port"]))
    masked = _MASKED_LOCAL.fullmatch(connection_id)
    if masked is not None:
        host = masked["remote"] if _is_address(masked["remote"]) else ""
        return Remote(masked["local"], 0, host, int(masked["remote_port"]))
    return Remote("", 0, "", 0) if _MASKED.fullmatch(connection_id) else None


def endpoint_of(stream: tuple[str, str], connection_id: str, listener: str) -> Endpoint | None:
    """Where a request arrived; None if its connection id is not one."""
    ends = addresses(connection_id)
    return None if ends is None else Endpoint(stream, ends.local_host, ends.local_port, listener)


def is_numbered(connection_id: str) -> bool:
    """Whether a mask, if there is one, left by which connections differ."""
    return _NUMBERED.search(connection_id) is not None


def id_told_apart(connection_id: str, entry: RequestEntry) -> str:
    """Where a mask left nothing in a connection's id by which connections differ, with what else identifies the client in
    it.
    """
    if is_numbered(connection_id):
        return connection_id
    return f"{connection_id} {entry.client_id} {entry.principal}"


@lru_cache(maxsize=4096)
def _is_address(host: str) -> bool:
    """Whether a mask left the address: Kafka logs addresses as numbers (InetAddress.getHostAddress)."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


@dataclass
class _EndpointEvidence:
    """What was seen at one endpoint. `node_ids`: those in lines of KafkaApis."""

    protocol: str
    entries: int = 0
    first: int = 2**63
    last: int = 0
    looked_at: Counter[int] = field(default_factory=Counter)
    offers: list[Offer] = field(default_factory=list)
    accepted: set[tuple[str, int]] = field(default_factory=set)
    given_broker_id: int | None = None
    node_ids: Counter[int] = field(default_factory=Counter)
    is_controller: bool = False


class UnusedLines(NamedTuple):
    """Lines that begin an entry and could not be used for one reason: how many, and one of them."""

    number: int = 0
    example: str = ""


class _Time(NamedTuple):
    """When a connection had an entry, in nanoseconds, and in which line."""

    nanos: int
    row: int
    connection: str
    endpoint: Endpoint


@dataclass
class ServerSource:
    """What the server lines with one label in one file say. `events`: starts, stops, releases and settings; `counted`: all,
    by kind.
    `first`, `last`: time range in nanoseconds.
    """

    log: LogFile
    label: str
    events: list[ServerEvent] = field(default_factory=list)
    counted: Counter[str] = field(default_factory=Counter)
    node_ids: Counter[int] = field(default_factory=Counter)
    first: int = 2**63
    last: int = 0

    def add(self, event: ServerEvent) -> None:
        self.counted[event.kind] += 1
        self.first, self.last = min(self.first, event.nanos), max(self.last, event.nanos)
        if event.node_id is not None:
            self.node_ids[event.node_id] += 1
        if event.kind in ("starting", "started", "stopping", "release", "settings"):
            self.events.append(event._replace(label=""))


@dataclass
class SurveyedFile:
    """`marked`: lines that begin like an entry. `of_kafka`: how many of the first lines are from other loggers of
    Kafka. `server`: what its server lines say, by label. `is_beside`: a request log is in the same folder. `may_be_damaged`: some line that is not an entry has words of one, or bytes that are not text. `unused`: lines that begin an entry and
    were not used, by reason. `foreign`: a recognised format that is not read. `at_info`: entries at level INFO.
    `has_no_year`: its times have no year. `without_message`: records of journalctl whose message was left out.
    """

    log: LogFile
    lines: int = 0
    marked: int = 0
    entries: int = 0
    first: int | None = None
    last: int | None = None
    cut: str | None = None
    same_as: StoredFile | None = None
    of_kafka: int = 0
    server: dict[str, ServerSource] = field(default_factory=dict)
    is_beside: bool = False
    may_be_damaged: bool = False
    unused: dict[str, UnusedLines] = field(default_factory=dict)
    unread_server_lines: UnreadLines = field(default_factory=UnreadLines)
    foreign: str | None = None
    at_info: int = 0
    has_no_year: bool = False
    without_message: int = 0

    def note_unused(self, reason: str, line: bytes) -> None:
        before = self.unused.get(reason, UnusedLines())
        example = before.example or line[:400].decode("utf-8", "replace")
        self.unused[reason] = UnusedLines(before.number + 1, example)

    @property
    def counted(self) -> Counter[str]:
        """Server events by kind."""
        return sum((source.counted for source in self.server.values()), Counter())

    @property
    def is_server_log(self) -> bool:
        return bool(self.counted or (self.of_kafka and self.is_beside))

    @property
    def is_no_log(self) -> bool:
        """Whether it is plainly not a request log: a README or a configuration by its name, or another text whose name
        is not that of a log. A file mostly of lines that begin an entry is one, whatever its name.
        """
        is_of_entries = self.marked > 1 and self.marked * 2 >= self.lines
        if self.entries or self.cut or not self.lines or is_of_entries or self.is_server_log:
            return False
        name = self.log.file.name.lower()
        return _DOCUMENT.fullmatch(name) is not None or not (
            self.marked or self.may_be_damaged or _CALLED_LIKE_A_LOG.search(name)
        )


@dataclass
class SurveyedBroker:
    """`id_known_by`: `given`, `metadata`, `leadership`, `server_log`, `name` (of the file, a folder or the lines' origin), or `numbered`: the logs do not contain its node
    id. `listeners`: name and security protocol by local port. `server_logs`: with its refusals and failed
    logins.
    """

    broker_id: int
    id_known_by: str
    endpoints: list[Endpoint]
    first: int
    last: int
    entries: int
    incarnations: list[BrokerIncarnation]
    controllers: list[Endpoint] = field(default_factory=list)
    listeners: dict[int, tuple[str, str]] = field(default_factory=dict)
    server_logs: list[ServerSource] = field(default_factory=list)
    logs: list[ConnectionSegments] = field(default_factory=list)


@dataclass
class Survey:
    """`without_log`: node ids listed in Metadata answers for which there is no log. `doubled`: endpoints in lines of
    KafkaApis whose requests the request logger logged, too. `year`: of times without one. `of_no_broker`: refusals and
    failed logins of which nothing shows the broker.
    """

    cluster_id: str | None
    brokers: list[SurveyedBroker]
    files: list[SurveyedFile]
    without_log: list[int]
    doubled: frozenset[Endpoint] = frozenset()
    year: int | None = None
    of_no_broker: int = 0

    @property
    def is_deprecated_only(self) -> bool:
        """Whether all entries are at INFO, at which Kafka 3.9.1 and later log deprecated requests only (KAFKA-18272)."""
        read = [file for file in self.files if file.entries]
        return bool(read) and all(file.at_info >= file.entries for file in read)


@dataclass
class _FileLook:
    """What one file says. `begin`: time of its first line that has one, in nanoseconds. `endpoints`: those that did not
    appear in earlier files of the log. From its answers: `cluster_ids`; `addresses`, node ids by address; `leaders`,
    node id by partition.
    """

    begin: int
    file: SurveyedFile
    endpoints: list[Endpoint] = field(default_factory=list)
    cluster_ids: Counter[str] = field(default_factory=Counter)
    addresses: dict[tuple[str, object], Counter[int]] = field(default_factory=dict)
    leaders: dict[tuple[object, object], int] = field(default_factory=dict)


@dataclass
class LogLook:
    """What the files of one log (one family) say, independent of other logs."""

    files: list[_FileLook]
    evidence: dict[Endpoint, _EndpointEvidence]
    segments: dict[tuple[str, str], ConnectionSegments]

    @property
    def lines(self) -> int:
        return sum(look.file.lines for look in self.files)


def survey(
    logs: Sequence[LogFile],
    zone: tzinfo = UTC,
    report: Callable[[int], None] = lambda n: None,
    known_brokers: Mapping[Endpoint, tuple[int, str]] | None = None,
    year: int | None = None,
) -> Survey:
    """Read the logs once. `report` is called now and then with the lines read so far. `known_brokers`: broker id, and
    how it is known, by endpoint, from earlier lines. Raises TwoClusters.
    """
    looks: list[LogLook] = []
    for files in by_family(logs):
        before = sum(look.lines for look in looks)
        looks.append(look_at_log(files, zone, report_from(report, before), year))
    return surveyed(logs, looks, known_brokers, year)


def report_from(report: Callable[[int], None], before: int) -> Callable[[int], None]:
    """A `report` whose counts begin after `before` lines."""
    return lambda lines: report(before + lines)


def by_family(logs: Sequence[LogFile]) -> list[list[LogFile]]:
    """The files of each log."""
    families: dict[str, list[LogFile]] = {}
    for log in logs:
        families.setdefault(log.family, []).append(log)
    return list(families.values())


def look_at_log(
    files: Sequence[LogFile],
    zone: tzinfo = UTC,
    report: Callable[[int], None] = lambda n: None,
    year: int | None = None,
) -> LogLook:
    """Read the files of one log. `year`: of times without one."""
    return _LogReader(zone, year, report).look(files)


def surveyed(
    logs: Sequence[LogFile],
    looks: Sequence[LogLook],
    known_brokers: Mapping[Endpoint, tuple[int, str]] | None = None,
    year: int | None = None,
) -> Survey:
    """Combines the looks at all logs; `logs`: their files, in the order in which they are reported. Raises TwoClusters."""
    in_order = sorted((look for log_look in looks for look in log_look.files), key=_time_and_name)
    by_file = {look.file.log: look.file for look in in_order}
    files = [by_file[log] for log in logs if log in by_file]
    _find_copies([look.file for look in in_order])
    folders = {file.log.file.folder for file in files if file.entries}
    for file in files:
        file.is_beside = file.log.file.folder in folders
    cluster_ids = sorted({cluster_id for look in in_order for cluster_id in look.cluster_ids})
    if len(cluster_ids) > 1:
        raise TwoClusters(
            f"the logs are of {len(cluster_ids)} clusters ({', '.join(cluster_ids)}): "
            "name the logs of one cluster at a time"
        )
    who = _EndpointOwners(looks, in_order, known_brokers or {})
    brokers = who.brokers([file for file in files if file.is_server_log and file.same_as is None])
    # A broker numbered by us may be any of those that Metadata names.
    without_log = sorted(who.named() - {b.broker_id for b in brokers if b.entries})
    if any(b.id_known_by == "numbered" for b in brokers):
        without_log = []
    return Survey(
        next(iter(cluster_ids), None), brokers, files, without_log, who.doubled, year, who.of_no_broker
    )


def _time_and_name(look: _FileLook) -> tuple[int, StoredFile]:
    """Sorts rotated files of a log in the order in which they were written."""
    return look.begin, look.file.log.file


class _LogReader:
    """Reads the files of one log."""

    def __init__(self, zone: tzinfo, year: int | None, report: Callable[[int], None]) -> None:
        self._zone, self._year = zone, year
        self._reader = LineReader(zone)
        self._report = report
        self._seen: dict[Endpoint, _EndpointEvidence] = {}
        self._segments: dict[tuple[str, str], ConnectionSegments] = {}
        self._endpoints: dict[tuple[str, str, str, str], tuple[Endpoint, _EndpointEvidence] | None] = {}
        self._connections: dict[int, tuple[str, Endpoint, _EndpointEvidence]] = {}
        self._lines = 0

    def look(self, files: Sequence[LogFile]) -> LogLook:
        looks = sorted((_FileLook(self._begin(log), SurveyedFile(log)) for log in files), key=_time_and_name)
        for self._current in looks:
            before = len(self._seen)
            self._file(self._current.file)
            self._current.endpoints = list(self._seen)[before:]
        return LogLook(looks, self._seen, self._segments)

    def _begin(self, log: LogFile) -> int:
        """Time of the first line that has one, in nanoseconds."""
        reader = LineReader.of_file(log, self._zone, self._year)
        for number, (_, line) in enumerate(lines(log, CutOff())):
            entry = reader.read(line)
            nanos = reader.nanos_of(line) if entry is None else entry.nanos
            if nanos is not None:
                return nanos
            if number > _LINES_LOOKED_AT:
                break
        return 0

    def _file(self, file: SurveyedFile) -> None:
        log, cut = file.log, CutOff()
        self._reader = LineReader.of_file(log, self._zone, self._year)
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
        scanned = scan(block, with_bodies=False)
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
            block, scanned, [row for row, number in begins_at.items() if number not in self._connections]
        )
        is_looked_at = is_slow | np.isin(scanned.key, _LOOKED_AT_KEYS)
        is_looked_at[rows[firsts]] = True
        times: list[_Time] = []
        whose: dict[int, tuple[str, Endpoint, _EndpointEvidence] | None] = {}
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
        levels = np.frombuffer(block, np.uint8)[scanned.bounds[rows] + len("[2026-11-22 10:48:20,123] ")]
        file.at_info += int(np.count_nonzero(levels == ord("I")))
        del levels  # the block grows
        begin = np.full(len(connections), 2**63 - 1, np.int64)
        end = np.zeros(len(connections), np.int64)
        np.minimum.at(begin, places, nanos)
        np.maximum.at(end, places, nanos)
        of_controllers = set(places[np.isin(scanned.key[rows], _CONTROLLER_KEYS)].tolist())
        for place, origin in whose.items():
            if origin is None:
                file.note_unused(NO_CONNECTION, scanned.line(block, int(rows[firsts[place]])))
                continue
            connection, endpoint, evidence = origin
            first, last = int(begin[place]), int(end[place])
            self._note_entries(log, evidence, file, int(counts[place]), first, last)
            evidence.is_controller |= place in of_controllers
            row = int(rows[firsts[place]])
            times += [_Time(at, row, connection, endpoint) for at in (first, last)]
        for at, _, connection, endpoint in sorted(times, key=itemgetter(0, 1)):
            self._segments[endpoint.stream].add(connection, endpoint.listener, at)

    def _connection(
        self, log: LogFile, number: int, head: Head
    ) -> tuple[str, Endpoint, _EndpointEvidence] | None:
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
        self, log: LogFile, evidence: _EndpointEvidence, file: SurveyedFile, count: int, first: int, last: int
    ) -> None:
        """Add `count` entries of one connection, between `first` and `last`."""
        evidence.entries += count
        evidence.first, evidence.last = min(evidence.first, first), max(evidence.last, last)
        evidence.given_broker_id = log.broker_id
        file.entries += count
        file.first = first if file.first is None else min(file.first, first)
        file.last = last if file.last is None else max(file.last, last)

    def _line(
        self, log: LogFile, line: bytes, row: int, server: ServerLines, file: SurveyedFile, times: list[_Time]
    ) -> None:
        """A line in another layout, forwarded, damaged, or of another logger."""
        if not file.may_be_damaged and not file.entries:
            file.may_be_damaged = _LIKE_AN_ENTRY.search(line) is not None
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
        times.append(_Time(nanos, row, entry.connection_id, endpoint))
        key = entry.api_key
        evidence.is_controller = evidence.is_controller or key in _OF_CONTROLLERS
        if key in _LOOKED_AT_KEYS and _is_looked_at(key, evidence):
            self._look(evidence, entry, nanos)

    def _other_line(self, line: bytes, server: ServerLines, file: SurveyedFile) -> None:
        """A line that is no entry of the request log."""
        if server.is_notable(line):
            for event in server.read(self._reader.read_other(line)):
                _note(event, file)
        elif _NO_MESSAGE.search(line):
            file.without_message += 1
        elif file.of_kafka < _LINES_LOOKED_AT and not file.entries and is_of_kafka(line):
            file.of_kafka += 1

    def _endpoint(
        self, stream: tuple[str, str], connection: str, listener: str, protocol: str
    ) -> tuple[Endpoint, _EndpointEvidence] | None:
        local = (*stream, connection.partition("-")[0], listener)
        if local not in self._endpoints:
            ends = addresses(connection)
            self._endpoints[local] = None
            if ends is not None:
                at = Endpoint(stream, ends.local_host, ends.local_port, listener)
                self._endpoints[local] = at, self._seen.setdefault(at, _EndpointEvidence(protocol))
                self._segments.setdefault(stream, ConnectionSegments())
        return self._endpoints[local]

    def _look(self, evidence: _EndpointEvidence, entry: RequestEntry, nanos: int) -> None:
        evidence.looked_at[entry.api_key] += 1
        # A damaged answer may still be JSON; it then says nothing.
        with suppress(AttributeError, KeyError, TypeError):
            self._look_at_answer(evidence, entry, nanos)

    def _look_at_answer(self, evidence: _EndpointEvidence, entry: RequestEntry, nanos: int) -> None:
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


def _note_offer(evidence: _EndpointEvidence, answer: dict[str, Any], nanos: int) -> None:
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


class _EndpointOwners:
    """Assigns endpoints to brokers."""

    def __init__(
        self,
        looks: Sequence[LogLook],
        in_order: Sequence[_FileLook],
        known_brokers: Mapping[Endpoint, tuple[int, str]],
    ) -> None:
        self._known = known_brokers
        self.of_no_broker = 0
        of_log = {endpoint: evidence for look in looks for endpoint, evidence in look.evidence.items()}
        self.doubled = _doubled(of_log)
        self._seen = {
            endpoint: of_log[endpoint]
            for look in in_order
            for endpoint in look.endpoints
            if endpoint not in self.doubled
        }
        self._segments = {stream: segments for look in looks for stream, segments in look.segments.items()}
        self._addresses: dict[tuple[str, object], Counter[int]] = {}
        self._leaders: dict[tuple[object, object], int] = {}
        for look in in_order:
            for at, nodes in look.addresses.items():
                self._addresses.setdefault(at, Counter()).update(nodes)
            self._leaders.update(look.leaders)

    def named(self) -> set[int]:
        """Node ids in Metadata answers."""
        return {node for nodes in self._addresses.values() for node in nodes}

    def brokers(self, server_logs: Sequence[SurveyedFile]) -> list[SurveyedBroker]:
        identified: dict[int, tuple[str, list[Endpoint]]] = {}
        unknown: dict[tuple[str, str], list[Endpoint]] = {}
        for endpoint, evidence in self._seen.items():
            broker_id, how = self._node_id(endpoint, evidence)
            if broker_id is None:
                unknown.setdefault(endpoint.stream, []).append(endpoint)
            else:
                identified.setdefault(broker_id, (how, []))[1].append(endpoint)
        sources = [
            source for file in server_logs for source in file.server.values() or [ServerSource(file.log, "")]
        ]
        self._place_unknown(unknown, identified, sources)
        of_broker = self._server_logs_by_broker(sources, identified)
        for broker_id, own_sources in of_broker.items():
            if broker_id not in identified and any(source.counted for source in own_sources):
                identified[broker_id] = ("server_log", [])
        return [
            self._broker(i, how, own, of_broker.get(i, [])) for i, (how, own) in sorted(identified.items())
        ]

    def _place_unknown(
        self,
        unknown: Mapping[tuple[str, str], list[Endpoint]],
        identified: dict[int, tuple[str, list[Endpoint]]],
        sources: Sequence[ServerSource],
    ) -> None:
        """Add endpoints that nothing names, by stream, to the brokers: to the one that wrote the same log or whose server log is in
        the same folder; otherwise under a number of their own.
        """
        by_folder: dict[str, Counter[int]] = {}
        for source in sources:
            by_folder.setdefault(source.log.file.folder, Counter()).update(source.node_ids)
        for stream, endpoints in unknown.items():
            of_stream = [i for i, (_, own) in identified.items() if any(e.stream == stream for e in own)]
            if len(of_stream) == 1:  # another listener of the broker that wrote the log
                identified[of_stream[0]][1].extend(endpoints)
                continue
            if all(self._seen[e].is_controller for e in endpoints):
                continue  # of a controller that is not a broker
            nodes = by_folder.get(stream[0].rpartition("/")[0], Counter())
            groups = _brokers_apart(endpoints)
            if len(nodes) == 1 and len(groups) == 1:
                identified.setdefault(next(iter(nodes)), ("server_log", []))[1].extend(endpoints)
                continue
            for group in groups:
                number = next(n for n in range(len(identified) + 1) if n not in identified)
                identified[number] = ("numbered", group)

    def _server_logs_by_broker(
        self, sources: Sequence[ServerSource], identified: Mapping[int, tuple[str, list[Endpoint]]]
    ) -> dict[int, list[ServerSource]]:
        """Those of which nothing shows the broker are left out and counted."""
        labels: dict[LogFile, int] = Counter(source.log for source in sources)
        by_broker: dict[int, list[ServerSource]] = {}
        for source in sources:
            broker_id = _broker_of(source, labels[source.log] == 1, identified)
            if broker_id is None:
                self.of_no_broker += source.counted["refused"] + source.counted["login_failed"]
            else:
                by_broker.setdefault(broker_id, []).append(source)
        return by_broker

    def _node_id(self, endpoint: Endpoint, evidence: _EndpointEvidence) -> tuple[int | None, str]:
        if evidence.given_broker_id is not None:
            return evidence.given_broker_id, "given"
        if evidence.is_controller:
            return None, ""
        advertised = self._addresses.get((endpoint.host, endpoint.port))
        if advertised:
            return advertised.most_common(1)[0][0], "metadata"
        votes = Counter(self._leaders[p] for p in evidence.accepted if p in self._leaders)
        if votes and votes.most_common(1)[0][1] * 2 > votes.total():
            return votes.most_common(1)[0][0], "leadership"
        if evidence.node_ids:
            return evidence.node_ids.most_common(1)[0][0], "server_log"
        if endpoint in self._known:
            return self._known[endpoint]
        for name in (endpoint.stream[1], endpoint.stream[0]):
            if in_name := _NODE_IN_NAME.findall(name):
                return int(in_name[-1]), "name"
        return None, ""

    def _broker(
        self, broker_id: int, how: str, endpoints: list[Endpoint], sources: Sequence[ServerSource]
    ) -> SurveyedBroker:
        of_clients = [e for e in endpoints if not self._seen[e].is_controller]
        evidence = [self._seen[e] for e in endpoints]
        events = sorted({event for source in sources for event in source.events}, key=_in_order)
        of_events = [(events[0].nanos, events[-1].nanos)] if events else []
        times = [(s.first, s.last) for s in evidence] + of_events
        times = times or [(source.first, source.last) for source in sources]
        first, last = min(begin for begin, _ in times), max(end for _, end in times)
        logs = [self._segments[stream] for stream in dict.fromkeys(e.stream for e in endpoints)]
        offers = [offer for e in of_clients for offer in self._seen[e].offers]
        return SurveyedBroker(
            broker_id,
            how,
            of_clients,
            first,
            last,
            sum(self._seen[e].entries for e in of_clients),
            incarnations(logs, offers, events, first),
            [e for e in endpoints if self._seen[e].is_controller],
            {e.port: (e.listener, self._seen[e].protocol) for e in of_clients},
            list(sources),
            logs,
        )


def _in_order(event: ServerEvent) -> tuple[int, str, str]:
    """Of lines of one time; the node id may be missing in one of them."""
    return event.nanos, event.kind, repr(event)


def _broker_of(
    source: ServerSource, is_only: bool, identified: Mapping[int, tuple[str, list[Endpoint]]]
) -> int | None:
    """By what was specified, by requests with the same label in the same file or any, by the request log in the same folder
    (`is_only`: no other label is in the file), by the node id in the lines, or by the label itself.
    """
    if source.log.broker_id is not None:
        return source.log.broker_id
    stream = source.log.family, source.label
    brokers = [
        {i for i, (_, endpoints) in identified.items() if any(at.stream == stream for at in endpoints)},
        {
            i
            for i, (_, endpoints) in identified.items()
            if any(at.stream[1] == source.label for at in endpoints)
        }
        if source.label
        else set(),
        {
            i
            for i, (_, endpoints) in identified.items()
            if is_only and any(_folder(at)[0] == source.log.file.folder for at in endpoints)
        },
        set(source.node_ids) & identified.keys() or set(source.node_ids),
        {int(node) for node in _NODE_IN_NAME.findall(source.label)[-1:]},
    ]
    return next((next(iter(ids)) for ids in brokers if len(ids) == 1), None)


def _doubled(endpoints: Iterable[Endpoint]) -> frozenset[Endpoint]:
    """Endpoints of lines of KafkaApis, which name no listener, that have entries of the request logger: at the same
    address or, if that is masked, in the same folder.
    """
    logged = [endpoint for endpoint in endpoints if endpoint.listener]
    places = {(at.host, at.port) for at in logged if at.port} | {_folder(at) for at in logged}
    return frozenset(
        at
        for at in endpoints
        if not at.listener and (((at.host, at.port) if at.port else _folder(at)) in places)
    )


def _folder(endpoint: Endpoint) -> tuple[str, str]:
    return endpoint.stream[0].rpartition("/")[0], endpoint.stream[1]


def _is_at_info(line: bytes) -> bool:
    """Whether the request logger wrote a line at INFO: the level that stands next before the message. What carries lines
    has levels of its own farther out, and mostly calls all of them INFO.
    """
    levels = _LEVEL.findall(line[: max(0, line.find(MARK))][-200:])
    return bool(levels) and levels[-1] == b"INFO"


def _is_looked_at(key: int, evidence: _EndpointEvidence) -> bool:
    return key == API_VERSIONS or (key in _LOOKED_AT_KEYS and evidence.looked_at[key] < _LOOKED_AT)


def _parsed(line: bytes) -> RequestEntry:
    """Parses an entry in Kafka's layout that the compiled reader accepted."""
    return parse_entry(_message(line).decode("utf-8", "replace"))


def _message(line: bytes) -> bytes:
    return line[line.find(MARK) :]


def _find_copies(files: Sequence[SurveyedFile]) -> None:
    """Finds files with the same lines: logs are often copied when they are rotated."""
    alike: dict[tuple[object, ...], list[SurveyedFile]] = {}
    for file in files:
        if file.entries or file.counted:
            alike.setdefault((file.lines, file.entries, file.first, file.last), []).append(file)
    for several in alike.values():
        digests: dict[bytes, StoredFile] = {}
        for file in several if len(several) > 1 else ():
            digest = hashlib.blake2b(digest_size=16)
            for _, line in lines(file.log, CutOff()):
                digest.update(line + b"\n")
            original = digests.setdefault(digest.digest(), file.log.file)
            file.same_as = None if original == file.log.file else original


def _note(event: ServerEvent, file: SurveyedFile) -> None:
    file.server.setdefault(event.label, ServerSource(file.log, event.label)).add(event)
    file.first = event.nanos if file.first is None else min(file.first, event.nanos)
    file.last = event.nanos if file.last is None else max(file.last, event.nanos)


def _brokers_apart(endpoints: Sequence[Endpoint]) -> list[list[Endpoint]]:
    """Endpoints of one stream without node ids, grouped into brokers: one, unless a listener has several addresses."""
    listeners = Counter(e.listener for e in endpoints)
    if max(listeners.values()) == 1:
        return [list(endpoints)]
    several_hosts = len({e.host for e in endpoints}) > 1
    groups: dict[object, list[Endpoint]] = {}
    for endpoint in sorted(endpoints):
        groups.setdefault(endpoint.host if several_hosts else endpoint.port, []).append(endpoint)
    return list(groups.values())
