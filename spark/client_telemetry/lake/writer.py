"""Parquet files of a table, written to their final location by Python workers and the driver. A branch registers them
(`Branch.replace_files`); readers do not see an unregistered file. files.py reads them.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from hashlib import sha256
from itertools import groupby, islice
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyiceberg.table import Table as IcebergTable
from pyiceberg.table.locations import load_location_provider

from client_telemetry.lake.files import LOCAL, FileAccess
from client_telemetry.tables.table import Table

ROWS_IN_MEMORY = 50_000
ROWS_IN_COLUMNS = 200_000
"""Rows that are buffered as columns, which take a tenth of the memory of Python objects."""


@dataclass(frozen=True)
class TablePlace:
    """Where a table's data files go, and how they are written: its location and properties (such as a location
    provider), and the catalog's FileIO. Sent to the workers.
    """

    location: str
    properties: tuple[tuple[str, str], ...] = ()
    access: FileAccess = LOCAL

    @classmethod
    def of(cls, iceberg: IcebergTable) -> "TablePlace":
        return cls(iceberg.location(), tuple(sorted(iceberg.properties.items())), FileAccess.of(iceberg.io))

    def new_url(self, partition: Mapping[str, object]) -> str:
        """A unique name: after a lost worker Spark may reuse its attempt number."""
        folders = "".join(f"{name}={_folder_name(value)}/" for name, value in partition.items())
        provider = load_location_provider(self.location, dict(self.properties))
        return provider.new_data_location(f"{folders}{uuid.uuid4().hex}.parquet")


def _folder_name(value: object) -> str:
    """Not longer than file systems take (255 bytes with the column's name); what is in a file, nobody reads from it."""
    quoted = quote(str(value), safe="")
    return quoted if len(quoted) <= 200 else f"{quoted[:150]}-{sha256(quoted.encode()).hexdigest()[:16]}"


class DataFile:
    """One file of one partition of a table, created with the first row; filled by rows or by columns, not by both.
    Buffers about `ROWS_IN_MEMORY` rows, or `rows_in_columns` of them in columns; each full buffer becomes a row
    group.

    `partition`: a value for each of the table's partition columns, in their order. `is_complete`: required columns have
    no nulls in what `add_columns` gets, so that a null is an error; otherwise the gate finds it.
    """

    def __init__(
        self,
        table: Table,
        place: TablePlace,
        partition: Mapping[str, object],
        rows_in_columns: int = ROWS_IN_COLUMNS,
        is_complete: bool = True,
    ):
        self.table, self._schema = table, table.arrow_schema
        self._partition = dict(partition)
        self._columns = [c.name for c in table.columns if c.name not in self._partition]
        self._optional = [c.nullable or not is_complete for c in table.columns]
        self._rows: list[Sequence[object]] = []
        self._tables: list[pa.Table] = []
        self._waiting, self._rows_in_columns = 0, rows_in_columns
        self._writer: pq.ParquetWriter | None = None
        self._url = place.new_url(partition)
        self._access = place.access
        self.rows = 0

    def add(self, rows: Sequence[Sequence[object]]) -> None:
        """Rows hold the values of all columns except the partition's, in table order."""
        self._rows.extend(rows)
        self._waiting += len(rows)
        if self._waiting >= ROWS_IN_MEMORY:
            self._flush()

    def add_columns(self, columns: Mapping[str, pa.Array]) -> None:
        """All columns except the partition's, by name, of equal length. Strings may be dictionaries, in maps and lists
        too, but then in every call.
        """
        size = len(next(iter(columns.values())))
        if not size:
            return
        arrays = [columns[f.name] if f.name in columns else self._constant(f, size) for f in self._schema]
        # A column declared as complete takes a tenth less time to write.
        fields = [
            pa.field(name, array.type, optional)
            for name, array, optional in zip(self._schema.names, arrays, self._optional, strict=True)
        ]
        self._tables.append(pa.Table.from_arrays(arrays, schema=pa.schema(fields)))
        self._waiting += size
        if self._waiting >= self._rows_in_columns:
            self._flush()

    def _constant(self, field: pa.Field, size: int) -> pa.Array:
        value = pa.scalar(self._partition[field.name], field.type)
        if pa.types.is_string(field.type):
            zeros = pa.repeat(pa.scalar(0, pa.int32()), size)
            return pa.DictionaryArray.from_arrays(zeros, pa.array([value.as_py()], field.type))
        return pa.repeat(value, size)

    def _flush(self) -> None:
        if not self._waiting:
            return
        if len(self._tables) == 1:
            data = self._tables[0]
        elif self._tables:
            data = pa.concat_tables(self._tables).unify_dictionaries()
        else:
            data = self._table_of_rows()
        if self._writer is None:
            self._writer = self._open(data.schema)
        self._writer.write_table(data)
        self.rows += self._waiting
        self._rows, self._tables, self._waiting = [], [], 0

    def _table_of_rows(self) -> pa.Table:
        values = dict(zip(self._columns, zip(*self._rows, strict=True), strict=True))
        arrays = [
            pa.repeat(pa.scalar(self._partition[f.name], f.type), self._waiting)
            if f.name in self._partition
            else pa.array(values[f.name], f.type)
            for f in self._schema
        ]
        return pa.Table.from_arrays(arrays, schema=self._schema)

    def _open(self, schema: pa.Schema) -> pq.ParquetWriter:
        # Partition columns need statistics: without them the table format takes their value for null. Of the other
        # columns those keep some that queries filter by range. Statistics of texts cost a fifth of the write, and
        # nearly any text lies between the first and last of a file.
        with_statistics = [f.name for f in self._schema if f.name in self._partition or _is_ordered(f.type)]
        # Dictionaries are only an encoding; readers see the plain types of the table.
        self._out = self._access.io(self._url).new_output(self._url).create()
        return pq.ParquetWriter(
            self._out,
            schema,
            compression="zstd",
            # Numbers rarely repeat, or do so in runs that zstd finds: plain they are written in half the time and take
            # less space.
            use_dictionary=[path for field in self._schema for path in _text_columns(field.name, field.type)],
            store_schema=False,
            write_statistics=with_statistics,
        )

    def close(self) -> str | None:
        """URL of the file, or None if there were no rows."""
        self._flush()
        if self._writer is None:
            return None
        self._writer.close()
        self._out.close()
        return self._url


def write_rows(table: Table, place: TablePlace, rows: Sequence[Mapping[str, object]]) -> list[str]:
    """Rows by column name (missing values are null) as one file per partition; returns their URLs."""
    names = [c.name for c in table.columns if c.name not in table.partition]
    files: dict[tuple[object, ...], DataFile] = {}
    for key, own in groupby(rows, key=lambda row: tuple(row[name] for name in table.partition)):
        if key not in files:
            files[key] = DataFile(table, place, dict(zip(table.partition, key, strict=True)))
        while some := [tuple(map(row.get, names)) for row in islice(own, ROWS_IN_MEMORY)]:
            files[key].add(some)
    return [url for file in files.values() if (url := file.close())]


def write_table(table: Table, place: TablePlace, rows: pa.Table) -> list[str]:
    """The same for columns of an Arrow table, which may have other types of the same values: one file per partition."""
    rows = rows.select(table.arrow_schema.names).cast(table.arrow_schema)
    urls = []
    for partition in rows.group_by(list(table.partition)).aggregate([]).to_pylist():
        own = reduce(pc.and_, [pc.equal(rows[name], value) for name, value in partition.items()])
        file = DataFile(table, place, partition, is_complete=False)
        for batch in (
            rows.filter(own).drop_columns(list(partition)).combine_chunks().to_batches(ROWS_IN_COLUMNS)
        ):
            file.add_columns(dict(zip(batch.schema.names, batch.columns, strict=True)))
        urls.append(file.close())
    return list(filter(None, urls))


def _is_ordered(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_temporal(kind) or pa.types.is_boolean(kind)


def _text_columns(path: str, kind: pa.DataType) -> list[str]:
    """Parquet paths of the strings and binaries in a column."""
    if pa.types.is_map(kind):
        parts = {"key_value.key": kind.key_type, "key_value.value": kind.item_type}
    elif pa.types.is_list(kind):
        parts = {"list.element": kind.value_type}
    elif pa.types.is_struct(kind):
        parts = {field.name: field.type for field in kind}
    else:
        return [path] if pa.types.is_string(kind) or pa.types.is_binary(kind) else []
    return [column for name, part in parts.items() for column in _text_columns(f"{path}.{name}", part)]
