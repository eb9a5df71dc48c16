"""Data files of a table read by Python workers, column by column. Which files there are, the lake tells
(`Lake.files`); what workers write is in data_files.py."""

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

_PORTION = 1_000_000


@dataclass(frozen=True)
class SliceFile:
    """One Parquet file of one slice of a table."""

    url: str
    cluster_id: str
    dt: dt.date
    rows: int


def share_out(files: Sequence[SliceFile]) -> list[list[SliceFile]]:
    """The files in tasks of about a million rows each."""
    tasks: list[list[SliceFile]] = []
    rows = _PORTION
    for file in sorted(files, key=lambda file: file.url):
        if rows + file.rows > _PORTION:
            tasks.append([])
            rows = 0
        tasks[-1].append(file)
        rows += file.rows
    return tasks


def portions(files: Sequence[SliceFile], schema: pa.Schema) -> Iterator[pa.Table]:
    """The columns of `schema`, and `cluster_id`, of about a million rows at a time.
    Strings are dictionaries. A column that is younger than a file is null."""
    every = sum(file.rows for file in files)
    # Equal ones: a small rest would cost as much as a whole one where each row is of somebody else.
    portion = every / max(1, round(every / _PORTION))
    tables, rows = [], 0
    for file in files:
        for table in _row_groups(file, schema):
            tables.append(table)
            rows += len(table)
            if rows >= portion:
                yield pa.concat_tables(tables)
                tables, rows = [], 0
    if rows:
        yield pa.concat_tables(tables)


def _row_groups(file: SliceFile, schema: pa.Schema) -> Iterator[pa.Table]:
    files, path = fs.FileSystem.from_uri(file.url)
    with files.open_input_file(path) as source:
        metadata = pq.read_metadata(source)
        in_file = set(metadata.schema.to_arrow_schema().names)
        known = [field for field in schema if field.name in in_file]
        texts = [field.name for field in known if pa.types.is_string(field.type)]
        parquet = pq.ParquetFile(source, metadata=metadata, read_dictionary=texts, pre_buffer=True)
        for group in range(parquet.num_row_groups):
            read = parquet.read_row_group(group, [field.name for field in known], use_threads=False)
            zeros = pa.repeat(pa.scalar(0, pa.int32()), len(read))
            cluster = pa.DictionaryArray.from_arrays(zeros, [file.cluster_id])
            yield pa.table(
                [*(_as_declared(read, field) for field in schema), cluster],
                names=[*schema.names, "cluster_id"],
            )


def _as_declared(table: pa.Table, field: pa.Field) -> pa.ChunkedArray:
    kind = pa.dictionary(pa.int32(), field.type) if pa.types.is_string(field.type) else field.type
    if field.name not in table.column_names:
        return pa.chunked_array([pa.nulls(len(table), kind)])
    return table[field.name].cast(kind)
