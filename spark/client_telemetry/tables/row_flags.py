"""Flags of a row, from conditions. What a flag means stands with the table (`Table.flags`), not here."""

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from client_telemetry.tables.table import Table


class UnknownFlag(Exception):
    """A flag that the table's vocabulary does not have."""


def flags(table: Table, conditions: dict[str, Column]) -> Column:
    """The column `flags` of `table`: the names whose condition is true (not false, not null), sorted."""
    strangers = conditions.keys() - table.flags.keys()
    if strangers:
        raise UnknownFlag(f"{table.name} has no flag {', '.join(sorted(strangers))}")
    names = [F.when(condition, F.lit(name)) for name, condition in sorted(conditions.items())]
    return F.array_compact(F.array(*names)).alias("flags")


def has_flag(name: str) -> Column:
    """Whether the row carries the flag."""
    return F.array_contains("flags", name)
