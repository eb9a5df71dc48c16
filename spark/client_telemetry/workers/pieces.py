"""What tasks of Spark's Python workers send each other: a few large pieces that Spark moves without looking inside.

Workers read data files themselves (lake/files.py): as rows of Spark, many small values would cost several times as much
as processing them.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar, cast

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from client_telemetry.workers.columns import Vector

PIECES = "bucket int, piece binary"
PIECE_ROWS = pa.schema([("bucket", pa.int32()), ("piece", pa.binary())])
"""The same for Arrow."""
_CODEC, _SIZE = "lz4_raw", 8

Part = TypeVar("Part")
Result = TypeVar("Result")

Pieces = Iterator[tuple[int, object]]
"""The number of the receiving task, and any picklable object."""


def read_pieces(spark: SparkSession, tasks: int, read: Callable[[int], Pieces]) -> DataFrame:
    return read_rows(spark, tasks, lambda task: batches_of(read(task)), PIECES)


def read_rows(
    spark: SparkSession,
    tasks: int,
    read: Callable[[int], Iterator[pa.RecordBatch]],
    schema: StructType | str,
) -> DataFrame:
    """What `read` returns for each task, as rows of Spark."""

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for task in batch.column("id").to_pylist():
                yield from read(task)

    return spark.range(0, tasks, 1, max(tasks, 1)).mapInArrow(work, schema)


def by_part(rows: pa.Table, part_of: Vector) -> Iterator[tuple[int, pa.Table]]:
    """The rows of each part. `part_of`: int64[rows]."""
    for part in np.unique(part_of).tolist():
        yield part, rows.filter(pa.array(part_of == part))


def in_tasks(
    spark: SparkSession | None, work: Callable[[Part], Result], parts: Sequence[Part]
) -> list[Result]:
    """Run `work` on each part in a task of its own; a single part is not worth a task. Parts, results and `work` are
    pickled. Without Spark, all is done in this process.
    """
    if spark is None or len(parts) < 2:
        return [work(part) for part in parts]

    def run_parts(received: Iterator[object]) -> Pieces:
        for piece in received:
            number, part = cast(tuple[int, Part], piece)
            yield 0, (number, work(part))

    sent = spark.createDataFrame(pa.Table.from_batches(batches_of(enumerate(enumerate(parts)))))
    returned = moved(sent, len(parts)).mapInArrow(packed(run_parts), PIECES).toArrow()
    results = dict(cast(Iterator[tuple[int, Result]], unpacked(returned.to_batches())))
    return [results[number] for number in range(len(parts))]


def moved(pieces: DataFrame, tasks: int) -> DataFrame:
    return pieces.repartitionById(tasks, "bucket")


def packed(
    look: Callable[[Iterator[Part]], Pieces],
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[object]]:
    """`look`: gets the pieces that the earlier tasks sent, of the type that it names."""
    return lambda batches: batches_of(look(cast("Iterator[Part]", unpacked(batches))))


def batches_of(pieces: Pieces) -> Iterator[pa.RecordBatch]:
    """One row per piece, with its size in front; compressed, because it goes through two pipes and a shuffle."""
    for bucket, piece in pieces:
        plain = pickle.dumps(piece, protocol=5)
        data = len(plain).to_bytes(_SIZE) + pa.compress(plain, _CODEC, asbytes=True)
        yield pa.record_batch([[bucket], [data]], schema=PIECE_ROWS)


def unpacked(batches: Iterable[pa.RecordBatch]) -> Iterator[object]:
    for batch in batches:
        for piece in batch.column("piece"):
            data = piece.as_buffer()
            size = int.from_bytes(data[:_SIZE].to_pybytes())
            yield pickle.loads(pa.decompress(data[_SIZE:], size, _CODEC))
