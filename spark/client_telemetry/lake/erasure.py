"""Erasure: every row about a client or principal leaves all tables, their kept snapshots and the published files.

Raw objects are not rewritten: the report names those that still hold the client, because decoding such a day again
would bring it back.
"""

import html
import json
import re
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from pyarrow import fs
from pyiceberg.table import Table as IcebergTable
from pyiceberg.table import Transaction
from pyiceberg.table.update.snapshot import ManageSnapshots

from client_telemetry.formats.raw.file_system import file_system
from client_telemetry.lake import refs
from client_telemetry.lake.branch import drop_branch
from client_telemetry.lake.catalog import CATALOG, NAMESPACE
from client_telemetry.lake.lake import Lake
from client_telemetry.lake.maintenance import (
    again_if_overtaken,
    delete_unreferenced,
    expire,
    files_of,
    remove_orphans,
)
from client_telemetry.subscriptions.instances import kafka_uuid
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.clients import CLIENTS
from client_telemetry.tables.connection_events import CONNECTION_EVENTS
from client_telemetry.tables.quality_results import QUALITY_RESULTS
from client_telemetry.tables.undecodable_records import UNDECODABLE_RECORDS

_BY_INSTANCE = ("client_metrics", "client_metric_histograms")
"""Tables that identify a client by the ids of its instances only."""
_ATTEMPTS = 20
"""To delete rows of a cluster while its stages publish: nobody retries it later."""
_FACTS = (*_BY_INSTANCE, UNDECODABLE_RECORDS.name, CLIENT_PUSHES.name, CONNECTION_EVENTS.name)
"""The order of deletion: facts before what is derived from them, and tables that need the instance ids before
`client_pushes`, which has them, so that an interrupted erasure can be run again.
"""
_TEXTS = (".html", ".json", ".csv")
_CAMPAIGNS = "upgrade_campaign"
"""Below the published files: a folder for each campaign, which may have several clusters (reports/campaign/publish.py)."""
_KEPT_STATES = "campaign_states"
"""The states that a campaign's next run continues from, a shortcut (reports/campaign/kept_file.py)."""


@dataclass
class Erased:
    """What was erased, and what still holds the client."""

    rows: dict[str, int] = field(default_factory=dict)
    related: int = 0
    """Rows about other clients that listed it as related."""
    report_tags: list[str] = field(default_factory=list)
    published_folders: list[str] = field(default_factory=list)
    raw_objects: list[str] = field(default_factory=list)

    @property
    def as_dict(self) -> dict[str, object]:
        return asdict(self)


def erase(
    lake: Lake, cluster_id: str, who: Mapping[str, str], publish: str | None = None, cluster_name: str = ""
) -> Erased:
    """`who`: `client_id`, `principal` or both (rows must match all). `publish`: URL of the published files, where the
    cluster's folders are named `cluster_name`. Progress is printed step by step: if an attempt is interrupted, its
    log is the only record.
    """
    erased = Erased()
    tables = lake.recover()
    instances = _instances(lake, tables, cluster_id, who)
    conditions = _conditions(tables, cluster_id, who, instances)
    objects: set[str] = set()
    for table in (CLIENT_PUSHES, CONNECTION_EVENTS, UNDECODABLE_RECORDS):
        if table.name in conditions:
            rows = lake.read(table).where(conditions[table.name])
            objects.update(row[0] for row in rows.select("source_object").distinct().collect())
    erased.raw_objects = sorted(objects)
    for name in erased.raw_objects:
        print(f"raw object that holds the client: {name}", flush=True)
    # Facts first: what stages derive from then on does not contain the client, and what they derived before they cannot
    # publish.
    erasure = {refs.ERASED + cluster_id: uuid.uuid4().hex}
    began_ms = int(time.time() * 1000)

    def mark(_: IcebergTable, transaction: Transaction) -> None:
        transaction.set_properties(erasure)

    for name, condition in conditions.items():
        lake.committed(name, mark)
        erased.rows[name] = _delete(lake, name, condition)
    # Once more: publications that were decided before a table was marked are complete now.
    tables = lake.recover()
    for name, condition in conditions.items():
        erased.rows[name] += _delete(lake, name, condition)
        erased.report_tags += _forget_tags(lake, name, tables[name], condition)
        _drop_branches(lake, name, cluster_id, began_ms)
        if name == CLIENTS.name and "client_id" in who:
            erased.related = _forget_related(lake, cluster_id, who)
        expire(lake, name, "now()")
        remove_orphans(lake, name, _ATTEMPTS)
    erased.report_tags = sorted(set(erased.report_tags))
    if publish:
        erased.published_folders = _forget_published(publish, cluster_name, who)
    return erased


def _instances(
    lake: Lake, tables: Mapping[str, IcebergTable], cluster_id: str, who: Mapping[str, str]
) -> list[str]:
    """Ids of the client's instances, in hex, from all tables that have both: its pushes may be past their retention."""
    ids: set[str] = set()
    for name, iceberg in tables.items():
        columns = iceberg.schema().column_names
        if {"client_instance_id", *who} <= set(columns):
            rows = lake.session.table(f"{CATALOG}.{NAMESPACE}.{name}").where(
                _where({"cluster_id": cluster_id, **who})
            )
            ids.update(row[0] for row in rows.selectExpr("hex(client_instance_id)").distinct().collect())
    return sorted(filter(None, ids))


def _delete(lake: Lake, name: str, condition: str) -> int:
    """Delete the matching rows of a table, including those that a stage adds meanwhile; returns their number."""

    def statement() -> int:
        count = lake.session.table(f"{CATALOG}.{NAMESPACE}.{name}").where(condition).count()
        if count:
            lake.session.sql(f"DELETE FROM {CATALOG}.{NAMESPACE}.{name} WHERE {condition}")
        return count

    rows = again_if_overtaken(statement, _ATTEMPTS)
    if rows:
        print(f"{rows:,} rows of {name} deleted", flush=True)
    return rows


def _forget_related(lake: Lake, cluster_id: str, who: Mapping[str, str]) -> int:
    """Remove the client from the lists of related clients in rows about others; returns the number of such rows."""
    table = f"{CATALOG}.{NAMESPACE}.{CLIENTS.name}"
    is_client = _where({"client_id": who["client_id"]})
    condition = _where({"cluster_id": cluster_id, **{n: v for n, v in who.items() if n != "client_id"}})
    condition += f" AND exists(related, one -> one.{is_client})"

    def statement() -> int:
        rows = lake.session.table(table).where(condition).count()
        if rows:
            remaining = f"filter(related, one -> one.client_id IS NULL OR NOT one.{is_client})"
            lake.session.sql(f"UPDATE {table} SET related = {remaining} WHERE {condition}")
        return rows

    return again_if_overtaken(statement, _ATTEMPTS)


def _drop_branches(lake: Lake, name: str, cluster_id: str, before_ms: int) -> None:
    """Drop what stages of the cluster staged before the erasure, with its files: it can no longer be published, and
    after a failed gate it would stay for days.
    """
    iceberg = lake.known_table(name)
    for leftover in refs.leftovers({name: iceberg}):
        staged = refs.lineage(iceberg.metadata, leftover.branch)
        if leftover.partitions.get("cluster_id") != cluster_id or staged[-1].timestamp_ms >= before_ms:
            continue
        paths = {path for snapshot in staged for path in files_of(iceberg, snapshot)}
        drop_branch(lake, name, leftover.branch)
        delete_unreferenced(lake, name, paths)


def _conditions(
    tables: Mapping[str, IcebergTable], cluster_id: str, who: Mapping[str, str], instances: Sequence[str]
) -> dict[str, str]:
    """Table -> SQL condition for its rows about the client; tables without such rows are left out."""
    of_cluster = _where({"cluster_id": cluster_id})
    ids = ", ".join(f"X'{instance}'" for instance in instances)
    of_instances = f"client_instance_id IN ({ids})" if instances else "false"
    named = " AND ".join(f"contains(bytes, X'{value.encode().hex()}')" for value in who.values())
    conditions = {}
    order = sorted(tables, key=lambda name: _FACTS.index(name) if name in _FACTS else len(_FACTS))
    for name, iceberg in ((name, tables[name]) for name in order):
        if who.keys() <= set(iceberg.schema().column_names):
            conditions[name] = _where({"cluster_id": cluster_id, **who})
        elif name == UNDECODABLE_RECORDS.name:
            conditions[name] = f"{of_cluster} AND (({named}) OR {of_instances})"
        elif name == QUALITY_RESULTS.name and "result" in iceberg.schema().column_names:
            conditions[name] = f"{of_cluster} AND {_in_examples(who, instances)}"
        elif name in _BY_INSTANCE and instances:
            conditions[name] = f"{of_cluster} AND {of_instances}"
    return conditions


def _in_examples(who: Mapping[str, str], instances: Sequence[str]) -> str:
    """Whether the examples of a quality result name the client: they are JSON, with ids of instances as Kafka writes them, or in hex
    in results of versions before 0.2."""
    named = " AND ".join(
        f"contains(result, {_literal(json.dumps({name: value})[1:-1])})" for name, value in who.items()
    )
    texts = [text for each in instances for text in (kafka_uuid(bytes.fromhex(each)), each.lower())]
    ids = [f"contains(result, {_literal(text)})" for text in texts]
    return f"(({named}){''.join(f' OR {each}' for each in ids)})"


def _where(equal: Mapping[str, str]) -> str:
    return " AND ".join(f"`{name}` = {_literal(value)}" for name, value in equal.items())


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _forget_tags(lake: Lake, name: str, iceberg: IcebergTable, condition: str) -> list[str]:
    """Remove the tags of snapshots with such rows: reports keep their findings about others, but not their evidence."""
    tags = []
    for ref, reference in iceberg.metadata.refs.items():
        if reference.snapshot_ref_type.value == "tag":
            rows = lake.session.read.option("versionAsOf", str(reference.snapshot_id))
            if rows.table(f"{CATALOG}.{NAMESPACE}.{name}").where(condition).limit(1).count():
                tags.append(ref)

    def change(_: IcebergTable, transaction: Transaction) -> None:
        for ref in tags:
            ManageSnapshots(transaction).remove_tag(ref).commit()

    if tags:
        lake.committed(name, change)
    return tags


def _forget_published(publish: str, cluster: str, who: Mapping[str, str]) -> list[str]:
    """Remove the cluster's pages, reports and reviews, and the campaigns, in which a file names the client, each with all its
    files, such as `fleet/orders/2026-11-21`, and what campaigns keep for their next run. A run publishes them again
    without the client.
    """
    files, root = file_system(publish)
    named = _named(who.values())
    of_cluster = [folder for kind in _folders(files, root) for folder in _folders(files, f"{kind}/{cluster}")]
    campaigns = _folders(files, f"{root.rstrip('/')}/{_CAMPAIGNS}")
    going = {folder for folder in (*of_cluster, *campaigns) if _names(files, folder, named)}
    kept = {folder for folder in _folders(files, root) if folder.rpartition("/")[2] == _KEPT_STATES}
    removed = []
    for folder in sorted(going | kept):
        files.delete_dir(folder)
        removed.append(folder[len(root) :].strip("/"))
        print(f"published folder removed: {removed[-1]}", flush=True)
    return sorted(removed)


def _folders(files: fs.FileSystem, folder: str) -> list[str]:
    infos = files.get_file_info(fs.FileSelector(folder, allow_not_found=True))
    return sorted(info.path for info in infos if info.type == fs.FileType.Directory)


def _names(files: fs.FileSystem, folder: str, named: re.Pattern[bytes]) -> bool:
    for info in files.get_file_info(fs.FileSelector(folder, recursive=True)):
        if info.type == fs.FileType.File and info.path.endswith(_TEXTS):
            with files.open_input_file(info.path) as source:
                if named.search(source.read()):
                    return True
    return False


def _named(values: Iterable[str]) -> re.Pattern[bytes]:
    """Matches a name as a whole value: of JSON (not a key), a cell of CSV, the text of an element or an attribute of
    HTML. Words of sentences do not count, or a client called `consumer` would take every page with it; a page that
    names a client in a sentence has it in a list too.

    >>> named = _named(["a&b"])
    >>> [bool(named.search(text)) for text in (b"<td>a&amp;b</td>", b'{"id": "a&b"}', b'x,"a&b",1')]
    [True, True, True]
    >>> named = _named(["bob"])
    >>> [bool(named.search(text)) for text in (b'{"bob": 1}', b"<p>to bob</p>", b"bobby,bob-2")]
    [False, False, False]
    """
    patterns = []
    for value in values:
        in_json = {json.dumps(value), json.dumps(value, ensure_ascii=False)}
        patterns += [re.escape(text.encode()) + rb"(?!\s*:)" for text in in_json]
        cell = re.escape(value.replace('"', '""').encode())
        patterns.append(rb"(?:^|(?<=[,\r\n]))(?:\"'?" + cell + rb'"|' + cell + rb")(?=[,\r\n]|$)")
        patterns.append(
            rb"(?<=[>\"])\s*" + re.escape(html.escape(value).encode()) + rb"\s*(?=[<\"])(?!\"\s*:)"
        )
    return re.compile(b"|".join(patterns))
