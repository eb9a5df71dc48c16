"""What a suite is: rules about single rows and about the slice as a whole. How they are judged: pipeline/quality.py."""

from dataclasses import dataclass
from typing import Literal

from client_telemetry.tables.table import Table

Severity = Literal["critical", "warning"]

BETWEEN = "expect_column_max_to_be_between"
"""The Great Expectations type that judges a number of the slice: the maximum of a column that holds that one number. A
type that looks at each value of a column costs five times as much."""


@dataclass(frozen=True)
class RowRule:
    """`holds` is a Spark SQL condition over a row; a row for which it is false or null breaks the rule."""

    name: str
    holds: str
    severity: Severity
    description: str
    expectation: str = BETWEEN

    @property
    def value(self) -> str:
        """How many rows break the rule, as a Spark SQL aggregate."""
        return f"count_if(not coalesce({self.holds}, false))"

    @property
    def bounds(self) -> dict[str, float]:
        return {"min_value": 0, "max_value": 0}


@dataclass(frozen=True)
class SliceRule:
    """`value` is a Spark SQL aggregate over the slice; `{name}` in it stands for a fact that the stage states (a
    count of another table, say). It must lie between `minimum` and `maximum`, both inclusive. Null breaks the
    rule, except over an empty slice."""

    name: str
    value: str
    severity: Severity
    description: str
    minimum: float | None = None
    maximum: float | None = None
    expectation: str = BETWEEN

    @property
    def bounds(self) -> dict[str, float]:
        bounds_ = {"min_value": self.minimum, "max_value": self.maximum}
        return {name: bound for name, bound in bounds_.items() if bound is not None}


@dataclass(frozen=True)
class Suite:
    """The rules of one table. Every suite also holds `present_<column>` for each column that may not be null and
    `key_is_unique`, all critical."""

    table: Table
    rules: tuple[RowRule | SliceRule, ...]

    @property
    def row_rules(self) -> tuple[RowRule, ...]:
        present = tuple(
            RowRule(f"present_{c.name}", f"`{c.name}` is not null", "critical", f"{c.name} is never null")
            for c in self.table.columns
            if not c.nullable
        )
        return present + tuple(rule for rule in self.rules if isinstance(rule, RowRule))

    @property
    def slice_rules(self) -> tuple[SliceRule, ...]:
        key = ", ".join(self.table.key)
        columns = ", ".join(f"`{name}`" for name in self.table.key)
        unique = SliceRule(
            "key_is_unique",
            f"count(*) - count(distinct struct({columns}))",
            "critical",
            f"({key}) is unique, nulls counted as equal",
            maximum=0,
        )
        return (unique, *(rule for rule in self.rules if isinstance(rule, SliceRule)))

    @property
    def all_rules(self) -> tuple[RowRule | SliceRule, ...]:
        return self.row_rules + self.slice_rules


def every(lists: str, item: str, condition: str) -> str:
    """A Spark SQL condition: `condition` is true of each item of a column of lists. Not `forall`: other engines know `filter` only
    (quality.measure_files).

    >>> every("steps", "s", "s.step <> ''")
    "size(filter(steps, s -> not coalesce(s.step <> '', false))) = 0"
    """
    return f"size(filter({lists}, {item} -> not coalesce({condition}, false))) = 0"


def flags_are_known(table: Table) -> RowRule:
    """The rule that every table with flags has: the vocabulary of the table, nothing else."""
    words = ", ".join(f"'{flag}'" for flag in table.flags)
    return RowRule(
        "flags_are_known",
        f"size(array_except(flags, array({words}))) = 0",
        "critical",
        "flags are values of the table's vocabulary",
    )
