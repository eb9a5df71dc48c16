"""Connections from the events of the registry: one row per connection and day. Sessions of instances: sessions.py.

tables/client_connections.py has the rules. Events carry counts since the connection opened; a day's share is the
highest count of the day minus the highest before it.
"""

import datetime as dt
from collections.abc import Collection, Iterable
from typing import NamedTuple

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812

from client_telemetry.identity.broker_clients import ASKED, CLIENT_IDS, CLIENTS_ONLY, api_keys
from client_telemetry.knowledge import apis, kip511
from client_telemetry.knowledge.error_codes import KafkaError
from client_telemetry.sessionize.broker_incarnations import INCARNATION, incarnations
from client_telemetry.sessionize.earlier_events import may_have_earlier_events
from client_telemetry.sessionize.instance_links import LINK_COLUMNS, with_links
from client_telemetry.sessionize.look_back import midnight, with_history
from client_telemetry.tables.client_connections import (
    CLIENT_CONNECTIONS,
    IDLE_LIMIT_MINUTES,
    MANY_CLIENT_IDS,
    MANY_SOFTWARES,
)
from client_telemetry.tables.row_flags import flags
from client_telemetry.tables.rows import BrokerRow
from client_telemetry.tables.table import API_ERRORS, API_USES

_MAX_IDS = 16
_KEY = [*INCARNATION, "connection_key", "refused_address", "opened_at"]
_TEXTS = ("principal", "client_address", "listener_name", "security_protocol")
"""Empty if the source does not record it."""
_UUID_OR_NUMBER = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-9]+"
_EVIDENCE = ("opened", "active", "closed", "summary")
"""Kinds of events that are about connections. A failed login never was one to a known client."""
"""A broker's answer to an ApiVersions request with an invalid software name or version (KIP-511)."""


class Events(NamedTuple):
    """Rows of `connection_events`: `of_the_day`, and of the HISTORY_DAYS `before` it; None: there are none. Kept apart,
    because what is done to both would otherwise be planned, compiled and scheduled for each source of both.
    """

    of_the_day: DataFrame
    before: DataFrame | None

    @classmethod
    def of(cls, events: DataFrame, day: dt.date) -> "Events":
        """Of rows of any days."""
        return cls(
            events.where(F.col("dt") == F.lit(day)), with_history(events, day).where(F.col("dt") < F.lit(day))
        )

    def evidence(self) -> "Events":
        """Those about connections of clients."""
        before = None if self.before is None else self.before.where(_is_evidence())
        return Events(self.of_the_day.where(_is_evidence()), before)


def client_connections(
    events: Events, brokers: Iterable[BrokerRow], pushes: DataFrame, day: dt.date
) -> DataFrame:
    """The partition `day` of `client_connections`, from rows of `connection_events`, `brokers` and `client_pushes`.

    Of brokers and pushes, rows of the day and of the HISTORY_DAYS before it are used, by `dt`; others are ignored.
    """
    events = events.evidence()
    of_the_day = events.of_the_day
    releases = _releases(of_the_day.sparkSession, brokers, day)
    connections = (
        _connections(events, day)
        .join(F.broadcast(releases), INCARNATION, "left")
        .join(F.broadcast(_reported_until(of_the_day)), INCARNATION, "left")
        .join(_crowded_addresses(of_the_day), ["cluster_id", "client_address"], "left")
        .withColumn("port_reused_at", _port_reused_at())
    )
    return with_links(_slice(connections, day), pushes, day).select(
        *(F.col(column.name).cast(column.kind) for column in CLIENT_CONNECTIONS.columns)
    )


def _releases(spark: SparkSession, brokers: Iterable[BrokerRow], day: dt.date) -> DataFrame:
    """The release of each incarnation, and when the next one of its broker started."""
    rows = [
        (
            *(getattr(incarnation, name) for name in INCARNATION),
            incarnation.broker_software_version,
            incarnation.replaced_at,
        )
        for incarnation in incarnations(brokers, day)
    ]
    kinds = "cluster_id string, broker_id int, broker_incarnation string, broker_software_version string, replaced_us long"
    return (
        spark.createDataFrame(rows, kinds)
        .withColumn("replaced_at", F.timestamp_micros("replaced_us"))
        .drop("replaced_us")
    )


def _is_evidence() -> Column:
    return F.col("kind").isin(*_EVIDENCE)


def events_left_out(events: Events, day: dt.date) -> int:
    """How many events of the day `client_connections` leaves out: those of the brokers' own connections, and those that
    are not about a connection.
    """
    no_evidence = events.of_the_day.where(~_is_evidence()).agg(F.count("*").alias("events"))
    both = no_evidence.union(_events_of_brokers(events.evidence(), day)).collect()
    return sum(row["events"] or 0 for row in both)


def _events_of_brokers(events: Events, day: dt.date) -> DataFrame:
    as_a_broker, as_a_client = _how_it_acts()
    connections = (
        _keyed(events, day)
        .groupBy(*_KEY)
        .agg(
            as_a_broker.alias("as_a_broker"),
            as_a_client.alias("as_a_client"),
            F.count_if("of_the_day").alias("events"),
        )
    )
    return connections.where("as_a_broker and not as_a_client").agg(F.sum("events").alias("events"))


def _keyed(events: Events, day: dt.date) -> DataFrame:
    """Events of the day, and earlier ones of the same connections, with what identifies a connection, and what each
    event says by itself. Most connections of earlier days are over: their events are dropped before anything is
    sorted.
    """
    summary = F.concat(F.lit("summary-"), F.col("sequence"))
    connection_id = F.when(F.col("kind") == "summary", summary).otherwise(
        F.coalesce("connection_id", F.lit(""))
    )
    identity = {
        "connection_key": connection_id,
        # A refusal that is tied to no connection is identified by its address alone.
        "refused_address": F.when(connection_id == "", F.coalesce("client_address", F.lit(""))),
    }
    of_the_day = events.of_the_day.withColumns({**identity, "of_the_day": F.lit(True)})
    keyed = of_the_day
    if events.before is not None:
        before = events.before.withColumns({**identity, "of_the_day": F.lit(False)})
        # Each task gets the day's possibly older connections as hashes of eight bytes. A collision only lets in an event
        # that is dropped later.
        hashed = F.xxhash64(*_KEY)
        older = of_the_day.where(may_have_earlier_events(day)).select(hashed.alias("key_hash")).distinct()
        keyed = of_the_day.unionByName(
            before.join(F.broadcast(older), hashed == F.col("key_hash"), "left_semi")
        )
    return keyed.withColumns(
        {
            "called_as_a_broker": _is_called(CLIENT_IDS),
            "asks_as_a_broker": _answered(api_keys()),
            "asks_as_a_client": _answered(CLIENTS_ONLY)
            | (_is_called(CLIENT_IDS) & _asks_more_than_a_broker()),
            "total": F.aggregate(
                "api_uses",
                F.lit(0).cast("long"),
                lambda total, use: (
                    total + F.coalesce(use.requests, F.lit(0)) + F.coalesce(use.rejected, F.lit(0))
                ),
            ),
        }
    )


def _answered(keys: Collection[int]) -> Column:
    """Whether any of these APIs was answered."""
    answered = F.exists("api_uses", lambda use: use.api_key.isin(*keys) & (use.requests > 0))
    return F.coalesce(answered, F.lit(False))


def _asks_more_than_a_broker() -> Column:
    """Whether a connection with a broker's client id sends what the broker's own client of that id does not."""
    is_sasl = F.coalesce(F.col("security_protocol").startswith("SASL"), F.lit(False))
    asks_more = F.lit(False)
    for client_ids, keys in ASKED.items():
        more = F.when(is_sasl, _answered_beyond(keys | apis.SET_UP)).otherwise(_answered_beyond(keys))
        asks_more = F.when(_is_called(client_ids), more).otherwise(asks_more)
    return asks_more


def _answered_beyond(keys: Collection[int]) -> Column:
    """Whether any API except these was answered."""
    answered = F.exists("api_uses", lambda use: ~use.api_key.isin(*keys) & (use.requests > 0))
    return F.coalesce(answered, F.lit(False))


def _is_called(client_ids: str) -> Column:
    return F.coalesce(F.col("client_id").rlike(rf"\A(?:{client_ids})\z"), F.lit(False))


def _how_it_acts() -> tuple[Column, Column]:
    """Over all events of a connection: whether it acts like a broker, and like a client; the latter decides
    (identity/broker_clients.py).
    """
    return F.max(F.col("called_as_a_broker") | F.col("asks_as_a_broker")), F.max("asks_as_a_client")


def _connections(events: Events, day: dt.date) -> DataFrame:
    """One row per connection with an event of the day: its last known identity, the times and sources of the day, and
    the highest counts of the day and before it.

    All events of a connection are one window, sorted once: an aggregation would sort these wide rows twice.
    """
    in_order = Window.partitionBy(*_KEY).orderBy("sequence")
    whole = in_order.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    aggregates = {**_identity(), **_of_the_day(midnight(day)), **_counts()}
    as_a_broker, as_a_client = (column.over(whole) for column in _how_it_acts())
    return (
        _keyed(events, day)
        .select(
            *_KEY,
            *(column.over(whole).alias(name) for name, column in aggregates.items()),
            (as_a_broker & ~as_a_client).alias("of_a_broker"),
            F.row_number().over(in_order).alias("event"),
        )
        .where((F.col("event") == 1) & (F.col("events") > 0) & ~F.col("of_a_broker"))
        .drop("event", "of_a_broker")
    )


def _identity() -> dict[str, Column]:
    """The last known values over all events: an event without a value does not erase it."""
    tells = F.coalesce(F.col("client_software_name"), F.lit("")) != ""
    named = F.expr(kip511.is_declared("client_software_name"))
    software = F.struct("client_software_name", "client_software_version")
    sent = F.struct("sent_software_name", "sent_software_version")
    return {
        **{name: _last(F.col(name), F.col(name) != "") for name in _TEXTS},
        # An empty client id is an id: only an absent one means unknown.
        **{
            name: _last(F.col(name))
            for name in ("client_id", "client_port", "sasl_mechanism", "api_versions_error")
        },
        "named": _last(software, named),
        "declared": _last(software, tells),
        "software": _last(software),
        "named_at_last": _last(named, tells),
        "sent": _last(sent, F.col("sent_software_name") != ""),
        "refused_name": F.max(
            F.coalesce(F.col("api_versions_error") == KafkaError.INVALID_REQUEST.value, F.lit(False))
        ),
    }


def _last(value: Column, condition: Column | None = None) -> Column:
    """The value of the last event that has one and meets the condition; null if there is none."""
    return F.last(value if condition is None else F.when(condition, value), ignorenulls=True)


def _of_the_day(midnight: Column) -> dict[str, Column]:
    """Times, sources and ids of the day's events. `opened_at` and `last_request_at` count if they are of the day:
    events report earlier days too.
    """
    times = [
        _today("observed_at"),
        *(F.when(F.col(name) >= midnight, _today(name)) for name in ("opened_at", "last_request_at")),
    ]
    return {
        "first_seen_at": F.min(F.least(*times)),
        "last_seen_at": F.max(F.greatest(*times)),
        "closed_event_at": F.max(F.when(F.col("kind").isin("closed", "summary"), F.col("observed_at"))),
        "connections": F.max(F.when(F.col("kind") == "summary", F.col("connections")).otherwise(1)),
        "is_summary": F.bool_or(F.col("kind") == "summary"),
        "opened_today": F.max(F.col("of_the_day") & (F.col("kind") == "opened")),
        "events": F.count_if("of_the_day"),
        "source_objects": F.collect_set(_today("source_object")),
        "first_sequence": F.min(_today("sequence")),
        "last_sequence": F.max(_today("sequence")),
        "group_ids": F.collect_set(_today("group_ids")),
        "transactional_ids": F.collect_set(_today("transactional_ids")),
        "given_instance_ids": F.collect_set(_today("given_instance_ids")),
        "topics": F.collect_set(_today("topics")),
    }


def _today(name: str) -> Column:
    return F.when(F.col("of_the_day"), F.col(name))


def _counts() -> dict[str, Column]:
    """The highest counts, which are the last ones unless counts went down."""
    fullness, total = F.struct("total", "sequence"), F.col("total")
    today, before = F.col("of_the_day"), ~F.col("of_the_day")
    return {
        "uses": F.max_by("api_uses", F.when(today, fullness)),
        "uses_record": F.max_by(F.struct("source_object", "sequence"), F.when(today, fullness)),
        "uses_before": F.max_by("api_uses", F.when(before, fullness)),
        "errors": F.max_by("api_errors", F.when(today, fullness)),
        "errors_before": F.max_by("api_errors", F.when(before, fullness)),
        "most": F.max(F.when(today, total)),
        "most_at_last": _last(total, today),
        "most_before": F.max(F.when(before, total)),
    }


def _reported_until(events: DataFrame) -> DataFrame:
    """One row per incarnation: until when it reported connections on the day."""
    return events.groupBy(*INCARNATION).agg(F.max("observed_at").alias("reported_until"))


def _crowded_addresses(events: DataFrame) -> DataFrame:
    """Addresses with more clients than one host is expected to have. Client ids that differ only in a number or UUID
    are threads of one application: a host of Kafka Streams has dozens.
    """
    same_id = F.regexp_replace("client_id", _UUID_OR_NUMBER, "#")
    software = F.struct("client_software_name", "client_software_version")
    named = F.expr(kip511.is_declared("client_software_name"))
    return (
        events.where(F.coalesce("client_address", F.lit("")) != "")
        .select(
            "cluster_id",
            "client_address",
            same_id.alias("client_id"),
            F.when(named, software).alias("software"),
        )
        .distinct()
        .groupBy("cluster_id", "client_address")
        .agg(
            F.count_distinct("client_id").alias("client_ids"),
            F.count_distinct("software").alias("softwares"),
        )
        .where((F.col("client_ids") > MANY_CLIENT_IDS) | (F.col("softwares") > MANY_SOFTWARES))
        .select("cluster_id", "client_address", F.lit(True).alias("crowded"))
    )


def _port_reused_at() -> Column:
    """When the next connection came from the same address and port: this one had ended by then."""
    # Refusals and sources without ports say nothing: each stays alone.
    alone = F.when(F.col("client_port").isNull() | (F.col("connection_key") == ""), F.xxhash64(*_KEY))
    same_endpoint = Window.partitionBy(*INCARNATION, "listener_name", "client_address", "client_port", alone)
    return F.min("opened_at").over(
        same_endpoint.orderBy(F.unix_micros("opened_at")).rangeBetween(1, Window.unboundedFollowing)
    )


def _slice(connections: DataFrame, day: dt.date) -> DataFrame:
    counts_from_before = (
        F.col("uses_before").isNull() & ~F.col("opened_today") & (F.col("opened_at") < midnight(day))
    )
    software = F.coalesce("named", "declared", "software")
    silent_us = F.unix_micros("reported_until") - F.unix_micros("last_seen_at")
    end_known_by = (
        F.when(F.col("closed_event_at").isNotNull(), "closed_event")
        .when(F.col("port_reused_at").isNotNull(), "port_reused")
        .when(F.col("replaced_at").isNotNull(), "broker_restart")
        .when(silent_us > IDLE_LIMIT_MINUTES * 60_000_000, "idle_limit")
        .otherwise("still_open")
    )
    columns = {
        "dt": F.lit(day),
        "end_known_by": end_known_by,
        "closed_at": F.coalesce(
            "closed_event_at", F.when(end_known_by != "still_open", F.col("last_seen_at"))
        ),
        "connection_id": F.col("connection_key"),
        **{name: F.coalesce(name, F.lit("")) for name in _TEXTS},
        "client_software_name": software.client_software_name,
        "client_software_version": software.client_software_version,
        "sent_software_name": F.coalesce("sent.sent_software_name", F.lit("")),
        "sent_software_version": F.coalesce("sent.sent_software_version", F.lit("")),
        "api_uses": _uses_of_the_day(),
        "api_errors": _errors_of_the_day(),
        "uses_object": F.col("uses_record.source_object"),
        "uses_sequence": F.col("uses_record.sequence"),
        "source_objects": F.array_sort("source_objects"),
        "group_ids": _smallest("group_ids"),
        "transactional_ids": _smallest("transactional_ids"),
        "given_instance_ids": _smallest("given_instance_ids"),
        "topics": _smallest("topics"),
        "flags": flags(
            CLIENT_CONNECTIONS,
            {
                "no_connection": F.col("connection_key") == "",
                "summary": F.col("is_summary"),
                "name_invalid": _invalid("sent.sent_software_name") | _invalid("sent.sent_software_version"),
                "name_refused": F.col("refused_name"),
                "crowded_address": F.col("crowded"),
                "name_reset": F.col("named").isNotNull() & ~F.col("named_at_last"),
                "never_named": (software.client_software_name == kip511.UNKNOWN) & _used_beyond_naming(),
                "counts_reset": (F.col("most_at_last") < F.col("most"))
                | (F.col("most") < F.col("most_before")),
                "counts_from_before": counts_from_before,
            },
        ),
    }
    return connections.withColumns(columns).select(
        *(column.name for column in CLIENT_CONNECTIONS.columns if column.name not in LINK_COLUMNS)
    )


def _invalid(sent: str) -> Column:
    """Sent, but invalid according to KIP-511."""
    return (F.coalesce(sent, F.lit("")) != "") & ~F.col(sent).rlike(rf"\A(?:{kip511.PATTERN})\z")


def _smallest(arrays: str) -> Column:
    return F.slice(F.array_sort(F.array_distinct(F.flatten(arrays))), 1, _MAX_IDS)


def _used_beyond_naming() -> Column:
    return F.exists("uses", lambda use: ~use.api_key.isin(*apis.SET_UP) & (use.requests > 0))


def _uses_of_the_day() -> Column:
    """The day's highest counts minus those before it, without APIs that the day did not use."""

    def of_the_day(use: Column) -> Column:
        before = F.filter(
            F.coalesce("uses_before", F.array().cast(API_USES)),
            lambda b: (b.api_key == use.api_key) & (b.version == use.version),
        )

        def increase(name: str) -> Column:
            earlier = F.coalesce(F.get(before, 0)[name], F.lit(0))
            return F.greatest(F.coalesce(use[name], F.lit(0)) - earlier, F.lit(0)).cast("long").alias(name)

        return F.struct(
            use.api_key.alias("api_key"),
            use.version.alias("version"),
            increase("requests"),
            increase("rejected"),
            F.when(F.size(before) == 0, use.first_request_at).alias("first_request_at"),
            use.last_request_at.alias("last_request_at"),
        )

    used = F.filter(F.transform("uses", of_the_day), lambda use: use.requests + use.rejected > 0)
    return F.array_sort(used)


def _errors_of_the_day() -> Column:
    """As `_uses_of_the_day`; null if the source has none."""

    def of_the_day(error: Column) -> Column:
        before = F.filter(
            F.coalesce("errors_before", F.array().cast(API_ERRORS)),
            lambda b: (
                (b.api_key == error.api_key)
                & (b.version == error.version)
                & (b.error_code == error.error_code)
            ),
        )
        earlier = F.coalesce(F.get(before, 0)["requests"], F.lit(0))
        return F.struct(
            error.api_key.alias("api_key"),
            error.version.alias("version"),
            error.error_code.alias("error_code"),
            F.greatest(error.requests - earlier, F.lit(0)).cast("long").alias("requests"),
        )

    return F.array_sort(F.filter(F.transform("errors", of_the_day), lambda error: error.requests > 0))
