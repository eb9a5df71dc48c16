"""What the lake needs of pyiceberg 0.12 and pyiceberg does not offer: the only place where its private names are used.

Each part is written so that it could move there as it is; tests/client_telemetry/lake/test_iceberg_internals.py fails once
a release offers it, or has it no longer.
"""

from collections.abc import Callable
from datetime import datetime
from email.utils import parsedate_to_datetime

from pyarrow.fs import FileSystem, S3RetryStrategy
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.expressions import BooleanExpression
from pyiceberg.expressions.visitors import _StrictMetricsEvaluator
from pyiceberg.io import FileIO
from pyiceberg.io.pyarrow import PyArrowFile, _import_retry_strategy
from pyiceberg.manifest import DataFile, ManifestFile, _manifests
from pyiceberg.schema import Schema
from pyiceberg.table import ManifestGroupPlanner, Transaction
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.update import TableUpdate
from pyiceberg.table.update.snapshot import _MergeAppendFiles, _OverwriteFiles


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


def retry_strategy(name: str) -> S3RetryStrategy | None:
    """Arrow's strategy of retries by the class that a catalog's property names; None if there is none."""
    return _import_retry_strategy(name)


def parts_of(file: PyArrowFile) -> tuple[str, FileSystem, int]:
    """Path, file system and buffer size of a file that was opened by its location."""
    return file._path, file._filesystem, file._buffer_size


def server_time(catalog: RestCatalog) -> datetime | None:
    """The clock of a catalog's server, as its answer says; None if it says none. Raises requests' errors."""
    answer = catalog._session.get(catalog.url("config", prefixed=False))
    return parsedate_to_datetime(answer.headers["Date"]) if "Date" in answer.headers else None
