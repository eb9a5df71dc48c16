"""All tables of the lake, in the order in which they are first written."""

import importlib
from typing import Final

from client_telemetry.tables.stages import tables_in_order
from client_telemetry.tables.table import Table


def _table(name: str) -> Table:
    """The table of a module of client_telemetry.tables, which has the same name."""
    table: Table = getattr(importlib.import_module(f"client_telemetry.tables.{name}"), name.upper())
    return table


TABLES: Final[tuple[Table, ...]] = tuple(map(_table, tables_in_order()))
