"""The types of the tables' rows, for mypy: tables/rows.py is generated from the schemas (`make generated`)."""

from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from client_telemetry.pipeline.all_tables import TABLES
from client_telemetry.tables.table import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    LONG,
    STRING,
    TIMESTAMP,
    Table,
)

_PYTHON: dict[DataType, str] = {
    STRING: "str",
    INT: "int",
    LONG: "int",
    DOUBLE: "float",
    BOOLEAN: "bool",
    BINARY: "bytes",
    DATE: "date",
    TIMESTAMP: "datetime",
}

_HEAD = '''"""Rows of the tables as dicts, for mypy: lake.rows gives them and branch.replace_rows writes them. Written by
`make generated` from the schemas beside this file.

A column that may be null is `| None`. Files of an older version may lack a column that has come since: it is null
whatever stands here. Nested records stay dicts."""

from datetime import date, datetime
from typing import Any, TypedDict
'''


def text() -> str:
    return "\n\n".join([_HEAD, *map(_row, TABLES)])


def name(table: Table) -> str:
    """Of the type of a table's rows: `client_pushes` has rows of `ClientPushRow`."""
    singular = table.name.removesuffix("es") if table.name.endswith("shes") else table.name.removesuffix("s")
    return "".join(word.capitalize() for word in singular.split("_")) + "Row"


def _row(table: Table) -> str:
    columns = [
        f"    {column.name}: {_python(column.kind)}{' | None' if column.nullable else ''}"
        for column in table.columns
    ]
    return "\n".join(
        [f"class {name(table)}(TypedDict):", f'    """{_first_sentence(table.comment)}"""', "", *columns, ""]
    )


def _first_sentence(comment: str) -> str:
    return comment.split(": ")[0].split(". ")[0].rstrip(".") + "."


def _python(kind: DataType) -> str:
    match kind:
        case ArrayType(elementType=element):
            return f"list[{_python(element)}]"
        case MapType(keyType=key, valueType=value):
            return f"dict[{_python(key)}, {_python(value)}]"
        case StructType():
            return "dict[str, Any]"
    return _PYTHON[kind]
