"""Connections and sessions of a day to clients: who is out there, what it uses, who owns it.

The rules stand in tables/clients.py; Kafka's spellings of client ids and the owner rules in registry/.
"""

import datetime as dt
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from operator import and_

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StringType, StructField, StructType

from client_telemetry.flags import flags, has_flag
from client_telemetry.registry.kip190 import jmx_sanitize, sanitize
from client_telemetry.registry.owners import OwnerRule, first_match
from client_telemetry.tables.clients import CLIENT_KEY, CLIENTS

_KEY = ["cluster_id", *CLIENT_KEY]
_MAX_IDS = 64
_ADDRESS_SAMPLE = 5
_NAMES = ("client_id_sanitized", "client_id_jmx", "owner", "owner_contact", "owner_rule")


def clients(
    connections: DataFrame, sessions: DataFrame, owner_rules: tuple[OwnerRule, ...], day: dt.date
) -> DataFrame:
    """The slice of `day` of `clients`, from rows of `client_connections` and `client_sessions`; rows of other days
    are ignored."""
    of_the_day = F.col("dt") == F.lit(day)
    connections, sessions = connections.where(of_the_day), sessions.where(of_the_day)
    evidence = _from_connections(connections).unionByName(_from_sessions(sessions))
    known = (
        _clients(evidence)
        .alias("client")
        .join(_api_uses(connections).alias("uses"), _same_client("client", "uses"), "left")
    )
    columns = known.select("client.*", F.coalesce("uses.api_uses", F.array()).alias("api_uses"))
    return _slice(_with_names(_with_neighbours(columns), owner_rules), day)


def _from_connections(connections: DataFrame) -> DataFrame:
    return connections.select(
        *_KEY,
        F.lit(None).cast("binary").alias("instance"),
        (~has_flag("no_connection")).alias("is_connection"),
        F.array("client_address").alias("client_addresses"),
        "listener_name",
        "security_protocol",
        "group_ids",
        "transactional_ids",
        "broker_software_version",
        F.col("first_seen_at").alias("first_at"),
        F.col("last_seen_at").alias("last_at"),
        has_flag("name_refused").alias("name_refused"),
    )


def _from_sessions(sessions: DataFrame) -> DataFrame:
    """Rows like those of connections; what a session does not tell is null or empty."""
    nothing, none = F.lit(None).cast("string"), F.array().cast("array<string>")
    return sessions.select(
        *_KEY,
        F.col("client_instance_id").alias("instance"),
        F.lit(None).cast("boolean").alias("is_connection"),
        "client_addresses",
        nothing.alias("listener_name"),
        nothing.alias("security_protocol"),
        none.alias("group_ids"),
        none.alias("transactional_ids"),
        nothing.alias("broker_software_version"),
        F.col("first_evidence_at").alias("first_at"),
        F.col("last_evidence_at").alias("last_at"),
        F.lit(False).alias("name_refused"),
    )


def _clients(evidence: DataFrame) -> DataFrame:
    """One row per client. Grouping takes nulls for equal, as the key does."""
    return evidence.groupBy(*_KEY).agg(
        F.count_distinct("instance").alias("instances"),
        F.count_if("is_connection").alias("connections"),
        F.count_if(~F.col("is_connection")).alias("refusals"),
        _distinct_of_arrays("client_addresses"),
        _distinct("listener_name", "listeners"),
        _distinct("security_protocol", "security_protocols"),
        _distinct_of_arrays("group_ids"),
        _distinct_of_arrays("transactional_ids"),
        _distinct("broker_software_version", "broker_software_versions"),
        F.min("first_at").alias("first_seen_at"),
        F.max("last_at").alias("last_seen_at"),
        F.bool_or("name_refused").alias("name_refused"),
    )


def _distinct(name: str, alias: str) -> Column:
    return F.array_sort(F.collect_set(F.when(F.col(name) != "", F.col(name)))).alias(alias)


def _distinct_of_arrays(name: str) -> Column:
    values = F.array_distinct(F.flatten(F.collect_set(name)))
    return F.array_sort(F.filter(values, lambda value: value != "")).alias(name)


def _api_uses(connections: DataFrame) -> DataFrame:
    each = connections.select(*_KEY, F.inline("api_uses"))
    summed = each.groupBy(*_KEY, "api_key", "version").agg(
        F.sum("requests").alias("requests"),
        F.sum("rejected").alias("rejected"),
        F.min("first_request_at").alias("first_request_at"),
        F.max("last_request_at").alias("last_request_at"),
    )
    use = F.struct("api_key", "version", "requests", "rejected", "first_request_at", "last_request_at")
    return summed.groupBy(*_KEY).agg(F.array_sort(F.collect_list(use)).alias("api_uses"))


def _same_client(left: str, right: str) -> Column:
    """Nulls counted as equal."""
    return reduce(and_, (F.col(f"{left}.{name}").eqNullSafe(F.col(f"{right}.{name}")) for name in _KEY))


def _with_neighbours(known: DataFrame) -> DataFrame:
    """`softwares`: how many clients of the day have the same principal and client id."""
    same_id = Window.partitionBy("cluster_id", "principal", "client_id")
    return known.withColumn("softwares", F.count("*").over(same_id))


def _with_names(known: DataFrame, rules: tuple[OwnerRule, ...]) -> DataFrame:
    """Kafka's spellings of the client id, and the owner. Python decides for each client, so that rules are matched
    by one regular expression engine only, wherever they are tried."""
    added = [StructField(name, StringType()) for name in _NAMES]
    return known.mapInArrow(_namer(rules), StructType([*known.schema.fields, *added]))


def _namer(rules: tuple[OwnerRule, ...]) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def name(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            identity = [
                batch.column(column).to_pylist()
                for column in ("principal", "client_id", "group_ids", "client_addresses")
            ]
            names = [_names(rules, *client) for client in zip(*identity, strict=True)]
            columns = [pa.array([row[i] for row in names], pa.string()) for i in range(len(_NAMES))]
            yield pa.RecordBatch.from_arrays([*batch.columns, *columns], names=[*batch.schema.names, *_NAMES])

    return name


def _names(
    rules: tuple[OwnerRule, ...],
    principal: str | None,
    client_id: str | None,
    group_ids: list[str],
    client_addresses: list[str],
) -> tuple[str | None, ...]:
    """One client's values for `_NAMES`."""
    spelled = (None, None) if client_id is None else (sanitize(client_id), jmx_sanitize(client_id))
    rule = first_match(rules, principal, client_id, group_ids, client_addresses)
    return (*spelled, *((rule.owner, rule.contact, rule.name) if rule else (None, None, None)))


def _slice(named: DataFrame, day: dt.date) -> DataFrame:
    unknown = F.coalesce("client_software_name", F.lit("")).isin("", "unknown")
    columns = {
        "dt": F.lit(day),
        "addresses": F.size("client_addresses"),
        "address_sample": F.slice("client_addresses", 1, _ADDRESS_SAMPLE),
        "group_ids": F.slice("group_ids", 1, _MAX_IDS),
        "transactional_ids": F.slice("transactional_ids", 1, _MAX_IDS),
        "flags": flags(
            CLIENTS,
            {
                "name_refused": F.col("name_refused"),
                "software_unknown": unknown,
                "shared_client_id": F.col("client_id").isNotNull() & (F.col("softwares") > 1),
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
