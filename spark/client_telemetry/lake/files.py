"""Data files of a table: which ones a snapshot has, and their rows, column by column, as Python workers and the driver
read them. Deletes by other engines are honoured, and columns are found by field id. writer.py writes files.
"""

import datetime as dt
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyiceberg.catalog import Catalog
from pyiceberg.conversions import from_bytes
from pyiceberg.expressions import AlwaysTrue, And, BooleanExpression, In, IsNull, Or
from pyiceberg.io import FileIO, load_file_io
from pyiceberg.manifest import DataFile as IcebergFile
from pyiceberg.manifest import DataFileContent, ManifestEntry
from pyiceberg.table import ManifestGroupPlanner
from pyiceberg.table import Table as IcebergTable
from pyiceberg.table.delete_file_index import DeleteFileIndex
from pyiceberg.table.snapshots import Snapshot
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import TimestamptzType
from pyiceberg.utils.datetime import days_to_date, micros_to_timestamptz

from client_telemetry.lake.commits import SnapshotGone
from client_telemetry.lake.iceberg_internals import metrics_may_match, partition_may_match
from client_telemetry.tables.table import Table

_PORTION = 1_000_000
_FIELD_ID = b"PARQUET:field_id"
COLUMNS_PROPERTY = "client-telemetry.columns"
"""Property of a table: the field ids of its columns, by their names in this program."""


class DamagedFile(Exception):
    """A data file that cannot be read as Parquet; the message names it."""


@dataclass(frozen=True)
class FileAccess:
    """How every process opens files: by the catalog's FileIO. May hold credentials that the catalog vended."""

    properties: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, io: FileIO | Catalog) -> "FileAccess":
        return cls(tuple(sorted((name, str(value)) for name, value in io.properties.items())))

    def io(self, url: str) -> FileIO:
        """One per process for all files, with its connections."""
        return _file_io(self.properties, url.partition("://")[0])


LOCAL = FileAccess()
"""Local files, and whatever the environment gives access to."""


@cache
def _file_io(properties: tuple[tuple[str, str], ...], scheme: str) -> FileIO:
    return load_file_io(dict(properties), f"{scheme}://")


@dataclass(frozen=True)
class ColumnNames:
    """Identifies a column in a file: by its field id, or in a file without ids by one of the names that it has had."""

    field_id: int
    names: tuple[str, ...]


@dataclass(frozen=True)
class DeleteFile:
    """Rows that another engine deleted without rewriting the data file: by position, or all rows that equal one of its
    rows in the columns with these field ids.
    """

    url: str
    equal: tuple[int, ...] = ()


@dataclass(frozen=True)
class PartitionFile:
    """One Parquet file with rows of one partition (cluster, day) of a table. `rows` counts those in the file. `dt` is
    None if no particular day was requested. If the file holds rows of several partitions (`is_mixed`), the others
    are left out. Without `columns`, columns are found by name.
    """

    url: str
    cluster_id: str
    dt: dt.date | None
    rows: int
    deletes: tuple[DeleteFile, ...] = ()
    is_mixed: bool = False
    columns: Mapping[str, ColumnNames] | None = None
    access: FileAccess = LOCAL
    stored_bytes: int = 0
    """Size of the file; for a mixed one, its rows' share."""

    def row_groups(self, schema: pa.Schema, as_dictionaries: bool) -> Iterator[pa.Table]:
        """The columns of `schema`, a row group at a time. A column newer than the file is null. Raises DamagedFile."""
        try:
            yield from self._row_groups(schema, as_dictionaries)
        except (pa.ArrowInvalid, OSError) as error:
            if (
                isinstance(error, FileNotFoundError)
                or getattr(error, "errno", None)
                or "AWS Error" in str(error)
            ):
                raise  # of the disk or the store, not of the file
            raise DamagedFile(
                f"{self.url} is damaged ({' '.join(str(error).split())}): put it back from a backup, or have the day that it "
                "is of written again"
            ) from error

    def _row_groups(self, schema: pa.Schema, as_dictionaries: bool) -> Iterator[pa.Table]:
        with self.access.io(self.url).new_input(self.url).open() as source:
            metadata = pq.read_metadata(source)
            stored = metadata.schema.to_arrow_schema()
            columns_to_read = [*schema.names]
            if self.is_mixed:
                columns_to_read += [name for name in ("cluster_id", "dt") if name not in columns_to_read]
            names = self._names(stored, columns_to_read)
            texts = [
                names[field.name]
                for field in schema
                if as_dictionaries and field.name in names and pa.types.is_string(field.type)
            ]
            ids = {_id(field): field.name for field in stored}
            equal = {i for delete in self.deletes for i in delete.equal}
            needed = {*names.values(), *(self._name_of(i, stored, ids) for i in equal)}
            parquet = pq.ParquetFile(source, metadata=metadata, read_dictionary=texts, pre_buffer=True)
            deleted = _Deleted(self) if self.deletes else None
            start = 0
            for group in range(parquet.num_row_groups):
                group_rows = parquet.read_row_group(
                    group, [name for name in stored.names if name in needed], use_threads=False
                )
                size = len(group_rows)
                rows = pa.table(
                    [_as_declared(group_rows, field, names, as_dictionaries) for field in schema],
                    names=schema.names,
                )
                keep = None
                if deleted is not None:
                    keep = deleted.kept(start, group_rows, lambda i: self._name_of(i, stored, ids))
                if self.is_mixed:
                    ours = self._is_ours(group_rows, names)
                    keep = ours if keep is None else pc.and_(keep, ours)
                start += size
                yield rows if keep is None else rows.filter(keep)

    def _names(self, stored: pa.Schema, columns: Iterable[str]) -> dict[str, str]:
        """Column -> its name in the file, for the columns that the file has."""
        in_file = set(stored.names)
        if self.columns is None:
            return {name: name for name in columns if name in in_file}
        ids = {_id(field): field.name for field in stored if _id(field) is not None}
        stored_names = {}
        for name in columns:
            column = self.columns.get(name, ColumnNames(-1, (name,)))
            candidates = [ids[column.field_id]] if column.field_id in ids else []
            if not ids:
                candidates = [name for name in column.names if name in in_file]
            if candidates:
                stored_names[name] = candidates[0]
        return stored_names

    def _name_of(self, field_id: int, stored: pa.Schema, ids: Mapping[int | None, str]) -> str | None:
        """None if the column is newer than the file."""
        if field_id in ids:
            return ids[field_id]
        columns = self.columns or {}
        names = {name for column in columns.values() if column.field_id == field_id for name in column.names}
        return next((name for name in stored.names if name in names), None)

    def _is_ours(self, rows: pa.Table, names: Mapping[str, str]) -> pa.ChunkedArray:
        is_ours = pc.equal(rows[names["cluster_id"]].cast(pa.string()), self.cluster_id)
        return (
            is_ours
            if self.dt is None
            else pc.and_(is_ours, pc.equal(rows[names["dt"]].cast(pa.date32()), self.dt))
        )


class _Deleted:
    """The contents of a data file's delete files, read once."""

    def __init__(self, file: PartitionFile) -> None:
        positions = []
        self._equal: list[tuple[tuple[int, ...], set[tuple[object, ...]]]] = []
        for delete in file.deletes:
            with file.access.io(delete.url).new_input(delete.url).open() as source:
                rows = pq.read_table(source)
            if delete.equal:
                ids = {_id(field): field.name for field in rows.schema}
                values = zip(*(rows[ids[i]].to_pylist() for i in delete.equal), strict=True)
                self._equal.append((delete.equal, set(values)))
            else:
                positions.append(rows.filter(pc.equal(rows["file_path"], file.url))["pos"].combine_chunks())
        self._positions = pa.concat_arrays(positions) if positions else pa.array([], pa.int64())

    def kept(self, start: int, read: pa.Table, name_of: Callable[[int], str | None]) -> pa.Array:
        """Mask of the remaining rows of a row group whose first row has number `start` in the file."""
        numbers = pa.array(range(start, start + len(read)), pa.int64())
        keep = pc.invert(pc.is_in(numbers, self._positions))
        for ids, values in self._equal:
            names = [name_of(i) for i in ids]
            columns = [[None] * len(read) if name is None else read[name].to_pylist() for name in names]
            rows = zip(*columns, strict=True)
            keep = pc.and_(keep, pa.array([row not in values for row in rows], pa.bool_()))
        return keep


def _id(field: pa.Field) -> int | None:
    return int(field.metadata[_FIELD_ID]) if field.metadata and _FIELD_ID in field.metadata else None


def _as_declared(
    rows: pa.Table, field: pa.Field, names: Mapping[str, str], as_dictionaries: bool
) -> pa.ChunkedArray:
    kind = field.type
    if as_dictionaries and pa.types.is_string(kind):
        kind = pa.dictionary(pa.int32(), kind)
    if field.name not in names:
        return pa.chunked_array([pa.nulls(len(rows), kind)])
    column = rows[names[field.name]]
    return column if column.type == kind else column.cast(kind)


def files_by_task(files: Sequence[PartitionFile], most_rows: int = _PORTION) -> list[list[PartitionFile]]:
    """Groups the files into tasks of about `most_rows` rows each."""
    tasks: list[list[PartitionFile]] = []
    rows = most_rows
    for file in sorted(files, key=lambda file: file.url):
        if rows + file.rows > most_rows:
            tasks.append([])
            rows = 0
        tasks[-1].append(file)
        rows += file.rows
    return tasks


def portions(files: Sequence[PartitionFile], schema: pa.Schema) -> Iterator[pa.Table]:
    """The columns of `schema`, and `cluster_id`, in batches of about a million rows. Strings are dictionaries. A column
    newer than a file is null.
    """
    every = sum(file.rows for file in files)
    # In equal batches: a small remainder would cost as much as a whole one if every row has another owner.
    portion = every / max(1, round(every / _PORTION))
    tables, rows = [], 0
    for file in files:
        for table in file.row_groups(schema, as_dictionaries=True):
            zeros = pa.repeat(pa.scalar(0, pa.int32()), len(table))
            cluster = pa.DictionaryArray.from_arrays(zeros, [file.cluster_id])
            tables.append(table.append_column("cluster_id", cluster))
            rows += len(table)
            if rows >= portion:
                yield pa.concat_tables(tables)
                tables, rows = [], 0
    if rows:
        yield pa.concat_tables(tables)


def all_of(equal: Mapping[str, object]) -> BooleanExpression:
    """Rows whose columns equal the values; a list means any of its values, None in it a null."""
    conditions = [_any_of(n, v if isinstance(v, list) else [v]) for n, v in equal.items()]
    if not conditions:
        return AlwaysTrue()
    return conditions[0] if len(conditions) == 1 else And(*conditions)


def _any_of(column: str, values: list[object]) -> BooleanExpression:
    matches: BooleanExpression = In(column, [value for value in values if value is not None])
    return Or(matches, IsNull(column)) if None in values else matches


@dataclass(frozen=True)
class Planned:
    """A live data file of a snapshot, and its delete files."""

    file: IcebergFile
    deletes: tuple[DeleteFile, ...]


def snapshot_of(iceberg: IcebergTable, snapshot: int) -> Snapshot:
    """A snapshot by its id. Raises SnapshotGone if it has expired: it would otherwise look as if there were no rows."""
    state = iceberg.metadata.snapshot_by_id(snapshot)
    if state is None:
        raise SnapshotGone(f"{iceberg.name()[-1]}: snapshot {snapshot} has expired")
    return state


def planned(iceberg: IcebergTable, snapshot: int | None, where: BooleanExpression) -> list[Planned]:
    """The data files that may have rows matching `where`, in one snapshot of the table, None = what readers see. Raises
    SnapshotGone.
    """
    metadata = iceberg.metadata
    state = snapshot_of(iceberg, snapshot) if snapshot is not None else metadata.snapshot_by_name("main")
    if state is None:
        return []
    planner = ManifestGroupPlanner(metadata, iceberg.io, where)
    data: list[ManifestEntry] = []
    by_position, by_equality = DeleteFileIndex(), []
    for entries in planner.plan_manifest_entries(state.manifests(iceberg.io)):
        for entry in entries:
            content = entry.data_file.content
            if content == DataFileContent.DATA:
                data.append(entry)
            elif content == DataFileContent.POSITION_DELETES:
                by_position.add_delete_file(entry, partition_key=entry.data_file.partition)
            else:
                by_equality.append(entry)
    plans = []
    for entry in data:
        file, sequence = entry.data_file, entry.sequence_number or 0
        deletes = [
            DeleteFile(delete.file_path)
            for delete in by_position.for_data_file(sequence, file, partition_key=file.partition)
        ]
        for delete in by_equality:
            other = delete.data_file
            is_same_partition = (other.spec_id, other.partition) == (file.spec_id, file.partition)
            is_for_all = metadata.specs()[other.spec_id].is_unpartitioned()
            if (is_for_all or is_same_partition) and (delete.sequence_number or 0) > sequence:
                deletes.append(DeleteFile(other.file_path, tuple(other.equality_ids or ())))
        plans.append(Planned(file, tuple(sorted(deletes, key=lambda delete: delete.url))))
    return plans


def may_match(iceberg: IcebergTable, where: BooleanExpression, file: IcebergFile) -> bool:
    """Whether a data or delete file may concern matching rows."""
    planner = ManifestGroupPlanner(iceberg.metadata, iceberg.io, where)
    if not partition_may_match(planner, file.spec_id)(file):
        return False
    return file.content != DataFileContent.DATA or metrics_may_match(planner)(file)


def partition_of(iceberg: IcebergTable, table: Table, file: IcebergFile) -> dict[str, object]:
    """The values of the table's partition columns that all rows of the file share, as far as its metadata shows:
    another engine may have replaced the partition fields.
    """
    metadata = iceberg.metadata
    ids = {name: column.field_id for name, column in columns_of(iceberg, table).items()}
    spec = metadata.specs()[file.spec_id]
    values: dict[str, object] = {}
    for name in table.partition:
        for place, field in enumerate(spec.fields):
            if field.source_id == ids[name] and isinstance(field.transform, IdentityTransform):
                value = file.partition[place]
                values[name] = days_to_date(value) if name == "dt" and isinstance(value, int) else value
    return values


def columns_of(iceberg: IcebergTable, table: Table) -> dict[str, ColumnNames]:
    """How the table's columns are found in its files, by the field ids with which they were created."""
    ids: dict[str, int] = json.loads(iceberg.properties.get(COLUMNS_PROPERTY, "{}"))
    fields = {field.name: field.field_id for field in iceberg.schema().fields}
    mapping = iceberg.name_mapping()
    names: dict[int, tuple[str, ...]] = {}
    for mapped in mapping.root if mapping else ():
        if mapped.field_id is not None:
            names[mapped.field_id] = tuple(mapped.names)
    columns = {}
    for column in table.columns:
        field_id = ids.get(column.name, fields.get(column.name))
        if field_id is not None:
            columns[column.name] = ColumnNames(field_id, names.get(field_id, ()) or (column.name,))
    return columns


def condition(iceberg: IcebergTable, table: Table, equal: Mapping[str, object]) -> BooleanExpression:
    """Rows whose columns equal the values, under the columns' current names. Days may be texts."""
    columns = columns_of(iceberg, table)
    names = {name: iceberg.schema().find_column_name(column.field_id) for name, column in columns.items()}
    return all_of({names.get(name) or name: value for name, value in equal.items()})


def partition_files(
    iceberg: IcebergTable, table: Table, snapshot: int | None, equal: Mapping[str, object]
) -> list[PartitionFile]:
    """The files with rows of the partitions whose columns equal `equal`."""
    result = []
    for plan in planned(iceberg, snapshot, condition(iceberg, table, equal)):
        shared = partition_of(iceberg, table, plan.file)
        file = whole(iceberg, table, plan)
        if shared.keys() == set(table.partition):
            cluster, day = cast("str", shared["cluster_id"]), cast("dt.date | None", shared.get("dt"))
            result.append(replace(file, cluster_id=cluster, dt=day))
        else:
            result += _by_partition(file, table, equal)
    return result


def newest(
    iceberg: IcebergTable, table: Table, column: str, equal: Mapping[str, object]
) -> dict[dt.date, tuple[int, dt.datetime]]:
    """Day -> number of rows and latest time, from the statistics of the files, without opening any. Days for which they
    are incomplete are left out: another engine deleted rows or changed the layout.
    """
    field = columns_of(iceberg, table)[column].field_id
    by_day: dict[dt.date, tuple[int, dt.datetime]] = {}
    unknown = set()
    for plan in planned(iceberg, None, condition(iceberg, table, equal)):
        shared, bounds = partition_of(iceberg, table, plan.file), plan.file.upper_bounds or {}
        if "dt" not in shared:
            return {}
        day = cast("dt.date", shared["dt"])
        if plan.deletes or "cluster_id" not in shared or field not in bounds:
            unknown.add(day)
            continue
        last = micros_to_timestamptz(cast("int", from_bytes(TimestamptzType(), bounds[field])))
        rows, before = by_day.get(day, (0, last))
        by_day[day] = rows + plan.file.record_count, max(before, last)
    return {day: of_day for day, of_day in by_day.items() if day not in unknown}


def stored_rows(files: Iterable[PartitionFile], table: Table, columns: Sequence[str]) -> Iterator[pa.Table]:
    """These columns of the rows in files of the table, a row group at a time."""
    schema = pa.schema([table.arrow_schema.field(name) for name in columns])
    for file in files:
        yield from file.row_groups(schema, as_dictionaries=False)


def rows_in(files: Iterable[PartitionFile], table: Table) -> int:
    """How many rows the files have. Only files of which another engine deleted rows are opened."""
    return sum(
        sum(map(len, stored_rows([file], table, table.partition[:1]))) if file.deletes else file.rows
        for file in files
    )


def values_in(files: Iterable[PartitionFile], table: Table, column: str) -> int:
    """How many rows of the files have a value in the column."""
    return sum(len(rows) - rows[column].null_count for rows in stored_rows(files, table, (column,)))


def _by_partition(file: PartitionFile, table: Table, equal: Mapping[str, object]) -> list[PartitionFile]:
    """One entry for each requested partition that has rows in a file of another engine's layout."""
    schema = pa.schema([field for field in table.arrow_schema if field.name in ("cluster_id", "dt")])
    partitions: dict[tuple[str, dt.date | None], int] = {}
    for group in file.row_groups(schema, as_dictionaries=False):
        for row in group.to_pylist():
            if all(row[n] in v if isinstance(v, list) else row[n] == v for n, v in equal.items() if n in row):
                key = (row["cluster_id"], row.get("dt"))
                partitions[key] = partitions.get(key, 0) + 1
    return [
        replace(
            file,
            cluster_id=cluster,
            dt=day,
            rows=rows,
            is_mixed=True,
            stored_bytes=file.stored_bytes * rows // max(1, file.rows),
        )
        for (cluster, day), rows in partitions.items()
    ]


def whole(iceberg: IcebergTable, table: Table, plan: Planned) -> PartitionFile:
    """A file with all its rows, of whatever partitions."""
    columns, access = columns_of(iceberg, table), FileAccess.of(iceberg.io)
    return PartitionFile(
        plan.file.file_path,
        "",
        None,
        plan.file.record_count,
        plan.deletes,
        False,
        columns,
        access,
        plan.file.file_size_in_bytes,
    )


def matching(table: pa.Table, equal: Mapping[str, object]) -> pa.Table:
    """The rows whose columns equal the values; a list means any of its values."""
    for name, value in equal.items():
        values = value if isinstance(value, list) else [value]
        table = table.filter(pc.is_in(table[name], pa.array(values, table.schema.field(name).type)))
    return table
