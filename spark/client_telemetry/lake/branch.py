"""What one attempt of a stage writes, invisible to readers, and how readers get to see it.

A table's branch holds the staged rows only. Publishing replaces the branch's partitions in main, as it is at that time,
by the staged files: a metadata change, repeated if somebody else committed first.
"""

import datetime as dt
import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Protocol, cast

import pyarrow as pa
from pyiceberg.expressions import BooleanExpression
from pyiceberg.expressions.visitors import ROWS_MUST_MATCH
from pyiceberg.io.pyarrow import parquet_file_to_data_file
from pyiceberg.manifest import DataFile as IcebergFile
from pyiceberg.table import Table as IcebergTable
from pyiceberg.table import Transaction
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.snapshots import Operation, Snapshot
from pyiceberg.table.update.snapshot import ExpireSnapshots, ManageSnapshots
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from client_telemetry.lake import files, refs
from client_telemetry.lake.catalog import CATALOG, FORGETS_BRANCHES, NAMESPACE, NoSuchLake
from client_telemetry.lake.commits import Change, ConcurrentCommit, Superseded
from client_telemetry.lake.files import PartitionFile
from client_telemetry.lake.iceberg_internals import MergingOverwrite, strict_metrics
from client_telemetry.lake.writer import TablePlace, write_rows, write_table
from client_telemetry.tables.publications import PUBLICATIONS
from client_telemetry.tables.table import Row, Table


class Tables(Protocol):
    """What a branch needs of the lake (lake.py)."""

    def table(self, table: Table) -> IcebergTable: ...

    def known_table(self, name: str) -> IcebergTable: ...

    def known(self, name: str) -> Table: ...

    def tables(self) -> dict[str, IcebergTable]: ...

    def existing(self, tables: Iterable[Table]) -> dict[str, IcebergTable]: ...

    def committed(self, name: str, change: Change) -> IcebergTable: ...

    def read(self, table: Table, snapshot: int | None = None, branch: str | None = None) -> DataFrame: ...

    def rows_of(
        self,
        iceberg: IcebergTable,
        table: Table[Row],
        snapshot: int | None = None,
        columns: Sequence[str] = (),
        **equal: object,
    ) -> Iterator[Row]: ...


_PUBLICATION_FILES = 16
"""Maximum number of files of a cluster in `publications`; beyond that they are merged into one. Each run reads all of
them.
"""


class _NameTaken(Exception):
    """An earlier attempt of the same run has left its branch."""


class Branch:
    """The branches of one attempt of a stage, one for each table that it writes."""

    def __init__(self, lake: Tables, name: str, cluster_id: str, tables: Mapping[str, IcebergTable]):
        """`tables`: as they were before the stage read anything."""
        self.lake = lake
        self.name = name
        self._erased = refs.ERASED + cluster_id
        self._erasures = {table: iceberg.properties.get(self._erased) for table, iceberg in tables.items()}
        self.attempt = uuid.uuid4().hex
        self._base: dict[Table, tuple[int, dict[str, object]]] = {}
        """Table -> the snapshot of main at the start, and the partitions that the branch replaces."""

    def replace_files(self, table: Table, urls: Sequence[str], **partitions: object) -> None:
        """Replace the partitions, as `replace` does, by Parquet files that workers wrote at their final place (writer.py). The new
        branch displaces what an earlier attempt of this name left.
        """
        if table in self._base:
            raise ValueError(f"{table.name} is written twice by {self.name}")
        properties = {
            refs.ATTEMPT: self.attempt,
            refs.PARTITIONS: json.dumps(partitions, default=str, sort_keys=True),
        }

        def change(iceberg: IcebergTable, transaction: Transaction) -> None:
            if self.name in iceberg.metadata.refs:
                raise _NameTaken
            with transaction.update_snapshot(properties, branch=self.name).fast_append() as append:
                for url in urls:
                    append.append_data_file(_registered(iceberg, url))

        while True:
            try:
                iceberg = self.lake.committed(table.name, change)
                break
            except _NameTaken:
                self._displace(table)
        if self.name not in iceberg.metadata.refs:
            raise NoSuchLake(FORGETS_BRANCHES)
        self._base[table] = (iceberg.metadata.refs["main"].snapshot_id, partitions)

    def _displace(self, table: Table) -> None:
        """Remove the branch of an earlier attempt of this name, which then can no longer publish. If its publication
        has been decided, that is completed first.
        """
        drop_branch(self.lake, table.name, self.name, lambda metadata: not _is_decided(metadata, self.name))
        metadata = self.lake.table(table).metadata
        if self.name in metadata.refs:
            finish(self.lake, refs.attempt(metadata, self.name) or "")

    def replace(self, table: Table, rows: DataFrame, **partitions: object) -> None:
        """Replace the partitions whose columns equal `partitions` (a list means any of its values) by these rows."""
        self.replace_files(table, [], **partitions)
        (
            rows.select(*[F.col(c.name).cast(c.kind) for c in table.columns])
            .writeTo(f"{CATALOG}.{NAMESPACE}.{table.name}.branch_{self.name}")
            .option("check-nullability", "false")
            # Otherwise every row is sorted by the partition columns, which have only one or a few values here.
            .option("fanout-enabled", "true")
            .append()
        )

    def replace_rows(self, table: Table, rows: Sequence[Mapping[str, object]], **partitions: object) -> None:
        """The same for rows that the driver holds."""
        self.replace_files(
            table, write_rows(table, TablePlace.of(self.lake.table(table)), rows), **partitions
        )

    def replace_table(self, table: Table, rows: pa.Table, **partitions: object) -> None:
        """The same for an Arrow table."""
        self.replace_files(
            table, write_table(table, TablePlace.of(self.lake.table(table)), rows), **partitions
        )

    def read(self, table: Table) -> DataFrame:
        """The staged rows; for a table that this attempt does not write, what readers see."""
        return self.lake.read(table, branch=self.name) if table in self._base else self.lake.read(table)

    def files(self, table: Table, **partitions: object) -> list[PartitionFile]:
        """Data files of what was staged. Raises Superseded."""
        iceberg = self.lake.table(table)
        if refs.attempt(iceberg.metadata, self.name) != self.attempt:
            raise _superseded(table.name, self.name)
        return files.partition_files(iceberg, table, iceberg.metadata.refs[self.name].snapshot_id, partitions)

    def publish(self, cluster_id: str, run_id: str, stage: str, days: Sequence[dt.date]) -> None:
        """Apply the changes to main, table by table in the order of writing; then record the publication in
        `publications`.

        Raises ConcurrentCommit if another run has changed the same partitions since they were staged, or a client was
        erased; Superseded if a later attempt of the same run has begun to write.
        """
        tables = self.lake.existing(self._base)
        for table, (base, partitions) in self._base.items():
            self._check(table, base, partitions, tables[table.name])
        publication: dict[str, object] = {
            "cluster_id": cluster_id,
            "run_id": run_id,
            "stage": stage,
            "days": sorted(day.isoformat() for day in days),
        }
        staged = list(self._base.items())
        # From here on a failure may come after the deciding commit: the branches are needed to complete it.
        self._base.clear()
        for number, (table, (base, partitions)) in enumerate(staged):
            leftover = refs.Leftover(table.name, self.name, self.attempt, partitions)
            if number > 0:
                apply(self.lake, leftover, publication)
                continue
            check = partial(self._check, table, base, partitions)
            try:
                apply(self.lake, leftover, publication, branch_stays=True, check=check)
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
        changed = (file for snapshot in since for file in _changed_files(iceberg, snapshot))
        if any(files.may_match(iceberg, where, file) for file in changed):
            raise ConcurrentCommit(
                f"{table.name}: another run committed to the same partitions while {self.name} was written"
            )

    def drop(self) -> None:
        """Remove the branches: nothing was published."""
        for table in self._base:
            _drop_own(self.lake, table.name, self.name, self.attempt)
        self._base.clear()


def _changed_files(iceberg: IcebergTable, snapshot: Snapshot) -> Iterator[IcebergFile]:
    """Data files that a snapshot added or removed; none for a compaction, which leaves the same rows in other files."""
    if snapshot.summary and snapshot.summary.operation == Operation.REPLACE:
        return
    for manifest in snapshot.manifests(iceberg.io):
        if manifest.added_snapshot_id != snapshot.snapshot_id:
            continue
        for entry in manifest.fetch_manifest_entry(iceberg.io, discard_deleted=False):
            if entry.snapshot_id == snapshot.snapshot_id and entry.status.value in (1, 2):
                yield entry.data_file


def apply(
    lake: Tables,
    leftover: refs.Leftover,
    publication: dict[str, object],
    *,
    branch_stays: bool = False,
    check: Callable[[IcebergTable], None] = lambda _: None,
) -> None:
    """Replace a branch's partitions in main by what was staged, unless that has been done. `branch_stays`: for `finish`,
    which removes it once the publication is recorded. Raises Superseded if the branch belongs to another attempt by now.
    """
    if not leftover.partitions:
        raise ValueError(f"{leftover.table}: branch {leftover.branch} does not say what it replaces")
    table = lake.known(leftover.table)
    staged_metadata: list[str] = []

    def change(iceberg: IcebergTable, transaction: Transaction) -> None:
        metadata = iceberg.metadata
        staged_metadata.clear()
        if refs.published_by(metadata, leftover.attempt):
            return
        check(iceberg)
        if leftover.branch not in metadata.refs:
            raise ConcurrentCommit(f"{leftover.table}: {leftover.branch} was removed before it was published")
        if refs.attempt(metadata, leftover.branch) != leftover.attempt:
            raise _superseded(leftover.table, leftover.branch)
        properties = {
            refs.PUBLISHED: leftover.attempt,
            refs.PUBLICATION: json.dumps(publication, sort_keys=True),
        }
        head = metadata.refs[leftover.branch].snapshot_id
        staged = [plan.file for plan in files.planned(iceberg, head, files.all_of({}))]
        partition_values = {
            name: {str(item) for item in (value if isinstance(value, list) else [value])}
            for name, value in leftover.partitions.items()
        }
        replace_matching(
            iceberg,
            table,
            transaction,
            files.condition(iceberg, table, leftover.partitions),
            lambda row: all(str(row[name]) in values for name, values in partition_values.items()),
            staged,
            properties,
        )
        if not branch_stays:
            staged_metadata.extend(_remove_branch(iceberg, transaction, leftover.branch))

    iceberg = lake.committed(leftover.table, change)
    _forget(iceberg, staged_metadata)


def finish(lake: Tables, attempt: str) -> None:
    """Complete a publication that has been decided: the other tables, the row in `publications`, the branches."""
    tables = lake.tables()
    branches = [leftover for leftover in refs.leftovers(tables) if leftover.attempt == attempt]
    publication = next(
        (
            json.loads(text)
            for iceberg in tables.values()
            if (snapshot := refs.published_by(iceberg.metadata, attempt))
            and (text := refs.summary(snapshot).get(refs.PUBLICATION))
        ),
        None,
    )
    if publication is None:  # somebody else completed it, so long ago that its snapshots are gone
        return
    pending = [
        leftover for leftover in branches if not refs.published_by(tables[leftover.table].metadata, attempt)
    ]
    for leftover in pending:
        apply(lake, leftover, publication, branch_stays=True)
    if pending:
        tables = lake.tables()
    snapshots = {
        name: snapshot.snapshot_id
        for name, iceberg in tables.items()
        if (snapshot := refs.published_by(iceberg.metadata, attempt))
    }
    _record(lake, publication, snapshots)
    for leftover in branches:
        _drop_own(lake, leftover.table, leftover.branch, attempt)


def _record(lake: Tables, publication: dict[str, object], snapshots: dict[str, int]) -> None:
    """Write the row of `publications`, once."""
    row = publication | {
        "days": [dt.date.fromisoformat(day) for day in cast("list[str]", publication["days"])],
        "snapshots": snapshots,
        "published_at": dt.datetime.now(dt.UTC),
    }
    place = TablePlace.of(lake.table(PUBLICATIONS))
    urls: list[str] = []
    cluster = row["cluster_id"]

    def change(iceberg: IcebergTable, transaction: Transaction) -> None:
        where = files.condition(iceberg, PUBLICATIONS, {"cluster_id": cluster})
        # Snapshots of tables that are not decisive may have gone since the row was written.
        if any(
            snapshots.items() <= earlier["snapshots"].items()
            for earlier in lake.rows_of(
                iceberg, PUBLICATIONS, cluster_id=cluster, run_id=row["run_id"], stage=row["stage"]
            )
        ):
            return
        if len(files.planned(iceberg, None, where)) < _PUBLICATION_FILES:
            if not urls:
                urls.extend(write_rows(PUBLICATIONS, place, [row]))
            append_files(iceberg, transaction, urls)
            return
        publications = lake.rows_of(iceberg, PUBLICATIONS, cluster_id=cluster)
        together = write_rows(PUBLICATIONS, place, [*publications, row])
        replace_matching(
            iceberg,
            PUBLICATIONS,
            transaction,
            where,
            lambda publication_row: publication_row["cluster_id"] == cluster,
            [_registered(iceberg, url) for url in together],
        )

    lake.committed(PUBLICATIONS.name, change)


def _superseded(table: str, branch: str) -> Superseded:
    return Superseded(
        f"{table}: a later attempt of the same run writes to {branch}; runs at the same time need different --run-id"
    )


def append_files(iceberg: IcebergTable, transaction: Transaction, urls: Sequence[str]) -> None:
    """Add files to main, next to the existing ones."""
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
    matches: Callable[[Mapping[str, object]], bool],
    added: Sequence[IcebergFile] = (),
    properties: Mapping[str, str] | None = None,
) -> int:
    """Replace the matching rows of main by those of the added files, in one snapshot. `where` selects the files;
    `matches` selects the rows of files that also hold other rows, as another engine's layout may: those files are
    rewritten. Returns how many rows were in the removed files. Without `properties`, no snapshot is made if there is
    nothing to do.
    """
    # Files in this project's partitions were selected by them.
    evaluator = strict_metrics(iceberg.schema(), where)
    identity = set(table.partition)
    plans = files.planned(iceberg, None, where)
    kept_files: list[IcebergFile] = []
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
        kept_files += [_registered(iceberg, url) for url in write_rows(table, TablePlace.of(iceberg), rest)]
    if properties is None and not plans:
        return 0
    with MergingOverwrite(
        Operation.OVERWRITE, transaction, iceberg.io, snapshot_properties=dict(properties or {})
    ) as overwrite:
        for plan in plans:
            overwrite.delete_data_file(plan.file)
        for file in [*added, *kept_files]:
            overwrite.append_data_file(file)
    return rows


def _is_decided(metadata: TableMetadata, branch: str) -> bool:
    """Whether main has the branch's change; the branch then stays so that the publication can be completed."""
    return refs.published_by(metadata, refs.attempt(metadata, branch) or "") is not None


def _drop_own(lake: Tables, table: str, name: str, attempt: str) -> None:
    """Remove a branch if it still belongs to this attempt."""
    drop_branch(lake, table, name, lambda metadata: refs.attempt(metadata, name) == attempt)


def drop_branch(
    lake: Tables, table: str, name: str, if_: Callable[[TableMetadata], bool] = lambda _: True
) -> None:
    """Remove a branch of a table with its metadata files, if it exists and the condition holds."""
    if name not in lake.known_table(table).metadata.refs:
        return
    paths: list[str] = []

    def change(iceberg: IcebergTable, transaction: Transaction) -> None:
        paths.clear()
        if if_(iceberg.metadata):
            paths.extend(_remove_branch(iceberg, transaction, name))

    _forget(lake.committed(table, change), paths)


def _remove_branch(iceberg: IcebergTable, transaction: Transaction, name: str) -> list[str]:
    """Remove a branch, if it exists, and its snapshots, of which nothing but data files may be in main. Returns the
    metadata files that are unreferenced once this is committed.
    """
    metadata = iceberg.metadata
    if name not in metadata.refs:
        return []
    ManageSnapshots(transaction).remove_branch(name).commit()
    own = refs.lineage(metadata, name)
    if refs.ATTEMPT not in refs.summary(own[-1]):
        return []  # created from main: its snapshots may be main's
    ExpireSnapshots(transaction).by_ids([snapshot.snapshot_id for snapshot in own]).commit()
    manifests = [manifest.manifest_path for snapshot in own for manifest in snapshot.manifests(iceberg.io)]
    return [*manifests, *(snapshot.manifest_list for snapshot in own)]


def _forget(iceberg: IcebergTable, paths: Sequence[str]) -> None:
    """Delete metadata files of a removed branch; maintenance removes what a killed run leaves behind."""
    for path in dict.fromkeys(paths):
        try:
            iceberg.io.delete(path)
        except OSError:
            pass
