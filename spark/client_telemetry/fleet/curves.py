"""A day over time, for the fleet page and the pages of clients: requests by API and version, refusals, open connections
and what instances measured themselves (KIP-714), in slots of equal length. reports/fleet/day_curves.py draws it.

Brokers report what a connection did between two of their snapshots, so requests are spread evenly over that time.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from client_telemetry.activity import event_files
from client_telemetry.activity.client_metrics import BY_NAME, COUNT, Series, series
from client_telemetry.activity.event_files import Uses
from client_telemetry.activity.samples import Values, means, rates
from client_telemetry.activity.table_evidence import METRIC_POINTS, OF_POINTS, instance_points
from client_telemetry.knowledge.kip511 import is_declared
from client_telemetry.lake.files import PartitionFile, files_by_task
from client_telemetry.pipeline.queries import Queries, Work
from client_telemetry.reports.fleet.day_curves import ClientFiles, Grid, GroupDay, bucket, client_text
from client_telemetry.review.metric_curves import MOST_GROUPS, SHOWN
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.clients import CLIENTS
from client_telemetry.tables.table import Table
from client_telemetry.workers.columns import expanded, numbered
from client_telemetry.workers.pieces import Pieces

CLIENTS_OF_A_FILE = 400
_CLIENT = ("client_id", "principal")
_SOFTWARE = ("client_software_name", "client_software_version")
_OF_SOFTWARE = "software"
SEEN = ("first_seen_at", "last_seen_at")
"""Columns of client_connections that `grid` needs."""
READ: Mapping[Table, Sequence[str]] = {
    **OF_POINTS,
    CLIENT_CONNECTIONS: (*_CLIENT, *_SOFTWARE, *SEEN),
    CLIENTS: (*_CLIENT, "owner"),
}
"""Columns that the queries need."""
_VERSIONS, _OWNERS = "versions", "owners"
_WHO = [(name, pa.string()) for name in (*_CLIENT, *_SOFTWARE)]
USED = pa.schema(
    [
        *_WHO,
        *((name, pa.int32()) for name in ("api_key", "api_version", "slot")),
        *((name, pa.float64()) for name in ("requests", "rejected")),
    ]
)
MEASURED = pa.schema([*_WHO, ("metric", pa.string()), ("slot", pa.int32()), ("value", pa.float64())])
_SHOWN = pa.schema([(name, pa.string()) for name in ("grouping", "name", "version")])
_TEXTS = pa.schema([("file", pa.int32()), *_WHO[:2], ("text", pa.string())])


def grid(connections: Iterable[pa.Table]) -> Grid | None:
    """Slots for the day's `client_connections`, given its columns SEEN; None for a day without any."""
    bounds = [
        (pc.min(rows["first_seen_at"]).value, pc.max(rows["last_seen_at"]).value)
        for rows in connections
        if len(rows)
    ]
    if not bounds:
        return None
    return Grid.of(min(since for since, _ in bounds) / 1e6, max(until for _, until in bounds) / 1e6)


def define_curves(queries: Queries, events: Sequence[PartitionFile], times: Grid) -> None:
    """What each client and software did in each slot: `used` (USED, to be summed), `opened` (`connections` that were open) and
    `measured` (MEASURED, one row per instance, metric and slot with a value). `events`: data files of connection_events."""
    tasks = files_by_task(events)
    buckets = event_files.tasks_for(events)

    def read(task: int) -> Pieces:
        return event_files.read(tasks[task], buckets)

    def work(pieces: Iterator[event_files.Events]) -> Iterator[pa.RecordBatch]:
        uses = event_files.of_connections(pieces, times.seconds)
        if uses is not None:
            yield from usage_of(uses, times).to_batches()

    queries.rows_of_pieces("used", queries.read_pieces(len(tasks), read).moved(buckets), work, USED)
    queries.define("opened", opened(times))
    measure = _measure(times)
    queries.work("measured", METRIC_POINTS, measure, MEASURED, ("client_instance_id",))
    for name in ("used", "opened", "measured"):
        queries.keep(name)


def usage_of(uses: Uses, times: Grid) -> pa.Table:
    """Columns USED: requests between two events are spread evenly over the slots between them."""
    used = uses.used[uses.used["requests"] + uses.used["rejected"] > 0]
    first, last = ((used[name] / 1e6 - times.since) / times.seconds for name in ("first_us", "last_us"))
    begin, end = (np.clip(np.floor(at), 0, times.slots - 1).astype(np.int64) for at in (first, last))
    slots = np.maximum(end - begin, 0) + 1
    of_use, slot = expanded(begin, slots)
    within = np.minimum(last[of_use], slot + 1) - np.maximum(first[of_use], slot)
    length = np.maximum(last - first, 1e-9)[of_use]
    share = np.where(slots[of_use] == 1, 1.0, np.maximum(within, 0.0) / length)
    codes, firsts = numbered([uses.clients[name] for name in (*_CLIENT, *_SOFTWARE)])
    keys = pa.table(
        {
            "who": codes[used["client"]][of_use],
            "api_key": used["api_key"][of_use],
            "version": used["version"][of_use],
            "slot": slot.astype(np.int32),
            "requests": used["requests"][of_use] * share,
            "rejected": used["rejected"][of_use] * share,
        }
    )
    added = keys.group_by(["who", "api_key", "version", "slot"]).aggregate(
        [("requests", "sum"), ("rejected", "sum")]
    )
    who = uses.clients.select([*_CLIENT, *_SOFTWARE]).take(firsts).take(added["who"])
    columns = {name: who[name] for name in who.column_names}
    columns |= {"api_key": added["api_key"], "api_version": added["version"], "slot": added["slot"]}
    columns |= {"requests": added["requests_sum"], "rejected": added["rejected_sum"]}
    return pa.table(columns).cast(USED)


def opened(times: Grid) -> str:
    """One row per client, software and slot: `connections` that were open."""
    first, last = (
        f"cast(least(greatest(floor((unix_micros({name}) - {round(times.since * 1e6)}) / {times.seconds * 1_000_000}), 0), "
        f"{times.slots - 1}) as int)"
        for name in SEEN
    )
    columns = ", ".join((*_CLIENT, *_SOFTWARE))
    return f"""
select {columns}, slot, count(*) as connections
from (select {columns}, explode(sequence({first}, {last})) as slot from client_connections)
group by {columns}, slot
"""


def _measure(times: Grid) -> Work:
    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = (row for batch in batches for row in batch.to_pylist())
        values = [
            value
            for instance_series in series(instance_points(rows))
            for value in _values(instance_series, times)
        ]
        columns = list(zip(*values, strict=True)) or [()] * len(MEASURED)
        arrays = [pa.array(column, field.type) for column, field in zip(columns, MEASURED, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=MEASURED)

    return work


def _values(instance_series: Series, times: Grid) -> Iterator[tuple[object, ...]]:
    _, *who = instance_series.instance
    edges = np.linspace(times.since, times.until, times.slots + 1)
    for name, own in instance_series.samples.items():
        metric = BY_NAME.get(name)
        if metric is None or name not in SHOWN:
            continue
        values = (
            rates(own, edges)
            if metric.kind == COUNT
            else _held(means(own, edges), instance_series.interval, times)
        )
        for slot, value in enumerate(values):
            if not math.isnan(value):
                yield (*who, name, slot, float(value))


def _held(values: Values, interval: float, times: Grid) -> Values:
    """A gauge keeps its value until the next push is due."""
    held = values.copy()
    longest, since = math.ceil(1.5 * interval / times.seconds), 0
    for slot in range(1, len(held)):
        since = 0 if not math.isnan(values[slot]) else since + 1
        if since and since < longest:
            held[slot] = held[slot - 1]
    return held


@dataclass(frozen=True)
class Groups:
    """Curves of the software versions and of the owners with the most clients. `api_keys`, `metrics`: of all clients."""

    versions: tuple[GroupDay, ...]
    owners: tuple[GroupDay, ...]
    api_keys: tuple[int, ...]
    metrics: tuple[str, ...]


_OWNED = """
select client_id as owned, coalesce(principal, '') as owned_principal, min(owner) as owner
from clients where owner is not null group by client_id, coalesce(principal, '')
"""
"""Clients without an owner belong to nobody."""


def _grouped(relation: str, columns: str) -> str:
    """Each row once for each group that it belongs to: that of its software version, and of its owner if it has one."""
    name, version = (f"coalesce({column}, '')" for column in _SOFTWARE)
    return f"""
select '{_VERSIONS}' as grouping, {name} as name, {version} as version, {columns} from {relation}
union all
select '{_OWNERS}', owner, '', {columns}
from {relation}
join owners on client_id <=> owned and coalesce(principal, '') = owned_principal
"""


_OF_GROUP = "grouped.grouping as grouping, grouped.name as name, grouped.version as version"


def _of_shown(relation: str, columns: str, values: str) -> str:
    by = f", {columns}" if columns else ""
    return f"""
select {_OF_GROUP}{by}, {values}
from {relation} as grouped
join shown as one on one.grouping = grouped.grouping and one.name = grouped.name and one.version = grouped.version
group by grouped.grouping, grouped.name, grouped.version{by}
"""


def groups(queries: Queries, times: Grid) -> Groups:
    """Of the relations of define_curves, and `clients`."""
    queries.define("owners", _OWNED)
    queries.define("used_by_group", _grouped("used", "api_key, api_version, slot, requests, rejected"))
    queries.define("opened_by_group", _grouped("opened", "client_id, principal, slot, connections"))
    queries.define("measured_by_group", _grouped("measured", "metric, slot, value"))
    shown = _with_most_clients(queries, times)
    queries.rows_of("shown", pa.Table.from_pylist([_group(key) for key in shown], _SHOWN))
    found = queries.answers(
        {
            "api": _of_shown(
                "used_by_group",
                "api_key, api_version, slot",
                "sum(requests) as requests, sum(rejected) as rejected",
            ),
            "connections": _of_shown(
                "opened_by_group", "slot", "cast(sum(connections) as bigint) as connections"
            ),
            "metric": _of_shown("measured_by_group", "metric, slot", "avg(value) as value"),
            "api_keys": "select distinct api_key from used",
            "metrics": "select distinct metric from measured",
        }
    )
    for row in found["api"]:
        own = _shown(shown, row)
        own.add_requests(row["api_key"], row["api_version"], row["slot"], row["requests"], row["rejected"])
    for row in found["connections"]:
        _shown(shown, row).add_connections(row["slot"], row["connections"])
    for row in found["metric"]:
        _shown(shown, row).add_metric(row["metric"], row["slot"], row["value"])
    versions, of_owners = (
        tuple(day for (of, *_), day in shown.items() if of == wanted) for wanted in (_VERSIONS, _OWNERS)
    )
    api_keys, metrics = (tuple(row[name] for row in found[f"{name}s"]) for name in ("api_key", "metric"))
    return Groups(versions, of_owners, api_keys, metrics)


_Key = tuple[str, str, str]


def _group(key: _Key) -> dict[str, str]:
    return dict(zip(_SHOWN.names, key, strict=True))


def _shown(shown: Mapping[_Key, GroupDay], row: Mapping[str, str]) -> GroupDay:
    return shown[row["grouping"], row["name"], row["version"]]


def _with_most_clients(queries: Queries, times: Grid) -> dict[_Key, GroupDay]:
    """Group -> its curves, still empty; of each kind those with the most clients, in this order."""
    counted = queries.answers(
        {
            "groups": "select grouping, name, version, count(distinct struct(client_id, principal)) as clients from opened_by_group "
            "group by grouping, name, version"
        }
    )["groups"]
    most = sorted(counted, key=lambda row: (-row["clients"], row["name"], row["version"]))
    return {
        (of, row["name"], row["version"]): GroupDay(
            row["name"], row["version"] if of == _VERSIONS else None, row["clients"], times
        )
        for of in (_VERSIONS, _OWNERS)
        for row in [row for row in most if row["grouping"] == of][:MOST_GROUPS]
    }


def _rounded(column: str, digits: int) -> str:
    """Half up. The function `round` of Spark looks at the decimal digits of a number, that of DuckDB at the number. A large number
    stays as it is: `floor` of Spark ends at 2^63 - 1, and of a double only a few digits are behind the point."""
    return f"case when abs({column}) < 1e12 then floor({column} * {10**digits} + 0.5) / {10**digits} else {column} end"


_SLOTS_OF_CLIENTS = f"""
select client_id, principal, kind, line, slot, sum(one) as sum, sum(other) as other, avg(one) as mean
from (
    select client_id, coalesce(principal, '') as principal, 'api' as kind,
        concat(cast(api_key as string), ':', cast(api_version as string)) as line, slot, requests as one, rejected as other
    from used
    union all
    select client_id, coalesce(principal, ''), 'connections', '', slot, cast(connections as double), cast(null as double)
    from opened
    union all
    select client_id, coalesce(principal, ''), 'metric', metric, slot, value, cast(null as double) from measured
    union all
    select client_id, coalesce(principal, ''), '{_OF_SOFTWARE}', concat_ws(' ', {", ".join(_SOFTWARE)}), cast(null as int),
        cast(null as double), cast(null as double)
    from opened where {is_declared(_SOFTWARE[0])}
)
group by client_id, principal, kind, line, slot
"""
_LINES_OF_CLIENTS = f"""
select client_id, principal, collect_list(named_struct('kind', kind, 'line', line, 'points', points)) as lines
from (
    select client_id, principal, kind, line,
        to_json(array_sort(collect_list(case kind
            when 'api' then array(cast(slot as double), {_rounded("sum", 2)}, {_rounded("other", 2)})
            when 'connections' then array(cast(slot as double), sum)
            when 'metric' then array(cast(slot as double), {_rounded("mean", 4)})
        end))) as points
    from ({_SLOTS_OF_CLIENTS})
    group by client_id, principal, kind, line
)
group by client_id, principal
"""
"""One row per client: its `lines`, each with kind, name (`line`) and `points` as JSON."""


def client_files(
    queries: Queries, groups: Groups, clients: int, times: Grid, marks: Sequence[tuple[float, str]]
) -> ClientFiles:
    """The curve data for the pages of clients: files of some hundred clients each, written as the texts arrive. Of the relations
    of define_curves."""
    number = max(1, -(-clients // CLIENTS_OF_A_FILE))

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = batch.to_pylist()
            file = pa.array([bucket(row["client_id"], row["principal"], number) for row in rows], pa.int32())
            text = pa.array(map(_client_text, rows), pa.string())
            yield pa.RecordBatch.from_arrays([file, *batch.columns[:2], text], schema=_TEXTS)

    queries.work("client_curves", _LINES_OF_CLIENTS, work, _TEXTS, _CLIENT)
    texts = queries.in_order("select * from client_curves", ("coalesce(client_id, '')", "principal"), "file")
    files = ((file, text) for file, _, _, text in texts)
    return ClientFiles(times, tuple(marks), number, groups.api_keys, groups.metrics, files)


class Line(TypedDict):
    """`points`: JSON."""

    kind: str
    line: str
    points: str


class ClientLines(TypedDict):
    client_id: str | None
    principal: str
    lines: list[Line]


def _client_text(row: ClientLines) -> str:
    software = [line["line"] for line in row["lines"] if line["kind"] == _OF_SOFTWARE]
    lines = [
        (line["kind"], line["line"], json.loads(line["points"]))
        for line in row["lines"]
        if line["kind"] != _OF_SOFTWARE
    ]
    return client_text(row["client_id"], row["principal"], software, lines)
