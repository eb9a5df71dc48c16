"""Tables, suites and their documentation are the same set, and a table's contract is complete."""

import importlib
import pkgutil
from pathlib import Path

import pytest
from client_telemetry import tables
from client_telemetry.tables.all_tables import TABLES
from client_telemetry.tables.table import Table

CHECKOUT = Path(__file__).parents[3]
OF_ALL_TABLES = {
    "all_tables",
    "expectations",
    "quality_findings",
    "row_flags",
    "row_types",
    "rows",
    "stages",
    "suite",
    "table",
    "table_documentation",
}
NOT_AUDITED = {"quality_results", "publications"}
"""Written by the gate itself: they say what a gate found and what was published."""


def modules(package) -> set[str]:
    return {module.name for module in pkgutil.iter_modules(package.__path__)}


def test_every_table_has_a_module_of_its_name_and_expectations():
    names = {table.name for table in TABLES}
    assert modules(tables) == names | OF_ALL_TABLES
    for name in names - NOT_AUDITED:
        table = getattr(importlib.import_module(f"client_telemetry.tables.{name}"), name.upper())
        assert table.name == name
        assert table.expectations()


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_table_states_its_contract(table: Table):
    names = [column.name for column in table.columns]
    assert len(set(names)) == len(names)
    assert {*table.key, *table.partition} <= set(names)
    assert all(column.comment for column in table.columns)
    assert table.comment
    assert ("flags" in names) == bool(table.flags)
