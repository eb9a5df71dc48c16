"""The types of the tables' rows, for mypy: tables/rows.py is generated from the schemas (`make generated`)."""

from functools import cache

from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from client_telemetry.tables.all_tables import TABLES
from client_telemetry.tables.table import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    LONG,
    MAY_BE_NULL,
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
whatever stands here."""

from datetime import date, datetime
from typing import TypedDict
'''


def text() -> str:
    records = {record: _record(record, name) for record, name in _records().items()}
    return "\n\n".join([_HEAD, *records.values(), *map(_row, TABLES)])


def name(table: Table) -> str:
    """Name of the type of a table's rows: `client_pushes` has rows of `ClientPushRow`."""
    return _singular(table.name) + "Row"


def _singular(words: str) -> str:
    singular = words.removesuffix("es") if words.endswith("shes") else words.removesuffix("s")
    return "".join(word.capitalize() for word in singular.split("_"))


@cache
def _records() -> dict[StructType, str]:
    """Each record within rows with the name of its type, from the first column that has it."""
    names: dict[StructType, str] = {}
    for column in (column for table in TABLES for column in table.columns):
        kind = column.kind
        if isinstance(kind, ArrayType) and isinstance(kind.elementType, StructType):
            names.setdefault(kind.elementType, _singular(column.name) + "Record")
    if len(set(names.values())) < len(names):
        raise ValueError(f"two records of other fields in columns of one name: {sorted(names.values())}")
    return names


def _record(record: StructType, name: str) -> str:
    fields = [
        f"    {field.name}: {_python(field.dataType)}{' | None' if MAY_BE_NULL in field.metadata else ''}"
        for field in record.fields
    ]
    return "\n".join([f"class {name}(TypedDict):", *fields, ""])


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
            return _records()[kind]
    return _PYTHON[kind]
