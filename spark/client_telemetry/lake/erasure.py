"""Erasure: every row about a client or principal leaves all tables, their kept snapshots and the published files.

Raw objects are not rewritten: the report names those that still hold the client, because a day that is decoded again would
bring it back.
"""

import html
import json
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, cast
from urllib.parse import quote

from pyarrow import fs
from pyiceberg.table import Table as IcebergTable
from pyiceberg.table import Transaction
from pyiceberg.table.update import RemoveSnapshotRefUpdate

from client_telemetry.lake import refs
from client_telemetry.lake.catalog import CATALOG, NAMESPACE
from client_telemetry.lake.lake import Lake
from client_telemetry.lake.maintenance import again_if_overtaken, expire
from client_telemetry.raw.file_system import file_system
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.connection_events import CONNECTION_EVENTS
from client_telemetry.tables.undecodable_records import UNDECODABLE_RECORDS

_BY_INSTANCE = ("client_metrics", "client_metric_histograms")
"""Tables that know a client by the ids of its instances only."""
_ATTEMPTS = 20
"""To delete rows of a cluster whose stages publish meanwhile: nobody does it later."""
_TEXTS = (".html", ".json", ".csv", ".md")


@dataclass
class Erased:
    """What was erased, and what still holds the client."""

    rows: dict[str, int] = field(default_factory=dict)
    report_tags: list[str] = field(default_factory=list)
    published_folders: list[str] = field(default_factory=list)
    raw_objects: list[str] = field(default_factory=list)

    @property
    def as_dict(self) -> dict[str, object]:
        return asdict(self)


def erase(lake: Lake, cluster_id: str, who: Mapping[str, str], publish: str | None) -> Erased:
    """`who`: `client_id`, `principal` or both (rows that match all). `publish`: URL of the published files."""
    done = Erased()
    tables = lake.recover()
    where = _where({"cluster_id": cluster_id, **who})
    instances: list[str] = []
    if CLIENT_PUSHES.name in tables:
        ids = lake.read(CLIENT_PUSHES).where(where).selectExpr("hex(client_instance_id)").distinct().collect()
        instances = sorted(row[0] for row in ids if row[0])
    conditions = _conditions(tables, cluster_id, who, instances)
    objects: set[str] = set()
    for table in (CLIENT_PUSHES, CONNECTION_EVENTS, UNDECODABLE_RECORDS):
        if table.name in conditions:
            rows = lake.read(table).where(conditions[table.name])
            objects.update(row[0] for row in rows.select("source_object").distinct().collect())
    done.raw_objects = sorted(objects)
    # Facts first: what a stage derives from then on does not hold the client, and what it has derived it cannot publish.
    erasure = {refs.ERASED + cluster_id: uuid.uuid4().hex}

    def mark(_: IcebergTable, transaction: Transaction) -> None:
        transaction.set_properties(erasure)

    for name, condition in conditions.items():
        lake.committed(name, mark)
        done.rows[name] = _delete(lake, name, condition)
    # Once more: publications that were decided before a table had the mark are complete now.
    tables = lake.recover()
    for name, condition in conditions.items():
        done.rows[name] += _delete(lake, name, condition)
        done.report_tags += _forget_tags(lake, name, tables[name], condition)
        expire(lake, name, "now()")
    done.report_tags = sorted(set(done.report_tags))
    if publish:
        done.published_folders = _forget_published(publish, who)
    return done


def _delete(lake: Lake, name: str, condition: str) -> int:
    """Delete the rows of a table that match, those too that a stage adds meanwhile; how many they were."""

    def statement() -> int:
        found = lake.session.table(f"{CATALOG}.{NAMESPACE}.{name}").where(condition).count()
        if found:
            lake.session.sql(f"DELETE FROM {CATALOG}.{NAMESPACE}.{name} WHERE {condition}")
        return found

    return again_if_overtaken(statement, _ATTEMPTS)


def _conditions(
    tables: Mapping[str, IcebergTable], cluster_id: str, who: Mapping[str, str], instances: Sequence[str]
) -> dict[str, str]:
    """Table to what its rows about the client are, as SQL; tables without such rows are left out."""
    of_cluster = _where({"cluster_id": cluster_id})
    ids = ", ".join(f"X'{each}'" for each in instances)
    of_instances = f"client_instance_id IN ({ids})" if instances else "false"
    named = " AND ".join(f"contains(bytes, X'{value.encode().hex()}')" for value in who.values())
    found = {}
    for name, iceberg in tables.items():
        if who.keys() <= set(iceberg.schema().column_names):
            found[name] = _where({"cluster_id": cluster_id, **who})
        elif name == UNDECODABLE_RECORDS.name:
            found[name] = f"{of_cluster} AND (({named}) OR {of_instances})"
        elif name in _BY_INSTANCE and instances:
            found[name] = f"{of_cluster} AND {of_instances}"
    return found


def _where(equal: Mapping[str, str]) -> str:
    def literal(text: str) -> str:
        escaped = text.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{escaped}'"

    return " AND ".join(f"`{name}` = {literal(value)}" for name, value in equal.items())


def _forget_tags(lake: Lake, name: str, iceberg: IcebergTable, condition: str) -> list[str]:
    """Remove the tags of snapshots that hold such rows: reports keep their findings about others, not their evidence."""
    tags = []
    for ref, reference in iceberg.metadata.refs.items():
        if reference.snapshot_ref_type.value == "tag":
            rows = lake.session.read.option("versionAsOf", str(reference.snapshot_id))
            if rows.table(f"{CATALOG}.{NAMESPACE}.{name}").where(condition).limit(1).count():
                tags.append(ref)

    def change(_: IcebergTable, transaction: Transaction) -> None:
        for ref in tags:
            transaction._apply((cast("Any", RemoveSnapshotRefUpdate)(ref_name=ref),))

    if tags:
        lake.committed(name, change)
    return tags


def _forget_published(publish: str, who: Mapping[str, str]) -> list[str]:
    """Remove the folders of pages and reports in which a file names the client. A run publishes them again without it."""
    files, root = file_system(publish)
    named = _named(who.values())
    folders = set()
    for info in files.get_file_info(fs.FileSelector(root, recursive=True, allow_not_found=True)):
        if info.type == fs.FileType.File and info.path.endswith(_TEXTS):
            with files.open_input_file(info.path) as source:
                text = source.read()
            if named.search(text):
                folders.add(info.path.rpartition("/")[0])
    for folder in folders:
        files.delete_dir(folder)
    return sorted(folder[len(root) :].strip("/") for folder in folders)


def _named(values: Iterable[str]) -> re.Pattern[bytes]:
    """A name as HTML, JSON, CSV and URLs have it, and not as a part of a longer one.

    >>> bool(_named(["a&b"]).search(b"<td>a&amp;b</td>")), bool(_named(["bob"]).search(b"bobby, bob-2"))
    (True, False)
    """
    forms = {
        form
        for value in values
        for form in (
            value,
            html.escape(value),
            json.dumps(value)[1:-1],
            json.dumps(value, ensure_ascii=False)[1:-1],
            value.replace('"', '""'),
            quote(value, safe=""),
        )
    }
    longest_first = sorted(forms, key=len, reverse=True)
    either = b"|".join(re.escape(form.encode()) for form in longest_first)
    return re.compile(rb"(?<![\w.-])(?:" + either + rb")(?![\w-]|\.\w)")
