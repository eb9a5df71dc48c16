"""Keeps null apart from empty where pyiceberg 0.12 does not: it rebuilds a list of records by its offsets alone, so
that a null one is read, and even written, as an empty one (apache/iceberg-python issue 3833). For columns that are
null where a broker does not tell, that is another statement. To be removed with the release that fixes it: the test
of this module says when.
"""

from pyiceberg.io.pyarrow import ArrowProjectionVisitor

_rebuild = ArrowProjectionVisitor.list


def _rebuild_with_nulls(visitor, list_type, list_array, value_array):
    rebuilt = _rebuild(visitor, list_type, list_array, value_array)
    if rebuilt is None or rebuilt.null_count == list_array.null_count:
        return rebuilt
    parts = (rebuilt.offsets, rebuilt.values)
    return type(rebuilt).from_arrays(*parts, type=rebuilt.type, mask=list_array.is_null())


def keep_null_lists() -> None:
    """For all reads and writes of this process."""
    ArrowProjectionVisitor.list = _rebuild_with_nulls
