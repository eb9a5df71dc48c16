"""Runs of a broker process, from the events of its own log (sources/request_log/server_log.py reads the lines):
releases over time, refused requests, failed logins, finalized features. Pure.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from client_telemetry.sources.request_log.log_line import LineReader
from client_telemetry.sources.request_log.server_log import (
    ServerEvent,
    ServerLines,
    feature_levels,
    mechanism_of,
)


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
    """One run of the process, according to its log. `releases`: the one that it reports at its start; several, or none,
    if that line is missing. `stopping`: when it was asked to stop; None = it was not, or was killed.
    """

    started: float
    last: float
    releases: tuple[str, ...] = ()
    node_id: int | None = None
    has_broker: bool = False
    """Whether the process is a broker, possibly with a controller, rather than only a controller."""
    stopping: float | None = None
    features: list[tuple[float, dict[str, int]]] = field(default_factory=list)
    refused: list[RefusedRequest] = field(default_factory=list)
    logins: list[LoginFailure] = field(default_factory=list)

    @property
    def is_broker(self) -> bool:
        return self.has_broker and bool(self.releases) and self.node_id is not None

    def add(self, event: ServerEvent) -> None:
        at = event.nanos / 1e9
        # The node in a controller's line may not be a broker.
        if self.node_id is None and event.kind != "features" and event.text != "controller":
            self.node_id = event.node_id
        if event.kind in ("starting", "stopping", "named") and event.text != "controller":
            self.has_broker = True
        if event.kind == "refused" and event.api is not None:
            self.refused.append(RefusedRequest(at, event.connection_id, *event.api))
        elif event.kind == "login_failed":
            mechanism = mechanism_of(event.text)
            self.logins.append(LoginFailure(at, event.address, event.connection_id, mechanism, event.text))
        elif event.kind == "features":
            self.features.append((at, feature_levels(event.text)))
        elif event.kind in ("signal", "stopping") and self.stopping is None:
            self.stopping = at
        elif event.kind == "release" and not self.releases:
            self.releases = (event.text,)

    def add_from(self, other_log: "ServerRun") -> None:
        """Add what another log of the same process has in addition."""
        self.releases = self.releases or other_log.releases
        self.has_broker = self.has_broker or other_log.has_broker
        self.node_id = other_log.node_id if self.node_id is None else self.node_id
        self.stopping = other_log.stopping if self.stopping is None else self.stopping
        refused, logins = set(self.refused), set(self.logins)
        self.refused += [refusal for refusal in other_log.refused if refusal not in refused]
        self.logins += [login for login in other_log.logins if login not in logins]
        self.features += [levels for levels in other_log.features if levels not in self.features]


def read(lines: Iterable[bytes], times: LineReader | None = None) -> list[ServerRun]:
    """Runs in log order; the first one may have begun earlier. Lines without a time belong to the previous one."""
    return list(_runs(lines, times or LineReader()))


def _runs(lines: Iterable[bytes], times: LineReader) -> Iterator[ServerRun]:
    run: ServerRun | None = None
    server = ServerLines()
    for line in lines:
        nanos = times.nanos_of(line)
        if nanos is not None:
            run = run or ServerRun(nanos / 1e9, nanos / 1e9)
        elif run is None:
            continue
        if server.is_notable(line):
            for event in server.read(times.read_other(line)):
                if _begins_another(run, event):
                    yield run
                    run = ServerRun(event.nanos / 1e9, event.nanos / 1e9)
                run.add(event)
        if nanos is not None:
            run.last = nanos / 1e9
    if run is not None:
        for event in server.end():
            run.add(event)
        yield run


def _begins_another(run: ServerRun, event: ServerEvent) -> bool:
    """A process writes its first line once; the other lines of its start follow within a minute."""
    if event.kind == "process" or (event.kind == "starting" and event.text == "zookeeper"):
        return run.is_broker or event.nanos / 1e9 - run.started > 60
    return event.kind == "starting" and run.is_broker
