"""What a suite is: the expectations about one table. How they are validated: pipeline/quality.py."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from client_telemetry.tables.table import Table, listed

if TYPE_CHECKING:
    from great_expectations.expectations.expectation import Expectation

    from client_telemetry.tables.expectations import ExpectRowsToSatisfy

    Expectations = dict[str, Expectation]
    """By the name that results have in quality_results."""
else:
    Expectations = dict


@dataclass(frozen=True)
class Suite:
    """The expectations about one table. `declare` imports Great Expectations, which takes seconds, so tables can be imported
    without it.
    """

    table: Table
    declare: Callable[[], Expectations]

    @property
    def expectations(self) -> Expectations:
        """By name. Every suite has `present_<column>` for each column that may not be null and `key_is_unique`."""
        from client_telemetry.tables.expectations import ExpectAggregateToBeBetween, ExpectRowsToSatisfy

        present: Expectations = {
            f"present_{column.name}": ExpectRowsToSatisfy(
                condition=f"`{column.name}` is not null", description=f"{column.name} is never null"
            )
            for column in self.table.columns
            if not column.nullable
        }
        columns = ", ".join(f"`{name}`" for name in self.table.key)
        unique = ExpectAggregateToBeBetween(
            aggregate=f"count(*) - count(distinct struct({columns}))",
            max_value=0,
            description=f"({', '.join(self.table.key)}) is unique, nulls counted as equal",
        )
        return present | {"key_is_unique": unique} | self.declare()


def every(lists: str, item: str, condition: str) -> str:
    """A Spark SQL condition: `condition` is true of each item of a column of lists. Not `forall`: other engines know `filter` only
    (quality.validate_files).

    >>> every("steps", "s", "s.step <> ''")
    "size(filter(steps, s -> not coalesce(s.step <> '', false))) = 0"
    """
    return f"size(filter({lists}, {item} -> not coalesce({condition}, false))) = 0"


def flags_are_known(table: Table) -> "ExpectRowsToSatisfy":
    """The expectation of every table with flags: the vocabulary of the table, nothing else."""
    from client_telemetry.tables.expectations import ExpectRowsToSatisfy

    words = listed(table.flags)
    return ExpectRowsToSatisfy(
        condition=f"size(array_except(flags, array({words}))) = 0",
        description="flags are values of the table's vocabulary",
    )
