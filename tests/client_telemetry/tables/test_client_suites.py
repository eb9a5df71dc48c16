"""Each row rule of the derived tables holds for the good row and is broken by its bad row."""

import importlib.util
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pytest
from client_telemetry.pipeline.quality import validate_rows
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.client_sessions import CLIENT_SESSIONS
from client_telemetry.tables.clients import CLIENTS
from client_telemetry.tables.expectations import ExpectRowsToSatisfy
from client_telemetry.tables.metric_changes import METRIC_CHANGES
from client_telemetry.tables.rule_records import RULE_RECORDS
from client_telemetry.tables.table import Table
from client_telemetry.tables.upgrade_outcomes import UPGRADE_OUTCOMES

TABLES = (
    CLIENT_CONNECTIONS,
    CLIENT_SESSIONS,
    CLIENTS,
    UPGRADE_OUTCOMES,
    METRIC_CHANGES,
    RULE_RECORDS,
)

FACTS: Mapping[str, float] = defaultdict(lambda: 0)


def rows(table: Table) -> ModuleType:
    path = Path(__file__).parents[2] / "data" / "bad_rows" / f"{table.name}.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_rules_hold_and_break(table: Table):
    good, bad = rows(table).GOOD, rows(table).BAD
    own = table.expectations()
    assert bad.keys() == {name for name in own if isinstance(own[name], ExpectRowsToSatisfy)}
    names = [column.name for column in table.columns]
    assert list(good) == [name for name in names if name in good], "columns of the table, in its order"
    assert {column.name for column in table.columns if not column.nullable} <= good.keys()
    assert _failed(table, good) == set()
    assert [name for name, change in bad.items() if name not in _failed(table, good | change)] == [], (
        "these rules did not notice their bad row"
    )


def _failed(table: Table, row: dict[str, object]) -> set[str]:
    results = validate_rows(pa.Table.from_pylist([row], table.arrow_schema), table, FACTS)
    return {each.expectation for each in results if not each.success and each.unexpected_count is not None}


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_an_empty_slice_passes(table: Table):
    """There, counts must agree and shares are 0."""
    facts = dict.fromkeys(("pushes", "events", "connections", "sessions", "clients", "phases"), 0)
    results = validate_rows(table.arrow_schema.empty_table(), table, facts)
    assert [each.expectation for each in results if not each.success] == []
