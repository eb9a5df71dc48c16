"""The lake: the tables, as stages, commands and reports read and write them. Nothing else knows about Iceberg.

Rows are written by Spark, or as Parquet files by Python workers and the driver; metadata goes through pyiceberg, on the
same catalog. Readers see `main` of each table (refs.py); branch.py says how a stage gets there.
"""

import datetime as dt
import json
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TypeVar, cast

import pyarrow as pa
from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import (
    BadRequestError,
    CommitFailedException,
    CommitStateUnknownException,
    NamespaceAlreadyExistsError,
    NoSuchTableError,
    TableAlreadyExistsError,
)
from pyiceberg.io.pyarrow import PYARROW_FIELD_DOC_KEY
from pyiceberg.table import Table as IcebergTable
from pyiceberg.table import TableProperties, Transaction
from pyiceberg.table.update.snapshot import ExpireSnapshots, ManageSnapshots
from pyiceberg.transforms import IdentityTransform
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from client_telemetry.lake import refs
from client_telemetry.lake.branch import Branch, append_files, drop_branch, finish
from client_telemetry.lake.catalog import (
    CATALOG,
    FORGETS_BRANCHES,
    NAMESPACE,
    NoSuchLake,
    is_local,
    is_missing,
    open_catalog,
)
from client_telemetry.lake.commits import Change, again_if, committed, is_gone
from client_telemetry.lake.files import (
    COLUMNS_PROPERTY,
    PartitionFile,
    columns_of,
    matching,
    newest,
    partition_files,
    snapshot_of,
)
from client_telemetry.lake.plain_rows import plain_rows
from client_telemetry.lake.sql_catalog import DatabaseCatalog
from client_telemetry.lake.table_folders import OTHER_FOLDERS
from client_telemetry.lake.writer import TablePlace, write_rows
from client_telemetry.tables.all_tables import TABLES
from client_telemetry.tables.publications import PUBLICATIONS
from client_telemetry.tables.table import Row, Table

_VERSION = "format-version"
TABLES_VERSION = "client-telemetry.tables"
"""Property of each table: the version of the tables that wrote it last, a whole number. It goes up when older programs could
no longer read or write the tables (docs/upgrading.md)."""
_PROPERTIES = {
    TABLES_VERSION: "1",
    _VERSION: "2",
    "write.parquet.compression-codec": "zstd",
    # A stage writes one partition: hashing by partition would funnel it through one task.
    "write.distribution-mode": "none",
    "write.spark.accept-any-schema": "false",
    # Each commit writes a new metadata file; those that readers may still be opening stay.
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "10",
    # Tables that are appended to get a manifest with each stage of each cluster.
    "commit.manifest-merge.enabled": "true",
    # Manifests that maintenance sorts by cluster and day list some hundred files each: one large one would be read
    # whole for each day of each cluster.
    "commit.manifest.target-size-bytes": "65536",
    # Other clusters commit to the same table.
    "commit.retry.num-retries": "20",
    "commit.retry.max-wait-ms": "2000",
}
SNAPSHOT_DAYS = 3
"""How long snapshots that main has left are kept, and files to which nothing refers: longer than any run."""
KEPT_DAYS = 396
"""13 months, as long as rows that are derived from received data."""
_TABLES_AT_ONCE = 8
_PROBE = f"{refs.BRANCH_PREFIX}probe"
"""Named like the branches of stages, so that maintenance removes it if the run was killed."""
_LOADS = 5
_Tables = TypeVar("_Tables")
_QUIET = ("pyiceberg.io.pyarrow", "pyiceberg.catalog")
"""Loggers. The first warns of each column of each file whose statistics were left out on purpose (writer.py), the second of each
old metadata file that another writer was first to delete: what is left over, maintenance removes."""


def _arrow_schema_with_comments(table: Table) -> pa.Schema:
    fields = zip(table.arrow_schema, table.columns, strict=True)
    return pa.schema([f.with_metadata({PYARROW_FIELD_DOC_KEY: c.comment.encode()}) for f, c in fields])


def _rename_columns(renamed: Mapping[str, str], iceberg: IcebergTable, transaction: Transaction) -> None:
    """`renamed`: name now -> name again."""
    with transaction.update_schema() as update:
        for current_name, name in renamed.items():
            if iceberg.schema().find_field(current_name) and name not in iceberg.schema().column_names:
                update.rename_column(current_name, name)


class Lake:
    """The tables at one location. Create one per job; its only state is the catalog's connection."""

    snapshot_age = dt.timedelta(days=SNAPSHOT_DAYS)

    def __init__(
        self,
        spark: SparkSession | None,
        location: str,
        start_spark: Callable[[], SparkSession] | None = None,
    ):
        """`start_spark`: makes the session when it is first needed."""
        self.spark = spark
        self._start_spark = start_spark
        self.location = location
        self.catalog: Catalog = open_catalog(location)
        for logger in _QUIET:
            logging.getLogger(logger).setLevel(logging.ERROR)

    @property
    def session(self) -> SparkSession:
        """The Spark session that the lake was opened with, or that is started now."""
        if self.spark is None:
            if self._start_spark is None:
                raise ValueError(f"{self.location} was opened without Spark")
            self.spark = self._start_spark()
        return self.spark

    def create(self, tables: Iterable[Table]) -> None:
        """Create the tables that do not exist yet, each with an empty first snapshot; give older ones the columns,
        names and partition fields that they have in this program.
        """
        tables = list(tables)
        there = self.existing(tables)
        if not there:
            with suppress(NamespaceAlreadyExistsError):
                self.catalog.create_namespace(NAMESPACE)
        for table in tables:
            if table.name in there:
                self._bring_up_to_date(table, there[table.name])
                continue
            try:
                self._create(table)
            except (TableAlreadyExistsError, CommitFailedException):
                if not self.exists(table):
                    raise
                # Another run was first, which may have to make the first snapshot yet.
                self._fill_in(table)
                continue
            except (BadRequestError, CommitStateUnknownException, NotImplementedError) as error:
                raise NoSuchLake(
                    f"catalog {CATALOG!r} does not make a table in one commit ({error}), as Nessie's REST interface does not: "
                    "use a catalog that does (PostgreSQL, an Iceberg REST catalog; docs/storage.md)"
                ) from error
            if not is_local(self.location):
                self._check_branches(table)

    def _create(self, table: Table) -> None:
        properties = {**_PROPERTIES, "comment": table.comment, "key": ", ".join(table.key)}
        # With bounds cut at 16 characters, it would not show whether a file lies wholly in a partition.
        properties |= {f"write.metadata.metrics.column.{column}": "full" for column in table.partition}
        name = (NAMESPACE, table.name)
        with self.catalog.create_table_transaction(
            name, schema=_arrow_schema_with_comments(table), properties=properties
        ) as transaction:
            with transaction.update_spec() as spec:
                for column in table.partition:
                    spec.add_identity(column)
        self._fill_in(table)

    def _fill_in(self, table: Table) -> IcebergTable:
        """Add what a table lacks that was created by an older version of the program, or by a run that was killed."""

        def first(iceberg: IcebergTable, transaction: Transaction) -> None:
            _name_columns(iceberg, table, transaction)
            if "main" not in iceberg.metadata.refs:
                append_files(iceberg, transaction, [])

        return self.committed(table.name, first)

    def _check_branches(self, table: Table) -> None:
        """Raises NoSuchLake if the catalog forgets branches, as Nessie's REST interface does: every stage writes to
        one.
        """

        def make(iceberg: IcebergTable, transaction: Transaction) -> None:
            head = iceberg.metadata.refs["main"].snapshot_id
            ManageSnapshots(transaction).create_branch(head, _PROBE).commit()

        self.committed(table.name, make)
        if _PROBE not in self.table(table).metadata.refs:
            raise NoSuchLake(FORGETS_BRANCHES)
        drop_branch(self, table.name, _PROBE)

    def _bring_up_to_date(self, table: Table, iceberg: IcebergTable) -> None:
        """Columns that a newer version of the program adds are null in older rows. Columns that another engine renamed
        and partition fields that it replaced are restored: stages replace whole partitions.
        """
        if (
            not {COLUMNS_PROPERTY, *_PROPERTIES} - {_VERSION} <= iceberg.properties.keys()
            or iceberg.properties[TABLES_VERSION] != _PROPERTIES[TABLES_VERSION]
            or "main" not in iceberg.metadata.refs
        ):
            iceberg = self._fill_in(table)
        schema = iceberg.schema()
        ids = json.loads(iceberg.properties[COLUMNS_PROPERTY])
        renamed = {
            current_name: name
            for name, field_id in ids.items()
            if name in {c.name for c in table.columns}
            and (current_name := schema.find_column_name(field_id)) not in (None, name)
        }
        if renamed:
            print(f"{table.name}: renamed back: {', '.join(f'{a} to {b}' for a, b in renamed.items())}")
            iceberg = self.committed(table.name, partial(_rename_columns, renamed))
        there = {field.name: field.field_id for field in iceberg.schema().fields}
        if {c.name for c in table.columns} - there.keys():

            def add(_: IcebergTable, transaction: Transaction) -> None:
                with transaction.update_schema() as update:
                    update.union_by_name(_arrow_schema_with_comments(table))

            iceberg = self.committed(table.name, add)
            there = {field.name: field.field_id for field in iceberg.schema().fields}
        if any(ids.get(c.name) not in there.values() for c in table.columns):

            def name_again(current: IcebergTable, transaction: Transaction) -> None:
                _name_columns(current, table, transaction)
                # Spark reads a snapshot with the columns that the table had then: without these, if one was dropped.
                append_files(current, transaction, [])

            iceberg = self.committed(table.name, name_again)
        if not _is_partitioned_as_declared(iceberg, table):
            print(f"{table.name}: partitioned by {', '.join(table.partition)} again")
            self.committed(table.name, lambda current, change: _partition_as_declared(current, table, change))

    def table(self, table: Table) -> IcebergTable:
        return self.known_table(table.name)

    def known_table(self, name: str) -> IcebergTable:
        """The current table of this name. Raises NoSuchLake if another engine upgraded it."""
        iceberg = _loaded(lambda: self.catalog.load_table((NAMESPACE, name)))
        _check_version(iceberg)
        return iceberg

    def known(self, name: str) -> Table:
        """The program's definition of a table."""
        return next(table for table in TABLES if table.name == name)

    def tables(self) -> dict[str, IcebergTable]:
        """All tables of the program that exist, as they are now, except one that a run is just creating."""
        loaded = self.existing(TABLES)
        return {name: iceberg for name, iceberg in loaded.items() if "main" in iceberg.metadata.refs}

    def existing(self, tables: Iterable[Table]) -> dict[str, IcebergTable]:
        """Those of the tables that exist, as they are now, in this order."""
        names = [table.name for table in tables]
        if isinstance(self.catalog, DatabaseCatalog):
            catalog = self.catalog
            loaded = _loaded(lambda: catalog.load_tables(NAMESPACE, names))
            for iceberg in loaded.values():
                _check_version(iceberg)
            return {name: loaded[name] for name in names if name in loaded}
        try:
            there = {identifier[-1] for identifier in self.catalog.list_tables(NAMESPACE)}
        except Exception as error:
            if type(error).__name__ != "NoSuchNamespaceError":
                raise
            return {}
        names = [name for name in names if name in there]
        with ThreadPoolExecutor(_TABLES_AT_ONCE) as pool:
            return dict(zip(names, pool.map(self.known_table, names), strict=True))

    def committed(self, name: str, change: Change) -> IcebergTable:
        """Commit a change to a table that others change too. If it moves main, the commit also removes from the table's
        metadata, which every commit reads and writes as a whole, the snapshots that nobody reads any more; maintenance
        deletes their files. Other commits do not: they succeed though main moved meanwhile, perhaps back to such a snapshot.
        """
        first = int((time.time() - self.snapshot_age.total_seconds()) * 1000)

        def and_expire(iceberg: IcebergTable, transaction: Transaction) -> None:
            change(iceberg, transaction)
            is_moved = transaction.table_metadata.refs.get("main") != iceberg.metadata.refs.get("main")
            # Maintenance lists the table's folder only; its weekly expiry goes by references.
            elsewhere = OTHER_FOLDERS & iceberg.properties.keys()
            if is_moved and not elsewhere and (ids := refs.no_longer_read(iceberg.metadata, first)):
                ExpireSnapshots(transaction).by_ids(ids).commit()

        return committed(lambda: self.known_table(name), and_expire)

    def exists(self, table: Table) -> bool:
        return self.catalog.table_exists((NAMESPACE, table.name))

    def snapshot(self, table: Table) -> int:
        """Id of the snapshot that readers see now."""
        return self.table(table).metadata.refs["main"].snapshot_id

    def rows(
        self, table: Table[Row], snapshot: int | None = None, columns: Sequence[str] = (), **equal: object
    ) -> list[Row]:
        """Rows of a small table as dicts, without Spark; `equal` filters by column, a list means any of its values;
        `columns`: only these, () = all. An absent table is empty, and a column newer than the snapshot or the table
        is null. Raises SnapshotGone.
        """
        return list(self.each_row(table, snapshot, columns, **equal))

    def each_row(
        self, table: Table[Row], snapshot: int | None = None, columns: Sequence[str] = (), **equal: object
    ) -> Iterator[Row]:
        """`rows`, a row group of a file at a time: for more than is to be in memory as dicts."""
        try:
            iceberg = self.table(table)
        except NoSuchTableError:
            return iter(())
        return self.rows_of(iceberg, table, snapshot, columns, **equal)

    def rows_of(
        self,
        iceberg: IcebergTable,
        table: Table[Row],
        snapshot: int | None = None,
        columns: Sequence[str] = (),
        **equal: object,
    ) -> Iterator[Row]:
        """The same for a table that is already loaded."""
        schema = table.arrow_schema
        if columns:
            schema = pa.schema([field for field in schema if field.name in {*columns, *equal}])
        for file in partition_files(iceberg, table, snapshot, equal):
            for group in file.row_groups(schema, as_dictionaries=False):
                matching_rows = matching(group, equal)
                matching_rows = matching_rows.select(columns) if columns else matching_rows
                yield from cast("list[Row]", plain_rows(matching_rows))

    def newest(
        self, table: Table, column: str, **partitions: object
    ) -> dict[dt.date, tuple[int, dt.datetime]]:
        """Day -> number of rows that readers see, and their latest time (files.newest)."""
        try:
            return newest(self.table(table), table, column, partitions)
        except NoSuchTableError:
            return {}

    def read(self, table: Table, snapshot: int | None = None, branch: str | None = None) -> DataFrame:
        """What readers see, or one snapshot, or what a stage has written to its branch. A column newer than the
        snapshot is null. Raises SnapshotGone.
        """
        reader = self.session.read
        if snapshot is not None:
            reader = reader.option("versionAsOf", str(snapshot))
        if branch is not None:
            reader = reader.option("branch", branch)
        name = f"{CATALOG}.{NAMESPACE}.{table.name}"
        if snapshot is None:
            return reader.table(name)
        iceberg = self.table(table)
        state = snapshot_of(iceberg, snapshot)
        schema = iceberg.schemas()[state.schema_id] if state.schema_id is not None else iceberg.schema()
        rows = reader.table(name)
        ids = {name: column.field_id for name, column in columns_of(iceberg, table).items()}
        names = {
            c.name: schema.find_column_name(ids[c.name]) if c.name in ids else None for c in table.columns
        }
        if all(name == stored_name for name, stored_name in names.items()):
            return rows
        return rows.select(
            *[
                (F.col(f"`{names[c.name]}`") if names[c.name] else F.lit(None)).cast(c.kind).alias(c.name)
                for c in table.columns
            ]
        )

    def files(
        self, table: Table, snapshot: int | None = None, branch: str | None = None, **partitions: object
    ) -> list[PartitionFile]:
        """The data files of the partitions whose columns equal `partitions` (a list means any of its values), in what
        readers see, or in one snapshot, or in what a stage has written to its branch.
        """
        iceberg = self.table(table)
        if branch is not None:
            snapshot = iceberg.metadata.refs[branch].snapshot_id
        return partition_files(iceberg, table, snapshot, partitions)

    def place(self, table: Table) -> TablePlace:
        """Where new data files of the table go."""
        return TablePlace.of(self.table(table))

    def dated_now(self, table: Table) -> IcebergTable:
        """A commit that changes nothing but the time of the last commit."""
        return self._fill_in(table)

    def append(self, table: Table, rows: Sequence[Mapping[str, object]]) -> None:
        """Add rows to a table that is not audited itself (quality_results)."""
        urls = write_rows(table, self.place(table), rows)
        if urls:
            self.committed(table.name, lambda iceberg, change: append_files(iceberg, change, urls))

    def published_days(self, cluster_id: str, stage: str) -> set[dt.date]:
        """Days of a cluster that a stage has published, even without any rows."""
        rows = self.rows(PUBLICATIONS, columns=("days",), cluster_id=cluster_id, stage=stage)
        return {day for row in rows for day in row["days"]}

    def published(self, cluster_id: str | None = None) -> dict[str, int]:
        """Table -> snapshot that readers see, of all tables at one moment: what a reader of several tables reads, who is
        interested in one cluster, None = in all. A publication that a killed run left half done is completed first.
        """
        while True:
            first = _heads(self.recover(cluster_id))
            # A database says of all tables at once which metadata they have.
            if isinstance(self.catalog, DatabaseCatalog) or first == _heads(self.tables()):
                return first
            time.sleep(0.01)

    def recover(self, cluster_id: str | None = None) -> dict[str, IcebergTable]:
        """Complete the publications of a cluster, None = of all, that were decided but not finished. Returns the tables,
        none of which is half published for it. Publications of other clusters are mostly those of runs that are about
        to finish them; whoever did that too would only be in their way.
        """
        while True:
            tables = self.tables()
            attempts = _undone(tables, cluster_id)
            if not attempts:
                return tables
            for attempt in attempts:
                finish(self, attempt)

    def keep(self, table: Table, snapshot: int, name: str) -> None:
        """Tag a snapshot for KEPT_DAYS, so that maintenance keeps what a report was made from. A repeated run moves its
        tag. Not forever: a tag keeps the files of all clusters at that time, and a report's verdicts are rows of
        their own.
        """

        def change(iceberg: IcebergTable, transaction: Transaction) -> None:
            tag = iceberg.metadata.refs.get(name)
            if tag is None or tag.snapshot_id != snapshot:
                tags = ManageSnapshots(transaction)
                tags.create_tag(snapshot, name, max_ref_age_ms=KEPT_DAYS * 86_400_000).commit()

        self.committed(table.name, change)

    def branch(self, run_id: str, cluster_id: str, stage: str) -> Branch:
        """The branch that an attempt of a stage writes to. Create it before reading anything that the stage computes
        from.
        """
        return Branch(self, refs.branch_name(run_id, cluster_id, stage), cluster_id, self.recover(cluster_id))


def existing_lake(location: str) -> Lake:
    """For commands that only read. Raises NoSuchLake: opening a lake that is not there would create it."""
    if is_missing(location):
        raise NoSuchLake(
            f"no lake at {location}: name the folder or URL of one (`lake` in the clusters file)"
        )
    return Lake(None, location)


def _loaded(load: Callable[[], _Tables]) -> _Tables:
    """Between the catalog's answer and the read there may be so many commits that the metadata file is gone."""
    return again_if(is_gone, load, _LOADS, pause_s=0.05)


def _check_version(iceberg: IcebergTable) -> None:
    """Raises NoSuchLake for a table of a newer version of this program, and for one that another engine upgraded: deletion
    vectors and manifests of version 3 are not supported here.
    """
    written_by, known = iceberg.properties.get(TABLES_VERSION, "1"), _PROPERTIES[TABLES_VERSION]
    if not written_by.isdecimal() or int(written_by) > int(known):
        raise NoSuchLake(
            f"table {'.'.join(iceberg.name())} was written by a newer version of this program (tables of version {written_by}; this one "
            f"knows {known}): install that version again, or restore a backup from before the upgrade (docs/upgrading.md)"
        )
    version, ours = iceberg.metadata.format_version, _PROPERTIES[_VERSION]
    if version > int(ours):
        raise NoSuchLake(
            f"table {'.'.join(iceberg.name())} has format version {version}, to which another engine upgraded it, and stages read and "
            f"write version {ours}: put a copy of version {ours} in its place (docs/storage.md, Other engines)"
        )


def _heads(tables: Mapping[str, IcebergTable]) -> dict[str, int]:
    return {name: iceberg.metadata.refs["main"].snapshot_id for name, iceberg in tables.items()}


def _undone(tables: Mapping[str, IcebergTable], cluster_id: str | None) -> list[str]:
    """The attempts that left a branch although one table has their change."""
    return sorted(
        {
            leftover.attempt
            for leftover in refs.leftovers(tables)
            if cluster_id is None or leftover.may_concern(cluster_id)
            if any(refs.published_by(iceberg.metadata, leftover.attempt) for iceberg in tables.values())
        }
    )


def _name_columns(iceberg: IcebergTable, table: Table, transaction: Transaction) -> None:
    """Store the field ids of the table's columns, and their names for files without ids."""
    fields = {field.name: field.field_id for field in iceberg.schema().fields}
    ids = {c.name: fields[c.name] for c in table.columns if c.name in fields}
    known_ids = json.loads(iceberg.properties.get(COLUMNS_PROPERTY, "{}"))
    # If another engine dropped a column, it is a new one when it is restored.
    there = {name: i for name, i in known_ids.items() if name not in ids or i in fields.values()}
    properties = {COLUMNS_PROPERTY: json.dumps(ids | there)}
    if iceberg.name_mapping() is None:
        properties[TableProperties.DEFAULT_NAME_MAPPING] = iceberg.schema().name_mapping.model_dump_json()
    missing = {name: value for name, value in _PROPERTIES.items() if name not in iceberg.properties}
    missing.pop(_VERSION, None)
    missing[TABLES_VERSION] = _PROPERTIES[TABLES_VERSION]
    transaction.set_properties({**missing, **properties})


def _is_partitioned_as_declared(iceberg: IcebergTable, table: Table) -> bool:
    schema = iceberg.schema()
    fields = [(schema.find_column_name(f.source_id), f.transform) for f in iceberg.spec().fields]
    return fields == [(name, IdentityTransform()) for name in table.partition]


def _partition_as_declared(iceberg: IcebergTable, table: Table, transaction: Transaction) -> None:
    with transaction.update_spec() as update:
        for field in iceberg.spec().fields:
            update.remove_field(field.name)
    with transaction.update_spec() as update:
        for name in table.partition:
            update.add_identity(name)
