"""What it costs that files are opened by the catalog's FileIO, with field ids and other engines' deletes honoured, against
pyarrow alone with the same options.

    make bench ARGS=lake_files

Rows are those of the sample's `client_pushes` in the lake of `make run`, repeated. Only this process works.
"""

import datetime as dt
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
from client_telemetry.lake.files import DeleteFile, FileAccess, PartitionFile, columns_of, portions
from client_telemetry.lake.lake import Lake
from client_telemetry.lake.writer import ROWS_IN_COLUMNS, DataFile, TablePlace, _text_columns
from client_telemetry.sessionize.push_groups import OF_THE_DAY
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from pyarrow import fs

from benchmarks.bench import Section
from benchmarks.lake_growth import SAMPLE_CLUSTER, rows_of_sample
from benchmarks.measure import ratio_in_pairs
from tests.end_to_end.lake.servers import s3, s3_server

ROWS, PORTION = 600_000, 1_000_000
PAIRS = 15
DAY = dt.date(2026, 11, 21)
PARTITION = {"cluster_id": SAMPLE_CLUSTER, "dt": DAY}
TEXT = f"""CPU of reading the columns of pushes that `sessionize` reads, and of writing all columns as `decode` does, relative to \
*pyarrow alone*, which opens the local file by its path with the same options and handles neither deletes nor field ids. Both ran \
twice in direct succession, in the order ABBA, {PAIRS} times; the ratio is the median, with its 95 % confidence interval. \
The rows for pyarrow alone against itself show how precise the measurement is."""


def run() -> Iterator[Section]:
    if s3_server() is None:
        raise SystemExit("needs the S3 server of `make e2e`")
    with TemporaryDirectory() as folder, s3(Path(folder), ("lake",)) as store:
        os.environ.update(store)
        yield Section("Opening files as the stages do", TEXT, _rows(Path(folder)))


def _rows(folder: Path) -> list[dict[str, str | float]]:
    columns = rows_of_sample(("decode",), ROWS)[CLIENT_PUSHES]
    times = -(-ROWS // len(next(iter(columns.values()))))
    columns = {
        name: pa.chunked_array([array] * times).slice(0, ROWS).combine_chunks()
        for name, array in columns.items()
    }
    columns = {name: _as_decoded(array) for name, array in columns.items()}
    store = FileAccess(
        (("s3.endpoint", os.environ["AWS_ENDPOINT_URL"]), ("s3.region", os.environ["AWS_REGION"]))
    )
    local, remote = TablePlace(f"file://{folder}/table"), TablePlace("s3://lake/table", access=store)
    url, in_store = _write(columns, local), _write(columns, remote)
    lake = Lake(None, str(folder / "lake"))
    lake.create([CLIENT_PUSHES])
    with_ids = columns_of(lake.table(CLIENT_PUSHES), CLIENT_PUSHES)
    file = PartitionFile(url, SAMPLE_CLUSTER, DAY, ROWS, columns=with_ids, access=FileAccess())
    in_s3 = replace(file, url=in_store, access=store)
    deleting = replace(file, deletes=(_positions(folder, url),))
    cases = {
        "read: pyarrow alone, against itself": (lambda: _read_alone(url), lambda: _read_alone(url)),
        "read: as the stages do": (lambda: _read(file), lambda: _read_alone(url)),
        "read: the same, 1 % of the rows deleted": (lambda: _read(deleting), lambda: _read_alone(url)),
        "read: the same, from S3": (lambda: _read(in_s3), lambda: _read_alone(url)),
        "write: pyarrow alone, against itself": (
            lambda: _write_alone(columns, folder),
            lambda: _write_alone(columns, folder),
        ),
        "write: as the stages do": (lambda: _write(columns, local), lambda: _write_alone(columns, folder)),
        "write: the same, to S3": (lambda: _write(columns, remote), lambda: _write_alone(columns, folder)),
    }
    rows: list[dict[str, str | float]] = []
    for name, (ours, alone) in cases.items():
        ratio = ratio_in_pairs(ours, alone, PAIRS)
        rows.append(
            {
                "way": name,
                "CPU, ns per push": round(ratio.cpu / ROWS * 1e9),
                "relative to pyarrow alone": f"{ratio.median:.3f}",
                "95 % interval": f"{ratio.low:.3f} to {ratio.high:.3f}",
            }
        )
    return rows


def _as_decoded(array: pa.Array) -> pa.Array:
    """Texts as dictionaries, as the decoder has them."""
    return array.dictionary_encode() if pa.types.is_string(array.type) else array


def _schema() -> pa.Schema:
    needed = {*OF_THE_DAY, "received_at", "points", "clock_skew_ms", "sequence", "error_code"} - {
        "cluster_id"
    }
    return pa.schema([field for field in CLIENT_PUSHES.arrow_schema if field.name in needed])


def _read(file: PartitionFile) -> int:
    return sum(len(table) for table in portions([file], _schema()))


def _read_alone(url: str) -> int:
    """The same columns and tables, from the same options of pyarrow."""
    schema = _schema()
    texts = [field.name for field in schema if pa.types.is_string(field.type)]
    rows, groups = 0, []
    source = fs.LocalFileSystem().open_input_file(url.removeprefix("file://"))
    parquet = pq.ParquetFile(source, read_dictionary=texts, pre_buffer=True)
    for group in range(parquet.num_row_groups):
        read = parquet.read_row_group(group, schema.names, use_threads=False)
        zeros = pa.repeat(pa.scalar(0, pa.int32()), len(read))
        groups.append(
            read.append_column("cluster_id", pa.DictionaryArray.from_arrays(zeros, [SAMPLE_CLUSTER]))
        )
        rows += len(read)
        if sum(map(len, groups)) >= PORTION:
            pa.concat_tables(groups)
            groups = []
    return rows


def _chunks(columns: dict[str, pa.Array]) -> Iterator[dict[str, pa.Array]]:
    for start in range(0, ROWS, ROWS_IN_COLUMNS):
        yield {name: array.slice(start, ROWS_IN_COLUMNS) for name, array in columns.items()}


def _write(columns: dict[str, pa.Array], place: TablePlace) -> str:
    file = DataFile(CLIENT_PUSHES, place, PARTITION)
    for chunk in _chunks(columns):
        file.add_columns(chunk)
    return file.close() or ""


def _write_alone(columns: dict[str, pa.Array], folder: Path) -> None:
    writer = None
    schema = CLIENT_PUSHES.arrow_schema
    for chunk in _chunks(columns):
        size = len(next(iter(chunk.values())))
        arrays = [chunk[f.name] if f.name in chunk else _constant(f, size) for f in schema]
        fields = [
            pa.field(f.name, a.type, c.nullable)
            for f, a, c in zip(schema, arrays, CLIENT_PUSHES.columns, strict=True)
        ]
        data = pa.Table.from_arrays(arrays, schema=pa.schema(fields))
        writer = writer or pq.ParquetWriter(
            str(folder / "alone.parquet"),
            data.schema,
            compression="zstd",
            use_dictionary=_texts(schema),
            store_schema=False,
            write_statistics=_with_statistics(schema),
        )
        writer.write_table(data)
    if writer:
        writer.close()


def _constant(field: pa.Field, size: int) -> pa.Array:
    array = pa.repeat(pa.scalar(PARTITION[field.name], field.type), size)
    return _as_decoded(array)


def _texts(schema: pa.Schema) -> Sequence[str]:
    return [path for field in schema for path in _text_columns(field.name, field.type)]


def _with_statistics(schema: pa.Schema) -> Sequence[str]:
    return [
        field.name
        for field in schema
        if field.name in PARTITION or pa.types.is_integer(field.type) or pa.types.is_temporal(field.type)
    ]


def _positions(folder: Path, url: str) -> DeleteFile:
    """Each hundredth row of the file, as another engine deletes it."""
    path = folder / "deletes.parquet"
    positions = pa.array(range(0, ROWS, 100), pa.int64())
    paths = pa.array([url] * len(positions))
    pq.write_table(pa.table({"file_path": paths, "pos": positions}), path)
    return DeleteFile(f"file://{path}")
