"""Which client instance (KIP-714) a connection belongs to, how sure that is, and by which rule.

tables/client_connections.py has the rules (LINK_RULES). A push names the connection that it came on; a client's other
connections are recognised by identity, address and time.
"""

import datetime as dt

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from client_telemetry.sessionize.broker_incarnations import INCARNATION
from client_telemetry.tables.client_connections import LINK_RULES, MOST_INSTANCES
from client_telemetry.tables.client_sessions import LARGEST_PUSH_INTERVAL_MS
from client_telemetry.tables.clients import CLIENT_KEY
from client_telemetry.tables.row_flags import has_flag

LINK_COLUMNS = ("client_instance_id", "link", "link_rule", "link_candidates")

_CLIENT = ["cluster_id", *CLIENT_KEY, "client_address"]
_LONGEST_INTERVAL = dt.timedelta(hours=1)
"""Largest push interval that a subscription can request (Kafka's ClientMetricsConfigs)."""
_CLOSE_US = 1_000_000
"""How much earlier than the last push a close may be dated."""
_SET_UP_US = 5_000_000
"""Allowed time from a client's first connection to its request for a subscription, and between its last push and its
last connection.
"""


def with_links(connections: DataFrame, pushes: DataFrame, day: dt.date) -> DataFrame:
    """`connections` of `day` with LINK_COLUMNS. Of `pushes` those of the day and of the hour before it are used."""
    carried = _carried(pushes, day)
    push = F.collect_list(F.struct("client_instance_id", "first_at", "last_at"))
    on_connection = carried.where("connection_id != ''").groupBy(*INCARNATION, "connection_id")
    from_port = carried.where("connection_id = '' and client_port is not null").groupBy(
        *INCARNATION, "client_address", "client_port"
    )
    instances = _instances(carried)
    linked = (
        connections.join(
            on_connection.agg(push.alias("on_connection")), [*INCARNATION, "connection_id"], "left"
        )
        .join(from_port.agg(push.alias("from_port")), [*INCARNATION, "client_address", "client_port"], "left")
        .join(instances, [F.col(n).eqNullSafe(F.col(f"of_{n}")) for n in _CLIENT], "left")
        .withColumns(
            {
                "on_connection": _ids(F.filter("on_connection", _while_open)),
                "from_port": F.when(F.col("connection_id") != "", _ids(F.filter("from_port", _while_open))),
                "at_the_time": F.filter("instances", _at_the_time),
            }
        )
        .withColumns(
            {
                "that_long": _ids(F.filter("at_the_time", _that_long)),
                "at_the_time": _ids(F.col("at_the_time")),
            }
        )
        .withColumn("link_rule", _rule())
    )
    link = F.create_map(*(F.lit(text) for rule, (link, _) in LINK_RULES.items() for text in (rule, link)))
    return linked.select(
        *connections.columns,
        F.when(link[F.col("link_rule")].isin("exact", "likely"), F.get(_candidates(), F.lit(0))).alias(
            "client_instance_id"
        ),
        link[F.col("link_rule")].alias("link"),
        "link_rule",
        F.coalesce(
            F.when(F.col("link_rule") == "too_many_instances", F.col("number")),
            F.size(_candidates()),
            F.lit(0),
        )
        .cast("long")
        .alias("link_candidates"),
    )


def _carried(pushes: DataFrame, day: dt.date) -> DataFrame:
    """Which instance pushed on which connection (or from which port, if the source has no connection ids), from when to
    when, and how often it was asked to.
    """
    midnight = dt.datetime.combine(day, dt.time(), dt.UTC)
    used = F.col("dt").between(F.lit(day - dt.timedelta(days=1)), F.lit(day)) & (
        F.col("received_at") >= F.lit(midnight - _LONGEST_INTERVAL)
    )
    has_instance_id = F.col("client_instance_id").isNotNull() & ~has_flag("zero_instance_id")
    connection_id = F.coalesce("connection_id", F.lit(""))
    return (
        pushes.where(used & has_instance_id)
        .withColumns(
            {
                "connection_id": connection_id,
                "client_port": F.when(connection_id == "", F.col("client_port")),
            }
        )
        .groupBy(
            *INCARNATION, *CLIENT_KEY, "client_address", "client_port", "connection_id", "client_instance_id"
        )
        .agg(
            F.min("received_at").alias("first_at"),
            F.max("received_at").alias("last_at"),
            F.count("*").alias("pushes"),
            F.max("push_interval_ms").alias("reported_ms"),
        )
    )


def _instances(carried: DataFrame) -> DataFrame:
    """Per client and address: `number` of instances, and for at most MOST_INSTANCES the time when each was present."""
    first, last = F.min("first_at"), F.max("last_at")
    pushes = F.sum("pushes")
    distance_us = (F.unix_micros(last) - F.unix_micros(first)) / F.nullif(pushes - 1, F.lit(0))
    interval_us = F.coalesce(
        F.max("reported_ms") * 1000.0, distance_us, F.lit(LARGEST_PUSH_INTERVAL_MS * 1000.0)
    )
    instances = carried.groupBy(*_CLIENT, "client_instance_id").agg(
        first.alias("first_at"),
        last.alias("last_at"),
        # A client waits 0.5 to 1.5 intervals before its first push.
        (interval_us * 1.5 + _SET_UP_US).cast("long").alias("before_us"),
    )
    instance = F.struct("client_instance_id", "first_at", "last_at", "before_us")
    return instances.groupBy(*(F.col(name).alias(f"of_{name}") for name in _CLIENT)).agg(
        F.count("*").alias("number"),
        F.when(F.count("*") <= MOST_INSTANCES, F.collect_list(instance)).alias("instances"),
    )


def _while_open(push: Column) -> Column:
    closed = F.when(F.col("end_known_by") == "closed_event", F.unix_micros("closed_at"))
    return (F.unix_micros(push.last_at) >= F.unix_micros("opened_at") - _CLOSE_US) & F.coalesce(
        F.unix_micros(push.first_at) <= closed + _CLOSE_US, F.lit(True)
    )


def _at_the_time(instance: Column) -> Column:
    """The connection opened before the instance's last push, and was there when the instance may have been."""
    begun = F.unix_micros(instance.first_at) - instance.before_us
    return (F.unix_micros("last_seen_at") >= begun) & (
        F.unix_micros("opened_at") <= F.unix_micros(instance.last_at) + _SET_UP_US
    )


def _that_long(instance: Column) -> Column:
    """The instance existed as long as the connection, as far as its pushes show."""
    return (F.unix_micros("opened_at") >= F.unix_micros(instance.first_at) - instance.before_us) & (
        F.unix_micros("last_seen_at") <= F.unix_micros(instance.last_at) + instance.before_us
    )


def _ids(instances: Column) -> Column:
    return F.array_sort(
        F.array_distinct(F.transform(instances, lambda instance: instance.client_instance_id))
    )


def _rule() -> Column:
    """The first rule that applies. Comparisons with null are false: a missing list decides nothing."""
    nobody = F.col("client_id").isNull() & (F.coalesce("principal", F.lit("")) == "")
    return (
        F.when(F.size("on_connection") == 1, "push_on_connection")
        .when(F.size("on_connection") > 1, "several_on_connection")
        .when(F.size("from_port") == 1, "push_from_port")
        .when(F.size("from_port") > 1, "several_on_connection")
        .when(has_flag("summary"), "summary")
        .when(nobody, "unknown_client")
        .when(F.col("number").isNull(), "no_instance")
        .when(F.col("number") > MOST_INSTANCES, "too_many_instances")
        .when(F.size("at_the_time") == 0, "no_instance_at_the_time")
        .when(F.size("at_the_time") == 1, "only_instance_at_the_time")
        .when(F.size("that_long") == 1, "only_instance_that_long")
        .otherwise("several_at_the_time")
    )


def _candidates() -> Column:
    """The instances that the rule leaves; null if they were not examined individually, or there are none."""
    rule = F.col("link_rule")
    return (
        F.when(rule.isin("push_on_connection"), F.col("on_connection"))
        .when(rule == "push_from_port", F.col("from_port"))
        .when(
            rule == "several_on_connection",
            F.when(F.size("on_connection") > 1, F.col("on_connection")).otherwise(F.col("from_port")),
        )
        .when(rule == "only_instance_that_long", F.col("that_long"))
        .when(rule.isin("only_instance_at_the_time", "several_at_the_time"), F.col("at_the_time"))
    )
