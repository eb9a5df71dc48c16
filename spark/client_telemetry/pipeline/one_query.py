"""Several results of Spark in one query: planning, compiling and scheduling a query takes tenths of a second, however few its
rows are.
"""

from collections.abc import Iterator, Mapping
from functools import reduce
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StructField, StructType

from client_telemetry.lake.plain_rows import plain_rows


def in_one_query(frames: Mapping[str, DataFrame]) -> dict[str, Iterator[Any]]:
    """The rows of each frame, in the order in which Spark returns them, times in UTC. They are kept as Arrow until they are
    gone through.
    """
    # Of the rows of other frames, all fields are null.
    kinds = {
        name: StructType([StructField(field.name, field.dataType) for field in frame.schema])
        for name, frame in frames.items()
    }
    parts = [
        frame.select(
            *(
                (F.struct(*frame.columns) if other == name else F.lit(None)).cast(kind).alias(other)
                for other, kind in kinds.items()
            )
        )
        for name, frame in frames.items()
    ]
    table = reduce(DataFrame.union, parts).toArrow()
    return {name: _rows(table[name]) for name in frames}


def _rows(column: pa.ChunkedArray) -> Iterator[dict[str, object]]:
    for chunk in column.chunks:
        yield from plain_rows(pa.Table.from_struct_array(chunk.drop_null()))
