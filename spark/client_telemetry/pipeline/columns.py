"""Rows and lists of them as columns: what NumPy needs to group and join what Arrow holds."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Vector = np.ndarray[Any, np.dtype[Any]]
"""One-dimensional."""


def numbered(columns: Sequence[pa.ChunkedArray]) -> tuple[Vector, Vector]:
    """For each row the number of its values in these columns, nulls counted as equal; and for each number a row that has it."""
    number: Vector = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        codes = column.combine_chunks().dictionary_encode(null_encoding="encode").indices.to_numpy()
        _, number = np.unique(number * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)
    _, rows = np.unique(number, return_index=True)
    return number, rows


def integers(column: pa.Array, instead_of_null: int = 0) -> Vector:
    found: Vector = pc.fill_null(column, instead_of_null).to_numpy(zero_copy_only=False)
    return found.astype(np.int64)


def starts(lengths: Vector) -> Vector:
    """Where each of lists of these lengths begins in their values, and the end."""
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def expanded(begins: Vector, counts: Vector) -> tuple[Vector, Vector]:
    """For each row as many numbers as it counts, from its start: the row, and the number."""
    owner = np.repeat(np.arange(len(counts)), counts)
    return owner, np.arange(len(owner)) - starts(counts)[owner] + begins[owner]


def distinct(*columns: Vector) -> tuple[Vector, ...]:
    """The distinct rows of the columns, sorted."""
    order = np.lexsort(columns[::-1])
    ordered = [column[order] for column in columns]
    is_new = np.ones(len(order), bool)
    if len(order):
        is_new[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in ordered])
    return tuple(column[is_new] for column in ordered)


def list_column(owners: Vector, values: pa.Array, size: int) -> pa.Array:
    """`size` lists: for each row its values, which are in the order of the rows."""
    offsets = np.searchsorted(owners, np.arange(size + 1)).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), values)


def column_at(rows: Vector, size: int, values: Vector) -> pa.Array:
    """A column of `size` rows with these values at these rows, null elsewhere."""
    found, is_null = np.zeros(size, np.int64), np.ones(size, bool)
    found[rows], is_null[rows] = values, False
    return pa.array(found, mask=is_null)
