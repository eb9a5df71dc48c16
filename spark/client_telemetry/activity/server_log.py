"""Runs of a broker process, from the events of its own log (sources/request_log/server_log.py reads the lines):
releases over time, refused requests, failed logins, finalized features. Pure.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, zip_longest
from operator import itemgetter
from typing import NamedTuple

from client_telemetry.activity.records import clock
from client_telemetry.sources.request_log.log_line import LineReader
from client_telemetry.sources.request_log.server_log import (
    ServerEvent,
    ServerLines,
    feature_levels,
    mechanism_of,
)

STARTING_SECONDS = 300.0
"""A broker with many partitions takes minutes to start."""


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
    starting: float | None = None
    """When it said that it is starting; None = that line is missing."""
    is_up: bool = False
    """Whether it says that it has started, after it said that it is starting."""
    features: list[tuple[float, dict[str, int]]] = field(default_factory=list)
    fatal: str | None = None
    """Why it could not start, in its own words; empty = it does not say why, None = nothing shows that it could not."""
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
        self._add_state(event, at)
        if event.kind == "refused" and event.api is not None:
            self.refused.append(RefusedRequest(at, event.connection_id, *event.api))
        elif event.kind == "login_failed":
            mechanism = mechanism_of(event.text)
            self.logins.append(LoginFailure(at, event.address, event.connection_id, mechanism, event.text))
        elif event.kind == "features":
            self.features.append((at, feature_levels(event.text)))
        elif event.kind == "release" and not self.releases:
            self.releases = (event.text,)

    def _add_state(self, event: ServerEvent, at: float) -> None:
        """Starting, up, stopping, or ended with an error."""
        if event.kind in ("process", "starting") and self.starting is None:
            self.starting = at
        elif event.kind in ("signal", "stopping") and self.stopping is None:
            self.stopping = at
        elif event.kind == "started":
            self.is_up = True
        elif event.kind == "fatal" and not self.is_up:
            self.fatal = self.fatal or event.text

    def add_from(self, other_log: "ServerRun") -> None:
        """Add what another log of the same process has in addition."""
        self.releases = self.releases or other_log.releases
        self.has_broker = self.has_broker or other_log.has_broker
        self.starting = other_log.starting if self.starting is None else self.starting
        self.is_up = self.is_up or other_log.is_up
        self.node_id = other_log.node_id if self.node_id is None else self.node_id
        self.stopping = other_log.stopping if self.stopping is None else self.stopping
        self.fatal = other_log.fatal if self.fatal is None else self.fatal
        refused, logins = set(self.refused), set(self.logins)
        self.refused += [refusal for refusal in other_log.refused if refusal not in refused]
        self.logins += [login for login in other_log.logins if login not in logins]
        self.features += [levels for levels in other_log.features if levels not in self.features]


def failed_starts(logs: Iterable[Sequence[ServerRun]]) -> list[str]:
    """In sentences, in order of time, the starts after which a node did not come up, with the reason if the node says it.
    `logs`: the runs of each folder, which is one node's. A start of which only the end is missing counts if the node's logs have
    a complete one.
    """
    by_node: dict[int, list[ServerRun]] = {}
    for runs in logs:
        nodes = [run.node_id for run in runs if run.node_id is not None]
        for run in runs if nodes else ():
            by_node.setdefault(nodes[0] if run.node_id is None else run.node_id, []).append(run)
    until = max((run.last for runs in by_node.values() for run in runs), default=0.0)
    failed = [
        (run.started, sentence)
        for node, runs in by_node.items()
        for run, sentence in _of_node(node, sorted(runs, key=lambda run: run.started), until)
    ]
    return [sentence for _, sentence in sorted(failed, key=itemgetter(0, 1))]


def _of_node(node: int, runs: Sequence[ServerRun], until: float) -> Iterator[tuple[ServerRun, str]]:
    """The first of each series of failed starts that are alike, and the sentence. `runs`: in order of time."""
    has_complete_start = any(run.is_up for run in runs)
    for alike, group in groupby(
        zip_longest(runs, runs[1:]),
        lambda pair: (
            _has_failed(pair[0], pair[1], until, has_complete_start) and (pair[0].releases, pair[0].fatal)
        ),
    ):
        if alike:
            starts = list(group)
            yield starts[0][0], _failed_start(node, [run for run, _ in starts], starts[-1][1])


def _has_failed(run: ServerRun, later: ServerRun | None, until: float, has_complete_start: bool) -> bool:
    if run.fatal is not None:
        return True
    is_over = later is not None or until - run.last > STARTING_SECONDS
    return has_complete_start and run.starting is not None and not run.is_up and is_over


def _failed_start(node: int, runs: Sequence[ServerRun], later: ServerRun | None) -> str:
    """`runs`: one or more starts that failed alike; `later`: the next one."""
    first, last = runs[0], runs[-1]
    release = f" on {first.releases[0]}" if len(first.releases) == 1 else ""
    when = f"at {clock(first.started)}"
    if len(runs) > 1:
        when = f"{len(runs)} times from {clock(first.started)} to {clock(last.started)}"
    why = f" ({first.fatal})" if first.fatal else ""
    again = f"it was started again at {clock(later.started)}" if later else "it was not started again"
    return f"Broker {node} was started{release} {when} and did not come up{why}; {again}"


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
        return run.is_broker or run.fatal is not None or event.nanos / 1e9 - run.started > 60
    return event.kind == "starting" and run.is_broker
