"""Flags of a row, from conditions. What a flag means stands with the table (`Table.flags`), not here."""

from client_telemetry.tables.table import Table


class UnknownFlag(Exception):
    """A flag that the table's vocabulary does not have."""


def flags(table: Table, conditions: dict[str, str]) -> str:
    """The column `flags` of `table` in SQL: the names whose condition is true (not false, not null), sorted."""
    strangers = set(conditions) - table.flags.keys()
    if strangers:
        raise UnknownFlag(f"{table.name} has no flag {', '.join(sorted(strangers))}")
    names = ", ".join(
        f"case when {condition} then '{name}' end" for name, condition in sorted(conditions.items())
    )
    return f"filter(array({names}), flag -> flag is not null)"
