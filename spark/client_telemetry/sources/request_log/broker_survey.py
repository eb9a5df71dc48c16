"""First reading of a cluster's logs: whose they are, from when to when, which processes wrote them, and which releases
they may run.

An entry names its broker only by the local address of the connection. Which node that is, the answers to clients tell:
Metadata lists the brokers with address and node id, and who accepts a Produce leads the partition that Metadata says
somebody leads; otherwise the server log in the same folder. What clients did is read later (conversion.py).
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from client_telemetry.sources.adapter import Refused
from client_telemetry.sources.log_files import CutOff, LogFile, line_blocks, lines
from client_telemetry.sources.request_log.incarnations import (
    BrokerIncarnation,
    ConnectionSegments,
    Offer,
    incarnations,
    own_ranges,
)
from client_telemetry.sources.request_log.line_scan import SLOW, scan
from client_telemetry.sources.request_log.log_line import MARK, LineReader
from client_telemetry.sources.request_log.request_entry import (
    API_VERSIONS,
    METADATA,
    PRODUCE,
    BadEntry,
    RequestEntry,
    head_of,
    parse_entry,
)
from client_telemetry.sources.request_log.server_log import ServerEvent, ServerLines, is_of_kafka
from client_telemetry.sources.stored_file import StoredFile

_LOOKED_AT = 200
"""Metadata answers and Produce requests that are looked at for each address."""

_OF_CONTROLLERS = frozenset((52, 53, 54, 59, 62, 63, 70, 73, 82))
"""Vote, BeginQuorumEpoch, EndQuorumEpoch, FetchSnapshot, BrokerRegistration, BrokerHeartbeat, ControllerRegistration,
AssignReplicasToDirs, UpdateRaftVoter: only a KRaft controller answers them, on a listener that no client of brokers uses
(controller.listener.names may not be advertised)."""

_CONTROLLER_KEYS = np.array(sorted(_OF_CONTROLLERS), np.int32)
_LOOKED_AT_KEYS = (API_VERSIONS, METADATA, PRODUCE)
_CONNECTIONS_IN_MEMORY = 500_000

_DOCUMENT = re.compile(
    r"(?:readme|licen[cs]e|notice|changelog)(?:\..*)?|.+\.(?:md|rst|adoc|html?|properties|ya?ml|xml|ini|conf|cfg|toml|csv|sh|py|jar|png|pdf)"
)
"""Names of files that lie beside logs and are none, in lower case."""
_CALLED_LIKE_A_LOG = re.compile(r"request|\.(?:log|out|txt|json)(?![a-z])")
_LIKE_AN_ENTRY = re.compile(
    rb"[\x00-\x08\x0e-\x1a]|\xff|Completed request|requestHeader|apiKey|securityProtocol", re.IGNORECASE
)
"""Bytes that are no text, and words of an entry."""

_CONNECTION = re.compile(r"(?P<local>.+):(?P<local_port>\d+)-(?P<remote>.+):(?P<remote_port>\d+)-[\d-]+")
_LINES_LOOKED_AT = 200


class TwoClusters(Refused):
    """The logs are of brokers of different clusters."""


class Endpoint(NamedTuple):
    """Where connections arrive. `stream`: the family of log files, and the label where lines carry one."""

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
    """Both ends of a connection, from Kafka's id of it: `LOCAL:PORT-REMOTE:PORT-INDEX`, since 4.0
    `…-PROCESSOR-INDEX` (ServerConnectionId); IPv6 without brackets. None for anything else."""
    found = _CONNECTION.fullmatch(connection_id)
    if found is None:
        return None
    return Remote(found["local"], int(found["local_port"]), found["remote"], int(found["remote_port"]))


@dataclass
class _Seen:
    """What was seen at one endpoint."""

    protocol: str
    entries: int = 0
    first: int = 2**63
    last: int = 0
    looked_at: Counter[int] = field(default_factory=Counter)
    offers: list[Offer] = field(default_factory=list)
    accepted: set[tuple[str, int]] = field(default_factory=set)
    given_broker_id: int | None = None
    is_controller: bool = False


class _Time(NamedTuple):
    """When a connection had an entry, nanos, and which of the lines it is."""

    nanos: int
    row: int
    connection: str
    endpoint: Endpoint


@dataclass
class SurveyedFile:
    """`marked`: lines that begin like an entry. `of_kafka`: of the first lines, those of other loggers of Kafka. `events`:
    of a server log; refusals and failed logins are only `counted`. `is_beside`: a request log is in the same folder.
    `may_be_damaged`: some line without an entry has words of one, or bytes that are no text."""

    log: LogFile
    lines: int = 0
    marked: int = 0
    entries: int = 0
    first: int | None = None
    last: int | None = None
    cut: str | None = None
    same_as: StoredFile | None = None
    of_kafka: int = 0
    events: list[ServerEvent] = field(default_factory=list)
    counted: Counter[str] = field(default_factory=Counter)
    node_ids: Counter[int] = field(default_factory=Counter)
    is_beside: bool = False
    may_be_damaged: bool = False

    @property
    def is_server_log(self) -> bool:
        return bool(self.counted or (self.of_kafka and self.is_beside))

    @property
    def is_no_log(self) -> bool:
        """Whether it is plainly no request log: a README or a configuration by its name, or another text that is not
        called like a log."""
        if self.entries or self.cut or not self.lines or self.is_server_log:
            return False
        name = self.log.file.name.lower()
        return _DOCUMENT.fullmatch(name) is not None or not (
            self.marked or self.may_be_damaged or _CALLED_LIKE_A_LOG.search(name)
        )


@dataclass
class SurveyedBroker:
    """`id_known_by`: `given`, `metadata`, `leadership`, `server_log`, or `numbered`: the logs do not tell its node id.
    `listeners`: name and security protocol by local port. `server_logs`: where refusals and failed logins are."""

    broker_id: int
    id_known_by: str
    endpoints: list[Endpoint]
    first: int
    last: int
    entries: int
    incarnations: list[BrokerIncarnation]
    controllers: list[Endpoint] = field(default_factory=list)
    listeners: dict[int, tuple[str, str]] = field(default_factory=dict)
    server_logs: list[LogFile] = field(default_factory=list)
    logs: list[ConnectionSegments] = field(default_factory=list)


@dataclass
class Survey:
    """`without_log`: node ids that Metadata answers list and that none of the logs is of."""

    cluster_id: str | None
    brokers: list[SurveyedBroker]
    files: list[SurveyedFile]
    without_log: list[int]


@dataclass
class _FileLook:
    """What one file says. `begin`: nanos of its first line that has a time. `endpoints`: those that no file of the log before it
    has. Of its answers: `cluster_ids`; `addresses`, node ids by address, and `leaders`, node id by partition."""

    begin: int
    file: SurveyedFile
    endpoints: list[Endpoint] = field(default_factory=list)
    cluster_ids: Counter[str] = field(default_factory=Counter)
    addresses: dict[tuple[str, Any], Counter[int]] = field(default_factory=dict)
    leaders: dict[tuple[Any, Any], int] = field(default_factory=dict)


@dataclass
class LogLook:
    """What the files of one log say (those of one family): it needs nothing of other logs."""

    files: list[_FileLook]
    seen: dict[Endpoint, _Seen]
    segments: dict[tuple[str, str], ConnectionSegments]

    @property
    def lines(self) -> int:
        return sum(look.file.lines for look in self.files)


def survey(
    logs: Sequence[LogFile],
    zone: tzinfo = UTC,
    report: Callable[[int], None] = lambda n: None,
    known: Mapping[Endpoint, tuple[int, str]] | None = None,
) -> Survey:
    """Read the logs once. `report` is called now and then with the lines read so far. `known`: broker id, and how it is
    known, by endpoints of lines before these. Raises TwoClusters."""
    looks: list[LogLook] = []
    for files in by_family(logs):
        before = sum(look.lines for look in looks)
        looks.append(look_at_log(files, zone, going_on(report, before)))
    return surveyed(logs, looks, known)


def going_on(report: Callable[[int], None], before: int) -> Callable[[int], None]:
    """A report of what comes behind so many lines."""
    return lambda lines: report(before + lines)


def by_family(logs: Sequence[LogFile]) -> list[list[LogFile]]:
    """The files of each log."""
    families: dict[str, list[LogFile]] = {}
    for log in logs:
        families.setdefault(log.family, []).append(log)
    return list(families.values())


def look_at_log(
    files: Sequence[LogFile], zone: tzinfo = UTC, report: Callable[[int], None] = lambda n: None
) -> LogLook:
    """Read the files of one log."""
    return _LogReader(zone, report).look(files)


def surveyed(
    logs: Sequence[LogFile],
    looks: Sequence[LogLook],
    known: Mapping[Endpoint, tuple[int, str]] | None = None,
) -> Survey:
    """What the looks at all logs say together; `logs`: their files, in the order in which they are to be told of. Raises TwoClusters."""
    in_order = sorted((look for each in looks for look in each.files), key=_time_and_name)
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
    who = _WhoIsWho(looks, in_order, known or {})
    brokers = who.brokers([file for file in files if file.is_server_log and file.same_as is None])
    # A broker with a number of ours may be any of those that Metadata names.
    without_log = sorted(who.named() - {b.broker_id for b in brokers if b.entries})
    if any(b.id_known_by == "numbered" for b in brokers):
        without_log = []
    return Survey(next(iter(cluster_ids), None), brokers, files, without_log)


def _time_and_name(look: _FileLook) -> tuple[int, StoredFile]:
    """Rotated files of a log in the order in which they were written."""
    return look.begin, look.file.log.file


class _LogReader:
    """Reads the files of one log."""

    def __init__(self, zone: tzinfo, report: Callable[[int], None]) -> None:
        self._reader = LineReader(zone)
        self._report = report
        self._seen: dict[Endpoint, _Seen] = {}
        self._segments: dict[tuple[str, str], ConnectionSegments] = {}
        self._endpoints: dict[tuple[str, str, str, str], tuple[Endpoint, _Seen] | None] = {}
        self._connections: dict[int, tuple[str, Endpoint, _Seen]] = {}
        self._lines = 0

    def look(self, files: Sequence[LogFile]) -> LogLook:
        looks = sorted((_FileLook(self._begin(log), SurveyedFile(log)) for log in files), key=_time_and_name)
        for self._current in looks:
            before = len(self._seen)
            self._file(self._current.file)
            self._current.endpoints = list(self._seen)[before:]
        return LogLook(looks, self._seen, self._segments)

    def _begin(self, log: LogFile) -> int:
        """When the first of its lines was written that says when; nanos."""
        for number, (_, line) in enumerate(lines(log, CutOff())):
            nanos = self._reader.nanos_of(line)
            if nanos is not None:
                return nanos
            if number > _LINES_LOOKED_AT:
                break
        return 0

    def _file(self, done: SurveyedFile) -> None:
        log, cut = done.log, CutOff()
        server = ServerLines()
        for _, block in line_blocks(log, cut):
            self._block(log, block, server, done)
            self._report(self._lines)
        for event in server.end():
            _note(event, done)
        done.cut = cut.reason

    def _block(self, log: LogFile, block: bytearray, server: ServerLines, done: SurveyedFile) -> None:
        """What its lines tell of their connections. Each line for itself are only looked at: the first one of a connection,
        answers that tell who is who, and what the compiled reader left."""
        scanned = scan(block, with_ids=False)
        self._lines += len(scanned.key)
        done.lines += len(scanned.key)
        is_slow = scanned.essence == SLOW
        rows = np.flatnonzero(~is_slow)
        nanos = self._reader.utc_nanos(scanned.local_ms[rows])
        connections, firsts, places, counts = np.unique(
            scanned.connection[rows], return_index=True, return_inverse=True, return_counts=True
        )
        place_of = np.full(len(scanned.key), -1)
        place_of[rows] = places
        begins_at = dict(zip(rows[firsts].tolist(), connections.tolist(), strict=True))
        is_looked_at = is_slow | np.isin(scanned.key, _LOOKED_AT_KEYS)
        is_looked_at[rows[firsts]] = True
        times: list[_Time] = []
        whose: dict[int, tuple[str, Endpoint, _Seen] | None] = {}
        looked_at = np.flatnonzero(is_looked_at)
        for row, place, key in zip(
            *(each.tolist() for each in (looked_at, place_of[looked_at], scanned.key[looked_at])), strict=True
        ):
            if place < 0:
                self._line(log, scanned.line(block, row), row, server, done, times)
                continue
            if row in begins_at:
                whose[place] = self._connection(log, begins_at[row], scanned.line(block, row))
            known = whose[place]
            if known is not None and _is_looked_at(key, known[2]):
                nanos_of_row = int(nanos[np.searchsorted(rows, row)])
                self._look(known[2], _parsed(scanned.line(block, row)), nanos_of_row)
        done.marked += len(rows)
        begin = np.full(len(connections), 2**63 - 1, np.int64)
        end = np.zeros(len(connections), np.int64)
        np.minimum.at(begin, places, nanos)
        np.maximum.at(end, places, nanos)
        of_controllers = set(places[np.isin(scanned.key[rows], _CONTROLLER_KEYS)].tolist())
        for place, known in whose.items():
            if known is None:
                continue
            connection, endpoint, seen = known
            first, last = int(begin[place]), int(end[place])
            self._note_entries(log, seen, done, int(counts[place]), first, last)
            seen.is_controller |= place in of_controllers
            row = int(rows[firsts[place]])
            times += [_Time(at, row, connection, endpoint) for at in (first, last)]
        for at, _, connection, endpoint in sorted(times, key=itemgetter(0, 1)):
            self._segments[endpoint.stream].add(connection, endpoint.listener, at)

    def _connection(self, log: LogFile, number: int, line: bytes) -> tuple[str, Endpoint, _Seen] | None:
        """Whose a connection is that the compiled reader numbers so; `line`: one of its own. None = its id is no pair of
        addresses."""
        known = self._connections.get(number)
        if known is not None:
            return known
        head = head_of(_message(line))
        if head is None:
            entry = _parsed(line)
            head = entry.connection_id, entry.listener, entry.security_protocol
        found = self._endpoint((log.family, ""), *head)
        if found is None:
            return None
        if len(self._connections) > _CONNECTIONS_IN_MEMORY:
            self._connections.clear()
        self._connections[number] = (head[0], *found)
        return self._connections[number]

    def _note_entries(
        self, log: LogFile, seen: _Seen, done: SurveyedFile, count: int, first: int, last: int
    ) -> None:
        """So many of one connection, from when to when."""
        seen.entries += count
        seen.first, seen.last = min(seen.first, first), max(seen.last, last)
        seen.given_broker_id = log.broker_id
        done.entries += count
        done.first = first if done.first is None else min(done.first, first)
        done.last = last if done.last is None else max(done.last, last)

    def _line(
        self, log: LogFile, line: bytes, row: int, server: ServerLines, done: SurveyedFile, times: list[_Time]
    ) -> None:
        """In another layout, forwarded, damaged, or of another logger."""
        if not done.may_be_damaged and not done.entries:
            done.may_be_damaged = _LIKE_AN_ENTRY.search(line) is not None
        if MARK not in line:
            if server.is_notable(line):
                for event in server.read(line, self._reader.nanos_of(line)):
                    _note(event, done)
            elif done.of_kafka < _LINES_LOOKED_AT and not done.entries and is_of_kafka(line):
                done.of_kafka += 1
            return
        done.marked += 1
        read = self._reader.read(line)
        if read is None or read.nanos is None:
            return
        try:
            entry = parse_entry(read.message)
        except BadEntry:
            return
        nanos = read.nanos
        found = self._endpoint(
            (log.family, read.label), entry.connection_id, entry.listener, entry.security_protocol
        )
        if found is None:
            return
        endpoint, seen = found
        self._note_entries(log, seen, done, 1, nanos, nanos)
        times.append(_Time(nanos, row, entry.connection_id, endpoint))
        key = entry.api_key
        if key in _OF_CONTROLLERS:
            seen.is_controller = True
        if key in _LOOKED_AT_KEYS and _is_looked_at(key, seen):
            self._look(seen, entry, nanos)

    def _endpoint(
        self, stream: tuple[str, str], connection: str, listener: str, protocol: str
    ) -> tuple[Endpoint, _Seen] | None:
        local = (*stream, connection.partition("-")[0], listener)
        if local not in self._endpoints:
            ends = addresses(connection)
            self._endpoints[local] = None
            if ends is not None:
                at = Endpoint(stream, ends.local_host, ends.local_port, listener)
                self._endpoints[local] = at, self._seen.setdefault(at, _Seen(protocol))
                self._segments.setdefault(stream, ConnectionSegments())
        return self._endpoints[local]

    def _look(self, seen: _Seen, entry: RequestEntry, nanos: int) -> None:
        seen.looked_at[entry.api_key] += 1
        # An answer that was damaged may be JSON all the same; it tells nothing then.
        with suppress(AttributeError, KeyError, TypeError):
            self._look_at_answer(seen, entry, nanos)

    def _look_at_answer(self, seen: _Seen, entry: RequestEntry, nanos: int) -> None:
        answer = entry.response
        if entry.api_key == API_VERSIONS:
            offered = tuple(
                sorted((r["apiKey"], r["minVersion"], r["maxVersion"]) for r in answer.get("apiKeys") or ())
            )
            # A refusal (35) offers ApiVersions alone.
            if len(offered) > 1 and not answer.get("errorCode"):
                if offered[0][0] != PRODUCE:  # a controller's
                    seen.is_controller = True
                    return
                features = {f["name"]: f["maxVersionLevel"] for f in answer.get("finalizedFeatures") or ()}
                last = seen.offers[-1] if seen.offers else None
                if last is None or last.api_versions != offered or (features and features != last.features):
                    known = features or (last.features if last and last.own == own_ranges(offered) else {})
                    seen.offers.append(Offer(nanos, offered, known))
        elif entry.api_key == METADATA:
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
        else:
            for topic in answer.get("responses") or ():
                for part in topic.get("partitionResponses") or ():
                    if part.get("errorCode") == 0:
                        seen.accepted.add((topic.get("name") or topic.get("topicId"), part.get("index")))


class _WhoIsWho:
    """Which broker each endpoint is of."""

    def __init__(
        self,
        looks: Sequence[LogLook],
        in_order: Sequence[_FileLook],
        known: Mapping[Endpoint, tuple[int, str]],
    ) -> None:
        self._known = known
        of_log = {endpoint: seen for look in looks for endpoint, seen in look.seen.items()}
        self._seen = {endpoint: of_log[endpoint] for look in in_order for endpoint in look.endpoints}
        self._segments = {stream: each for look in looks for stream, each in look.segments.items()}
        self._addresses: dict[tuple[str, Any], Counter[int]] = {}
        self._leaders: dict[tuple[Any, Any], int] = {}
        for look in in_order:
            for at, nodes in look.addresses.items():
                self._addresses.setdefault(at, Counter()).update(nodes)
            self._leaders.update(look.leaders)

    def named(self) -> set[int]:
        """Node ids in Metadata answers."""
        return {node for nodes in self._addresses.values() for node in nodes}

    def brokers(self, server_logs: Sequence[SurveyedFile]) -> list[SurveyedBroker]:
        known: dict[int, tuple[str, list[Endpoint]]] = {}
        unknown: dict[tuple[str, str], list[Endpoint]] = {}
        for endpoint, seen in self._seen.items():
            broker_id, how = self._node_id(endpoint, seen)
            if broker_id is None:
                unknown.setdefault(endpoint.stream, []).append(endpoint)
            else:
                known.setdefault(broker_id, (how, []))[1].append(endpoint)
        by_folder: dict[str, Counter[int]] = {}
        for file in server_logs:
            by_folder.setdefault(file.log.file.folder, Counter()).update(file.node_ids)
        for stream, endpoints in unknown.items():
            of_stream = [i for i, (_, own) in known.items() if any(e.stream == stream for e in own)]
            if len(of_stream) == 1:  # another listener of the broker whose log it is
                known[of_stream[0]][1].extend(endpoints)
                continue
            if all(self._seen[e].is_controller for e in endpoints):
                continue  # of a controller that is no broker
            addresses = by_folder.get(stream[0].rpartition("/")[0], Counter())
            groups = _apart(endpoints)
            if len(addresses) == 1 and len(groups) == 1:
                known.setdefault(next(iter(addresses)), ("server_log", []))[1].extend(endpoints)
                continue
            for group in groups:
                number = next(n for n in range(len(known) + 1) if n not in known)
                known[number] = ("numbered", group)
        of_broker = self._server_logs_by_broker(server_logs, known)
        for broker_id, files in of_broker.items():
            if broker_id not in known and any(file.counted for file in files):
                known[broker_id] = ("server_log", [])
        return [self._broker(i, how, own, of_broker.get(i, [])) for i, (how, own) in sorted(known.items())]

    def _server_logs_by_broker(
        self, files: Sequence[SurveyedFile], known: Mapping[int, tuple[str, list[Endpoint]]]
    ) -> dict[int, list[SurveyedFile]]:
        """By what was said, by the node id in its lines, or by the request log in the same folder."""
        found: dict[int, list[SurveyedFile]] = {}
        for file in files:
            beside = {
                broker_id
                for broker_id, (_, endpoints) in known.items()
                if any(e.stream[0].rpartition("/")[0] == file.log.file.folder for e in endpoints)
            }
            broker_id = file.log.broker_id
            if broker_id is None and len(beside) == 1:
                broker_id = next(iter(beside))
            if broker_id is None and file.node_ids:
                broker_id = file.node_ids.most_common(1)[0][0]
            if broker_id is not None:
                found.setdefault(broker_id, []).append(file)
        return found

    def _node_id(self, endpoint: Endpoint, seen: _Seen) -> tuple[int | None, str]:
        if seen.given_broker_id is not None:
            return seen.given_broker_id, "given"
        if seen.is_controller:
            return None, ""
        advertised = self._addresses.get((endpoint.host, endpoint.port))
        if advertised:
            return advertised.most_common(1)[0][0], "metadata"
        votes = Counter(self._leaders[p] for p in seen.accepted if p in self._leaders)
        if votes and votes.most_common(1)[0][1] * 2 > votes.total():
            return votes.most_common(1)[0][0], "leadership"
        return self._known.get(endpoint, (None, ""))

    def _broker(
        self, broker_id: int, how: str, endpoints: list[Endpoint], files: Sequence[SurveyedFile]
    ) -> SurveyedBroker:
        of_clients = [e for e in endpoints if not self._seen[e].is_controller]
        seen = [self._seen[e] for e in endpoints]
        events = sorted({event for file in files for event in file.events})
        times = [event.nanos for event in events]
        first = min([s.first for s in seen] + times[:1])
        last = max([s.last for s in seen] + times[-1:])
        logs = [self._segments[stream] for stream in dict.fromkeys(e.stream for e in endpoints)]
        offers = [offer for e in of_clients for offer in self._seen[e].offers]
        return SurveyedBroker(
            broker_id,
            how,
            of_clients,
            first,
            last,
            sum(self._seen[e].entries for e in of_clients),
            incarnations(logs, offers, events),
            [e for e in endpoints if self._seen[e].is_controller],
            {e.port: (e.listener, self._seen[e].protocol) for e in of_clients},
            [file.log for file in files],
            logs,
        )


def _is_looked_at(key: int, seen: _Seen) -> bool:
    return key == API_VERSIONS or (key in _LOOKED_AT_KEYS and seen.looked_at[key] < _LOOKED_AT)


def _parsed(line: bytes) -> RequestEntry:
    """An entry in Kafka's layout that the compiled reader took."""
    return parse_entry(_message(line).decode("utf-8", "replace"))


def _message(line: bytes) -> bytes:
    return line[line.find(MARK) :]


def _find_copies(files: Sequence[SurveyedFile]) -> None:
    """Files with the same lines: a log is often copied when it is rotated."""
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
            same = digests.setdefault(digest.digest(), file.log.file)
            file.same_as = None if same == file.log.file else same


def _note(event: ServerEvent, done: SurveyedFile) -> None:
    done.counted[event.kind] += 1
    if event.node_id is not None:
        done.node_ids[event.node_id] += 1
    if event.kind in ("starting", "started", "stopping", "release"):
        done.events.append(event)
    done.first = event.nanos if done.first is None else min(done.first, event.nanos)
    done.last = event.nanos if done.last is None else max(done.last, event.nanos)


def _apart(endpoints: Sequence[Endpoint]) -> list[list[Endpoint]]:
    """Endpoints of one stream that no node id tells apart: one broker, unless a listener has several addresses."""
    listeners = Counter(e.listener for e in endpoints)
    if max(listeners.values()) == 1:
        return [list(endpoints)]
    several_hosts = len({e.host for e in endpoints}) > 1
    groups: dict[object, list[Endpoint]] = {}
    for endpoint in sorted(endpoints):
        groups.setdefault(endpoint.host if several_hosts else endpoint.port, []).append(endpoint)
    return list(groups.values())
