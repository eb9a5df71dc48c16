"""What a broker's own log (server.log, kafkaServer.out) says for the review: when which release ran, refused requests, failed
logins, finalized features. Pure.

The lines are those of Kafka's classes at the levels that Kafka ships:
    org.apache.kafka.common.utils.AppInfoParser           Kafka version: 4.0.1
    org.apache.kafka.common.utils.LoggingSignalHandler    Terminating process due to signal SIGTERM
    kafka.network.Processor                               Exception while processing request from CONNECTION, and the exception
    org.apache.kafka.common.network.Selector              Failed authentication with /ADDRESS (channelId=CONNECTION) (REASON)
    org.apache.kafka.metadata.publisher.FeaturesPublisher Loaded new metadata Features(… finalizedFeatures={…} …)
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import NamedTuple

_TIME = re.compile(rb"^[^\d]{0,80}(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?")
_STARTED = re.compile(
    rb"Registered kafka:type=kafka\.Log4jController MBean|starting \(kafka\.server\.KafkaServer\)"
)
_VERSION = re.compile(rb"Kafka version: ([0-9][^\s(]*)")
_NODE = re.compile(
    rb"\[(?:KafkaRaftServer nodeId|BrokerServer id|KafkaServer id)=(\d+)\]|\[SocketServer .*nodeId=(\d+)\]"
)
_STOPPING = re.compile(
    rb"Terminating process due to signal|\[(?:BrokerServer|KafkaServer) id=\d+\] shutting down"
)
_REFUSED = re.compile(rb"Exception while processing request from (\S+) ")
_API = re.compile(rb"Received request for api with key (\d+) \((\w+)\) and unsupported version (-?\d+)")
_LOGIN = re.compile(
    rb"Failed authentication with /?(\S+) \(channelId=([^)\s]+)\) \((.*)\) \(org\.apache|Failed authentication with /?(\S+) \((.*)\)"
)
_MECHANISM = re.compile(r"with SASL mechanism ([A-Z0-9-]+)")
_FEATURES = re.compile(rb"finalizedFeatures=\{([^}]*)\}")


class RefusedRequest(NamedTuple):
    at: float
    connection_id: str
    api_key: int
    version: int


class LoginFailure(NamedTuple):
    at: float
    address: str
    connection_id: str
    mechanism: str | None
    reason: str


@dataclass
class ServerRun:
    """One start of the process, as its log has it. `stopping`: when it was told to stop; None = it was not, or was killed."""

    started: float
    last: float
    release: str | None = None
    node_id: int | None = None
    stopping: float | None = None
    features: list[tuple[float, dict[str, int]]] = field(default_factory=list)
    refused: list[RefusedRequest] = field(default_factory=list)
    logins: list[LoginFailure] = field(default_factory=list)

    @property
    def is_broker(self) -> bool:
        return self.release is not None and self.node_id is not None


def read(lines: Iterable[bytes], zone: tzinfo = UTC) -> list[ServerRun]:
    """Runs in the order of the log. Lines without a time belong to the one before."""
    return list(_Reader(zone).read(lines))


class _Reader:
    def __init__(self, zone: tzinfo) -> None:
        self._zone = zone
        self._seconds: dict[bytes, float] = {}
        self._refused: tuple[float, str] | None = None

    def read(self, lines: Iterable[bytes]) -> Iterator[ServerRun]:
        run: ServerRun | None = None
        for line in lines:
            found = _TIME.match(line)
            if found is None:
                if run is not None:
                    self._exception(run, line)
                continue
            at = self._at(found)
            if run is None or (_STARTED.search(line) and (run.is_broker or at - run.started > 60)):
                if run is not None and run.is_broker:
                    yield run
                run = ServerRun(at, at)
            run.last = at
            self._line(run, line, at)
        if run is not None and (run.is_broker or run.refused or run.logins):
            yield run

    def _at(self, found: re.Match[bytes]) -> float:
        key = found[1] + b"T" + found[2]
        seconds = self._seconds.get(key)
        if seconds is None:
            moment = datetime.fromisoformat(key.decode()).replace(tzinfo=self._zone)
            seconds = self._seconds[key] = moment.timestamp()
            if len(self._seconds) > 4096:
                self._seconds.clear()
        return seconds + float(b"0." + (found[3] or b"0"))

    def _line(self, run: ServerRun, line: bytes, at: float) -> None:
        self._refused = None
        if b"Exception while processing request" in line:
            if found := _REFUSED.search(line):
                self._refused = (at, found[1].decode("ascii", "replace"))
                self._exception(run, line)
        elif b"Failed authentication with" in line:
            if found := _LOGIN.search(line):
                reason = (found[3] or found[5] or b"").decode("utf-8", "replace")
                mechanism = _MECHANISM.search(reason)
                run.logins.append(
                    LoginFailure(
                        at,
                        (found[1] or found[4]).decode("ascii", "replace"),
                        (found[2] or b"").decode("ascii", "replace"),
                        mechanism[1] if mechanism else None,
                        reason,
                    )
                )
            if run.node_id is None:
                self._node(run, line)
        elif b"finalizedFeatures={" in line:
            if found := _FEATURES.search(line):
                run.features.append((at, _levels(found[1].decode())))
        elif run.stopping is None and _STOPPING.search(line):
            run.stopping = at
        elif run.release is None and (found := _VERSION.search(line)):
            run.release = found[1].decode("ascii", "replace")
        elif run.node_id is None:
            self._node(run, line)

    def _node(self, run: ServerRun, line: bytes) -> None:
        if found := _NODE.search(line):
            run.node_id = int(found[1] or found[2])

    def _exception(self, run: ServerRun, line: bytes) -> None:
        """The exception stands on the next line, or on the same one where the layout puts it there."""
        if self._refused is not None and (found := _API.search(line)):
            at, connection_id = self._refused
            run.refused.append(RefusedRequest(at, connection_id, int(found[1]), int(found[3])))
            self._refused = None


def _levels(text: str) -> dict[str, int]:
    """`group.version=1, metadata.version=25`."""
    pairs = (part.strip().partition("=") for part in text.split(",") if "=" in part)
    return {name: int(level) for name, _, level in pairs if level.isdecimal()}
