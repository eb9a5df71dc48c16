"""Clients that may be one application: listed next to each other, never merged. Part of the stage profile;
compatibility/applications.py decides about unnamed connections.

Everything here is a window over clients with a bounded list in it: however many software versions a client id shows,
and however many clients a principal has, the work grows linearly with the clients.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import TypedDict

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from client_telemetry.compatibility.applications import Connections, relation
from client_telemetry.knowledge import kip511
from client_telemetry.knowledge.broker_guess import oldest_release
from client_telemetry.tables.clients import CLIENT_KEY, MAX_RELATED
from client_telemetry.tables.rows import RelatedRecord

_KEY = ("cluster_id", *CLIENT_KEY)
_SOFTWARE = ("client_software_name", "client_software_version")
_ANONYMOUS = "User:ANONYMOUS"


class Asked(TypedDict):
    api_key: int
    version: int


class Sibling(TypedDict):
    """An element of `siblings`."""

    client_software_name: str | None
    client_software_version: str | None
    asked: list[Asked]
    broker_software_versions: list[str]
    first_seen_at: datetime
    last_seen_at: datetime


def with_siblings(clients: DataFrame) -> DataFrame:
    """Adds `softwares`, the number of clients with this principal and client id, and `siblings`: what
    `related_by_client_id` needs to know about them, at most MAX_RELATED, unnamed ones first; null if there are none.
    """
    same_id = Window.partitionBy("cluster_id", "principal", "client_id")
    some = F.col("place") <= MAX_RELATED
    asked = F.transform(
        "api_uses", lambda use: F.struct(use.api_key.alias("api_key"), use.version.alias("version"))
    )
    part = F.struct(
        *_SOFTWARE, asked.alias("asked"), "broker_software_versions", "first_seen_at", "last_seen_at"
    )
    comparable = F.col("client_id").isNotNull() & (F.coalesce("principal", F.lit("")) != "")
    return (
        clients.withColumn("place", F.row_number().over(same_id.orderBy(_named().cast("int"), *_SOFTWARE)))
        .withColumns(
            {
                "softwares": F.count("*").over(same_id),
                "siblings": F.collect_list(F.when(comparable & some, part)).over(same_id),
            }
        )
        .withColumn("siblings", F.when(comparable & (F.col("softwares") > 1), F.col("siblings")))
        .drop("place")
    )


def _named() -> Column:
    return F.expr(kip511.is_declared("client_software_name"))


def related_by_client_id(
    client_id: str | None, own: tuple[str | None, str | None], siblings: Sequence[Sibling] | None
) -> list[RelatedRecord]:
    """Elements of `related`: for an unnamed client the named ones of its principal and client id, for a named one the
    unnamed. `own`: its software name and version.
    """
    each = {(part["client_software_name"], part["client_software_version"]): part for part in siblings or ()}
    if own not in each:
        return []
    is_named = kip511.is_known(own[0])
    found = []
    for software, part in each.items():
        if kip511.is_known(software[0]) == is_named:
            continue
        named, unnamed = (each[own], part) if is_named else (part, each[own])
        judged = relation(_connections(named), _connections(unnamed))
        found.append(
            RelatedRecord(
                relation=judged.kind,
                client_id=client_id,
                client_software_name=software[0],
                client_software_version=software[1],
                because=judged.because,
            )
        )
    return sorted(
        found, key=lambda other: (other["client_software_name"] or "", other["client_software_version"] or "")
    )


def _connections(part: Sibling) -> Connections:
    versions: dict[int, set[int]] = {}
    for use in part["asked"]:
        versions.setdefault(use["api_key"], set()).add(use["version"])
    return Connections(
        part["client_software_name"] or "",
        part["client_software_version"] or "",
        {key: frozenset(of_api) for key, of_api in versions.items()},
        tuple(oldest_release(each) or each for each in part["broker_software_versions"]),
        part["first_seen_at"],
        part["last_seen_at"],
    )


def with_neighbours(clients: DataFrame) -> DataFrame:
    """Adds to `related` the clients at the same address: for one under a library's default client id, those of its
    principal and address that can be this library. Some libraries use their default on part of the connections
    (kafka-node does). Only for unnamed clients; an anonymous principal proves nothing.

    Needs `default_id_of` and `could_be` of client_identity.py.
    """
    eligible = ~_named() & F.col("client_id").isNotNull()
    eligible &= ~F.coalesce("principal", F.lit("")).isin("", _ANONYMOUS)
    # Clients that this does not concern are spread over partitions of their own.
    alone = F.when(~eligible, F.xxhash64(*_KEY))
    by_principal = Window.partitionBy("cluster_id", "principal", "alone", "is_default")
    of_principal = Window.partitionBy("cluster_id", "principal", "alone")
    default = F.struct("client_id", "default_id_of", *_SOFTWARE, "client_addresses")
    configured = F.struct("client_id", *_SOFTWARE, "defaults")
    return (
        clients.withColumns({"alone": alone, "is_default": F.col("default_id_of").isNotNull()})
        .withColumn("place", F.row_number().over(by_principal.orderBy("client_id", *_SOFTWARE)))
        .withColumn(
            "defaults", F.collect_list(_some(default, eligible & F.col("is_default"))).over(of_principal)
        )
        .withColumn("defaults", F.when(eligible & ~F.col("is_default"), _defaults_it_could_be()))
        .withColumn("has_default", F.coalesce(F.size("defaults") > 0, F.lit(False)))
        .withColumn(
            "place",
            F.row_number().over(
                Window.partitionBy("cluster_id", "principal", "alone", "has_default").orderBy(
                    "client_id", *_SOFTWARE
                )
            ),
        )
        .withColumn("configured", F.collect_list(_some(configured, F.col("has_default"))).over(of_principal))
        .withColumn(
            "related",
            F.slice(F.array_distinct(F.concat("related", _defaults(), _configured())), 1, MAX_RELATED),
        )
    )


def _some(value: Column, condition: Column) -> Column:
    return F.when(condition & (F.col("place") <= MAX_RELATED), value)


def _defaults_it_could_be() -> Column:
    return F.filter(
        "defaults",
        lambda other: (
            F.array_contains("could_be", other.default_id_of)
            & F.arrays_overlap("client_addresses", other.client_addresses)
        ),
    )


def _defaults() -> Column:
    found = F.transform(
        F.coalesce("defaults", F.array()), lambda other: _beside(other, other.client_id, other.default_id_of)
    )
    return F.array_sort(found)


def _configured() -> Column:
    mine = F.filter(
        "configured",
        lambda other: F.exists(other.defaults, lambda default: default.client_id == F.col("client_id")),
    )
    found = F.transform(mine, lambda other: _beside(other, F.col("client_id"), F.col("default_id_of")))
    return F.when(F.col("is_default"), F.array_sort(found)).otherwise(F.array())


def _beside(other: Column, default_id: Column, library: Column) -> Column:
    because = F.concat(
        F.lit("same principal and address; "),
        default_id,
        F.lit(" is what "),
        library,
        F.lit(" sends where no client id is configured, and some libraries beside the configured one"),
    )
    return F.struct(
        F.lit("same_principal_and_address").alias("relation"),
        other.client_id.alias("client_id"),
        other.client_software_name.alias("client_software_name"),
        other.client_software_version.alias("client_software_version"),
        because.alias("because"),
    )
