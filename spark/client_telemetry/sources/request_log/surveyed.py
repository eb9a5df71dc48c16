"""What the first pass over a cluster's logs finds: brokers, files, and the lines of them that nothing was made of."""

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from client_telemetry.sources.log_files import LogFile
from client_telemetry.sources.request_log.connection_ids import Endpoint
from client_telemetry.sources.request_log.incarnations import (
    BrokerIncarnation,
    ConnectionSegments,
    Offer,
)
from client_telemetry.sources.request_log.server_log import ServerEvent, UnusedLines
from client_telemetry.sources.stored_file import StoredFile

_DOCUMENT = re.compile(
    r"(?:readme|licen[cs]e|notice|changelog)(?:\..*)?|.+\.(?:md|rst|adoc|html?|properties|ya?ml|xml|ini|conf|cfg|toml|csv|sh|py|jar|png|pdf)"
)
"""Names of files next to logs that are not logs, in lower case."""

_CALLED_LIKE_A_LOG = re.compile(r"request|\.(?:log|out|txt|json)(?![a-z])")
LIKE_AN_ENTRY = re.compile(
    rb"[\x00-\x08\x0e-\x1a]|\xff|Completed request|requestHeader|apiKey|securityProtocol", re.IGNORECASE
)
"""Bytes that are not text, and words of an entry."""


@dataclass
class EndpointEvidence:
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


class EntryTime(NamedTuple):
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
    were not used, by reason. `foreign`: a recognised format that is not read. `kinds`: what the log may be by its first lines, if it
    has no entry (other_logs.py). `of_client`: the version that a client logged at its start, in a log that is no broker's. `at_info`: entries at level INFO.
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
    unread_server_lines: UnusedLines = field(default_factory=UnusedLines)
    foreign: str | None = None
    kinds: Counter[str] = field(default_factory=Counter)
    of_client: str | None = None
    at_info: int = 0
    has_no_year: bool = False
    without_message: int = 0

    def note_unused(self, reason: str, line: bytes) -> None:
        before = self.unused.get(reason, UnusedLines())
        self.unused[reason] = before.and_more(1, line[:400].decode("utf-8", "replace"))

    def note_times(self, first: int, last: int) -> None:
        self.first = first if self.first is None else min(self.first, first)
        self.last = last if self.last is None else max(self.last, last)

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
    def has_requests(self) -> bool:
        """Whether a request log is among the files: without one, that no client was seen says nothing."""
        return any(file.entries for file in self.files)

    @property
    def has_server_log(self) -> bool:
        """Whether refused requests and failed logins would show, of some broker."""
        return any(broker.server_logs for broker in self.brokers)

    @property
    def is_deprecated_only(self) -> bool:
        """Whether all entries are at INFO, at which Kafka 3.9.1 and later log deprecated requests only (KAFKA-18272)."""
        read = [file for file in self.files if file.entries]
        return bool(read) and all(file.at_info >= file.entries for file in read)


@dataclass
class FileLook:
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

    files: list[FileLook]
    evidence: dict[Endpoint, EndpointEvidence]
    segments: dict[tuple[str, str], ConnectionSegments]

    @property
    def lines(self) -> int:
        return sum(look.file.lines for look in self.files)
