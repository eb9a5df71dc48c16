"""Flags of a row, from conditions. What a flag means stands with the table (`Table.flags`), not here."""

from collections.abc import Iterable

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from client_telemetry.tables.table import Table


class UnknownFlag(Exception):
    """A flag that the table's vocabulary does not have."""


def flags(table: Table, conditions: dict[str, Column]) -> Column:
    """The column `flags` of `table`: the names whose condition is true (not false, not null), sorted."""
    _check(table, conditions)
    names = [F.when(condition, F.lit(name)) for name, condition in sorted(conditions.items())]
    return F.array_compact(F.array(*names)).alias("flags")


def flags_where(table: Table, conditions: dict[str, str]) -> str:
    """The same as SQL, from conditions in SQL."""
    _check(table, conditions)
    names = ", ".join(
        f"case when {condition} then '{name}' end" for name, condition in sorted(conditions.items())
    )
    return f"filter(array({names}), flag -> flag is not null)"


def _check(table: Table, names: Iterable[str]) -> None:
    strangers = set(names) - table.flags.keys()
    if strangers:
        raise UnknownFlag(f"{table.name} has no flag {', '.join(sorted(strangers))}")


def has_flag(name: str) -> Column:
    """Whether the row carries the flag."""
    return F.array_contains("flags", name)
