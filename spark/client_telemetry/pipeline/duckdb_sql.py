"""Spark's SQL for DuckDB: where sqlglot's translation means something else, what is meant in its place."""

import threading
from functools import cache
from typing import TYPE_CHECKING, cast

import pyarrow as pa

if TYPE_CHECKING:
    from sqlglot.expressions import Expression, Select


_MAKING_READY = threading.Lock()


@cache
def make_ready() -> None:
    """Import sqlglot, by one thread: it makes its dialects ready when they are first used, and SQL that another thread has it write
    meanwhile is wrong."""
    with _MAKING_READY:
        import sqlglot

        sqlglot.transpile("select 1", read="spark", write="duckdb")


def parsed(query: str) -> "Select":
    """A query in Spark's SQL, to be written for DuckDB. Of no rows, or of nulls alone, count_if, collect_set and collect_list are 0
    and empty in Spark, null in DuckDB. Hints are for Spark alone."""
    make_ready()
    import sqlglot
    from sqlglot import exp

    def not_null(node: "Expression") -> "Expression":
        if isinstance(node, exp.CountIf):
            return exp.Filter(this=exp.Count(this=exp.Star()), expression=exp.Where(this=node.this))
        if isinstance(node, exp.ArrayUniqueAgg | exp.ArrayAgg):
            return exp.Coalesce(this=node.copy(), expressions=[exp.Array()])
        if isinstance(node, exp.Select):
            node.set("hint", None)
        return node

    return cast("exp.Select", sqlglot.parse_one(query, read="spark").transform(not_null))


def translated(query: str) -> str:
    return parsed(query).sql(dialect="duckdb")


def failure_reason(error: BaseException) -> str | None:
    """In one line what the machine lacks, if a query in this process failed for that; otherwise None."""
    if isinstance(error, FileNotFoundError) and "No usable temporary directory" in str(error):
        return f"{error.strerror}: make one of them writable, or set TMPDIR"
    said = _first_line(error)
    if any(words in said for words in _OF_FILES):
        return f"temporary files of queries ({said}): free some space there, make it writable, or set TMPDIR"
    return too_little_memory(error)


def too_little_memory(error: BaseException) -> str | None:
    """In one line, if a query in this process failed for that; otherwise None."""
    said = _first_line(error)
    if any(words in said for words in _OF_MEMORY):
        return f"too little memory for queries in this process ({said})"
    return None


def _first_line(error: BaseException) -> str:
    """Of an error of DuckDB; empty for others."""
    is_of_duckdb = type(error).__module__.rpartition(".")[2] == "_duckdb"
    return str(error).partition("\n")[0] if is_of_duckdb else ""


_OF_MEMORY = ("Out of Memory", "failed to pin block", "failed to allocate", "Allocation failure")
_OF_FILES = ("Could not write file", "Cannot open file", "Could not create directory", "No space left")


def in_utc(rows: pa.Table) -> pa.Table:
    """Times without their zone, which is UTC: DuckDB would convert them to that of the machine."""
    return _with_times_as(rows, None)


def with_zone(rows: pa.Table) -> pa.Table:
    """Times in UTC, as Spark has them."""
    return _with_times_as(rows, "UTC")


def _with_times_as(rows: pa.Table, zone: str | None) -> pa.Table:
    fields = [
        field.with_type(pa.timestamp("us", zone)) if pa.types.is_timestamp(field.type) else field
        for field in rows.schema
    ]
    return rows.cast(pa.schema(fields))
