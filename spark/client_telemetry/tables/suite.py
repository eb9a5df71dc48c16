"""The expectations about a table, made by the functions here. How they are validated: pipeline/quality.py."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, Literal

from client_telemetry.tables.table import Table, listed

if TYPE_CHECKING:
    from great_expectations.expectations.expectation import Expectation

    from client_telemetry.tables.expectations import ExpectRowsToSatisfy

Severity = Literal["critical", "warning"]
CRITICAL: Final = "critical"
WARNING: Final = "warning"
"""Of an expectation that fails without blocking publication; a critical one blocks it."""


def suite(table: Table) -> "dict[str, Expectation]":
    """All expectations about a table, by name: `present_<column>` for each column that may not be null, `key_is_unique`, and the
    table's own.
    """
    present: dict[str, Expectation] = {
        f"present_{column.name}": rows_satisfy(f"`{column.name}` is not null", f"{column.name} is never null")
        for column in table.columns
        if not column.nullable
    }
    columns = ", ".join(f"`{name}`" for name in table.key)
    unique = aggregate_is(
        f"count(*) - count(distinct struct({columns}))",
        f"({', '.join(table.key)}) is unique, nulls counted as equal",
        at_most=0,
    )
    return present | {"key_is_unique": unique} | table.expectations()


def rows_satisfy(condition: str, description: str, severity: Severity = CRITICAL) -> "ExpectRowsToSatisfy":
    from client_telemetry.tables.expectations import ExpectRowsToSatisfy, FailureSeverity

    return ExpectRowsToSatisfy(
        condition=condition, description=description, severity=FailureSeverity(severity)
    )


def is_one_of(column: str, words: Iterable[str], description: str) -> "ExpectRowsToSatisfy":
    return rows_satisfy(f"{column} in ({listed(words)})", description)


def flags_are_known(table: Table) -> "ExpectRowsToSatisfy":
    """The expectation of every table with flags: the vocabulary of the table, nothing else."""
    return rows_satisfy(
        f"size(array_except(flags, array({listed(table.flags)}))) = 0",
        "flags are values of the table's vocabulary",
    )


def aggregate_is(
    aggregate: str,
    description: str,
    at_least: float | None = None,
    at_most: float | None = None,
    severity: Severity = CRITICAL,
) -> "Expectation":
    from client_telemetry.tables.expectations import ExpectAggregateToBeBetween, FailureSeverity

    return ExpectAggregateToBeBetween(
        aggregate=aggregate,
        min_value=at_least,
        max_value=at_most,
        description=description,
        severity=FailureSeverity(severity),
    )


def is_zero(aggregate: str, description: str) -> "Expectation":
    return aggregate_is(aggregate, description, at_least=0, at_most=0)


def share_is(condition: str, description: str, at_most: float) -> "Expectation":
    """A warning if the condition is true of a larger share of the rows."""
    return aggregate_is(
        f"coalesce(avg(cast({condition} as double)), 0)", description, at_most=at_most, severity=WARNING
    )


def row_count_is(number: int | str, description: str) -> "Expectation":
    """`number`: also as the name of the fact of the stage that has it."""
    from client_telemetry.tables.expectations import ExpectTableRowCountToEqual

    value = {"$PARAMETER": number} if isinstance(number, str) else number
    return ExpectTableRowCountToEqual(value=value, description=description)


def every(lists: str, item: str, condition: str) -> str:
    """A Spark SQL condition: `condition` is true of each item of a column of lists. Not `forall`: other engines know `filter` only
    (quality.validate_files).

    >>> every("steps", "s", "s.step <> ''")
    "size(filter(steps, s -> not coalesce(s.step <> '', false))) = 0"
    """
    return f"size(filter({lists}, {item} -> not coalesce({condition}, false))) = 0"
