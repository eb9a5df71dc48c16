"""First reading of request logs: whose they are, from when to when, and which releases the brokers may run.

An entry names its broker only by the local address of the connection. Which node that is, the answers to clients tell:
Metadata lists the brokers with address and node id, and who accepts a Produce leads the partition that Metadata says
somebody leads. What clients did is read later (request_log.py).
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from typing import NamedTuple

from client_telemetry.compatibility import broker_guess
from client_telemetry.sources.log_files import CutOff, LogFile, lines
from client_telemetry.sources.log_line import MARK, LineReader
from client_telemetry.sources.request_entry import (
    API_VERSIONS,
    METADATA,
    PRODUCE,
    BadEntry,
    RequestEntry,
    parse_entry,
)
from client_telemetry.sources.stored_file import StoredFile

ApiRanges = tuple[tuple[int, int, int], ...]
"""(api key, min, max) as ApiVersions offers them, sorted."""

_LOOKED_AT = 200
"""Metadata answers and Produce requests that are looked at for each address."""

_CONNECTION = re.compile(r"(?P<local>.+):(?P<local_port>\d+)-(?P<remote>.+):(?P<remote_port>\d+)-[\d-]+")
_JSON_ENDPOINT = re.compile(rb',"connection":"([!-~]+?)","totalTimeMs".*"listener":"([!-~]*?)"')
_JSON_KEY = re.compile(rb'"requestApiKey":(\d+)')


class TwoClusters(ValueError):
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

    entries: int = 0
    first: int | None = None
    last: int | None = None
    looked_at: Counter = field(default_factory=Counter)
    offers: list[tuple[int, ApiRanges, dict[str, int]]] = field(default_factory=list)
    accepted: set[tuple[str, int]] = field(default_factory=set)
    told_broker_id: int | None = None


@dataclass
class SurveyedFile:
    """`marked`: lines that begin like an entry."""

    log: LogFile
    lines: int
    marked: int
    entries: int
    first: int | None
    last: int | None
    cut: str | None
    same_as: StoredFile | None = None


class BrokerLife(NamedTuple):
    """While the ApiVersions answers of a broker stayed the same. `since`: nanos; the first life begins with the log.
    `candidates`: releases that explain the answers; None = no answer was seen."""

    since: int
    api_versions: ApiRanges | None
    features: dict[str, int]
    candidates: tuple[str, ...] | None


@dataclass
class SurveyedBroker:
    """`id_known_by`: `told`, `metadata`, `leadership`, or `numbered`: the log does not tell its node id."""

    broker_id: int
    id_known_by: str
    endpoints: list[Endpoint]
    first: int
    last: int
    entries: int
    lives: list[BrokerLife]


@dataclass
class Survey:
    """`without_log`: node ids that Metadata answers list and that none of the logs is of."""

    cluster_id: str | None
    brokers: list[SurveyedBroker]
    files: list[SurveyedFile]
    without_log: list[int]


def survey(
    logs: Sequence[LogFile],
    zone: tzinfo = UTC,
    report: Callable[[int], None] = lambda n: None,
    known: Mapping[Endpoint, tuple[int, str]] | None = None,
) -> Survey:
    """Read the logs once. `report` is called now and then with the lines read so far. `known`: broker id, and how it is
    known, by endpoints of lines before these. Raises TwoClusters."""
    return _Surveyor(zone, report, known or {}).survey(logs)


class _Surveyor:
    def __init__(
        self,
        zone: tzinfo,
        report: Callable[[int], None],
        known: Mapping[Endpoint, tuple[int, str]],
    ) -> None:
        self._known = known
        self._reader = LineReader(zone)
        self._report = report
        self._seen: dict[Endpoint, _Seen] = {}
        self._cluster_ids: Counter = Counter()
        self._addresses: dict[tuple[str, int], Counter] = {}
        self._leaders: dict[tuple[str, int], int] = {}
        self._lines = 0

    def survey(self, logs: Sequence[LogFile]) -> Survey:
        files: list[SurveyedFile] = []
        digests: dict[bytes, StoredFile] = {}
        for log in logs:
            files.append(self._file(log, digests))
        if len(self._cluster_ids) > 1:
            raise TwoClusters(
                f"the logs are of {len(self._cluster_ids)} clusters ({', '.join(sorted(self._cluster_ids))}): "
                "name the logs of one cluster at a time"
            )
        cluster_id = next(iter(self._cluster_ids), None)
        brokers = self._brokers()
        named = {node for nodes in self._addresses.values() for node in nodes}
        # A broker with a number of ours may be any of those that Metadata names.
        without_log = sorted(named - {b.broker_id for b in brokers})
        if any(b.id_known_by == "numbered" for b in brokers):
            without_log = []
        return Survey(cluster_id, brokers, files, without_log)

    def _file(self, log: LogFile, digests: dict[bytes, StoredFile]) -> SurveyedFile:
        done = SurveyedFile(log, 0, 0, 0, None, None, None)
        cut = CutOff()
        digest = hashlib.blake2b(digest_size=16)
        for _, line in lines(log, cut):
            done.lines += 1
            self._lines += 1
            if self._lines % 50_000 == 0:
                self._report(self._lines)
            digest.update(line)
            if MARK in line:
                done.marked += 1
                self._line(log, line, done)
        done.cut = cut.reason
        if done.entries:
            done.same_as = digests.setdefault(digest.digest(), log.file)
            if done.same_as == log.file:
                done.same_as = None
        return done

    def _line(self, log: LogFile, line: bytes, done: SurveyedFile) -> None:
        read = self._reader.read(line)
        if read is None or read.nanos is None:
            return
        entry: RequestEntry | None = None
        number, ends = _JSON_KEY.search(line, 0, 400), _JSON_ENDPOINT.search(line, max(0, len(line) - 1200))
        if number and ends:  # the whole entry need not be parsed
            key, connection, listener = int(number[1]), ends[1].decode(), ends[2].decode()
        else:  # the text format, wrapped, or cut off
            try:
                entry = parse_entry(read.message)
            except BadEntry:
                return
            key, connection, listener = entry.api_key, entry.connection_id, entry.listener
        endpoint = self._endpoint((log.family, read.label), connection, listener)
        if endpoint is None:
            return
        seen = self._seen.setdefault(endpoint, _Seen())
        seen.entries += 1
        seen.first = read.nanos if seen.first is None else min(seen.first, read.nanos)
        seen.last = read.nanos if seen.last is None else max(seen.last, read.nanos)
        seen.told_broker_id = log.broker_id
        done.entries += 1
        done.first = read.nanos if done.first is None else min(done.first, read.nanos)
        done.last = read.nanos if done.last is None else max(done.last, read.nanos)
        if key == API_VERSIONS or (key in (METADATA, PRODUCE) and seen.looked_at[key] < _LOOKED_AT):
            seen.looked_at[key] += 1
            try:
                self._look(seen, entry or parse_entry(read.message), read.nanos)
            except BadEntry:
                pass

    def _endpoint(self, stream: tuple[str, str], connection: str, listener: str) -> Endpoint | None:
        ends = addresses(connection)
        return None if ends is None else Endpoint(stream, ends.local_host, ends.local_port, listener)

    def _look(self, seen: _Seen, entry: RequestEntry, nanos: int) -> None:
        answer = entry.response
        if entry.api_key == API_VERSIONS:
            offered = tuple(
                sorted((r["apiKey"], r["minVersion"], r["maxVersion"]) for r in answer.get("apiKeys") or ())
            )
            # A controller's listener offers no Produce; a refusal (35) offers ApiVersions alone.
            if offered and offered[0][0] == PRODUCE and not answer.get("errorCode"):
                features = {f["name"]: f["maxVersionLevel"] for f in answer.get("finalizedFeatures") or ()}
                if not seen.offers or seen.offers[-1][1] != offered:
                    seen.offers.append((nanos, offered, features))
                elif features and not seen.offers[-1][2]:
                    seen.offers[-1] = (*seen.offers[-1][:2], features)
        elif entry.api_key == METADATA:
            if answer.get("clusterId"):
                self._cluster_ids[answer["clusterId"]] += 1
            for broker in answer.get("brokers") or ():
                at = (str(broker.get("host")), broker.get("port"))
                self._addresses.setdefault(at, Counter())[broker.get("nodeId")] += 1
            for topic in answer.get("topics") or ():
                for part in topic.get("partitions") or ():
                    for name in (topic.get("name"), topic.get("topicId")):
                        if name and part.get("leaderId", -1) >= 0:
                            self._leaders[name, part.get("partitionIndex")] = part["leaderId"]
        else:
            for topic in answer.get("responses") or ():
                for part in topic.get("partitionResponses") or ():
                    if part.get("errorCode") == 0:
                        seen.accepted.add((topic.get("name") or topic.get("topicId"), part.get("index")))

    # --- who is who

    def _brokers(self) -> list[SurveyedBroker]:
        known: dict[int, tuple[str, list[Endpoint]]] = {}
        unknown: dict[tuple[str, str], list[Endpoint]] = {}
        for endpoint, seen in self._seen.items():
            broker_id, how = self._node_id(endpoint, seen)
            if broker_id is None:
                unknown.setdefault(endpoint.stream, []).append(endpoint)
            else:
                known.setdefault(broker_id, (how, []))[1].append(endpoint)
        for stream, endpoints in unknown.items():
            of_stream = [i for i, (_, own) in known.items() if any(e.stream == stream for e in own)]
            if len(of_stream) == 1:  # another listener of the broker whose log it is
                known[of_stream[0]][1].extend(endpoints)
                continue
            for group in _apart(endpoints):
                number = next(n for n in range(len(known) + 1) if n not in known)
                known[number] = ("numbered", group)
        return [self._broker(i, how, own) for i, (how, own) in sorted(known.items())]

    def _node_id(self, endpoint: Endpoint, seen: _Seen) -> tuple[int | None, str]:
        if seen.told_broker_id is not None:
            return seen.told_broker_id, "told"
        advertised = self._addresses.get((endpoint.host, endpoint.port))
        if advertised:
            return advertised.most_common(1)[0][0], "metadata"
        votes = Counter(self._leaders[p] for p in seen.accepted if p in self._leaders)
        if votes and votes.most_common(1)[0][1] * 2 > votes.total():
            return votes.most_common(1)[0][0], "leadership"
        return self._known.get(endpoint, (None, ""))

    def _broker(self, broker_id: int, how: str, endpoints: list[Endpoint]) -> SurveyedBroker:
        seen = [self._seen[e] for e in endpoints]
        first, last = min(s.first for s in seen), max(s.last for s in seen)
        lives: list[BrokerLife] = []
        for nanos, offered, features in sorted((o for s in seen for o in s.offers), key=lambda o: o[0]):
            if lives and lives[-1].api_versions == offered:
                continue
            since = nanos if lives else first
            lives.append(BrokerLife(since, offered, features, broker_guess.candidates(offered, features)))
        lives = lives or [BrokerLife(first, None, {}, None)]
        return SurveyedBroker(broker_id, how, endpoints, first, last, sum(s.entries for s in seen), lives)


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
