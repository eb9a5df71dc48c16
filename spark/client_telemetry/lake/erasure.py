"""Erasure: every row about a client or principal leaves all tables, their kept snapshots and the published files.

Raw objects are not rewritten: the report names those that still hold the client, because a day that is decoded again would
bring it back.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from pyarrow import fs
from pyiceberg.table import Table as IcebergTable
from pyiceberg.table import Transaction
from pyiceberg.table.update import RemoveSnapshotRefUpdate

from client_telemetry.lake.catalog import CATALOG, NAMESPACE
from client_telemetry.lake.lake import Lake
from client_telemetry.raw.file_system import file_system
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.connection_events import CONNECTION_EVENTS

_BY_INSTANCE = ("client_metrics", "client_metric_histograms")
"""Tables that know a client by the ids of its instances only."""
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
    for table in (CLIENT_PUSHES, CONNECTION_EVENTS):
        if table.name in tables:
            rows = lake.read(table).where(where)
            done.raw_objects += [r[0] for r in rows.select("source_object").distinct().collect()]
            if table is CLIENT_PUSHES:
                ids = rows.selectExpr("hex(client_instance_id)").distinct().collect()
                instances = [r[0] for r in ids if r[0]]
    done.raw_objects = sorted(set(done.raw_objects))
    # Facts first: a stage that runs meanwhile then derives nothing about the client from them.
    for name, iceberg in tables.items():
        columns = set(iceberg.schema().column_names)
        if who.keys() <= columns:
            condition = where
        elif name in _BY_INSTANCE and instances:
            ids = ", ".join(f"X'{each}'" for each in instances)
            condition = f"{_where({'cluster_id': cluster_id})} AND client_instance_id IN ({ids})"
        else:
            continue
        done.report_tags += _forget_tags(lake, name, iceberg, condition)
        found = lake.spark.table(f"{CATALOG}.{NAMESPACE}.{name}").where(condition).count()
        if found:
            lake.spark.sql(f"DELETE FROM {CATALOG}.{NAMESPACE}.{name} WHERE {condition}")
        done.rows[name] = found
        lake.spark.sql(
            f"CALL {CATALOG}.system.expire_snapshots(table => '{CATALOG}.{NAMESPACE}.{name}', older_than => now(), retain_last => 1)"
        )
    done.report_tags = sorted(set(done.report_tags))
    if publish:
        done.published_folders = _forget_published(publish, who)
    return done


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
            rows = lake.spark.read.option("versionAsOf", str(reference.snapshot_id))
            if rows.table(f"{CATALOG}.{NAMESPACE}.{name}").where(condition).limit(1).count():
                tags.append(ref)

    def change(_: IcebergTable, transaction: Transaction) -> None:
        for ref in tags:
            transaction._apply((RemoveSnapshotRefUpdate(ref_name=ref),))

    if tags:
        lake.committed(name, change)
    return tags


def _forget_published(publish: str, who: Mapping[str, str]) -> list[str]:
    """Remove the folders of pages and reports in which a file names the client. A run publishes them again without it."""
    files, root = file_system(publish)
    folders = set()
    for info in files.get_file_info(fs.FileSelector(root, recursive=True, allow_not_found=True)):
        if info.type == fs.FileType.File and info.path.endswith(_TEXTS):
            with files.open_input_file(info.path) as source:
                text = source.read()
            if any(value.encode() in text for value in who.values()):
                folders.add(info.path.rpartition("/")[0])
    for folder in folders:
        files.delete_dir(folder)
    return sorted(folder[len(root) :].strip("/") for folder in folders)
