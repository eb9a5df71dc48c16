"""Each row rule of the derived tables holds for the good row and is broken by its bad row."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from client_telemetry.tables import (
    client_connections,
    client_sessions,
    clients,
    metric_changes,
    rule_records,
    upgrade_outcomes,
)
from client_telemetry.tables.suite import Suite
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StructField, StructType

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


def rows(suite: Suite) -> ModuleType:
    path = Path(__file__).parents[2] / "data" / "bad_rows" / f"{suite.table.name}.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.table.name)
def test_rules_hold_and_break(suite: Suite, spark: SparkSession):
    good, bad = rows(suite).GOOD, rows(suite).BAD
    own = [rule for rule in suite.row_rules if not rule.name.startswith("present_")]
    assert bad.keys() == {rule.name for rule in own}
    names = [column.name for column in suite.table.columns]
    assert list(good) == names
    cases = {"good": good} | {name: good | change for name, change in bad.items()}
    schema = StructType(
        [StructField("case", suite.table.schema["cluster_id"].dataType)]
        + [StructField(field.name, field.dataType) for field in suite.table.schema]
    )
    frame = spark.createDataFrame(
        [(case, *(row[name] for name in names)) for case, row in cases.items()], schema
    )
    holds = [
        F.coalesce(F.expr(rule.holds.format()), F.lit(False)).alias(rule.name) for rule in suite.row_rules
    ]
    found = {row["case"]: row.asDict() for row in frame.select("case", *holds).collect()}
    assert [name for name, held in found["good"].items() if held is False] == []
    assert [name for name in bad if found[name][name]] == [], "these rules did not notice their bad row"


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.table.name)
def test_slice_rules_are_aggregates(suite: Suite, spark: SparkSession):
    """They compute on an empty slice, where counts must agree and shares are 0."""
    empty = spark.createDataFrame([], suite.table.schema)
    facts = dict.fromkeys(("pushes", "events", "connections", "sessions", "clients", "phases"), 0)
    rules = [rule for rule in suite.slice_rules if rule.name != "key_is_unique"]
    numbers = empty.agg(*(F.expr(rule.value.format(**facts)).alias(rule.name) for rule in rules)).first()
    for rule in rules:
        assert (rule.minimum or 0) <= numbers[rule.name] <= rule.maximum
