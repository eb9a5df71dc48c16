"""The contents of a day's search.json and the files next to it, made by Spark's workers: reports/fleet/search.py
describes them.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import itemgetter

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from client_telemetry.identity.hosts import NO_HOSTS, HostNames
from client_telemetry.reports.fleet.search import (
    NEVER_PUSHED,
    SearchedRow,
    SearchIndex,
    as_json,
    client_entry,
    instance_entry,
    names_of,
)
from client_telemetry.subscriptions.instances import kafka_uuid
from client_telemetry.tables.clients import CLIENT_KEY

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
_ROWS = "kind int, place bigint, text string"
_CLIENTS, _INSTANCES, _IDS, _NAMES = range(4)
"""Kinds of texts, in the order in which SearchIndex has them."""
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
    of_clients = _texts(clients.select(*_OF_CLIENT), _CLIENTS, client_entry, hosts)
    of_instances = _texts(rows, _INSTANCES, instance_entry, hosts)
    texts = of_clients.union(of_instances).sort("kind", "place", "text").select("kind", "text")
    in_turn = _InTurn((row["kind"], row["text"]) for row in texts.toLocalIterator())
    return SearchIndex(
        cluster_name,
        day,
        in_turn.texts(_CLIENTS),
        in_turn.texts(_INSTANCES),
        in_turn.distinct(_IDS),
        in_turn.distinct(_NAMES),
    )


class _InTurn:
    """Sorted (kind, text) rows kind by kind. Each is gone through once, in the order of the kinds, so that they come from one
    query and none is in memory.
    """

    def __init__(self, rows: Iterable[tuple[int, str]]) -> None:
        self._kinds = groupby(rows, itemgetter(0))
        self._next: tuple[int, Iterator[tuple[int, str]]] | None = None
        self._begun = False

    def texts(self, kind: int) -> Iterator[str]:
        """Raises RuntimeError out of turn."""
        if not self._begun:
            self._begun, self._next = True, next(self._kinds, None)
        if self._next is not None and self._next[0] < kind:
            raise RuntimeError(f"texts {kind} of the search before texts {self._next[0]}")
        if self._next is not None and self._next[0] == kind:
            yield from (text for _, text in self._next[1])
            self._next = next(self._kinds, None)

    def distinct(self, kind: int) -> Iterator[str]:
        return (text for text, _ in groupby(self.texts(kind)))


def _texts(
    rows: DataFrame, kind: int, entry: Callable[[SearchedRow, HostNames], dict[str, object]], hosts: HostNames
) -> DataFrame:
    """Of each row its entry, the names that it is found by, and its instance id if it has one."""

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            row_dicts = batch.to_pylist()
            names = {name for row in row_dicts for name in names_of(row, hosts)}
            ids = {
                kafka_uuid(bytes(row["client_instance_id"]))
                for row in row_dicts
                if "client_instance_id" in row
            }
            found = [
                *((kind, row["place"], as_json(entry(row, hosts))) for row in row_dicts),
                *((_IDS, 0, each) for each in ids),
                *((_NAMES, 0, name) for name in names),
            ]
            columns = list(zip(*found, strict=True)) or [()] * 3
            kinds = (pa.int32(), pa.int64(), pa.string())
            yield pa.RecordBatch.from_arrays(
                [pa.array(column, type_) for column, type_ in zip(columns, kinds, strict=True)],
                names=["kind", "place", "text"],
            )

    return rows.mapInArrow(work, _ROWS)
