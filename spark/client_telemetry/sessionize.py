"""Lives of client instances (KIP-714) from their pushes. Connections, the other half of the stage: connections.py.

The rules stand in tables/client_sessions.py; here is how they are computed: the pushes of the day in one window per
instance, what came before as one row per instance, and no look at later days.
"""

import datetime as dt

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from client_telemetry.connections import client_connections
from client_telemetry.flags import flags, has_flag
from client_telemetry.tables.client_sessions import (
    CLIENT_SESSIONS,
    HISTORY_DAYS,
    IN_FLIGHT_MS,
    LARGEST_PUSH_INTERVAL_MS,
    MIN_GAP_MS,
)

__all__ = ["client_connections", "client_sessions"]

_INSTANCE = ["cluster_id", "client_instance_id"]
_ORDER = ["received_at", "broker_id", "broker_incarnation", "sequence"]
_MAX_ADDRESSES = 16
_FEW_DISTANCES = 3


def client_sessions(pushes: DataFrame, day: dt.date) -> DataFrame:
    """The slice of `day` of `client_sessions`, from rows of `client_pushes`.

    Rows of the day and of the HISTORY_DAYS before it are used, by `dt`; others may be there and are ignored.
    """
    first_day = day - dt.timedelta(days=HISTORY_DAYS)
    used = F.col("dt").between(F.lit(first_day), F.lit(day)) & F.col("client_instance_id").isNotNull()
    evidence = pushes.where(used)
    lives = (
        _lives_of_the_day(_rhythm(evidence.where(F.col("dt") == F.lit(day))))
        .join(_lives_before(evidence.where(F.col("dt") < F.lit(day))), _INSTANCE, "left")
        .withColumns(
            {"push_interval_ms": _push_interval_ms(), "push_interval_source": _push_interval_source()}
        )
        .withColumn("gap_ms", _gap_ms(F.col("push_interval_ms")))
        .withColumn("silences", _gaps())
        .withColumn("end_reason", _end_reason(_midnight(day + dt.timedelta(days=1))))
    )
    return _slice(lives, day, _midnight(first_day))


def _rhythm(pushes: DataFrame) -> DataFrame:
    """Each push of the day with its distance from the one before it, on whatever broker (`distance_us`, null for
    the first), and what the broker told of the interval at both ends."""
    life = Window.partitionBy(*_INSTANCE).orderBy(*_ORDER)
    ordinary = ~F.col("terminating") & ~has_flag("rejected")
    told = _told_ms()
    before = F.lag(
        F.struct("received_at", "broker_incarnation", ordinary.alias("ordinary"), told.alias("told_ms"))
    ).over(life)
    both_ordinary = ordinary & F.col("before.ordinary")
    distance_us = F.unix_micros("received_at") - F.unix_micros("before.received_at")
    told_at_both = told.isNotNull() & F.col("before.told_ms").isNotNull()
    too_early = distance_us * 2 < F.least(told, F.col("before.told_ms")) * 1000
    return pushes.withColumn("before", before).withColumns(
        {
            "ordinary": ordinary,
            "rhythm_us": F.when(both_ordinary, distance_us),
            "silence": F.when(
                distance_us > MIN_GAP_MS * 1000,
                _silence(distance_us, F.greatest(told, F.col("before.told_ms"))),
            ),
            "too_early": both_ordinary
            & told_at_both
            & too_early
            & (F.col("before.broker_incarnation") == F.col("broker_incarnation")),
        }
    )


def _told_ms() -> Column:
    """The interval that the broker told with the push; null where it told none, or nonsense."""
    told = F.col("push_interval_ms").cast("long")
    return F.when(told > 0, told)


def _silence(distance_us: Column, told_ms: Column) -> Column:
    return F.struct(distance_us.alias("distance_us"), told_ms.alias("told_ms"))


def _lives_of_the_day(rhythm: DataFrame) -> DataFrame:
    """One row per instance: what the pushes of the day say by themselves."""
    order = F.struct(*_ORDER)
    software = _software()
    return rhythm.groupBy(*_INSTANCE).agg(
        F.min("received_at").alias("first_evidence_at"),
        F.max("received_at").alias("last_evidence_at"),
        F.count("*").alias("pushes"),
        F.count_if("terminating").alias("terminating_pushes"),
        F.count_if(has_flag("rejected")).alias("rejected_pushes"),
        F.sum(F.col("points").cast("long")).alias("points"),
        F.max(F.when(F.col("ordinary"), F.col("received_at"))).alias("last_ordinary_at"),
        F.min(F.when(F.col("terminating"), F.col("received_at"))).alias("first_terminating_at"),
        F.max(F.when(F.col("terminating"), F.col("received_at"))).alias("last_terminating_at"),
        F.percentile("rhythm_us", 0.5).alias("median_us"),
        F.count("rhythm_us").alias("distances"),
        F.collect_list("silence").alias("silences_of_the_day"),
        F.coalesce(F.bool_or("too_early"), F.lit(False)).alias("too_early"),
        F.min_by(_told_ms(), order).alias("first_told_ms"),
        F.max_by(_told_ms(), order).alias("last_told_ms"),
        F.array_sort(F.collect_set("broker_id")).alias("broker_ids"),
        F.array_sort(F.collect_set(F.when(F.col("client_address") != "", F.col("client_address")))).alias(
            "addresses"
        ),
        F.max_by(F.struct("client_id", "principal"), order).alias("client"),
        F.max_by(F.struct(*_SOFTWARE), order).alias("last_software"),
        F.min_by(software, F.when(software.isNotNull(), order)).alias("first_known_software"),
        F.max_by(software, F.when(software.isNotNull(), order)).alias("last_known_software"),
        F.count_distinct(software).alias("known_softwares"),
    )


_SOFTWARE = ("client_software_name", "client_software_version")


def _software() -> Column:
    """Registered name and version; null where the broker knew none."""
    known = ~F.coalesce(F.col("client_software_name"), F.lit("")).isin("", "unknown")
    return F.when(known, F.struct(*_SOFTWARE))


def _lives_before(pushes: DataFrame) -> DataFrame:
    """One row per instance: what of the days before matters to the day."""
    order = F.struct(*_ORDER)
    software = _software()
    terminating_at = F.when(F.col("terminating"), F.col("received_at"))
    return pushes.groupBy(*_INSTANCE).agg(
        F.min("received_at").alias("before_first_at"),
        F.max("received_at").alias("before_last_at"),
        F.min(terminating_at).alias("before_first_terminating_at"),
        F.max(terminating_at).alias("before_last_terminating_at"),
        F.max_by(software, F.when(software.isNotNull(), order)).alias("before_software"),
        F.max_by(_told_ms(), order).alias("before_told_ms"),
    )


def _push_interval_ms() -> Column:
    observed = F.greatest((F.col("median_us") / 1000).cast("long"), F.when(F.col("distances") > 0, 1))
    # One silence among one or two distances would pass for the interval.
    proves_little = (F.col("distances") < _FEW_DISTANCES) & (observed > LARGEST_PUSH_INTERVAL_MS)
    return F.coalesce(
        F.col("last_told_ms"), F.when(proves_little, LARGEST_PUSH_INTERVAL_MS).otherwise(observed)
    )


def _push_interval_source() -> Column:
    return F.when(F.col("last_told_ms").isNotNull(), "broker").when(
        F.col("median_us").isNotNull(), "observed"
    )


def _gap_ms(interval_ms: Column) -> Column:
    return F.greatest(F.lit(MIN_GAP_MS), 3 * F.coalesce(interval_ms, F.lit(LARGEST_PUSH_INTERVAL_MS)))


def _gaps() -> Column:
    """Silences that are longer than the gap, the one between the days among them, in microseconds."""
    between_the_days = _silence(
        F.unix_micros("first_evidence_at") - F.unix_micros("before_last_at"),
        F.greatest("first_told_ms", "before_told_ms"),
    )
    all_silences = F.concat("silences_of_the_day", F.array(between_the_days))
    gaps = F.filter(
        all_silences,
        lambda s: s.distance_us > _gap_ms(F.coalesce(s.told_ms, F.col("push_interval_ms"))) * 1000,
    )
    return F.transform(gaps, lambda s: s.distance_us)


def _end_reason(end_of_day: Column) -> Column:
    last = F.unix_micros("last_evidence_at")
    last_terminating_at = F.greatest("last_terminating_at", "before_last_terminating_at")
    closed = last - F.unix_micros(last_terminating_at) <= IN_FLIGHT_MS * 1000
    silent = F.unix_micros(end_of_day) - last > F.col("gap_ms") * 1000
    return F.when(closed, "terminating_push").when(silent, "gap_timeout").otherwise("still_open")


def _slice(lives: DataFrame, day: dt.date, evidence_begins_at: Column) -> DataFrame:
    first = F.least("before_first_at", "first_evidence_at")
    start_seen = F.unix_micros(first) - F.unix_micros(evidence_begins_at) > F.col("gap_ms") * 1000
    software = F.coalesce("last_known_software", "last_software")
    columns = {
        "dt": F.lit(day),
        "started_at": F.when(start_seen, first),
        "started_before": F.when(~start_seen, first),
        "ended_at": F.when(F.col("end_reason") != "still_open", F.col("last_evidence_at")),
        "gaps": F.size("silences"),
        "gap_seconds": F.aggregate("silences", F.lit(0).cast("long"), lambda total, us: total + us) / 1e6,
        "client_id": F.col("client.client_id"),
        "principal": F.col("client.principal"),
        "client_software_name": software.client_software_name,
        "client_software_version": software.client_software_version,
        "client_addresses": F.slice("addresses", 1, _MAX_ADDRESSES),
        "flags": flags(CLIENT_SESSIONS, _conditions()),
    }
    return lives.withColumns(columns).select(
        *(F.col(column.name).cast(column.kind) for column in CLIENT_SESSIONS.columns)
    )


def _conditions() -> dict[str, Column]:
    first_terminating_at = F.least("first_terminating_at", "before_first_terminating_at")
    return {
        "push_after_terminating": F.col("last_ordinary_at") > first_terminating_at,
        "several_addresses": F.size("addresses") > 1,
        "several_software_versions": (F.col("known_softwares") > 1)
        | (F.col("before_software") != F.col("first_known_software")),
        "faster_than_interval": F.col("too_early"),
        "zero_instance_id": F.col("client_instance_id") == F.lit(bytes(16)),
    }


def _midnight(day: dt.date) -> Column:
    return F.lit(dt.datetime.combine(day, dt.time(), dt.UTC))
