"""The contents of a day's search.json and the files next to it: reports/fleet/search.py describes them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

import pyarrow as pa

from client_telemetry.fleet.instances import KEY
from client_telemetry.identity.hosts import NO_HOSTS, HostNames
from client_telemetry.pipeline.queries import Queries, Work, same
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
from client_telemetry.tables.clients import CLIENT_KEY, CLIENTS
from client_telemetry.tables.table import Table

_OF_CLIENT = (
    *(*CLIENT_KEY, "group_ids", "transactional_ids", "owner", "application"),
    *("connections", "instances", "first_seen_at", "last_seen_at"),
)
READ: Mapping[Table, Sequence[str]] = {CLIENTS: (*_OF_CLIENT, "address_sample")}
"""Columns that the queries need, beside those of instances.READ."""
_TEXTS = pa.schema([("kind", pa.int32()), ("place", pa.int64()), ("text", pa.string())])
_CLIENTS, _INSTANCES, _IDS, _NAMES = range(4)
"""Kinds of texts, in the order in which SearchIndex has them."""
_LAST = 2**62
"""The place of what follows the rows of a table."""

_SEARCHED_CLIENTS = f"""
select place, {", ".join(f"client.{name} as {name}" for name in _OF_CLIENT)},
    coalesce(seen.addresses, client.address_sample) as client_addresses
from clients as client
left join of_clients as seen on {same(CLIENT_KEY, "client", "seen", "<=>")}
"""
_SEARCHED_INSTANCES = f"""
select place, {KEY}, group_ids, transactional_ids, client_addresses, session.client_instance_id as client_instance_id, racks,
    broker_ids, pushes, first_evidence_at, last_evidence_at, end_reason
from client_sessions as session
left join resource_labels as label on label.client_instance_id = session.client_instance_id
union all
select cast({_LAST} as bigint), {KEY}, cast(null as array<string>), cast(null as array<string>), client_addresses,
    client_instance_id, cast(null as array<string>),
    broker_ids, cast(0 as bigint), first_evidence_at, last_evidence_at, '{NEVER_PUSHED}'
from never_pushed
"""


def search_index(queries: Queries, cluster_name: str, day: str, hosts: HostNames = NO_HOSTS) -> SearchIndex:
    """Of the relations of define_instances, `clients` and `client_sessions`."""
    queries.work("client_texts", _SEARCHED_CLIENTS, _texts(_CLIENTS, client_entry, hosts), _TEXTS)
    queries.work("instance_texts", _SEARCHED_INSTANCES, _texts(_INSTANCES, instance_entry, hosts), _TEXTS)
    texts = queries.in_order(
        "select kind, text, place from client_texts union all select kind, text, place from instance_texts",
        ("kind", "place", "text"),
    )
    in_turn = _InTurn((kind, text) for kind, text, _ in texts)
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


def _texts(kind: int, entry: Callable[[SearchedRow, HostNames], dict[str, object]], hosts: HostNames) -> Work:
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
            yield pa.RecordBatch.from_arrays(
                [pa.array(column, field.type) for column, field in zip(columns, _TEXTS, strict=True)],
                schema=_TEXTS,
            )

    return work
