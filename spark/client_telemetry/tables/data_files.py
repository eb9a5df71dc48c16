"""Parquet files of a table that Python workers write at their final place. The driver registers them
(`Branch.replace_files`); a file that nobody registers is invisible to readers."""

import datetime as dt
import uuid
from collections.abc import Mapping, Sequence
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from client_telemetry.tables.table import Table

ROWS_IN_MEMORY = 50_000
ROWS_IN_COLUMNS = 200_000
"""Rows that wait as columns, which take a tenth of the memory that rows of Python's objects take."""


class DataFile:
    """One file of one slice (cluster, day) of a table, made when the first row arrives; filled by rows or by columns,
    not by both. Holds at most some `ROWS_IN_MEMORY` rows, or some `ROWS_IN_COLUMNS` of them in columns; each such
    portion becomes a row group.

    The name is new at every attempt: after a lost worker Spark's attempt number can be the same again.
    """

    def __init__(self, table: Table, location: str, cluster_id: str, dt_: dt.date):
        self.table, self._schema = table, table.arrow_schema
        self._slice = {"cluster_id": cluster_id, "dt": dt_}
        self._columns = [c.name for c in table.columns if c.name not in self._slice]
        self._optional = [c.nullable for c in table.columns]
        self._rows: list[Sequence[object]] = []
        self._tables: list[pa.Table] = []
        self._waiting = 0
        self._writer: pq.ParquetWriter | None = None
        self._url = f"{location}/data/cluster_id={quote(cluster_id, safe='')}/dt={dt_.isoformat()}/{uuid.uuid4().hex}.parquet"
        self.rows = 0

    def add(self, rows: Sequence[Sequence[object]]) -> None:
        """Rows hold the values of all columns but cluster_id and dt, in table order."""
        self._rows.extend(rows)
        self._waiting += len(rows)
        if self._waiting >= ROWS_IN_MEMORY:
            self._flush()

    def add_columns(self, columns: Mapping[str, pa.Array]) -> None:
        """All columns but cluster_id and dt by name, equally long. Strings may be dictionaries, in maps and lists
        too, but then in every call."""
        size = len(next(iter(columns.values())))
        if not size:
            return
        arrays = [columns[f.name] if f.name in columns else self._constant(f, size) for f in self._schema]
        # Compiled code leaves no value out, and a column that says so takes a tenth less time to write.
        fields = [
            pa.field(name, array.type, optional)
            for name, array, optional in zip(self._schema.names, arrays, self._optional, strict=True)
        ]
        self._tables.append(pa.Table.from_arrays(arrays, schema=pa.schema(fields)))
        self._waiting += size
        if self._waiting >= ROWS_IN_COLUMNS:
            self._flush()

    def _constant(self, field: pa.Field, size: int) -> pa.Array:
        value = pa.scalar(self._slice[field.name], field.type)
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
            pa.repeat(pa.scalar(self._slice[f.name], f.type), self._waiting)
            if f.name in self._slice
            else pa.array(values[f.name], f.type)
            for f in self._schema
        ]
        return pa.Table.from_arrays(arrays, schema=self._schema)

    def _open(self, schema: pa.Schema) -> pq.ParquetWriter:
        files, path = fs.FileSystem.from_uri(self._url)
        files.create_dir(path.rpartition("/")[0], recursive=True)
        # Partition columns need statistics: without them the table format takes their value for null. Of the others
        # those keep some that queries look for ranges in. A text's are a fifth of the write, and between the first
        # and the last of a file lies whatever text one looks for.
        with_statistics = [f.name for f in self._schema if f.name in self._slice or _is_ordered(f.type)]
        # Dictionaries stay a matter of the encoding; readers see the plain types of the table.
        return pq.ParquetWriter(
            path,
            schema,
            filesystem=files,
            compression="zstd",
            # Numbers hardly repeat, or do so in runs that zstd sees: plain they are written in half the time and
            # take less room.
            use_dictionary=[path for field in self._schema for path in _text_columns(field.name, field.type)],
            store_schema=False,
            write_statistics=with_statistics,
        )

    def close(self) -> str | None:
        """URL of the file, or None if no row came."""
        self._flush()
        if self._writer is None:
            return None
        self._writer.close()
        return self._url


def _is_ordered(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_temporal(kind)


def _text_columns(path: str, kind: pa.DataType) -> list[str]:
    """Parquet's paths of the strings and binaries in a column."""
    if pa.types.is_map(kind):
        parts = {"key_value.key": kind.key_type, "key_value.value": kind.item_type}
    elif pa.types.is_list(kind):
        parts = {"list.element": kind.value_type}
    elif pa.types.is_struct(kind):
        parts = {field.name: field.type for field in kind}
    else:
        return [path] if pa.types.is_string(kind) or pa.types.is_binary(kind) else []
    return [found for name, part in parts.items() for found in _text_columns(f"{path}.{name}", part)]
