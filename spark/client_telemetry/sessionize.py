"""Lives of client instances (KIP-714) from their pushes. Connections, the other half of the stage: connections.py.

The rules stand in tables/client_sessions.py; here is how they are computed. The pushes of a day are looked at twice,
because millions of them may belong to one instance: *stretches*, pushes that agree in all but time, are added up
where they are read and tell who and how much; the *rhythm*, one window per instance over a few numbers, tells of
silences. No value that is kept per instance grows with its pushes.
"""

import datetime as dt
from functools import reduce
from operator import add

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from client_telemetry.broker_incarnations import incarnations
from client_telemetry.flags import flags
from client_telemetry.history import first_day, midnight, with_history
from client_telemetry.tables.client_sessions import (
    BROKER_STOP_MS,
    CLIENT_SESSIONS,
    CLOCK_OFF_MS,
    IN_FLIGHT_MS,
    LARGEST_PUSH_INTERVAL_MS,
    MIN_GAP_MS,
)

# The instance first: Spark compares the first bytes of the first column, and a cluster's rows share its id.
_INSTANCE = ["client_instance_id", "cluster_id"]
_SOFTWARE = ["client_software_name", "client_software_version"]
# A client may have the same port at two listeners.
_TCP = ["broker_incarnation", "listener_name", "client_address", "client_port"]
_WHO = ["client_id", "principal", "broker_id", *_TCP]
_MAX_ADDRESSES = 16
_FEW_DISTANCES = 3


def client_sessions(pushes: DataFrame, connections: DataFrame, brokers: DataFrame, day: dt.date) -> DataFrame:
    """The slice of `day` of `client_sessions`, from rows of `client_pushes`, `client_connections` and `brokers`.

    Of pushes and brokers, rows of the day and of the HISTORY_DAYS before it are used, of connections those of the
    day, by `dt`; others may be there and are ignored.
    """
    told_ms = F.col("push_interval_ms").cast("long")
    evidence = (
        with_history(pushes, day)
        .where(F.col("client_instance_id").isNotNull())
        .withColumns(
            {
                "told_ms": F.when(told_ms > 0, told_ms),
                "rejected": F.coalesce(F.col("error_code") != 0, F.lit(False)),
            }
        )
    )
    of_the_day = evidence.where(F.col("dt") == F.lit(day))
    before = evidence.where(F.col("dt") < F.lit(day))
    lives = (
        _lives(of_the_day, before)
        .join(_rhythms(of_the_day), _INSTANCE)
        .withColumns({"push_interval_ms": _push_interval_ms(), "silence_between_days_us": _between_days_us()})
        .withColumn("gap_ms", _gap_ms(F.col("push_interval_ms")))
    )
    lives = _with_ends_of_connections(
        lives, connections.where(F.col("dt") == F.lit(day)), incarnations(brokers, day)
    )
    end_of_day = midnight(day + dt.timedelta(days=1))
    return _slice(lives.withColumn("end_reason", _end_reason(end_of_day)), day, midnight(first_day(day)))


def _lives(of_the_day: DataFrame, before: DataFrame) -> DataFrame:
    """One row per instance that pushed on the day: what its pushes tell whatever their order within a stretch, and
    what of the days before matters."""
    stretches = (
        _stretches(of_the_day, _WHO, _amounts())
        .withColumn("today", F.lit(True))
        .unionByName(_stretches(before, [], {}).withColumn("today", F.lit(False)), allowMissingColumns=True)
    )
    today, earlier = F.col("today"), ~F.col("today")
    keys = F.struct(*_WHO, *_SOFTWARE, "told_ms")
    by_first, by_last = F.struct("first_at", keys), F.struct("last_at", keys)
    software = _software()
    known = software.isNotNull()
    lives = stretches.groupBy(*_INSTANCE).agg(
        F.min(F.when(today, F.col("first_at"))).alias("first_evidence_at"),
        F.max(F.when(today, F.col("last_at"))).alias("last_evidence_at"),
        F.min("first_terminating_at").alias("first_terminating_at"),
        F.max("last_terminating_at").alias("last_terminating_at"),
        *(F.sum(name).alias(name) for name in ("pushes", "terminating_pushes", "rejected_pushes", "points")),
        F.min("clock_skew_ms").alias("clock_skew_ms"),
        F.max("clock_skew_ms").alias("largest_clock_skew_ms"),
        F.array_sort(F.collect_set("broker_id")).alias("broker_ids"),
        F.array_sort(F.collect_set(F.when(F.col("client_address") != "", F.col("client_address")))).alias(
            "addresses"
        ),
        F.max_by(F.struct(*_WHO, *_SOFTWARE), F.when(today, by_last)).alias("last"),
        F.min_by(software, F.when(today & known, by_first)).alias("first_known_software"),
        F.max_by(software, F.when(today & known, by_last)).alias("last_known_software"),
        F.size(F.collect_set(F.when(today, software))).alias("known_softwares"),
        F.min(F.when(earlier, F.col("first_at"))).alias("before_first_at"),
        F.max(F.when(earlier, F.col("last_at"))).alias("before_last_at"),
        F.max_by(software, F.when(earlier & known, by_last)).alias("before_software"),
        F.max_by("told_ms", F.when(earlier, by_last)).alias("before_told_ms"),
    )
    return lives.where(F.col("pushes") > 0)


def _stretches(pushes: DataFrame, who: list[str], amounts: dict[str, Column]) -> DataFrame:
    """Pushes that agree in all but time, added up. Only sums and extremes of numbers, which Spark adds up where it
    reads: what crosses the network is about one row per connection."""
    at, terminating = F.col("received_at"), F.col("terminating")
    times = {
        "first_at": F.min(at),
        "last_at": F.max(at),
        "first_terminating_at": F.min(F.when(terminating, at)),
        "last_terminating_at": F.max(F.when(terminating, at)),
    }
    found = times | amounts
    return pushes.groupBy(*_INSTANCE, *who, *_SOFTWARE, "told_ms").agg(
        *(column.alias(name) for name, column in found.items())
    )


def _amounts() -> dict[str, Column]:
    return {
        "pushes": F.count("*"),
        "terminating_pushes": F.count_if("terminating"),
        "rejected_pushes": F.count_if("rejected"),
        "points": F.sum(F.col("points").cast("long")),
        # The least delayed push tells most of the clocks.
        "clock_skew_ms": F.min("clock_skew_ms"),
    }


def _software() -> Column:
    """Registered name and version; null where the broker knew none."""
    known = ~F.coalesce(F.col("client_software_name"), F.lit("")).isin("", "unknown")
    return F.when(known, F.struct(*_SOFTWARE))


def _rhythms(pushes: DataFrame) -> DataFrame:
    """One row per instance: what the order of its pushes of the day tells, on whatever broker."""
    at_us = F.unix_micros("received_at")
    narrow = pushes.select(
        *_INSTANCE,
        at_us.alias("at_us"),
        F.when(~F.col("terminating") & ~F.col("rejected"), at_us).alias("ordinary_us"),
        "told_ms",
        "subscription_id",
        F.xxhash64("broker_incarnation").alias("incarnation"),
        "sequence",
    )
    narrow = narrow.repartition(*_INSTANCE).sortWithinPartitions(_nearly_in_order())
    life = Window.partitionBy(*_INSTANCE).orderBy("at_us", "incarnation", "sequence")
    before = {
        f"before_{name}": F.lag(name).over(life)
        for name in ("at_us", "ordinary_us", "told_ms", "subscription_id", "incarnation")
    }
    around = {_at(n): F.lag("ordinary_us", -n).over(life) for n in (*range(-5, 0), *range(1, 4))}
    is_last = {"is_last": F.lead("at_us").over(life).isNull()}
    in_order = narrow.withColumns(before | around | is_last)

    silence_us = F.col("at_us") - F.col("before_at_us")
    told_around = F.greatest("told_ms", "before_told_ms")
    in_force_ms = F.coalesce(told_around, _observed_ms(range(-2, 3)))
    gap = F.when(silence_us > MIN_GAP_MS * 1000, silence_us > _gap_ms(in_force_ms) * 1000)
    is_first = F.col("before_at_us").isNull()
    return in_order.groupBy(*_INSTANCE).agg(
        F.max("ordinary_us").alias("last_ordinary_us"),
        F.count_if(gap).alias("gaps_of_the_day"),
        F.sum(F.when(gap, silence_us)).alias("gap_us_of_the_day"),
        F.bool_or(_too_early()).alias("too_early"),
        F.count_if(_subscription_changed()).alias("subscription_changes"),
        F.max(F.when(is_first, F.col("told_ms"))).alias("first_told_ms"),
        F.max(F.when(is_first, _observed_ms(range(1, 4)))).alias("first_observed_ms"),
        F.max(F.when(F.col("is_last"), F.col("told_ms"))).alias("last_told_ms"),
        F.max(F.when(F.col("is_last"), _observed_ms(range(-4, 1)))).alias("last_observed_ms"),
    )


def _nearly_in_order() -> Column:
    """One number by which pushes come in the order of their lives, but for a few: a hash of the instance above the
    time in 1.024 ms. Spark sorts by one number in a tenth of the time that the keys of a window take, and these it then
    finds in order."""
    time_bits = 40
    hashed = F.xxhash64("client_instance_id").bitwiseAND(F.lit(-1 << time_bits))
    return hashed + F.shiftright("at_us", 10).bitwiseAND(F.lit((1 << time_bits) - 1))


def _at(n: int) -> str:
    """Column with the time of the ordinary push `n` places from this one; null if that push was no ordinary one."""
    return f"ordinary_us_{n}" if n else "ordinary_us"


def _observed_ms(places: range) -> Column:
    """The interval that distances between ordinary pushes tell: their median, the lower one of an even number, each
    distance named by the place of the push that ends it. Null if there is none."""
    distances = [F.col(_at(n)) - F.col(_at(n - 1)) for n in places]
    count = reduce(add, (distance.isNotNull().cast("int") for distance in distances))
    # Nulls come first. Functions with a lambda would keep Spark from compiling the aggregation.
    middle = len(distances) - count + F.floor((count - 1) / 2).cast("int")
    median_us = F.when(count > 0, F.get(F.sort_array(F.array(*distances)), middle))
    observed = F.greatest((median_us / 1000).cast("long"), F.when(count > 0, 1))
    # One silence among one or two distances would pass for the interval.
    proves_little = (count < _FEW_DISTANCES) & (observed > LARGEST_PUSH_INTERVAL_MS)
    return F.when(proves_little, LARGEST_PUSH_INTERVAL_MS).otherwise(observed)


def _too_early() -> Column:
    distance_us = F.col("ordinary_us") - F.col("before_ordinary_us")
    told_twice = F.col("told_ms").isNotNull() & F.col("before_told_ms").isNotNull()
    return (
        told_twice
        & (distance_us * 2 < F.least("told_ms", "before_told_ms") * 1000)
        & (F.col("incarnation") == F.col("before_incarnation"))
    )


def _subscription_changed() -> Column:
    return (F.col("told_ms") != F.col("before_told_ms")) | (
        F.col("subscription_id") != F.col("before_subscription_id")
    )


def _push_interval_ms() -> Column:
    return F.coalesce("last_told_ms", "last_observed_ms")


def _push_interval_source() -> Column:
    return F.when(F.col("last_told_ms").isNotNull(), "broker").when(
        F.col("last_observed_ms").isNotNull(), "observed"
    )


def _gap_ms(interval_ms: Column) -> Column:
    return F.greatest(F.lit(MIN_GAP_MS), 3 * F.coalesce(interval_ms, F.lit(LARGEST_PUSH_INTERVAL_MS)))


def _between_days_us() -> Column:
    """The silence before the first push of the day, if it is longer than the gap."""
    silence_us = F.unix_micros("first_evidence_at") - F.unix_micros("before_last_at")
    in_force_ms = F.coalesce(
        F.greatest("first_told_ms", "before_told_ms"), "first_observed_ms", _push_interval_ms()
    )
    return F.when(silence_us > _gap_ms(in_force_ms) * 1000, silence_us)


def _with_ends_of_connections(lives: DataFrame, connections: DataFrame, brokers: DataFrame) -> DataFrame:
    """With what became of the connection and of the broker incarnation of each life's last push, as far as it is
    known. The connection is the one of that incarnation, listener, address and port that was open then.
    """
    same_port = Window.partitionBy("cluster_id", *_TCP).orderBy("opened_at", "connection_id")
    known = connections.where(F.col("connection_id") != "").select(
        *(F.col(name).alias(f"connection_{name}") for name in ("cluster_id", *_TCP)),
        F.col("opened_at").alias("connection_opened_at"),
        F.lead("opened_at").over(same_port).alias("port_reused_at"),
        F.when(F.col("end_known_by") == "closed_event", F.col("closed_at")).alias("connection_closed_at"),
        F.when(F.col("end_known_by") == "still_open", F.col("last_seen_at")).alias("connection_open_at"),
    )
    at = F.col("last_evidence_at")
    carried_it = [
        F.col("cluster_id") == F.col("connection_cluster_id"),
        *(F.col(f"last.{name}") == F.col(f"connection_{name}") for name in _TCP),
        F.col("connection_opened_at") <= at,
        F.coalesce(F.col("port_reused_at") > at, F.lit(True)),
        F.coalesce(F.col("connection_closed_at") >= at, F.lit(True)),
    ]
    stopped = brokers.where(F.col("stopped_at").isNotNull()).select(
        F.col("cluster_id").alias("stopped_cluster_id"),
        F.col("broker_incarnation").alias("stopped_incarnation"),
        "stopped_at",
    )
    was_there = [
        F.col("cluster_id") == F.col("stopped_cluster_id"),
        F.col("last.broker_incarnation") == F.col("stopped_incarnation"),
    ]
    return lives.join(known, carried_it, "left").join(F.broadcast(stopped), was_there, "left")


def _end_reason(end_of_day: Column) -> Column:
    last, gap_us = F.unix_micros("last_evidence_at"), F.col("gap_ms") * 1000
    said_so = last - F.unix_micros("last_terminating_at") <= IN_FLIGHT_MS * 1000
    silent = F.unix_micros(end_of_day) - F.greatest(last, F.unix_micros("connection_open_at")) > gap_us
    stopped = F.unix_micros("stopped_at")
    by_the_stop = stopped - F.unix_micros("connection_closed_at") <= BROKER_STOP_MS * 1000
    return (
        F.when(said_so, "terminating_push")
        .when(~silent, "still_open")
        .when(
            F.col("connection_closed_at").isNotNull() & ~F.coalesce(by_the_stop, F.lit(False)),
            "connection_closed",
        )
        .when(stopped - last <= gap_us, "broker_restart")
        .otherwise("gap_timeout")
    )


def _slice(lives: DataFrame, day: dt.date, evidence_begins_at: Column) -> DataFrame:
    first = F.least("before_first_at", "first_evidence_at")
    start_seen = F.unix_micros(first) - F.unix_micros(evidence_begins_at) > F.col("gap_ms") * 1000
    software = F.coalesce("last_known_software", F.struct(*(F.col(f"last.{name}") for name in _SOFTWARE)))
    between_us = F.col("silence_between_days_us")
    ended_at = F.when(F.col("end_reason") == "connection_closed", F.col("connection_closed_at")).when(
        F.col("end_reason") != "still_open", F.col("last_evidence_at")
    )
    columns = {
        "dt": F.lit(day),
        "started_at": F.when(start_seen, first),
        "started_before": F.when(~start_seen, first),
        "ended_at": ended_at,
        "gaps": F.col("gaps_of_the_day") + F.when(between_us.isNotNull(), 1).otherwise(0),
        "gap_seconds": (F.coalesce("gap_us_of_the_day", F.lit(0)) + F.coalesce(between_us, F.lit(0))) / 1e6,
        "push_interval_source": _push_interval_source(),
        "client_id": F.col("last.client_id"),
        "principal": F.col("last.principal"),
        "client_software_name": software.client_software_name,
        "client_software_version": software.client_software_version,
        "client_addresses": F.slice("addresses", 1, _MAX_ADDRESSES),
        "flags": flags(CLIENT_SESSIONS, _conditions()),
    }
    return lives.withColumns(columns).select(
        *(F.col(column.name).cast(column.kind) for column in CLIENT_SESSIONS.columns)
    )


def _conditions() -> dict[str, Column]:
    clocks_differ_by = F.col("largest_clock_skew_ms") - F.col("clock_skew_ms")
    return {
        "push_after_terminating": F.col("last_ordinary_us") > F.unix_micros("first_terminating_at"),
        "several_addresses": F.size("addresses") > 1,
        "several_software_versions": (F.col("known_softwares") > 1)
        | (F.col("before_software") != F.col("first_known_software")),
        "faster_than_interval": F.col("too_early"),
        "zero_instance_id": F.col("client_instance_id") == F.lit(bytes(16)),
        "client_clock_off": F.abs("clock_skew_ms") > CLOCK_OFF_MS,
        "broker_clocks_apart": (clocks_differ_by > CLOCK_OFF_MS) & (F.size("broker_ids") > 1),
    }
