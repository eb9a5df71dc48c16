"""The contents of a day's search.json and the files next to it, made by Spark's workers: reports/fleet/search.py
describes them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from client_telemetry.identity.hosts import NO_HOSTS, HostNames
from client_telemetry.reports.fleet.search import (
    NEVER_PUSHED,
    SearchIndex,
    as_json,
    client_entry,
    instance_entry,
    names_of,
)
from client_telemetry.tables.clients import CLIENT_KEY

Row = Mapping[str, Any]

_WHO = (*CLIENT_KEY, "group_ids", "transactional_ids", "client_addresses")
_OF_INSTANCE = (
    *("place", *_WHO, "client_instance_id", "racks", "broker_ids"),
    *("pushes", "first_evidence_at", "last_evidence_at", "end_reason"),
)
_OF_CLIENT = (
    "place",
    *_WHO,
    "owner",
    "application",
    "connections",
    "instances",
    "first_seen_at",
    "last_seen_at",
)
_ENTRIES = "place bigint, text string, names array<string>"
_LAST = 2**62
"""The place of what follows the rows of a table."""


def search_index(
    cluster_name: str,
    day: str,
    clients: DataFrame,
    instances: DataFrame,
    never_pushed: DataFrame,
    hosts: HostNames = NO_HOSTS,
) -> SearchIndex:
    """`clients`: rows of `clients` with `client_addresses`, all of a client; `instances`: rows of `client_sessions`
    with the labels of each instance; both with their `place` in search.json, a number. `never_pushed`: rows of
    fleet_instances.given_instances.
    """
    silent = never_pushed.select(
        *CLIENT_KEY,
        *(
            F.lit(None).cast("array<string>").alias(name)
            for name in ("group_ids", "transactional_ids", "racks")
        ),
        *("client_instance_id", "client_addresses", "broker_ids", "first_evidence_at", "last_evidence_at"),
        F.lit(_LAST).alias("place"),
        F.lit(0).cast("bigint").alias("pushes"),
        F.lit(NEVER_PUSHED).alias("end_reason"),
    )
    rows = instances.select(*_OF_INSTANCE).unionByName(silent)
    of_clients = _entries(clients.select(*_OF_CLIENT), client_entry, hosts)
    of_instances = _entries(rows, instance_entry, hosts)
    ids = rows.select(F.lower(F.hex("client_instance_id")).alias("text")).distinct()
    names = of_clients.select("names").union(of_instances.select("names"))
    return SearchIndex(
        cluster_name,
        day,
        _texts(of_clients.sort("place", "text")),
        _texts(of_instances.sort("place", "text")),
        _texts(ids.sort("text")),
        _texts(names.select(F.explode("names").alias("text")).distinct().sort("text")),
    )


def _entries(
    rows: DataFrame, entry: Callable[[Row, HostNames], dict[str, Any]], hosts: HostNames
) -> DataFrame:
    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            row_dicts = batch.to_pylist()
            texts = pa.array((as_json(entry(row, hosts)) for row in row_dicts), pa.string())
            names = pa.array((sorted(names_of(row, hosts)) for row in row_dicts), pa.list_(pa.string()))
            yield pa.RecordBatch.from_arrays(
                [batch.column("place"), texts, names], names=["place", "text", "names"]
            )

    return rows.mapInArrow(work, _ENTRIES)


def _texts(rows: DataFrame) -> Iterator[str]:
    return (row["text"] for row in rows.select("text").toLocalIterator())
