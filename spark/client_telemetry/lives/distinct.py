"""Distinct rows of a few columns, numbered by compiled code; values as their places in sorted order; lists of these."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numba import njit

from client_telemetry.raw.wire import compiled

_NULL = np.iinfo(np.int32).min
_MIX = np.uint64(0x9E3779B97F4A7C15)


def distinct_rows(table: pa.Table) -> tuple[np.ndarray, np.ndarray]:
    """(int32[n], int64[distinct]): for each row the number of its kind, from 0 in order of appearance, and the first
    row of each kind. Rows are alike if all columns are, nulls counted as equal. Columns are strings, binaries,
    booleans, integers of at most 32 bits, or dictionaries of these.
    """
    differing = [each for each in map(codes, table.columns) if (each != each[:1]).any()]
    keys = np.empty((len(table), len(differing)), np.int32)
    for place, column in enumerate(differing):
        keys[:, place] = column
    numbers, firsts = np.empty(len(table), np.int32), np.empty(len(table), np.int64)
    slots = np.full(1 << max(4, (2 * len(table)).bit_length()), -1, np.int32)
    count = _number(keys, slots, numbers, firsts)
    return numbers, firsts[:count].copy()


def ranks(column: pa.ChunkedArray) -> tuple[np.ndarray, pa.Array]:
    """(int32[n], values): for each row the place of its value among the sorted distinct `values`, -1 for null."""
    encoded = column.combine_chunks().dictionary_encode()
    order = pc.array_sort_indices(encoded.dictionary)
    place = np.full(len(order) + 1, -1, np.int32)
    place[order.to_numpy()] = np.arange(len(order))
    return place[pc.fill_null(encoded.indices, len(order)).to_numpy()], encoded.dictionary.take(order)


def distinct_lists(owners: np.ndarray, places: np.ndarray, values: pa.Array, count: int) -> pa.ListArray:
    """For each of `count` owners the sorted distinct values that it has. `owners` and `places`, int32[n], say who has
    which of `values`; a negative place is none."""
    has = places >= 0
    pairs = np.unique(owners[has].astype(np.int64) << 32 | places[has])
    offsets = np.zeros(count + 1, np.int32)
    np.cumsum(np.bincount(pairs >> 32, minlength=count), out=offsets[1:])
    return pa.ListArray.from_arrays(offsets, values.take(pa.array(pairs & 0xFFFFFFFF)))


def codes(column: pa.ChunkedArray) -> np.ndarray:
    """int32[n]: equal values have equal numbers, and null has one of its own."""
    if pa.types.is_string(column.type) or pa.types.is_binary(column.type):
        column = column.dictionary_encode()
    if pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
        parts = [chunk.indices for chunk in column.chunks]
        column = pa.chunked_array(parts, pa.int32())
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    return pc.fill_null(column.cast(pa.int32()), _NULL).to_numpy()


def without_dictionaries(table: pa.Table) -> pa.Table:
    """A dictionary holds the values of all rows, not only of those that are left."""
    fields = [
        pa.field(f.name, f.type.value_type if pa.types.is_dictionary(f.type) else f.type)
        for f in table.schema
    ]
    return table.cast(pa.schema(fields))


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
