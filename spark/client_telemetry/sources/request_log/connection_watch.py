"""Connections of one broker as its request log shows them, as the contract's connection events.

The log has an entry for each answered request and none for opening and closing. A connection whose first entry is
ApiVersions opened then. Others need not begin with it (requests before a SASL login are not logged, and old clients do
not ask), so they count as opened only if they are first seen when all earlier connections have been seen or are over. A
close is seen only if a server log says that a request was refused.

Topics are those in the first request of each API and version of a connection: a later entry like an earlier one is
counted without being parsed (line_scan.py).
"""

import base64
import re
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, NamedTuple

from client_telemetry.formats.raw.raw_dump_v1_pb2 import ClientConnection, ConnectionEvent
from client_telemetry.knowledge import apis
from client_telemetry.knowledge.error_codes import KafkaError
from client_telemetry.sources.request_log.answers import failure
from client_telemetry.sources.request_log.connection_ids import addresses
from client_telemetry.sources.request_log.login_rounds import mechanisms_by_number
from client_telemetry.sources.request_log.request_entry import (
    API_VERSIONS,
    GET_TELEMETRY_SUBSCRIPTIONS,
    READ_WHOLE,
    RequestEntry,
    received_nanos,
    topics_of,
)
from client_telemetry.sources.request_log.server_log import ServerEvent, mechanism_of

SNAPSHOT_NANOS = 5 * 60 * 10**9
"""How often the contract wants a snapshot; an hour is a multiple of it."""

FORGOTTEN_AFTER_NANOS = 2 * SNAPSHOT_NANOS
"""connections.max.idle.ms is 10 minutes by default: a connection that is silent for longer is over, or returns as
another one. This bounds the memory.
"""

_GREETINGS = (API_VERSIONS, 17)
_MAX_IDS = 16
_BROKERS_CLIENT_ID = re.compile(
    r"AddPartitionsManager-client-\d+|broker-\d+-(?:txn-marker-sender|to-controller-.*)"
)
"""Client ids that brokers give themselves (AddPartitionsToTxnManager, TransactionMarkerChannelManager). A replica
fetcher is recognised by its replica id: an application can be called `broker-1-fetcher-0`, too.
"""


class EntryFacts(NamedTuple):
    """What an entry says of whichever connection it came on. `code`: with which all of it failed; None = some of it did not."""

    group: str | None
    transactional_id: str | None
    instance_id: str | None
    is_of_a_broker: bool
    topics: tuple[str, ...]
    code: int | None

    @property
    def has_ids(self) -> bool:
        return self[:3] != (None, None, None)


class SeenRequest(NamedTuple):
    """A request of a connection. `received`: when the broker received it (ns). `entry`: what it says; its own connection,
    correlation id and duration may be those of another request that says the same.
    """

    connection_id: str
    correlation_id: int | None
    received: int
    entry: RequestEntry
    facts: EntryFacts


def seen(entry: RequestEntry, logged: int) -> SeenRequest:
    """`logged`: time of its line (ns)."""
    received = received_nanos(entry, logged)
    return SeenRequest(entry.connection_id, entry.correlation_id, received, entry, facts_of(entry))


def facts_of(entry: RequestEntry) -> EntryFacts:
    request, response = entry.request, entry.response
    subscribed = entry.api_key == GET_TELEMETRY_SUBSCRIPTIONS and not response.get("errorCode")
    return EntryFacts(
        _id(request.get("groupId")),
        _id(request.get("transactionalId")),
        _id(response.get("clientInstanceId")) if subscribed else None,
        _is_of_a_broker(entry),
        tuple(topics_of(request)),
        None if entry.api_key in READ_WHOLE else failure(response),
    )


def _id(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


class _Connection:
    __slots__ = (
        "address", "announced", "api_versions_error", "between_brokers", "client_id", "errors", "essences", "first_number",
        "greeted", "groups", "instance_ids", "last", "listener", "opened", "port", "principal", "protocol", "sent", "software",
        "topics", "transactional_ids", "unsaid", "uses",
    )  # fmt: skip

    def __init__(self, address: str, port: int, opened: int, greeted: bool) -> None:
        self.address, self.port = address, port
        self.opened, self.last, self.greeted = opened, opened, greeted
        self.client_id: str | None = None
        self.first_number: int | None = None
        self.listener = self.principal = self.protocol = ""
        self.software = ("", "")
        self.sent = ("", "")
        self.api_versions_error: int | None = None
        self.groups: tuple[str, ...] = ()
        self.transactional_ids: tuple[str, ...] = ()
        self.topics: tuple[str, ...] = ()
        self.instance_ids: tuple[str, ...] = ()
        self.uses: dict[tuple[int, int], list[int]] = {}
        self.errors: dict[tuple[int, int, int], int] = {}
        self.between_brokers = self.announced = False
        self.unsaid = True
        self.essences: list[int] = []


_KEPT = tuple(name for name in _Connection.__slots__ if name not in ("uses", "errors", "essences"))
_kept = attrgetter(*_KEPT)


class ConnectionWatch:
    """`write` receives the events, in the order in which a broker would have written them. `all_since`: time (ns) from
    which on an unseen connection is a new one. `connections` counts all, `between_brokers` those of other brokers,
    which are left out. `known`: by essence (line_scan.py) of entries that were seen before: the connection, and the
    use and the error that they add to.
    """

    def __init__(self, write: Callable[[ConnectionEvent], object], all_since: int) -> None:
        self._write, self._all_since = write, all_since
        self.known: dict[int, tuple[_Connection, list[int], tuple[int, int, int] | None]] = {}
        self._connections: dict[str, _Connection] = {}
        self._next_snapshot: int | None = None
        self._now = 0
        self.connections = 0
        self.between_brokers = 0

    @property
    def due(self) -> int:
        """Time of the next snapshot."""
        return self._next_snapshot or 0

    def add(self, seen: SeenRequest, logged: int, essence: int = 0) -> None:
        """Record a request; `logged`: time of its line in nanoseconds. `essence`: of the entry, 0 = none."""
        if self._next_snapshot is not None and self._now <= logged < self._next_snapshot:
            self._now = logged
        else:
            self.write_snapshots_until(logged)
        connection_id, entry, at = seen.connection_id, seen.entry, seen.received
        connection = self._connections.get(connection_id)
        if connection is None:
            ends = addresses(connection_id)
            is_new = entry.api_key in _GREETINGS or logged >= self._all_since
            connection = _Connection(ends.host if ends else "", ends.port if ends else 0, at, is_new)
            connection.first_number = seen.correlation_id
            self._connections[connection_id] = connection
            self.connections += 1
        error = self._note(connection, seen)
        if essence and entry.api_key not in READ_WHOLE:
            self.known[essence] = connection, connection.uses[entry.api_key, entry.api_version], error
            connection.essences.append(essence)

    def refuse(self, event: ServerEvent, listeners: Mapping[int, tuple[str, str]]) -> None:
        """Record a request that the broker refused, closing the connection. Only its API and version are known, and the
        sender if an earlier request of the connection was answered.
        """
        self.write_snapshots_until(event.nanos)
        connection = self._connections.get(event.connection_id)
        if connection is None:
            connection = self._unknown(event, listeners)
            self._connections[event.connection_id] = connection
            self.connections += 1
        connection.last = max(connection.last, event.nanos)
        if event.api is not None:
            use = connection.uses.setdefault(event.api, [0, 0, event.nanos, event.nanos])
            use[1] += 1
            use[3] = max(use[3], event.nanos)
        if not connection.between_brokers:
            if connection.greeted and not connection.announced:
                self._write(
                    _event(ConnectionEvent.OPENED, connection.opened, event.connection_id, connection)
                )
            self._write(_event(ConnectionEvent.CLOSED, event.nanos, event.connection_id, connection))
        self._forget(event.connection_id)

    def fail_login(self, event: ServerEvent, listeners: Mapping[int, tuple[str, str]]) -> None:
        self.write_snapshots_until(event.nanos)
        client = _client(event.connection_id, self._unknown(event, listeners))
        mechanism = mechanism_of(event.text)
        if mechanism is not None:
            client.sasl_mechanism = mechanism
        self._write(
            ConnectionEvent(
                observed_at_nanos=event.nanos,
                client=client,
                kind=ConnectionEvent.AUTHENTICATION_FAILED,
                opened_at_nanos=event.nanos,
                failure_reason=event.text,
            )
        )

    def _unknown(self, event: ServerEvent, listeners: Mapping[int, tuple[str, str]]) -> _Connection:
        """A connection of which no request was answered."""
        ends = addresses(event.connection_id)
        connection = _Connection(
            ends.host if ends else event.address,
            ends.port if ends else 0,
            event.nanos,
            event.kind == "refused",
        )
        connection.listener, connection.protocol = listeners.get(ends.local_port if ends else 0, ("", ""))
        return connection

    def write_snapshots_until(self, logged: int) -> None:
        """Write the snapshots that were due by then."""
        if self._next_snapshot is None:
            self._next_snapshot = (logged // SNAPSHOT_NANOS + 1) * SNAPSHOT_NANOS
        while logged >= self._next_snapshot:
            self._snapshot(self._next_snapshot - 10**6)
            self._next_snapshot += SNAPSHOT_NANOS
            if logged - self._next_snapshot > 24 * 3600 * 10**9:  # a gap of days
                self._next_snapshot = (logged // SNAPSHOT_NANOS) * SNAPSHOT_NANOS
        self._now = max(self._now, logged)

    def client(self, connection_id: str) -> ClientConnection:
        """The client at the other end of a recorded connection."""
        return _client(connection_id, self._connections[connection_id])

    def end(self) -> None:
        """The log ends: write a last snapshot of what was not reported yet."""
        if self._next_snapshot is not None:
            self._snapshot(self._now)

    def state(self) -> dict[str, object]:
        """The argument of `resume`, as JSON stores it; call after `end`."""
        connections = {
            connection_id: dict(zip(_KEPT, _kept(connection), strict=True))
            | {"uses": [[*api, *use] for api, use in connection.uses.items()]}
            | {"errors": [[*error, requests] for error, requests in connection.errors.items()]}
            for connection_id, connection in self._connections.items()
        }
        return {"next_snapshot": self._next_snapshot, "now": self._now, "connections": connections}

    def resume(self, state: dict[str, Any]) -> None:
        """Restore the connections that were open where the log ended, with what they had done by then."""
        self._next_snapshot, self._now = state["next_snapshot"], state["now"]
        for connection_id, fields in state["connections"].items():
            connection = _Connection("", 0, 0, False)
            for name, value in fields.items():
                setattr(connection, name, tuple(value) if isinstance(value, list) else value)
            connection.uses = {(key, version): use for key, version, *use in fields["uses"]}
            connection.errors = {
                (key, version, code): requests for key, version, code, requests in fields.get("errors", ())
            }
            self._connections[connection_id] = connection

    def _note(self, connection: _Connection, seen: SeenRequest) -> tuple[int, int, int] | None:
        """The key in `errors` that the request counts as, if nothing of it succeeded."""
        connection_id, _, at, entry, facts = seen
        key, version = entry.api_key, entry.api_version
        connection.unsaid = True
        connection.opened, connection.last = min(connection.opened, at), max(connection.last, at)
        self._identify(connection, entry)
        rejected = False
        if key == API_VERSIONS:
            rejected = self._greeting(connection, connection_id, entry, at)
        elif entry.software_name is not None:
            software = entry.software_name, entry.software_version or ""
            if software != connection.software:
                self._register(connection, connection_id, software, at)
        if facts.is_of_a_broker and not connection.between_brokers:
            connection.between_brokers = True
            self.between_brokers += 1
        if facts.has_ids:
            connection.groups = _with(connection.groups, facts.group)
            connection.transactional_ids = _with(connection.transactional_ids, facts.transactional_id)
            connection.instance_ids = _with(connection.instance_ids, facts.instance_id)
        use = connection.uses.get((key, version))
        if use is None:
            use = connection.uses[key, version] = [0, 0, at, at]
            for topic in facts.topics:
                connection.topics = _with(connection.topics, topic)
        use[rejected] += 1
        use[2], use[3] = min(use[2], at), max(use[3], at)
        if rejected or facts.code is None:
            return None
        error = key, version, facts.code
        connection.errors[error] = connection.errors.get(error, 0) + 1
        return error

    def _identify(self, connection: _Connection, entry: RequestEntry) -> None:
        """Who is at the other end, by the latest request; only a login changes it."""
        if (
            connection.principal == entry.principal
            and connection.listener == entry.listener
            and connection.protocol == entry.security_protocol
            and entry.client_id in (None, connection.client_id)
        ):
            return
        self._forget_essences(connection)
        connection.principal, connection.listener = entry.principal, entry.listener
        connection.protocol = entry.security_protocol
        if entry.client_id is not None:
            connection.client_id = entry.client_id

    def _register(
        self, connection: _Connection, connection_id: str, software: tuple[str, str], at: int
    ) -> None:
        """Set the name that the broker has now. An ApiVersions request up to version 2 resets it to `unknown`: the
        previous name is reported first, so that it is kept (sessionize).
        """
        is_reset = software[0] == "unknown" and connection.software[0] not in ("", "unknown")
        if is_reset and not connection.between_brokers:
            self._write(_event(ConnectionEvent.ACTIVE, at, connection_id, connection))
        if software != connection.software:
            self._forget_essences(connection)
        connection.software = software

    def _greeting(self, connection: _Connection, connection_id: str, entry: RequestEntry, at: int) -> bool:
        """ApiVersions registers the name (KIP-511): its own entry still says unknown. Returns True if it was refused
        for its version, which no client goes on to use.
        """
        sent = entry.request.get("clientSoftwareName"), entry.request.get("clientSoftwareVersion")
        if sent[0]:
            connection.sent = (sent[0], sent[1] or "")
        error = entry.response.get("errorCode") or 0
        if error == 0:
            self._register(connection, connection_id, (sent[0] or "unknown", sent[1] or "unknown"), at)
        elif error == KafkaError.INVALID_REQUEST:
            connection.api_versions_error = error
        return error == KafkaError.UNSUPPORTED_VERSION

    def _snapshot(self, at: int) -> None:
        forgotten = []
        for connection_id, connection in self._connections.items():
            if connection.unsaid and not connection.between_brokers:
                if connection.greeted and not connection.announced:
                    self._write(_event(ConnectionEvent.OPENED, connection.opened, connection_id, connection))
                connection.announced = True
                # An entry is written when its request was answered: the request may have arrived an hour before.
                self._write(_event(ConnectionEvent.ACTIVE, at, connection_id, connection))
            connection.unsaid = False
            if at - connection.last > FORGOTTEN_AFTER_NANOS:
                forgotten.append(connection_id)
        for connection_id in forgotten:
            self._forget(connection_id)

    def _forget(self, connection_id: str) -> None:
        self._forget_essences(self._connections.pop(connection_id))

    def _forget_essences(self, connection: _Connection) -> None:
        for essence in connection.essences:
            self.known.pop(essence, None)
        connection.essences.clear()


def _is_of_a_broker(entry: RequestEntry) -> bool:
    return (
        entry.api_key in apis.keys_used_by("broker")
        or _replica_id(entry.request) >= 0
        or bool(entry.client_id and _BROKERS_CLIENT_ID.fullmatch(entry.client_id))
    )


def _with(ids: tuple[str, ...], new: str | None) -> tuple[str, ...]:
    if new is not None and new not in ids and len(ids) < _MAX_IDS:
        return (*ids, new)
    return ids


def _instance_id(text: str) -> bytes | None:
    """16 bytes of a Kafka Uuid."""
    try:
        decoded = base64.urlsafe_b64decode(f"{text}==")
    except ValueError:
        return None
    return decoded if len(decoded) == 16 and any(decoded) else None


def _replica_id(request: dict[str, object]) -> int:
    """From Fetch, ListOffsets, OffsetForLeaderEpoch: -1 and below are consumers, otherwise the requesting broker."""
    state = request.get("replicaState")
    replica_id = state.get("replicaId", -1) if isinstance(state, dict) else request.get("replicaId", -1)
    return replica_id if isinstance(replica_id, int) else -1


def _client(connection_id: str, connection: _Connection) -> ClientConnection:
    client = ClientConnection(
        principal=connection.principal,
        client_address=connection.address,
        listener_name=connection.listener,
        security_protocol=connection.protocol,
        connection_id=connection_id,
        client_software_name=connection.software[0],
        client_software_version=connection.software[1],
        sent_software_name=connection.sent[0],
        sent_software_version=connection.sent[1],
    )
    if connection.client_id is not None:
        client.client_id = connection.client_id
    if connection.port:
        client.client_port = connection.port
    if connection.first_number is not None and connection.protocol.startswith("SASL"):
        mechanisms = mechanisms_by_number(*connection.software, connection.first_number)
        if mechanisms is not None:
            client.sasl_mechanism = mechanisms
    if connection.api_versions_error is not None:
        client.api_versions_error = connection.api_versions_error
    return client


def _event(
    kind: ConnectionEvent.Kind, at: int, connection_id: str, connection: _Connection
) -> ConnectionEvent:
    event = ConnectionEvent(
        observed_at_nanos=at,
        client=_client(connection_id, connection),
        kind=kind,
        opened_at_nanos=connection.opened,
        last_request_at_nanos=connection.opened if kind == ConnectionEvent.OPENED else connection.last,
        group_ids=connection.groups,
        transactional_ids=connection.transactional_ids,
        client_instance_ids=filter(None, map(_instance_id, connection.instance_ids)),
        topics=connection.topics,
    )
    if kind != ConnectionEvent.OPENED:
        for (key, version), (requests, rejected, first, last) in sorted(connection.uses.items()):
            event.api_uses.add(
                api_key=key,
                version=version,
                requests=requests,
                rejected=rejected,
                first_request_at_nanos=first,
                last_request_at_nanos=last,
            )
        for (key, version, code), requests in sorted(connection.errors.items()):
            event.api_errors.add(api_key=key, version=version, error_code=code, requests=requests)
    return event
