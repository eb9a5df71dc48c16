"""Each row rule of the derived tables holds for the good row and is broken by its bad row."""

import importlib.util
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pytest
from client_telemetry.pipeline.quality import validate_rows
from client_telemetry.tables import (
    client_connections,
    client_sessions,
    clients,
    metric_changes,
    rule_records,
    upgrade_outcomes,
)
from client_telemetry.tables.expectations import ExpectRowsToSatisfy
from client_telemetry.tables.suite import Suite

SUITES = [
    suite.SUITE
    for suite in (
        client_connections,
        client_sessions,
        clients,
        upgrade_outcomes,
        metric_changes,
        rule_records,
    )
]

FACTS: Mapping[str, float] = defaultdict(lambda: 0)


def rows(suite: Suite) -> ModuleType:
    path = Path(__file__).parents[2] / "data" / "bad_rows" / f"{suite.table.name}.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.table.name)
def test_rules_hold_and_break(suite: Suite):
    good, bad = rows(suite).GOOD, rows(suite).BAD
    own = suite.declare()
    assert bad.keys() == {name for name in own if isinstance(own[name], ExpectRowsToSatisfy)}
    names = [column.name for column in suite.table.columns]
    assert list(good) == [name for name in names if name in good], "columns of the table, in its order"
    assert {column.name for column in suite.table.columns if not column.nullable} <= good.keys()
    assert _failed(suite, good) == set()
    assert [name for name, change in bad.items() if name not in _failed(suite, good | change)] == [], (
        "these rules did not notice their bad row"
    )


def _failed(suite: Suite, row: dict[str, object]) -> set[str]:
    results = validate_rows(pa.Table.from_pylist([row], suite.table.arrow_schema), suite, FACTS)
    return {each.expectation for each in results if not each.success and each.unexpected_count is not None}


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.table.name)
def test_an_empty_slice_passes(suite: Suite):
    """There, counts must agree and shares are 0."""
    facts = dict.fromkeys(("pushes", "events", "connections", "sessions", "clients", "phases"), 0)
    results = validate_rows(suite.table.arrow_schema.empty_table(), suite, facts)
    assert [each.expectation for each in results if not each.success] == []
