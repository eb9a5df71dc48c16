"""Distinct rows of a few columns, numbered by compiled code."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numba import njit

from client_telemetry.formats.raw.wire import compiled

_NULL = np.iinfo(np.int32).min
_MIX = np.uint64(0x9E3779B97F4A7C15)


def distinct_rows(table: pa.Table) -> tuple[np.ndarray, np.ndarray]:
    """(int32[n], int64[distinct]): for each row the number of its kind, from 0 in order of appearance, and the first
    row of each kind. Rows are alike if all columns are, nulls counted as equal. Columns are strings, binaries,
    booleans, integers of at most 32 bits, or dictionaries of these.
    """
    columns = (each for column in table.columns for each in _codes(column))
    differing: list[Any] = [each for each in columns if (each != each[:1]).any()]
    keys = np.empty((len(table), len(differing)), np.int32)
    for place in range(len(differing)):
        keys[:, place], differing[place] = differing[place], None
    numbers, firsts = np.empty(len(table), np.int32), np.empty(len(table), np.int64)
    slots = np.full(1 << max(4, (2 * len(table)).bit_length()), -1, np.int32)
    count = _number(keys, slots, numbers, firsts)
    return numbers, firsts[:count].copy()


def integers(column: pa.ChunkedArray, instead_of_null: int = 0) -> np.ndarray:
    """The numbers of a column, of its width."""
    return pc.fill_null(column, instead_of_null).to_numpy()


def _codes(column: pa.ChunkedArray) -> list[np.ndarray]:
    """Some int32[n] that are equal where values are; null is equal to null only."""
    if pa.types.is_binary(column.type):
        words = _words(column.combine_chunks())
        if words is not None:
            return list(words.T)
    if pa.types.is_string(column.type) or pa.types.is_binary(column.type):
        column = column.dictionary_encode()
    if pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
        column = pa.chunked_array([chunk.indices for chunk in column.chunks], pa.int32())
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    return [integers(column.cast(pa.int32()), _NULL)]


def _words(column: pa.BinaryArray) -> np.ndarray | None:
    """int32[n, 4] of values that are 16 bytes each; None if one is not. Numbering them by a dictionary takes longer than
    reading them."""
    _, offsets, data = column.buffers()
    if column.null_count or not len(column):
        return None
    ends = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1]
    if (np.diff(ends) != 16).any():
        return None
    return np.frombuffer(data, np.uint8)[ends[0] : ends[-1]].view(np.int32).reshape(-1, 4)


def decode_dictionaries(table: pa.Table, larger_than: int = 0) -> pa.Table:
    """With values instead of dictionaries, which hold the values of all rows, not only of those that are left."""
    columns = [
        column.cast(column.type.value_type) if _has_dictionary(column, larger_than) else column
        for column in (column.unify_dictionaries() for column in table.columns)
    ]
    return pa.table(columns, table.column_names)


def _has_dictionary(column: pa.ChunkedArray, larger_than: int) -> bool:
    return pa.types.is_dictionary(column.type) and any(
        len(chunk.dictionary) > larger_than for chunk in column.chunks
    )


def together(tables: Sequence[pa.Table]) -> pa.Table:
    """The rows of all. A column that is a dictionary in some is one of all."""
    columns = {}
    for name in tables[0].column_names:
        chunks = [chunk for table in tables for chunk in table[name].chunks]
        if any(pa.types.is_dictionary(chunk.type) for chunk in chunks):
            chunks = [chunk.dictionary_encode() for chunk in chunks]
        columns[name] = pa.chunked_array(
            chunks, None if chunks else tables[0][name].type
        ).unify_dictionaries()
    return pa.table(columns)


@njit
def _hash(keys, row):
    value = np.uint64(0)
    for place in range(keys.shape[1]):
        value = (value ^ np.uint64(np.uint32(keys[row, place]))) * _MIX
        value ^= value >> np.uint64(29)
    return value


@compiled("int64(int32[:, ::1], int32[::1], int32[::1], int64[::1])")
def _number(keys, slots, numbers, firsts):
    mask, columns = np.uint64(len(slots) - 1), keys.shape[1]
    count = 0
    for row in range(len(keys)):
        place = _hash(keys, row) & mask
        while slots[place] >= 0:
            first, alike = firsts[slots[place]], 0
            while alike < columns and keys[first, alike] == keys[row, alike]:
                alike += 1
            if alike == columns:
                break
            place = (place + np.uint64(1)) & mask
        if slots[place] < 0:
            slots[place] = count
            firsts[count] = row
            count += 1
        numbers[row] = slots[place]
    return count
