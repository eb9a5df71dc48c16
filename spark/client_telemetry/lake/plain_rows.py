"""Rows of Arrow tables as dicts, equal values of a column being one object."""

import datetime as dt
from itertools import pairwise, repeat

import pyarrow as pa


def plain_rows(table: pa.Table) -> list[dict[str, object]]:
    """As `table.to_pylist(maps_as_pydicts="strict")`, with times in UTC, in less time and memory: each distinct value becomes a
    Python object once. pyarrow returns the time zone named in the file.
    """
    names = table.column_names
    columns = [_values(_one_array(column)) for column in table.columns]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _one_array(column: pa.ChunkedArray) -> pa.Array:
    combined = column.combine_chunks()
    return combined if isinstance(combined, pa.Array) else pa.concat_arrays(combined.chunks)


def _values(array: pa.Array) -> list[object]:
    kind = array.type
    if pa.types.is_map(kind):
        return array.to_pylist(maps_as_pydicts="strict")
    if pa.types.is_list(kind):
        items = _values(array.values)
        ends = array.offsets.to_pylist()
        lists: list[object] = [items[begin:end] for begin, end in pairwise(ends)]
        return _with_nulls(array, lists)
    if pa.types.is_struct(kind):
        names = [field.name for field in kind]
        # With the nulls of the structs and of the slice alone, unlike `field`.
        members = [_values(member) for member in array.flatten()]
        rows = zip(*members, strict=True) if members else repeat((), len(array))
        return _with_nulls(array, [dict(zip(names, row, strict=True)) for row in rows])
    if pa.types.is_floating(kind) or pa.types.is_null(kind):
        return array.to_pylist()
    encoded = array if pa.types.is_dictionary(kind) else array.dictionary_encode()
    distinct = encoded.dictionary.to_pylist()
    if pa.types.is_timestamp(encoded.dictionary.type):
        distinct = [value.astimezone(dt.UTC) for value in distinct]
    distinct.append(None)
    places = encoded.indices.fill_null(len(distinct) - 1).to_numpy().tolist()
    return list(map(distinct.__getitem__, places))


def _with_nulls(array: pa.Array, values: list[object]) -> list[object]:
    if not array.null_count:
        return values
    return [
        value if valid else None
        for value, valid in zip(values, array.is_valid().to_numpy(zero_copy_only=False), strict=True)
    ]
