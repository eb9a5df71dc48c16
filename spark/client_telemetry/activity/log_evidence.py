"""Evidence for the review from request logs and the server.log files next to them.

A request log has the answered requests of each client and their results; server.log has the releases over time, refused
requests and failed logins. Without a server.log the releases are those that the ApiVersions answers allow, a restart on
the same release is invisible, and so are refusals and failed logins.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from itertools import pairwise
from typing import NamedTuple

from client_telemetry import Unusable
from client_telemetry.activity.records import (
    Activity,
    BrokerRun,
    Client,
    Evidence,
    FailedLogin,
    FeatureLevels,
    UnnamedRefusal,
)
from client_telemetry.activity.server_log import LoginFailure, RefusedRequest, ServerRun, failed_starts, read
from client_telemetry.identity import broker_clients
from client_telemetry.knowledge import kip511
from client_telemetry.knowledge.api_key import ApiKey
from client_telemetry.sources.compression import CutOff
from client_telemetry.sources.log_files import LogFile, lines
from client_telemetry.sources.request_log.answers import answer
from client_telemetry.sources.request_log.broker_survey import survey
from client_telemetry.sources.request_log.connection_ids import (
    Endpoint,
    addresses,
    endpoint_of,
    id_told_apart,
)
from client_telemetry.sources.request_log.log_line import LineReader, begins_entry
from client_telemetry.sources.request_log.request_entry import (
    API_VERSIONS,
    FETCH,
    METADATA,
    BadEntry,
    RequestEntry,
    parse_entry,
)
from client_telemetry.sources.request_log.surveyed import Survey
from client_telemetry.sources.request_log.unread import no_requests, reading_warnings

_INIT_PRODUCER_ID = ApiKey.INIT_PRODUCER_ID
_GROUP_APIS = frozenset(
    (
        ApiKey.OFFSET_COMMIT,
        ApiKey.JOIN_GROUP,
        ApiKey.HEARTBEAT,
        ApiKey.SYNC_GROUP,
        ApiKey.CONSUMER_GROUP_HEARTBEAT,
    )
)
"""Sent by members of a group: OffsetCommit, JoinGroup, Heartbeat, SyncGroup, ConsumerGroupHeartbeat."""
_SLOTS = 360
_SHORTEST_SLOT_SECONDS = 10.0
"""The time before an upgrade and the time from then on are each divided into about that many slots, none shorter than
this.
"""
_FINE_BEFORE_SECONDS = 1800.0
"""How long before the first broker changed its release the finer slots begin."""


class NoRequests(Unusable):
    """None of the files has entries of the request logger; the message says what to do."""


class MixedBrokers(Unusable):
    """Server lines of several brokers are in one file."""


class _Span(NamedTuple):
    """From when on a broker incarnation wrote the log."""

    since: float
    incarnation: str
    broker_id: int


class _Slots(NamedTuple):
    """Time slots: `fine_seconds` long from `fine_from` on, `seconds` long before."""

    seconds: float
    fine_seconds: float
    fine_from: float

    def of(self, at: float) -> tuple[float, float]:
        """When the slot of a time begins and ends.

        >>> _Slots(100.0, 10.0, 250.0).of(205), _Slots(100.0, 10.0, 250.0).of(255)
        ((200.0, 250.0), (250.0, 260.0))
        """
        is_fine = at >= self.fine_from
        length = self.fine_seconds if is_fine else self.seconds
        begin = at // length * length
        return begin, begin + length if is_fine else min(begin + length, self.fine_from)

    @staticmethod
    def between(since: float, until: float, changed_at: float | None) -> "_Slots":
        """`changed_at`: when the first broker changed its release, None = none did."""

        def length(seconds: float) -> float:
            return max(_SHORTEST_SLOT_SECONDS, round(seconds / _SLOTS, -1))

        if changed_at is None:
            return _Slots(length(until - since), length(until - since), float("inf"))
        fine = length(until - max(changed_at - _FINE_BEFORE_SECONDS, since))
        fine_from = (changed_at - _FINE_BEFORE_SECONDS) // fine * fine
        return _Slots(max(fine, length(fine_from - since)), fine, fine_from)


@dataclass
class _Folder:
    """The contents of one folder: the logs of one broker, of one or several of its runs."""

    name: str
    requests: list[LogFile] = field(default_factory=list)
    servers: list[LogFile] = field(default_factory=list)


def from_logs(
    logs: Sequence[LogFile],
    zone: tzinfo = UTC,
    report: Callable[[str], None] = lambda text: None,
    year: int | None = None,
) -> Evidence:
    """Read request logs and server logs; `year`: of times without one. Raises NoRequests, TwoClusters."""
    log_survey = survey(logs, zone, year=year)
    if reason := no_requests(log_survey):
        raise NoRequests(reason)
    mixed = [file.log.file for file in log_survey.files if len(file.server) > 1]
    if mixed and len(log_survey.brokers) > 1:
        raise MixedBrokers(
            f"{mixed[0]} has lines of several brokers, but a review needs a folder for each broker: split the file by the "
            "label of its lines"
        )
    for warning in reading_warnings(log_survey):
        report(f"warning: {warning}")
    if any(not endpoint.listener for broker in log_survey.brokers for endpoint in broker.endpoints):
        report(
            "warning: lines of kafka.server.KafkaApis have no answers: requests that were answered with errors do not show"
        )
    evidence = _Reading(_folders(log_survey), zone, report, year, log_survey.doubled).evidence()
    evidence.listeners = _listeners(log_survey)
    return evidence


def _listeners(log_survey: Survey) -> dict[str, frozenset[str]]:
    of_protocol: dict[str, set[str]] = {}
    for broker in log_survey.brokers:
        for listener, protocol in broker.listeners.values():
            of_protocol.setdefault(protocol, set()).add(listener)
    return {protocol: frozenset(names) for protocol, names in of_protocol.items()}


def _folders(log_survey: Survey) -> list[_Folder]:
    folders: dict[str, _Folder] = {}
    for file in log_survey.files:
        folder = folders.setdefault(file.log.file.folder, _Folder(file.log.file.folder))
        if file.same_as is None:
            if file.entries:
                folder.requests.append(file.log)
            if file.counted or file.of_kafka:
                folder.servers.append(file.log)
    return [folders[name] for name in sorted(folders)]


def _first_nanos(log: LogFile, reader: LineReader) -> int | None:
    """When the first line with a time was written."""
    return next(
        (nanos for _, line in lines(log, CutOff()) if (nanos := reader.nanos_of(line)) is not None), None
    )


def _first_change(runs: Sequence[tuple[str, ServerRun]]) -> float | None:
    """When the first broker stopped that came back on another release. `runs`: with the names of their folders."""
    by_broker: dict[str | int, list[ServerRun]] = {}
    for folder, run in runs:
        by_broker.setdefault(folder if run.node_id is None else run.node_id, []).append(run)
    stops = []
    for own in by_broker.values():
        own.sort(key=lambda run: run.started)
        stops += [
            min(run.stopping or run.last, later.started)
            for run, later in pairwise(own)
            if run.releases and later.releases and not set(run.releases) & set(later.releases)
        ]
    return min(stops, default=None)


def _is_same(run: ServerRun, other: ServerRun) -> bool:
    """Whether two logs are of one process: they overlap in time, and neither names another node."""
    one_node = run.node_id == other.node_id or None in (run.node_id, other.node_id)
    return one_node and run.started < other.last and other.started < run.last


class _Reading:
    def __init__(
        self,
        folders: Sequence[_Folder],
        zone: tzinfo,
        report: Callable[[str], None],
        year: int | None,
        doubled: frozenset[Endpoint],
    ) -> None:
        self._folders, self._zone, self._report = folders, zone, report
        self._year, self._doubled = year, doubled
        self._evidence = Evidence("", [], [], [], [], [], _SHORTEST_SLOT_SECONDS, False, False)
        self._slots = _Slots(_SHORTEST_SLOT_SECONDS, _SHORTEST_SLOT_SECONDS, float("inf"))
        self._logins: dict[tuple[str, str, str, float], FailedLogin] = {}
        self._unnamed: dict[tuple[str, str, int, int, float], UnnamedRefusal] = {}

    def evidence(self) -> Evidence:
        result = self._evidence
        server_runs = {folder.name: self._server_runs(folder) for folder in self._folders}
        server_log_runs = [run for runs in server_runs.values() for run in runs]
        if server_log_runs:
            result.has_failed_logins = result.has_refusals = True
            # When the logging of requests began: brokers may have run for months before.
            since = max(self._first_request(), min(run.started for run in server_log_runs))
            until = max(run.last for run in server_log_runs)
            changed_at = _first_change(
                [(name, run) for name, runs in server_runs.items() for run in runs if run.is_broker]
            )
            self._slots = _Slots.between(since, until, changed_at)
            result.slot_seconds = self._slots.seconds
            if changed_at is not None:
                result.fine_from, result.fine_slot_seconds = self._slots.fine_from, self._slots.fine_seconds
        for folder in self._folders:
            if any(run.is_broker for run in server_runs[folder.name]):
                self._with_server_log(folder, [run for run in server_runs[folder.name] if run.is_broker])
            elif folder.requests:
                self._report(
                    f"{folder.name}: no server.log beside the request log: refused requests and failed logins do not show"
                )
                self._without_server_log(folder)
        result.broker_events += failed_starts(server_runs.values())
        result.runs.sort(key=lambda run: (run.started, run.broker_id))
        result.features.sort(key=lambda levels: levels.at)
        result.unnamed_refusals += [self._unnamed[key] for key in sorted(self._unnamed)]
        result.failed_logins += [self._logins[key] for key in sorted(self._logins)]
        return result

    def _first_request(self) -> float:
        requests = [file for folder in self._folders for file in folder.requests]
        first = [_first_nanos(file, self._reader(file)) for file in requests]
        return min((nanos / 1e9 for nanos in first if nanos is not None), default=0.0)

    def _server_runs(self, folder: _Folder) -> list[ServerRun]:
        """Runs of the brokers of a folder. Rotated files of a log are read as one, in order of time. The output of a
        process (kafkaServer.out) repeats its server.log, and counts once.
        """
        families: dict[str, list[LogFile]] = {}
        for log in folder.servers:
            families.setdefault(log.family, []).append(log)
        distinct_runs: list[ServerRun] = []
        # The log with most starts first: others add to its runs.
        by_family = {name: self._runs_of(logs) for name, logs in families.items()}
        for name in sorted(
            by_family, key=lambda name: (-sum(run.is_broker for run in by_family[name]), name)
        ):
            for run in by_family[name]:
                # Other logs of Kafka (controller.log, log-cleaner.log) do not record starts.
                if not (run.is_broker or run.refused or run.logins) and not name.endswith("server.log"):
                    continue
                same_process = next((other for other in distinct_runs if _is_same(run, other)), None)
                if same_process is None:
                    distinct_runs.append(run)
                else:
                    same_process.add_from(run)
        distinct_runs.sort(key=lambda run: run.started)
        if distinct_runs and not distinct_runs[0].is_broker:
            self._name_by_requests(folder, distinct_runs[0], distinct_runs[1:])
        return distinct_runs

    def _runs_of(self, logs: Sequence[LogFile]) -> list[ServerRun]:
        begins = [(_first_nanos(log, self._reader(log)), log) for log in logs]
        in_order = sorted(
            ((nanos, log) for nanos, log in begins if nanos is not None), key=lambda pair: pair[0]
        )
        if not in_order:
            return []
        newest = max(in_order, key=lambda pair: pair[1].file.modified_at())[1]
        return read((line for _, log in in_order for _, line in lines(log, CutOff())), self._reader(newest))

    def _reader(self, log: LogFile) -> LineReader:
        return LineReader.of_file(log, self._zone, self._year)

    def _name_by_requests(self, folder: _Folder, run: ServerRun, later: Sequence[ServerRun]) -> None:
        """For a run whose start is in none of the files: its node is that of a later run, and its releases are those
        that its ApiVersions answers allow.
        """
        brokers = survey(folder.requests, self._zone, year=self._year).brokers if folder.requests else []
        if len(brokers) != 1:
            return
        (broker,) = brokers
        began = [incarnation for incarnation in broker.incarnations if incarnation.since / 1e9 < run.last]
        if not began:
            return
        named = [named_run.node_id for named_run in (run, *later) if named_run.node_id is not None]
        run.node_id, run.has_broker = (named or [broker.broker_id])[0], True
        run.releases = tuple(began[0].candidates or ())
        run.started = min(run.started, began[0].since / 1e9)

    def _with_server_log(self, folder: _Folder, runs: Sequence[ServerRun]) -> None:
        result = self._evidence
        spans = [_Span(run.started, f"{folder.name}@{run.started:.3f}", run.node_id or 0) for run in runs]
        log = self._read(folder, spans)
        for run, span in zip(runs, spans, strict=True):
            until = run.stopping or max(run.last, log.last.get(span.incarnation, run.last))
            ran = run.releases, run.started, until, run.stopping is None
            result.runs.append(BrokerRun(span.broker_id, span.incarnation, *ran))
            result.features += [FeatureLevels(at, levels) for at, levels in run.features]
            for refused in run.refused:
                if not log.add_refused(span, refused):
                    self._add_unnamed(span, refused)
            for login in run.logins:
                self._add_login(span, login)
        self._take(log)

    def _without_server_log(self, folder: _Folder) -> None:
        result = self._evidence
        for broker in survey(folder.requests, self._zone, year=self._year).brokers:
            spans = []
            for index, incarnation in enumerate(broker.incarnations):
                is_last = index + 1 == len(broker.incarnations)
                until = (broker.last if is_last else broker.incarnations[index + 1].since) / 1e9
                span = _Span(
                    incarnation.since / 1e9,
                    f"{folder.name}@{broker.broker_id}@{incarnation.since}",
                    broker.broker_id,
                )
                spans.append(span)
                ran = incarnation.candidates or (), span.since, until, is_last
                result.runs.append(BrokerRun(span.broker_id, span.incarnation, *ran))
                result.features += [
                    FeatureLevels(nanos / 1e9, levels, span.incarnation)
                    for nanos, levels in incarnation.features
                ]
            self._take(self._read(folder, spans, frozenset(broker.endpoints)))

    def _read(
        self, folder: _Folder, spans: Sequence[_Span], endpoints: frozenset[Endpoint] | None = None
    ) -> "_RequestLog":
        log = _RequestLog(spans, self._slots, self._doubled, endpoints)
        for file in folder.requests:
            self._report(f"reading {file.file}")
            log.read(file, self._reader(file))
        return log

    def _take(self, log: "_RequestLog") -> None:
        self._evidence.activities += log.activities.values()
        self._evidence.cluster_id = self._evidence.cluster_id or log.cluster_id
        self._evidence.features += log.features

    def _add_unnamed(self, span: _Span, refused: RefusedRequest) -> None:
        ends = addresses(refused.connection_id)
        address = ends.host if ends else ""
        key = address, span.incarnation, refused.api_key, refused.version, self._slot(refused.at)
        api, at = (refused.api_key, refused.version), refused.at
        first = UnnamedRefusal(address, span.broker_id, span.incarnation, *api, at, at, 0)
        before = self._unnamed.get(key, first)
        self._unnamed[key] = before._replace(last=at, requests=before.requests + 1)

    def _add_login(self, span: _Span, login: LoginFailure) -> None:
        key = login.address, span.incarnation, login.mechanism or "", self._slot(login.at)
        where = login.address, span.broker_id, span.incarnation
        first = FailedLogin(*where, login.mechanism, login.reason, login.at, login.at, 0)
        before = self._logins.get(key, first)
        self._logins[key] = before._replace(
            reason=login.reason, last=login.at, connections=before.connections + 1
        )

    def _slot(self, at: float) -> float:
        return self._slots.of(at)[0]


class _Connection(NamedTuple):
    client: Client
    is_of_a_broker: bool


class _RequestLog:
    """The request logs of one broker. `last`: incarnation -> when its last request was answered."""

    def __init__(
        self,
        spans: Sequence[_Span],
        slots: _Slots,
        doubled: frozenset[Endpoint],
        endpoints: frozenset[Endpoint] | None = None,
    ) -> None:
        self._spans, self._slots, self._endpoints = sorted(spans), slots, endpoints
        self._doubled = doubled
        self._connections: dict[tuple[str, str], _Connection] = {}
        self._announced: dict[tuple[str, str], tuple[str, str]] = {}
        self._offsets: dict[tuple[object, ...], int] = {}
        self.activities: dict[tuple[Client, str, float], Activity] = {}
        self.last: dict[str, float] = {}
        self.cluster_id = ""
        self.features: list[FeatureLevels] = []

    def read(self, log: LogFile, reader: LineReader) -> None:
        for _, line in lines(log, CutOff()):
            if not begins_entry(line) or b'"listener":"CONTROLLER"' in line[-400:]:
                continue
            parsed = reader.read(line)
            if parsed is None or parsed.nanos is None:
                continue
            try:
                entry = parse_entry(parsed.message)
            except BadEntry:
                continue
            ends = addresses(entry.connection_id)
            endpoint = endpoint_of((log.family, parsed.label), entry.connection_id, entry.listener)
            if ends is None or endpoint is None or entry.is_forwarded or endpoint in self._doubled:
                continue
            if self._endpoints is not None and endpoint not in self._endpoints:
                continue
            told_apart = entry._replace(connection_id=id_told_apart(entry.connection_id, entry))
            self._add(told_apart, parsed.nanos / 1e9, ends.host)

    def add_refused(self, span: _Span, refused: RefusedRequest) -> bool:
        """Whether an earlier request of the same connection identifies the client."""
        connection = self._connections.get((span.incarnation, refused.connection_id))
        if connection is None:
            return False
        if not connection.is_of_a_broker:
            activity = self._activity(connection.client, span, refused.at)
            activity.use(refused.api_key, refused.version).add_failed(refused.at, refused=True)
        return True

    def _add(self, entry: RequestEntry, at: float, address: str) -> None:
        span = self._span(at)
        self.last[span.incarnation] = max(at, self.last.get(span.incarnation, at))
        at_connection = span.incarnation, entry.connection_id
        name, version = self._software(entry, at_connection)
        client = Client(entry.client_id, entry.principal, address, name, version, entry.security_protocol)
        of_a_broker = entry.api_key in broker_clients.api_keys() or _replica_id(entry.request) >= 0
        before = self._connections.get(at_connection)
        of_a_broker = of_a_broker or (before is not None and before.is_of_a_broker)
        self._connections[at_connection] = _Connection(client, of_a_broker)
        if entry.api_key == METADATA and not self.cluster_id:
            self.cluster_id = str(entry.response.get("clusterId") or "")
        if of_a_broker:
            return
        activity = self._activity(client, span, at)
        activity.opened += before is None
        use = activity.use(entry.api_key, entry.api_version)
        succeeded, codes = answer(entry.response)
        if succeeded:
            use.add_answered(at)
        else:
            use.add_failed(at)
            for code in codes:
                key = entry.api_key, code
                activity.errors[key] = activity.errors.get(key, 0) + 1
        self._note_request(activity, entry, span, at)

    def _note_request(self, activity: Activity, entry: RequestEntry, span: _Span, at: float) -> None:
        """What some APIs say in addition: groups, offsets, time-outs of transactions, finalized features."""
        group = entry.request.get("groupId")
        if isinstance(group, str) and group and entry.api_key in _GROUP_APIS:
            activity.groups.add(group)
        if entry.api_key == FETCH:
            self._fetch(activity, entry, span)
        elif entry.api_key == _INIT_PRODUCER_ID and entry.request.get("transactionalId"):
            timeout = float(entry.request.get("transactionTimeoutMs") or 0) / 1000
            activity.transaction_timeout = max(activity.transaction_timeout or 0.0, timeout) or None
        elif entry.api_key == API_VERSIONS:
            levels = {f["name"]: f["maxVersionLevel"] for f in entry.response.get("finalizedFeatures") or ()}
            if levels and (not self.features or self.features[-1].levels != levels):
                self.features.append(FeatureLevels(at, levels))

    def _software(self, entry: RequestEntry, connection: tuple[str, str]) -> tuple[str, str]:
        """ApiVersions registers the name (KIP-511): its own entry still says unknown."""
        if entry.api_key == API_VERSIONS and not entry.response.get("errorCode"):
            name = entry.request.get("clientSoftwareName")
            if name:
                self._announced[connection] = str(name), str(entry.request.get("clientSoftwareVersion") or "")
        if entry.software_name and kip511.is_known(entry.software_name):
            return entry.software_name, entry.software_version or ""
        return self._announced.get(connection, (kip511.UNKNOWN, ""))

    def _span(self, at: float) -> _Span:
        current = self._spans[0]
        for span in self._spans[1:]:
            if span.since <= at:
                current = span
        return current

    def _activity(self, client: Client, span: _Span, at: float) -> Activity:
        begin, end = self._slots.of(at)
        key = client, span.incarnation, begin
        activity = self.activities.get(key)
        if activity is None:
            activity = self.activities[key] = Activity(client, span.broker_id, span.incarnation, begin, end)
        return activity

    def _fetch(self, activity: Activity, entry: RequestEntry, span: _Span) -> None:
        for topic in entry.request.get("topics") or ():
            name = topic.get("topic") or topic.get("topicId")
            for part in topic.get("partitions") or ():
                offset = part.get("fetchOffset")
                if not isinstance(offset, int):
                    continue
                key = activity.client[:3], name, part.get("partition"), span.incarnation
                if offset < self._offsets.get(key, offset):
                    activity.offsets_back += 1
                self._offsets[key] = offset


def _replica_id(request: dict[str, object]) -> int:
    """From Fetch, ListOffsets, OffsetForLeaderEpoch: -1 and below are consumers, otherwise the requesting broker."""
    state = request.get("replicaState")
    replica_id = state.get("replicaId", -1) if isinstance(state, dict) else request.get("replicaId", -1)
    return replica_id if isinstance(replica_id, int) else -1
