"""Evidence for the review from the lake's tables: connection_events and brokers.

event_files.py reads from data files what connections did.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from math import inf
from operator import itemgetter
from typing import TypedDict, cast

import pyarrow as pa

from client_telemetry.activity.client_metrics import NAMES, PREFIX, Instance, Point, Series, series
from client_telemetry.activity.event_files import CLIENT, RUN, Uses, table_of
from client_telemetry.activity.records import (
    Activity,
    BrokerRun,
    Client,
    Evidence,
    FailedLogin,
    FeatureLevels,
    UnnamedRefusal,
    Use,
)
from client_telemetry.identity.client_key import HasClientKey
from client_telemetry.knowledge import kip511
from client_telemetry.pipeline.queries import Queries
from client_telemetry.tables.client_metrics import CLIENT_METRICS
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.connection_events import CONNECTION_EVENTS
from client_telemetry.tables.rows import BrokerRow
from client_telemetry.tables.table import Table, listed
from client_telemetry.workers.columns import Vector
from client_telemetry.workers.pieces import PIECE_ROWS, batches_of, unpacked

SNAPSHOT_SECONDS = 300.0
"""A broker writes what its open connections requested this often (contract, ConnectionEvent kind ACTIVE)."""
SHORTEST_SLOT_SECONDS = 10
SLOTS = 360
"""The time is divided into about that many slots."""


OF_LOGINS: Mapping[Table, Sequence[str]] = {
    CONNECTION_EVENTS: (
        *("kind", "client_address", *RUN, "sasl_mechanism", "observed_at"),
        *("failure_reason", "connections"),
    )
}
"""Columns that failed_logins needs."""


def failed_logins(slot_seconds: int) -> str:
    """Failed logins by address, broker incarnation and slot: a query of pipeline/queries.py."""
    by = ", ".join(("client_address", *RUN, "sasl_mechanism"))
    return f"""
select {by}, max(failure_reason) as reason, min(unix_micros(observed_at)) / 1e6 as first,
    max(unix_micros(observed_at)) / 1e6 as last, cast(sum(coalesce(connections, 1)) as bigint) as connections
from connection_events
where kind = 'authentication_failed'
group by {by}, floor(unix_micros(observed_at) / {slot_seconds * 1_000_000})
"""


_PUSH = ("cluster_id", "broker_id", "broker_incarnation", "sequence")
"""Key of a push in both tables."""
_SOFTWARE = ("client_software_name", "client_software_version")
OF_POINTS: Mapping[Table, Sequence[str]] = {
    CLIENT_METRICS: (
        *(*_PUSH, "client_instance_id", "metric", "temporality", "attributes"),
        *("received_at", "start_time", "time", "value", "value_int"),
    ),
    CLIENT_PUSHES: (*_PUSH, "client_id", "principal", *_SOFTWARE),
}
"""Columns that METRIC_POINTS needs."""
METRIC_POINTS = f"""
select point.*, push.client_id as client_id, push.principal as principal,
    {", ".join(f"push.{name} as {name}" for name in _SOFTWARE)}
from (
    select {", ".join(f"{name} as point_{name}" for name in _PUSH)}, client_instance_id, metric, temporality,
        to_json(attributes) as attributes,
        {", ".join(f"unix_micros({name}) / 1e6 as {name}" for name in ("received_at", "start_time", "time"))},
        coalesce(value, cast(value_int as double)) as value
    from client_metrics
    where metric in ({listed(PREFIX + name for name in sorted(NAMES))}) and client_instance_id is not null
) as point
join client_pushes as push on {" and ".join(f"push.{name} = point.point_{name}" for name in _PUSH)}
where point.value is not null
"""
"""Points of the metrics that the review compares, with the instance that pushed them: a query of pipeline/queries.py."""


class MetricPoint(HasClientKey):
    """Row of METRIC_POINTS; times in seconds since 1970."""

    client_instance_id: bytes
    metric: str
    attributes: str | None
    temporality: str
    received_at: float
    start_time: float | None
    time: float
    value: float


class OfBroker(TypedDict):
    """Columns RUN of event_files, and the address."""

    broker_id: int
    broker_incarnation: str | None
    client_address: str | None
    first: float
    last: float


class RefusalRow(OfBroker):
    """Row of Known.refusals (event_files.py)."""

    api_key: int
    version: int
    rejected: int


class LoginRow(OfBroker):
    """Row of `failed_logins`."""

    sasl_mechanism: str | None
    reason: str | None
    connections: int


def instance_points(rows: Iterable[MetricPoint]) -> dict[Instance, list[Point]]:
    """From rows of METRIC_POINTS, in any order. A client keeps its instance id for its whole session, so the names of its first
    push apply.
    """
    first: dict[bytes, tuple[float, str, Instance]] = {}
    points: dict[bytes, list[Point]] = {}
    for row in rows:
        instance_id = bytes(row["client_instance_id"])
        received = row["received_at"]
        if instance_id not in first or received <= first[instance_id][0]:
            instance = _instance(instance_id, row)
            push = received, str(instance), instance
            first[instance_id] = min(first.get(instance_id, push), push, key=itemgetter(0, 1))
        points.setdefault(instance_id, []).append(
            Point(
                row["metric"].removeprefix(PREFIX),
                row["attributes"] or "",
                row["temporality"],
                received,
                row["start_time"],
                row["time"],
                row["value"],
            )
        )
    return {instance: points[instance_id] for instance_id, (_, _, instance) in first.items()}


def _instance(instance_id: bytes, row: MetricPoint) -> Instance:
    return Instance(
        instance_id,
        row["client_id"],
        row["principal"] or "",
        kip511.registered(row["client_software_name"]),
        row["client_software_version"] or "",
    )


def pushed_series(queries: Queries) -> list[Series]:
    """The metric series that instances pushed. Of the tables OF_POINTS."""

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = (row for batch in batches for row in batch.to_pylist())
        yield from batches_of(iter([(0, series(instance_points(rows)))]))

    queries.work("series", METRIC_POINTS, work, PIECE_ROWS, ("client_instance_id",))
    found = [row["piece"] for row in queries.answers({"pieces": "select piece from series"})["pieces"]]
    pieces = unpacked([pa.record_batch({"piece": pa.array(found, pa.binary())})])
    all_series = [
        instance_series for piece in cast(Iterator[list[Series]], pieces) for instance_series in piece
    ]
    return sorted(all_series, key=lambda instance_series: str(instance_series.instance))


def broker_runs(brokers: Iterable[BrokerRow], until: float) -> list[BrokerRun]:
    """From rows of `brokers` of one or several days. `until`: when the records end."""
    runs: dict[tuple[int, str], BrokerRun] = {}
    for row in brokers:
        key = row["broker_id"], _incarnation(row)
        started = _seconds(row["started_at"]) or _seconds(row["last_evidence_at"])
        if started is None:
            continue
        last = _seconds(row["last_evidence_at"]) or started
        before = runs.get(key)
        runs[key] = BrokerRun(
            *key,
            tuple(row["releases"] or ()),
            min(started, before.started) if before else started,
            max(last, before.until) if before else last,
        )
    # A broker without a next run is still running.
    newest = {run.broker_id: run for run in sorted(runs.values(), key=lambda run: run.started)}
    return sorted(
        (
            run._replace(is_running=newest[run.broker_id] is run and run.until >= until - 600)
            for run in runs.values()
        ),
        key=lambda run: (run.started, run.broker_id),
    )


def feature_levels(brokers: Iterable[BrokerRow], runs: Sequence[BrokerRun]) -> list[FeatureLevels]:
    """By incarnation. Rows of older days have only their final levels: those count from the end of the run."""
    until = {run.incarnation: run.until for run in runs}
    all_levels = []
    for row in brokers:
        incarnation = _incarnation(row)
        if levels := row.get("feature_levels"):
            all_levels += [
                FeatureLevels(entry["at"].timestamp(), dict(entry["levels"]), incarnation) for entry in levels
            ]
        elif row["finalized_features"] and incarnation in until:
            all_levels.append(FeatureLevels(until[incarnation], dict(row["finalized_features"]), incarnation))
    return all_levels


def without_clients(
    cluster_id: str,
    refusal_rows: Iterable[RefusalRow],
    login_rows: Iterable[LoginRow],
    brokers: Sequence[BrokerRow],
    slot_seconds: int,
    *,
    last: float,
    first: float | None = None,
    snapshots: Mapping[str, float] | None = None,
) -> Evidence:
    """Evidence without activities. `refusal_rows`: refusals without a known client, as returned by
    event_files.table_of. `first`, `last`: when activities begin and the last request was made. `snapshots`: broker
    incarnation to the time of its latest snapshot; None = requests are known to the end.
    """
    unnamed = [
        UnnamedRefusal(
            *_from(row), row["api_key"], row["version"], row["first"], row["last"], row["rejected"]
        )
        for row in refusal_rows
    ]
    logins = [
        FailedLogin(
            *(*_from(row), row["sasl_mechanism"], row["reason"] or ""),
            *(row["first"], row["last"], row["connections"]),
        )
        for row in login_rows
    ]
    runs = broker_runs(brokers, last)
    return Evidence(
        cluster_id,
        runs,
        feature_levels(brokers, runs),
        [],
        unnamed,
        logins,
        float(slot_seconds),
        has_failed_logins=bool(logins) or any(row.get("failed_logins") is not None for row in brokers),
        data_from=first,
        requests_until=inf if snapshots is None else _requests_until(runs, snapshots),
    )


def _requests_until(runs: Sequence[BrokerRun], snapshots: Mapping[str, float]) -> float:
    """Until when the requests of all running brokers are known. A broker whose connections asked nothing has no
    snapshot.
    """
    return min(
        (
            max(run.until - SNAPSHOT_SECONDS, snapshots.get(run.incarnation, run.started))
            for run in runs
            if run.is_running
        ),
        default=inf,
    )


class Gathering:
    """Collects activities from what clients did (event_files.py), in any order and in any number of batches."""

    def __init__(self, slot_seconds: float) -> None:
        self._slot_seconds = float(slot_seconds)
        self._activities: dict[tuple[Client, str, int], Activity] = {}
        self._opened: dict[tuple[Client, str, int], int] = {}
        self._clients: dict[tuple[str | None, ...], Client] = {}
        self._groups: dict[Client, set[str]] = {}

    def add(self, uses: Uses, is_wanted: Vector) -> None:
        """`is_wanted`: bool[clients]."""
        self.add_uses(table_of(uses.clients, uses.runs, uses.used[is_wanted[uses.used["client"]]]))
        clients = list(self._named(uses.clients))
        runs = uses.runs["broker_incarnation"].to_pylist()
        for client, group in zip(*(uses.groups[n].to_pylist() for n in ("client", "group_id")), strict=True):
            self._groups.setdefault(clients[client], set()).add(group)
        for row in uses.opened[is_wanted[uses.opened["client"]]].tolist():
            key = clients[row[0]], runs[row[1]], row[2]
            self._opened[key] = self._opened.get(key, 0) + row[3]

    def add_uses(self, rows: pa.Table) -> None:
        """Rows as returned by event_files.table_of."""
        names = ("api_key", "version", "requests", "rejected", "first", "last")
        of_uses = zip(*(rows[name].to_pylist() for name in names), strict=True)
        keys = zip(*(rows[name].to_pylist() for name in (*RUN, "slot")), strict=True)
        activities = self._activities
        for client, (broker, run, slot), (api_key, version, requests, rejected, first, last) in zip(
            self._named(rows), keys, of_uses, strict=True
        ):
            key = client, run, slot
            activity = activities.get(key)
            if activity is None:
                begin = slot * self._slot_seconds
                activity = activities[key] = Activity(client, broker, run, begin, begin + self._slot_seconds)
            use = activity.uses[api_key, version] = Use(requests, 0, rejected)
            if requests:
                use.first, use.last = first, last
            if rejected:
                use.failed_first, use.failed_last = first, last

    def activities(self) -> list[Activity]:
        """A connection without requests in the slot of its opening does not show that a client was active."""
        for key, opened in self._opened.items():
            activity = self._activities.get(key)
            if activity is not None:
                activity.opened = opened
        for (client, _, _), activity in self._activities.items():
            activity.groups.update(self._groups.get(client, ()))
        return list(self._activities.values())

    def _named(self, rows: pa.Table) -> Iterator[Client]:
        clients = self._clients
        for key in zip(*(rows[name].to_pylist() for name in CLIENT), strict=True):
            client = clients.get(key)
            if client is None:
                client_id, principal, address, name, version, protocol = key
                client = clients[key] = Client(
                    client_id,
                    principal or "",
                    address or "",
                    kip511.registered(name),
                    version or "",
                    protocol or "",
                )
            yield client


def _from(row: OfBroker) -> tuple[str, int, str]:
    return row["client_address"] or "", row["broker_id"], _incarnation(row)


def _incarnation(row: Mapping[str, object]) -> str:
    return str(row["broker_incarnation"])


def _seconds(moment: datetime | None) -> float | None:
    return None if moment is None else moment.timestamp()
