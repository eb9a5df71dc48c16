"""What the lake needs of pyiceberg 0.12 and pyiceberg does not offer: the only place where its private names are used.

Each part is written so that it could move there as it is; tests/client_telemetry/lake/test_iceberg_internals.py fails once
a release offers it, or has it no longer.
"""

from collections.abc import Callable
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

from pyarrow.fs import FileSystem, S3FileSystem
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.catalog.sql import IcebergTables, SqlCatalog
from pyiceberg.expressions import BooleanExpression
from pyiceberg.expressions.visitors import _StrictMetricsEvaluator
from pyiceberg.io import S3_RETRY_STRATEGY_IMPL, FileIO
from pyiceberg.io.pyarrow import PyArrowFile, PyArrowFileIO, _import_retry_strategy
from pyiceberg.manifest import DataFile, ManifestFile, _manifests
from pyiceberg.schema import Schema
from pyiceberg.table import ManifestGroupPlanner, StagedTable, Table, Transaction
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.update import TableUpdate
from pyiceberg.table.update.snapshot import _MergeAppendFiles, _OverwriteFiles
from pyiceberg.typedef import EMPTY_DICT, Properties


class MergingOverwrite(_OverwriteFiles, _MergeAppendFiles):  # type: ignore[misc]
    """Replaces files and merges small manifests, as Iceberg's MergingSnapshotProducer does. pyiceberg's own leaves one or two
    manifests with each commit, of which every later commit lists all. `UpdateSnapshot.overwrite` would merge as
    `merge_append` does.
    """


class MetadataOnce(Transaction):
    """A transaction that derives the table's metadata once per update. pyiceberg's own copies it at every access, some
    fifteen times per commit, with all snapshots of the table. `Transaction` would keep it until the next update.
    """

    _derived: tuple[tuple[TableUpdate, ...], TableMetadata] | None = None

    @property
    def table_metadata(self) -> TableMetadata:
        if self._derived is None or self._derived[0] is not self._updates:
            self._derived = (self._updates, super().table_metadata)
        return self._derived[1]


class ExtensibleSqlCatalog(SqlCatalog):
    """pyiceberg's catalog in a database, which leaves to its subclasses how files are reached and tables are made. What
    calls these methods has private names in pyiceberg.
    """

    def file_io(self, properties: Properties, location: str | None) -> FileIO:
        """What reaches the files of a table with these properties."""
        return super()._load_file_io(properties, location)

    def table_of_row(self, row: IcebergTables) -> Table:
        """The table of a row of the catalog, its metadata read."""
        return super()._convert_orm_to_iceberg(row)

    def staged(self, current_table: Table | None, staged: StagedTable) -> StagedTable:
        """A table with new metadata, as it is about to be written; `current_table`: what it replaces."""
        return staged

    def row_of_table(self, namespace: str, name: str, metadata_location: str) -> dict[str, str]:
        """The row of a table whose metadata file there is already."""
        return self._create_table_row(namespace, name, metadata_location)

    def _load_file_io(self, properties: Properties = EMPTY_DICT, location: str | None = None) -> FileIO:
        return self.file_io(properties, location)

    def _convert_orm_to_iceberg(self, orm_table: IcebergTables) -> Table:
        return self.table_of_row(orm_table)

    def _update_and_stage_table(
        self, current_table: Table | None, *arguments: Any, **named: Any
    ) -> StagedTable:
        return self.staged(current_table, super()._update_and_stage_table(current_table, *arguments, **named))


class DelayedOpenFileIO(PyArrowFileIO):
    """Opens what it writes to S3 only when there is enough for a request: a small file is sent in one instead of three.
    pyiceberg has no property for it.
    """

    def _initialize_s3_fs(self, netloc: str | None) -> FileSystem:
        _, (options,) = super()._initialize_s3_fs(netloc).__reduce__()
        options["allow_delayed_open"] = True
        if strategy := self.properties.get(S3_RETRY_STRATEGY_IMPL):
            options["retry_strategy"] = _import_retry_strategy(strategy)
        return S3FileSystem(**options)


def partition_may_match(planner: ManifestGroupPlanner, spec_id: int) -> Callable[[DataFile], bool]:
    """Whether a file's partition may have rows that the planner's filter wants. Planning asks it of whole manifests only."""
    return planner._build_partition_evaluator(spec_id)


def metrics_may_match(planner: ManifestGroupPlanner) -> Callable[[DataFile], bool]:
    """Whether a data file's bounds and counts allow rows that the planner's filter wants."""
    return planner._build_metrics_evaluator()


def strict_metrics(schema: Schema, where: BooleanExpression) -> _StrictMetricsEvaluator:
    """Tells of a data file (`eval`) whether all of its rows match, ROWS_MUST_MATCH, by its bounds and counts."""
    return _StrictMetricsEvaluator(schema, where)


def manifests(io: FileIO, manifest_list: str) -> tuple[ManifestFile, ...]:
    """Of a snapshot's manifest list. `Snapshot.manifests` reads the list at each call; callers keep what this gives."""
    return _manifests(io, manifest_list)


def parts_of(file: PyArrowFile) -> tuple[str, FileSystem, int]:
    """Path, file system and buffer size of a file that was opened by its location."""
    return file._path, file._filesystem, file._buffer_size


def server_time(catalog: RestCatalog) -> datetime | None:
    """The clock of a catalog's server, as its answer says; None if it says none. Raises requests' errors."""
    answer = catalog._session.get(catalog.url("config", prefixed=False))
    return parsedate_to_datetime(answer.headers["Date"]) if "Date" in answer.headers else None
