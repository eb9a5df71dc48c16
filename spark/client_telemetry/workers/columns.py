"""Rows and lists as columns: what NumPy needs to group and join Arrow data."""

import datetime as dt
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Vector = np.ndarray[Any, np.dtype[Any]]
"""One-dimensional."""
NEVER, ALWAYS = np.iinfo(np.int64).max, np.iinfo(np.int64).min
"""Microseconds in place of a missing time: later, and earlier, than all."""
_EPOCH = dt.datetime.fromtimestamp(0, dt.UTC)


def numbered(columns: Sequence[pa.ChunkedArray]) -> tuple[Vector, Vector]:
    """(int64[n], int64[distinct]): for each row the number of its combination of values in these columns, and for each
    number the first row with it. Null equals null only.
    """
    codes = []
    for column in columns:
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
        codes.append(encoded.indices.to_numpy())
    _, number = np.unique(in_one(codes), return_inverse=True)
    rows = np.zeros(int(number.max(initial=-1)) + 1, np.int64)
    rows[number[::-1]] = np.arange(len(number))[::-1]
    return number, rows


def in_one(columns: Sequence[Vector]) -> Vector:
    """int64[n]: one number per row for its integers in all columns; two rows' numbers compare like their integers."""
    combined: Vector = np.zeros(len(columns[0]), np.int64)
    if not len(combined):
        return combined
    numbers = 1
    for column in columns:
        column = column.astype(np.int64)  # contiguous, unlike the columns of a structured array
        least = int(column.min())
        values = int(column.max()) - least + 1
        if numbers * values > NEVER:
            # Sorting takes longest, so it is done only when numbers would no longer fit, not for each column.
            (_, combined), (_, column) = (
                np.unique(integers, return_inverse=True) for integers in (combined, column)
            )
            least, numbers, values = 0, int(combined.max()) + 1, int(column.max()) + 1
        combined, numbers = combined * values + (column - least), numbers * values
    return combined


def ranks(column: pa.ChunkedArray) -> tuple[Vector, pa.Array]:
    """(int32[n], values): for each row the position of its value among the sorted distinct `values`, -1 for null."""
    encoded = column.combine_chunks().dictionary_encode()
    order = pc.array_sort_indices(encoded.dictionary)
    place = np.full(len(order) + 1, -1, np.int32)
    place[order.to_numpy()] = np.arange(len(order))
    return place[pc.fill_null(encoded.indices, len(order)).to_numpy()], encoded.dictionary.take(order)


def distinct_lists(owners: Vector, places: Vector, values: pa.Array, count: int) -> pa.ListArray:
    """For each of `count` owners its sorted distinct values. `owners` and `places`, int32[n], say who has which of
    `values`; a negative place means none.
    """
    has = places >= 0
    pairs = np.unique(owners[has].astype(np.int64) << 32 | places[has])
    offsets = np.zeros(count + 1, np.int32)
    np.cumsum(np.bincount(pairs >> 32, minlength=count), out=offsets[1:])
    return pa.ListArray.from_arrays(offsets, values.take(pa.array(pairs & 0xFFFFFFFF)))


def integers(column: pa.Array, instead_of_null: int = 0) -> Vector:
    filled: Vector = pc.fill_null(column, instead_of_null).to_numpy(zero_copy_only=False)
    return filled.astype(np.int64)


def micros(column: pa.Array, instead_of_null: int) -> Vector:
    """int64[n]: a column of times as microseconds since 1970."""
    return integers(column.cast(pa.timestamp("us", "UTC")).cast(pa.int64()), instead_of_null)


def micros_of(at: dt.datetime) -> int:
    return (at - _EPOCH) // dt.timedelta(microseconds=1)


def starts(lengths: Vector) -> Vector:
    """Where each list begins among the values of all, and the end, from the lengths of the lists."""
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def lengths(lists: pa.Array) -> Vector:
    """Length of each list; 0 for null."""
    filled: Vector = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    return filled


def items(lists: pa.Array, rows: Vector) -> tuple[Vector, Vector]:
    """The items of the lists of these rows, row after row: for each item its place in `rows`, and its place among the
    items of all lists.
    """
    counts = lengths(lists)
    return expanded(starts(counts)[rows], counts[rows])


def expanded(begins: Vector, counts: Vector) -> tuple[Vector, Vector]:
    """For each row `counts` consecutive numbers beginning at `begins`: the row, and the number."""
    owner = np.repeat(np.arange(len(counts)), counts)
    return owner, np.arange(len(owner)) - starts(counts)[owner] + begins[owner]


def in_order(*columns: Vector) -> tuple[Vector, Vector]:
    """The order of the rows by these columns, and for each place in it whether the row differs from the previous one."""
    order = np.lexsort(columns[::-1])
    is_new = np.ones(len(order), bool)
    if len(order):
        ordered = (column[order] for column in columns)
        is_new[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in ordered])
    return order, is_new


def distinct(*columns: Vector) -> tuple[Vector, ...]:
    """The distinct rows of the columns, sorted."""
    order, is_new = in_order(*columns)
    return tuple(column[order[is_new]] for column in columns)


def list_column(owners: Vector, values: pa.Array, size: int) -> pa.Array:
    """`size` lists: for each row its values, which are sorted by row."""
    offsets = np.searchsorted(owners, np.arange(size + 1)).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), values)


def column_at(rows: Vector, size: int, values: Vector) -> pa.Array:
    """A column of `size` rows with these values at these rows, null elsewhere."""
    filled, is_null = np.zeros(size, np.int64), np.ones(size, bool)
    filled[rows], is_null[rows] = values, False
    return pa.array(filled, mask=is_null)
