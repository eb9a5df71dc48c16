"""Evidence for the review from the lake's tables: connection_events and brokers.

Counts of an event are cumulative since its connection opened: what a connection did between two of its events is their
difference, and lies between the requests that they call the latest.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from client_telemetry.identity import kip511
from client_telemetry.review.activity import (
    Activity,
    BrokerRun,
    Client,
    Evidence,
    FailedLogin,
    FeatureLevels,
    UnnamedRefusal,
    Use,
)
from client_telemetry.review.client_metrics import NAMES, PREFIX, Instance, Point
from client_telemetry.tables.rows import BrokerRow

SHORTEST_SLOT_SECONDS = 10
SLOTS = 360
"""The time is cut into about so many slots, none of them shorter."""
CLIENT = (
    "client_id",
    "principal",
    "client_address",
    "client_software_name",
    "client_software_version",
    "security_protocol",
)
RUN = ("broker_id", "broker_incarnation")


def uses(events: DataFrame, slot_seconds: int) -> DataFrame:
    """One row per client, broker incarnation, API, version and slot: `requests`, `rejected`, `first` and `last` (seconds).
    `events`: rows of connection_events."""
    of_connections = events.where("kind not in ('authentication_failed') and size(api_uses) > 0")
    each = of_connections.select(
        *RUN,
        "sequence",
        "connection_id",
        "opened_at",
        *CLIENT,
        "group_ids",
        F.explode("api_uses").alias("use"),
    )
    # A record that is tied to no connection stands for itself.
    same = [*RUN, "connection_id", "opened_at", "use.api_key", "use.version"]
    alone = F.when(F.col("connection_id") == "", F.col("sequence"))
    before = Window.partitionBy(*same, alone).orderBy("sequence")
    seconds = {name: F.unix_micros(f"use.{name}_request_at") / F.lit(1e6) for name in ("first", "last")}
    counted = each.select(
        *CLIENT,
        *RUN,
        "group_ids",
        F.col("use.api_key").alias("api_key"),
        F.col("use.version").alias("version"),
        *(
            (F.col(f"use.{name}") - F.coalesce(F.lag(f"use.{name}").over(before), F.lit(0))).alias(name)
            for name in ("requests", "rejected")
        ),
        F.coalesce(F.lag(seconds["last"]).over(before), seconds["first"]).alias("first"),
        seconds["last"].alias("last"),
    ).where("requests > 0 or rejected > 0")
    slot = F.floor(F.col("last") / slot_seconds).alias("slot")
    return counted.groupBy(*CLIENT, *RUN, "api_key", "version", slot).agg(
        F.sum("requests").alias("requests"),
        F.sum("rejected").alias("rejected"),
        F.min("first").alias("first"),
        F.max("last").alias("last"),
        F.flatten(F.collect_set("group_ids")).alias("groups"),
    )


def failed_logins(events: DataFrame, slot_seconds: int) -> DataFrame:
    """Failed logins by address, broker incarnation and slot."""
    at = F.unix_micros("observed_at") / F.lit(1e6)
    return (
        events.where("kind = 'authentication_failed'")
        .groupBy("client_address", *RUN, "sasl_mechanism", F.floor(at / slot_seconds).alias("slot"))
        .agg(
            F.max("failure_reason").alias("reason"),
            F.min(at).alias("first"),
            F.max(at).alias("last"),
            F.sum(F.coalesce("connections", F.lit(1))).alias("connections"),
        )
    )


def opened(events: DataFrame, slot_seconds: int) -> DataFrame:
    """Connections by client, broker incarnation and slot of their opening."""
    connections = events.where("kind not in ('authentication_failed')")
    one = F.when(F.col("connection_id") == "", F.col("sequence"))
    each = connections.groupBy(*RUN, "connection_id", "opened_at", one.alias("alone")).agg(
        *(F.max_by(name, "sequence").alias(name) for name in CLIENT),
        F.max(F.coalesce("connections", F.lit(1))).alias("connections"),
    )
    slot = F.floor(F.unix_micros("opened_at") / F.lit(1e6) / slot_seconds).alias("slot")
    return each.groupBy(*CLIENT, *RUN, slot).agg(F.sum("connections").alias("opened"))


def metric_points(pushes: DataFrame, metrics: DataFrame) -> DataFrame:
    """Points of the metrics that the review compares, with the instance that pushed them."""
    key = ("cluster_id", "broker_id", "broker_incarnation", "sequence")
    names = [PREFIX + name for name in sorted(NAMES)]
    seconds = {
        name: (F.unix_micros(name) / F.lit(1e6)).alias(name) for name in ("received_at", "start_time", "time")
    }
    points = metrics.where(F.col("metric").isin(names) & F.col("client_instance_id").isNotNull()).select(
        *key,
        "client_instance_id",
        "metric",
        "temporality",
        F.to_json("attributes").alias("attributes"),
        *seconds.values(),
        F.coalesce("value", F.col("value_int").cast("double")).alias("value"),
    )
    who = pushes.select(*key, "client_id", "principal", "client_software_name", "client_software_version")
    return points.where("value is not null").join(who, [*key], "inner")


def instance_points(rows: Iterable[Mapping[str, Any]]) -> dict[Instance, list[Point]]:
    """Of rows of `metric_points`. A client keeps its instance id for life, so that the names of its first push hold."""
    found: dict[bytes, tuple[Instance, list[Point]]] = {}
    for row in rows:
        instance_id = bytes(row["client_instance_id"])
        own = found.get(instance_id)
        if own is None:
            instance = Instance(
                instance_id,
                row["client_id"],
                row["principal"] or "",
                kip511.registered(row["client_software_name"]),
                row["client_software_version"] or "",
            )
            own = found[instance_id] = instance, []
        own[1].append(
            Point(
                row["metric"].removeprefix(PREFIX),
                row["attributes"] or "",
                row["temporality"],
                row["received_at"],
                row["start_time"],
                row["time"],
                row["value"],
            )
        )
    return dict(found.values())


def broker_runs(brokers: Iterable[BrokerRow], until: float) -> list[BrokerRun]:
    """Of rows of `brokers` of one or several days. `until`: when the records end."""
    found: dict[tuple[int, str], BrokerRun] = {}
    for row in brokers:
        key = row["broker_id"], _incarnation(row)
        started = _seconds(row["started_at"]) or _seconds(row["last_evidence_at"])
        if started is None:
            continue
        last = _seconds(row["last_evidence_at"]) or started
        before = found.get(key)
        found[key] = BrokerRun(
            *key,
            tuple(row["releases"] or ()),
            min(started, before.started) if before else started,
            max(last, before.until) if before else last,
        )
    # A broker whose next run is not there yet runs on.
    newest = {run.broker_id: run for run in sorted(found.values(), key=lambda run: run.started)}
    return sorted(
        (
            run._replace(is_running=newest[run.broker_id] is run and run.until >= until - 600)
            for run in found.values()
        ),
        key=lambda run: (run.started, run.broker_id),
    )


def feature_levels(brokers: Iterable[BrokerRow], runs: Sequence[BrokerRun]) -> list[FeatureLevels]:
    """By incarnation. Rows of older days tell the levels of their end alone: those count from the end of the run."""
    until = {run.incarnation: run.until for run in runs}
    found = []
    for row in brokers:
        incarnation = _incarnation(row)
        if levels := row.get("feature_levels"):
            found += [
                FeatureLevels(each["at"].timestamp(), dict(each["levels"]), incarnation) for each in levels
            ]
        elif row["finalized_features"] and incarnation in until:
            found.append(FeatureLevels(until[incarnation], dict(row["finalized_features"]), incarnation))
    return found


def evidence(
    cluster_id: str,
    use_rows: pa.Table,
    login_rows: Iterable[Mapping[str, Any]],
    opened_rows: pa.Table | None,
    brokers: Sequence[BrokerRow],
    slot_seconds: int,
) -> Evidence:
    """What `uses`, `failed_logins`, `opened` and rows of `brokers` hold."""
    gathered = Gathering(slot_seconds)
    names_nobody = _names_nobody(use_rows)
    gathered.add_uses(use_rows.filter(pc.invert(names_nobody)))
    if opened_rows is not None:
        gathered.add_opened(opened_rows)
    found = without_clients(
        cluster_id,
        use_rows.filter(names_nobody).to_pylist(),
        login_rows,
        brokers,
        slot_seconds,
        last=pc.max(use_rows["last"]).as_py() or 0.0,
    )
    found.activities = gathered.activities()
    return found


def _names_nobody(uses: pa.Table) -> pa.ChunkedArray:
    no_principal = pc.equal(pc.fill_null(uses["principal"], ""), "")
    return pc.and_(pc.and_(pc.is_null(uses["client_id"]), no_principal), pc.greater(uses["rejected"], 0))


def without_clients(
    cluster_id: str,
    refusal_rows: Iterable[Mapping[str, Any]],
    login_rows: Iterable[Mapping[str, Any]],
    brokers: Sequence[BrokerRow],
    slot_seconds: int,
    *,
    last: float,
    first: float | None = None,
) -> Evidence:
    """Evidence without activities. `refusal_rows`: of `uses`, of refusals that name nobody. `first`, `last`: when activities begin and
    the last request was made."""
    unnamed = [
        UnnamedRefusal(
            row["client_address"] or "",
            row["broker_id"],
            _incarnation(row),
            row["api_key"],
            row["version"],
            row["first"],
            row["last"],
            row["rejected"],
        )
        for row in refusal_rows
    ]
    logins = [
        FailedLogin(
            row["client_address"] or "",
            row["broker_id"],
            _incarnation(row),
            row["sasl_mechanism"],
            row["reason"] or "",
            row["first"],
            row["last"],
            row["connections"],
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
        has_failed_logins=bool(logins),
        data_from=first,
    )


class Gathering:
    """Activities from rows of `uses` and `opened`, which come as columns, in any order and in any number of portions."""

    def __init__(self, slot_seconds: float) -> None:
        self._slot_seconds = float(slot_seconds)
        self._activities: dict[tuple[Client, str, int], Activity] = {}
        self._opened: dict[tuple[Client, str, int], int] = {}
        self._clients: dict[tuple[str | None, ...], Client] = {}

    def add_uses(self, rows: pa.Table) -> None:
        names = ("api_key", "version", "requests", "rejected", "first", "last", "groups")
        of_uses = zip(*(rows[name].to_pylist() for name in names), strict=True)
        keys = zip(*(rows[name].to_pylist() for name in (*RUN, "slot")), strict=True)
        activities = self._activities
        for client, (broker, run, slot), (api_key, version, requests, rejected, first, last, groups) in zip(
            self._named(rows), keys, of_uses, strict=True
        ):
            key = client, run, slot
            activity = activities.get(key)
            if activity is None:
                begin = slot * self._slot_seconds
                activity = activities[key] = Activity(client, broker, run, begin, begin + self._slot_seconds)
            if groups:
                activity.groups.update(groups)
            use = activity.uses[api_key, version] = Use(requests, 0, rejected)
            if requests:
                use.first, use.last = first, last
            if rejected:
                use.failed_first, use.failed_last = first, last

    def add_opened(self, rows: pa.Table) -> None:
        keys = zip(
            *(rows[name].to_pylist() for name in ("broker_incarnation", "slot", "opened")), strict=True
        )
        for client, (run, slot, opened) in zip(self._named(rows), keys, strict=True):
            key = client, run, slot
            self._opened[key] = self._opened.get(key, 0) + opened

    def activities(self) -> list[Activity]:
        """A connection that asked nothing in the slot of its opening is no sign of a client's doing."""
        for key, opened in self._opened.items():
            activity = self._activities.get(key)
            if activity is not None:
                activity.opened = opened
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


def _incarnation(row: Mapping[str, Any]) -> str:
    return str(row["broker_incarnation"])


def _seconds(moment: datetime | None) -> float | None:
    return None if moment is None else moment.timestamp()
