"""From a day's connections and sessions to clients: who is out there, what they use, who owns them.

tables/clients.py has the rules; client_identity.py reads a client's strings and requests, related_clients.py relates it
to others, client_applications.py groups clients into applications.
"""

import datetime as dt
from functools import reduce
from operator import and_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from client_telemetry.identity.owners import OwnerRule
from client_telemetry.knowledge import apis, kip511
from client_telemetry.profile.client_applications import with_applications
from client_telemetry.profile.client_identity import with_identity
from client_telemetry.profile.related_clients import with_neighbours, with_siblings
from client_telemetry.tables.clients import CLIENT_KEY, CLIENTS, SHORT_LIFE_SECONDS
from client_telemetry.tables.row_flags import flags, has_flag

_KEY = ["cluster_id", *CLIENT_KEY]
_MAX_IDS = 64
_ADDRESS_SAMPLE = 5


def clients(
    connections: DataFrame,
    sessions: DataFrame,
    owner_rules: tuple[OwnerRule, ...],
    day: dt.date,
    cluster_name: str,
) -> DataFrame:
    """The partition `day` of `clients`, from rows of `client_connections` and `client_sessions`; rows of other days are
    ignored.
    """
    of_the_day = F.col("dt") == F.lit(day)
    connections, sessions = connections.where(of_the_day), sessions.where(of_the_day)
    evidence = _from_connections(connections).unionByName(_from_sessions(sessions))
    known = (
        _clients(evidence)
        .alias("client")
        .join(_api_uses(connections).alias("uses"), _same_client("client", "uses"), "left")
    )
    columns = known.select(
        "client.*", *(F.coalesce(f"uses.{name}", F.array()).alias(name) for name in ("api_uses", "answered"))
    )
    identified = with_neighbours(with_identity(with_siblings(columns), owner_rules))
    return _partition(with_applications(identified), day, cluster_name)


def _from_connections(connections: DataFrame) -> DataFrame:
    return connections.select(
        *_KEY,
        F.lit(None).cast("binary").alias("instance"),
        (~has_flag("no_connection")).alias("is_connection"),
        F.coalesce("connections", F.lit(1)).alias("stands_for"),
        has_flag("summary").alias("is_summary"),
        F.array("client_address").alias("client_addresses"),
        "listener_name",
        "security_protocol",
        "group_ids",
        "transactional_ids",
        "topics",
        "broker_software_version",
        F.col("first_seen_at").alias("first_at"),
        F.col("last_seen_at").alias("last_at"),
        # Whole seconds: the median is then over at most a day's worth of distinct values, however many connections
        # there are.
        (F.unix_seconds("last_seen_at") - F.unix_seconds("opened_at"))
        .cast("double")
        .alias("duration_seconds"),
        F.col("end_known_by").isin("closed_event").alias("ended"),
        has_flag("name_refused").alias("name_refused"),
        has_flag("crowded_address").alias("crowded_address"),
    )


def _from_sessions(sessions: DataFrame) -> DataFrame:
    """Rows like those of connections; what a session does not have is null or empty."""
    nothing, none = F.lit(None).cast("string"), F.array().cast("array<string>")
    return sessions.select(
        *_KEY,
        F.col("client_instance_id").alias("instance"),
        F.lit(None).cast("boolean").alias("is_connection"),
        F.lit(1).cast("long").alias("stands_for"),
        F.lit(False).alias("is_summary"),
        "client_addresses",
        nothing.alias("listener_name"),
        nothing.alias("security_protocol"),
        none.alias("group_ids"),
        none.alias("transactional_ids"),
        none.alias("topics"),
        nothing.alias("broker_software_version"),
        F.col("first_evidence_at").alias("first_at"),
        F.col("last_evidence_at").alias("last_at"),
        (F.unix_seconds("last_evidence_at") - F.unix_seconds(F.coalesce("started_at", "first_evidence_at")))
        .cast("double")
        .alias("duration_seconds"),
        (F.col("end_reason") != "still_open").alias("ended"),
        F.lit(False).alias("name_refused"),
        F.lit(False).alias("crowded_address"),
    )


def _clients(evidence: DataFrame) -> DataFrame:
    """One row per client. Grouping treats nulls as equal, as the key does."""
    return evidence.groupBy(*_KEY).agg(
        # A session is one instance and day, so none occurs twice.
        F.count("instance").alias("instances"),
        *_durations(F.col("instance").isNotNull(), "instance"),
        _number_of(F.col("is_connection")).alias("connections"),
        *_durations(F.col("is_connection"), "connection"),
        F.count_if(~F.col("is_connection")).alias("refusals"),
        _distinct_of_arrays("client_addresses"),
        _distinct("listener_name", "listeners"),
        _distinct("security_protocol", "security_protocols"),
        _distinct_of_arrays("group_ids"),
        _distinct_of_arrays("transactional_ids"),
        _distinct_of_arrays("topics"),
        _distinct("broker_software_version", "broker_software_versions"),
        F.min("first_at").alias("first_seen_at"),
        F.max("last_at").alias("last_seen_at"),
        F.bool_or("name_refused").alias("name_refused"),
        F.bool_or("crowded_address").alias("crowded_address"),
    )


def _durations(which: Column, what: str) -> tuple[Column, Column]:
    """How many of them were short, and their median duration."""
    soon = F.col("ended") & (F.col("is_summary") | (F.col("duration_seconds") < SHORT_LIFE_SECONDS))
    # The durations of the single connections of a summary are unknown.
    duration_seconds = F.when(which & ~F.col("is_summary"), F.col("duration_seconds"))
    return (
        _number_of(which & soon).alias(f"short_lived_{what}s"),
        F.percentile(duration_seconds, 0.5).alias(f"median_{what}_seconds"),
    )


def _number_of(which: Column) -> Column:
    """Number of sessions or connections; a summary stands for several."""
    return F.coalesce(F.sum(F.when(which, F.col("stands_for"))), F.lit(0))


def _distinct(name: str, alias: str) -> Column:
    return F.array_sort(F.collect_set(F.when(F.col(name) != "", F.col(name)))).alias(alias)


def _distinct_of_arrays(name: str) -> Column:
    values = F.array_distinct(F.flatten(F.collect_set(name)))
    return F.array_sort(F.filter(values, lambda value: value != "")).alias(name)


def _api_uses(connections: DataFrame) -> DataFrame:
    """`api_uses`, and `answered`: the pairs that a broker answered, with the releases of those brokers."""
    # First only numbers: a set among the values would make Spark sort a row for each connection and pair.
    each = connections.select(*_KEY, "broker_software_version", F.inline("api_uses"))
    by_release = each.groupBy(*_KEY, "api_key", "version", "broker_software_version").agg(*_use_sums())
    answering = F.when(F.col("requests") > 0, F.col("broker_software_version"))
    summed = by_release.groupBy(*_KEY, "api_key", "version").agg(
        *_use_sums(), F.array_sort(F.collect_set(answering)).alias("releases")
    )
    use = F.struct("api_key", "version", "requests", "rejected", "first_request_at", "last_request_at")
    answered = F.when(F.col("requests") > 0, F.struct("api_key", "version", "releases"))
    return summed.groupBy(*_KEY).agg(
        F.array_sort(F.collect_list(use)).alias("api_uses"), F.collect_list(answered).alias("answered")
    )


def _use_sums() -> tuple[Column, ...]:
    return (
        F.sum("requests").alias("requests"),
        F.sum("rejected").alias("rejected"),
        F.min("first_request_at").alias("first_request_at"),
        F.max("last_request_at").alias("last_request_at"),
    )


def _same_client(left: str, right: str) -> Column:
    """Equality that treats nulls as equal."""
    return reduce(and_, (F.col(f"{left}.{name}").eqNullSafe(F.col(f"{right}.{name}")) for name in _KEY))


def _request_versions() -> Column:
    """`JoinGroup v1` for each of `api_uses`."""
    names = F.create_map(*(F.lit(value) for api in apis.by_key().values() for value in (api.key, api.name)))
    return F.transform(
        "api_uses",
        lambda use: F.concat(
            F.coalesce(names[use.api_key], F.concat(F.lit("api key "), use.api_key)), F.lit(" v"), use.version
        ),
    )


def _partition(named: DataFrame, day: dt.date, cluster_name: str) -> DataFrame:
    unknown = ~F.expr(kip511.is_declared("client_software_name"))
    columns = {
        "cluster_name": F.lit(cluster_name),
        "dt": F.lit(day),
        "request_versions": _request_versions(),
        "addresses": F.size("client_addresses"),
        "address_sample": F.slice("client_addresses", 1, _ADDRESS_SAMPLE),
        "group_ids": F.slice("group_ids", 1, _MAX_IDS),
        "transactional_ids": F.slice("transactional_ids", 1, _MAX_IDS),
        "topics": F.slice("topics", 1, _MAX_IDS),
        "flags": flags(
            CLIENTS,
            {
                "name_refused": F.col("name_refused"),
                "crowded_address": F.col("crowded_address"),
                "software_unknown": unknown,
                "shared_client_id": F.col("client_id").isNotNull() & (F.col("softwares") > 1),
                "one_application": _is_related("one_application"),
                "doubtful_application": _is_related("doubtful"),
                "no_client_id": F.col("client_id").isNull(),
                "unidentified": F.col("client_id").isNull()
                & (F.coalesce("principal", F.lit("")) == "")
                & unknown,
            },
        ),
    }
    return named.withColumns(columns).select(
        *(F.col(column.name).cast(column.kind) for column in CLIENTS.columns)
    )


def _is_related(relation: str) -> Column:
    return F.exists("related", lambda other: other.relation == relation)
