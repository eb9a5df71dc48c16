"""What one attempt of a stage writes, out of the readers' sight, and how readers get to see it.

A branch of a table holds the staged rows alone. Publishing replaces the branch's partitions in main as it is then by the
staged files: a change of metadata, made again if somebody else was first.
"""

import datetime as dt
import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, cast

from pyiceberg.expressions import BooleanExpression
from pyiceberg.expressions.visitors import ROWS_MUST_MATCH, _StrictMetricsEvaluator
from pyiceberg.io.pyarrow import parquet_file_to_data_file
from pyiceberg.manifest import DataFile as IcebergFile
from pyiceberg.table import Table as IcebergTable
from pyiceberg.table import Transaction
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.snapshots import Operation
from pyiceberg.table.update import RemoveSnapshotRefUpdate, RemoveSnapshotsUpdate
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from client_telemetry.lake import files, refs
from client_telemetry.lake.catalog import CATALOG, FORGETS_BRANCHES, NAMESPACE, NoSuchLake
from client_telemetry.lake.commits import ConcurrentCommit, Superseded
from client_telemetry.lake.files import PartitionFile
from client_telemetry.lake.writer import TablePlace, write_rows
from client_telemetry.tables.publications import PUBLICATIONS
from client_telemetry.tables.table import Table

if TYPE_CHECKING:
    from client_telemetry.lake.lake import Lake


_PUBLICATION_FILES = 16
"""Maximum number of files of a cluster in `publications`; beyond that they are merged into one. Each run reads all of
them.
"""


class Branch:
    """The branches of one attempt of a stage, one for each table that it writes."""

    def __init__(self, lake: "Lake", name: str, cluster_id: str, tables: Mapping[str, IcebergTable]):
        """`tables`: as they were before the stage read anything."""
        self.lake = lake
        self.name = name
        self._erased = refs.ERASED + cluster_id
        self._erasures = {table: iceberg.properties.get(self._erased) for table, iceberg in tables.items()}
        self.attempt = uuid.uuid4().hex
        self._base: dict[Table, tuple[int, dict[str, object]]] = {}
        """Table to the snapshot that main had, and the partitions that the branch replaces."""

    def _stage(self, table: Table, urls: Sequence[str], partitions: dict[str, object]) -> None:
        """Make the branch with these files in it, in place of what an earlier attempt of this name left."""
        if table in self._base:
            raise ValueError(f"{table.name} is written twice by {self.name}")
        properties = {
            refs.ATTEMPT: self.attempt,
            refs.PARTITIONS: json.dumps(partitions, default=str, sort_keys=True),
        }

        def change(iceberg: IcebergTable, transaction: Transaction) -> None:
            with transaction.update_snapshot(properties, branch=self.name).fast_append() as append:
                for url in urls:
                    append.append_data_file(_registered(iceberg, url))

        self._displace(table)
        iceberg = self.lake.committed(table.name, change)
        if self.name not in iceberg.metadata.refs:
            raise NoSuchLake(FORGETS_BRANCHES)
        self._base[table] = (iceberg.metadata.refs["main"].snapshot_id, partitions)

    def _displace(self, table: Table) -> None:
        """Remove the branch of an earlier attempt of this name, which cannot publish any more then. If it has decided to, that is
        completed."""
        if self.name not in self.lake.table(table).metadata.refs:
            return
        drop_branch(self.lake, table.name, self.name, lambda metadata: not _is_decided(metadata, self.name))
        metadata = self.lake.table(table).metadata
        if self.name in metadata.refs:
            finish(self.lake, refs.attempt(metadata, self.name) or "")

    def replace(self, table: Table, parts: Sequence[DataFrame], **partitions: object) -> None:
        """Replace the partitions whose columns equal `partitions` (a list means any of them) by the rows of all
        `parts`."""
        self._stage(table, [], partitions)
        (
            reduce(DataFrame.unionByName, parts)
            .select(*[F.col(c.name).cast(c.kind) for c in table.columns])
            .writeTo(f"{CATALOG}.{NAMESPACE}.{table.name}.branch_{self.name}")
            .option("check-nullability", "false")
            # Otherwise every row is sorted by the partition columns, of which there are one or few values here.
            .option("fanout-enabled", "true")
            .append()
        )

    def replace_rows(self, table: Table, rows: Sequence[Mapping[str, object]], **partitions: object) -> None:
        """The same for rows that the driver holds."""
        self._stage(table, write_rows(table, TablePlace.of(self.lake.table(table)), rows), partitions)

    def replace_files(self, table: Table, urls: Sequence[str], **partitions: object) -> None:
        """The same for Parquet files that workers wrote at their final place (writer.py)."""
        self._stage(table, urls, partitions)

    def read(self, table: Table) -> DataFrame:
        """What was staged; of a table that this attempt does not write, what readers see."""
        return self.lake.read(table, branch=self.name) if table in self._base else self.lake.read(table)

    def files(self, table: Table, **partitions: object) -> list[PartitionFile]:
        """Data files of what was staged."""
        iceberg = self.lake.table(table)
        return files.partition_files(iceberg, table, iceberg.metadata.refs[self.name].snapshot_id, partitions)

    def publish(self, cluster_id: str, run_id: str, stage: str, days: Sequence[dt.date]) -> None:
        """Apply the changes to main, table by table in the order of writing; then say so in `publications`.

        Raises ConcurrentCommit if another run changed the same partitions since they were staged, or a client was erased;
        Superseded if a later attempt of the same run has begun to write.
        """
        for table, (base, partitions) in self._base.items():
            self._check(table, base, partitions, self.lake.table(table))
        publication: dict[str, object] = {
            "cluster_id": cluster_id,
            "run_id": run_id,
            "stage": stage,
            "days": sorted(day.isoformat() for day in days),
        }
        staged = list(self._base.items())
        # From here on a failure may come after the commit that decides: the branches are what completes it.
        self._base.clear()
        for number, (table, (base, partitions)) in enumerate(staged):
            left = refs.Leftover(table.name, self.name, self.attempt, partitions)
            if number > 0:
                apply(self.lake, left)
                continue
            try:
                apply(self.lake, left, publication, partial(self._check, table, base, partitions))
            except (ConcurrentCommit, Superseded):
                self._base.update(staged)
                raise
        finish(self.lake, self.attempt)

    def _check(self, table: Table, base: int, partitions: dict[str, object], iceberg: IcebergTable) -> None:
        metadata = iceberg.metadata
        if iceberg.properties.get(self._erased) != self._erasures.get(table.name):
            raise ConcurrentCommit(f"{table.name}: a client was erased while {self.name} was written")
        if metadata.refs["main"].snapshot_id == base:
            return
        where = files.condition(iceberg, table, partitions)
        since = []
        for snapshot in refs.lineage(metadata, "main"):
            if snapshot.snapshot_id == base:
                break
            since.append(snapshot)
        else:
            raise ConcurrentCommit(f"{table.name}: what changed while {self.name} was written has expired")
        for snapshot in since:
            if snapshot.summary and snapshot.summary.operation == Operation.REPLACE:
                continue  # compaction: other files, the same rows
            for manifest in snapshot.manifests(iceberg.io):
                if manifest.added_snapshot_id != snapshot.snapshot_id:
                    continue
                for entry in manifest.fetch_manifest_entry(iceberg.io, discard_deleted=False):
                    ours = entry.snapshot_id == snapshot.snapshot_id and entry.status.value in (1, 2)
                    if ours and files.may_match(iceberg, where, entry.data_file):
                        raise ConcurrentCommit(
                            f"{table.name}: another run committed to the same partitions while {self.name} was written"
                        )

    def drop(self) -> None:
        """Remove the branches: nothing was published."""
        for table in self._base:
            _drop_own(self.lake, table.name, self.name, self.attempt)
        self._base.clear()


def apply(
    lake: "Lake",
    left: refs.Leftover,
    publication: dict[str, object] | None = None,
    check: Callable[[IcebergTable], None] = lambda _: None,
) -> None:
    """Replace a branch's partitions in main by what was staged, unless that is done already. With a `publication`, this
    is the table that decides, and its branch stays until `finish`. Raises Superseded if the branch is another attempt's by
    now."""
    if not left.partitions:
        raise ValueError(f"{left.table}: branch {left.branch} does not say what it replaces")
    table = lake.known(left.table)
    staged_metadata: list[str] = []

    def change(iceberg: IcebergTable, transaction: Transaction) -> None:
        metadata = iceberg.metadata
        staged_metadata.clear()
        if refs.published_by(metadata, left.attempt):
            return
        check(iceberg)
        if left.branch not in metadata.refs:
            raise ConcurrentCommit(f"{left.table}: {left.branch} was removed before it was published")
        if refs.attempt(metadata, left.branch) != left.attempt:
            raise Superseded(f"{left.table}: a later attempt of the same run writes to {left.branch}")
        properties = {refs.PUBLISHED: left.attempt}
        if publication is not None:
            properties[refs.PUBLICATION] = json.dumps(publication, sort_keys=True)
        head = metadata.refs[left.branch].snapshot_id
        staged = [plan.file for plan in files.planned(iceberg, head, files.all_of({}))]
        wanted = {
            name: {str(each) for each in (value if isinstance(value, list) else [value])}
            for name, value in left.partitions.items()
        }
        replace_matching(
            iceberg,
            table,
            transaction,
            files.condition(iceberg, table, left.partitions),
            lambda row: all(str(row[name]) in values for name, values in wanted.items()),
            staged,
            properties,
        )
        if publication is None:
            staged_metadata.extend(_remove_branch(iceberg, transaction, left.branch))

    iceberg = lake.committed(left.table, change)
    _forget(iceberg, staged_metadata)


def finish(lake: "Lake", attempt: str) -> None:
    """Complete a publication that has been decided: the other tables, the row in `publications`, the branches."""
    tables = lake.tables()
    left = [each for each in refs.leftovers(tables) if each.attempt == attempt]
    publication = next(
        json.loads(text)
        for iceberg in tables.values()
        if (snapshot := refs.published_by(iceberg.metadata, attempt))
        and (text := refs.summary(snapshot).get(refs.PUBLICATION))
    )
    pending = [each for each in left if not refs.published_by(tables[each.table].metadata, attempt)]
    for each in pending:
        apply(lake, each)
    tables = lake.tables()
    snapshots = {
        name: snapshot.snapshot_id
        for name, iceberg in tables.items()
        if (snapshot := refs.published_by(iceberg.metadata, attempt))
    }
    _record(lake, publication, snapshots)
    for each in left:
        if each not in pending:
            _drop_own(lake, each.table, each.branch, attempt)


def _record(lake: "Lake", publication: dict[str, object], snapshots: dict[str, int]) -> None:
    """The row of `publications`, once."""
    row = publication | {
        "days": [dt.date.fromisoformat(day) for day in cast("list[str]", publication["days"])],
        "snapshots": snapshots,
        "published_at": dt.datetime.now(dt.UTC),
    }
    place = TablePlace.of(lake.table(PUBLICATIONS))
    urls: list[str] = []
    same: dict[str, Any] = {name: row[name] for name in ("cluster_id", "run_id", "stage")}
    cluster = row["cluster_id"]

    def change(iceberg: IcebergTable, transaction: Transaction) -> None:
        where = files.condition(iceberg, PUBLICATIONS, {"cluster_id": cluster})
        if any(each["snapshots"] == snapshots for each in lake.rows_of(iceberg, PUBLICATIONS, **same)):
            return
        if len(files.planned(iceberg, None, where)) < _PUBLICATION_FILES:
            if not urls:
                urls.extend(write_rows(PUBLICATIONS, place, [row]))
            append_files(iceberg, transaction, urls)
            return
        known = lake.rows_of(iceberg, PUBLICATIONS, cluster_id=cluster)
        together = write_rows(PUBLICATIONS, place, [*known, row])
        replace_matching(
            iceberg,
            PUBLICATIONS,
            transaction,
            where,
            lambda each: each["cluster_id"] == cluster,
            [_registered(iceberg, url) for url in together],
        )

    lake.committed(PUBLICATIONS.name, change)


def append_files(iceberg: IcebergTable, transaction: Transaction, urls: Sequence[str]) -> None:
    """Register files in main beside those that are there."""
    with transaction.update_snapshot().merge_append() as append:
        for url in urls:
            append.append_data_file(_registered(iceberg, url))


def _registered(iceberg: IcebergTable, url: str) -> IcebergFile:
    return parquet_file_to_data_file(iceberg.io, iceberg.metadata, url)


def replace_matching(
    iceberg: IcebergTable,
    table: Table,
    transaction: Transaction,
    where: BooleanExpression,
    matches: Callable[[Mapping[str, Any]], bool],
    added: Sequence[IcebergFile] = (),
    properties: Mapping[str, str] | None = None,
) -> int:
    """Replace the rows of main that match by those of the added files, in one snapshot. `where` finds the files, `matches`
    the rows of those that another engine's layout filled with others too: these are written anew. Returns how many rows
    were in the files that went. Without `properties`, nothing to do is no snapshot."""
    # Files by this project's partition fields were chosen by them.
    evaluator = _StrictMetricsEvaluator(iceberg.schema(), where)
    identity = set(table.partition)
    plans = files.planned(iceberg, None, where)
    kept: list[IcebergFile] = []
    rows = 0
    for plan in plans:
        rows += plan.file.record_count
        shared = files.partition_of(iceberg, table, plan.file)
        if identity <= shared.keys() or evaluator.eval(plan.file) == ROWS_MUST_MATCH:
            continue
        rest = [
            row
            for group in files.whole(iceberg, table, plan).row_groups(table.arrow_schema, False)
            for row in group.to_pylist(maps_as_pydicts="strict")
            if not matches(row)
        ]
        rows -= len(rest)
        kept += [_registered(iceberg, url) for url in write_rows(table, TablePlace.of(iceberg), rest)]
    if properties is None and not plans:
        return 0
    with transaction.update_snapshot(dict(properties or {}), branch="main").overwrite() as overwrite:
        for plan in plans:
            overwrite.delete_data_file(plan.file)
        for file in [*added, *kept]:
            overwrite.append_data_file(file)
    return rows


def _is_decided(metadata: TableMetadata, branch: str) -> bool:
    """Whether main has the branch's change: the branch is there for those who complete the publication."""
    return refs.published_by(metadata, refs.attempt(metadata, branch) or "") is not None


def _drop_own(lake: "Lake", table: str, name: str, attempt: str) -> None:
    """Remove a branch, if it is this attempt's still."""
    drop_branch(lake, table, name, lambda metadata: refs.attempt(metadata, name) == attempt)


def drop_branch(
    lake: "Lake", table: str, name: str, if_: Callable[[TableMetadata], bool] = lambda _: True
) -> None:
    """Remove a branch of a table, if it is there and the condition holds, and its metadata files."""
    if name not in lake.known_table(table).metadata.refs:
        return
    paths: list[str] = []

    def change(iceberg: IcebergTable, transaction: Transaction) -> None:
        paths.clear()
        if if_(iceberg.metadata):
            paths.extend(_remove_branch(iceberg, transaction, name))

    _forget(lake.committed(table, change), paths)


def _remove_branch(iceberg: IcebergTable, transaction: Transaction, name: str) -> list[str]:
    """Remove a branch, if it is there, and its snapshots, of which nothing but data files may be in main. Returns the
    metadata files that nobody names any more once this is committed."""
    metadata = iceberg.metadata
    if name not in metadata.refs:
        return []
    transaction._apply((cast("Any", RemoveSnapshotRefUpdate)(ref_name=name),))
    own = refs.lineage(metadata, name)
    if refs.ATTEMPT not in refs.summary(own[-1]):
        return []  # made from main: its snapshots may be main's
    transaction._apply((cast("Any", RemoveSnapshotsUpdate)(snapshot_ids=[each.snapshot_id for each in own]),))
    manifests = [each.manifest_path for snapshot in own for each in snapshot.manifests(iceberg.io)]
    return [*manifests, *(each.manifest_list for each in own)]


def _forget(iceberg: IcebergTable, paths: Sequence[str]) -> None:
    """Delete metadata files of a branch that is gone; what is left by a killed run, maintenance removes."""
    for path in dict.fromkeys(paths):
        try:
            iceberg.io.delete(path)
        except OSError:
            pass
