"""Which broker is behind each address at which requests arrived, and which server logs are its own."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from client_telemetry.sources.adapter import Refused
from client_telemetry.sources.log_files import LogFile
from client_telemetry.sources.request_log.connection_ids import Endpoint
from client_telemetry.sources.request_log.incarnations import (
    incarnations,
)
from client_telemetry.sources.request_log.server_log import ServerEvent
from client_telemetry.sources.request_log.surveyed import (
    EndpointEvidence,
    FileLook,
    LogLook,
    ServerSource,
    SurveyedBroker,
    SurveyedFile,
)

_NODE_IN_NAME = re.compile(r"(?<![a-z])broker[-_.]?(\d{1,9})(?!\d)", re.IGNORECASE)


class TwoClusters(Refused):
    """The logs come from brokers of different clusters."""


class EndpointOwners:
    """Assigns endpoints to brokers."""

    def __init__(
        self,
        looks: Sequence[LogLook],
        in_order: Sequence[FileLook],
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

    def _node_id(self, endpoint: Endpoint, evidence: EndpointEvidence) -> tuple[int | None, str]:
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

    def of_any(fits: Callable[[Endpoint], bool]) -> set[int]:
        return {i for i, (_, endpoints) in identified.items() if any(map(fits, endpoints))}

    brokers = [
        of_any(lambda at: at.stream == stream),
        of_any(lambda at: at.stream[1] == source.label != ""),
        of_any(lambda at: is_only and _folder(at)[0] == source.log.file.folder),
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
