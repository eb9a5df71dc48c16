"""Small slices are measured by DuckDB and large ones by Spark: of each suite's good and bad rows, both say the same."""

import importlib
import pkgutil
from string import Formatter

import client_telemetry.tables
import pyarrow as pa
import pytest
from client_telemetry.pipeline.quality import measure, measure_rows
from client_telemetry.tables.suite import Suite
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from tests.client_telemetry.tables.test_client_suites import rows

SUITES = [
    module.SUITE
    for info in pkgutil.iter_modules(client_telemetry.tables.__path__)
    if hasattr(module := importlib.import_module(f"client_telemetry.tables.{info.name}"), "SUITE")
]


def _facts(suite: Suite) -> dict[str, object]:
    """A value for each fact that the rules name."""
    names = {
        name
        for rule in suite.all_rules
        for _, name, _, _ in Formatter().parse(rule.value)
        if name is not None
    }
    return dict.fromkeys(names, 3)


def _cases(suite: Suite) -> pa.Table:
    """The good row, and each bad one."""
    data = rows(suite)
    schema = pa.schema([field.with_nullable(True) for field in suite.table.arrow_schema])
    return pa.Table.from_pylist([data.GOOD, *(data.GOOD | change for change in data.BAD.values())], schema)


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.table.name)
def test_duckdb_measures_what_spark_measures(suite: Suite, spark: SparkSession) -> None:
    cases = _cases(suite)
    numbered = cases.append_column("case", pa.array(range(len(cases))))
    by_spark = (
        spark.createDataFrame(numbered)
        .groupBy("case")
        .agg(
            F.count("*").alias("rows"),
            *(F.expr(rule.value.format(**_facts(suite))).alias(rule.name) for rule in suite.all_rules),
        )
        .orderBy("case")
        .drop("case")
        .collect()
    )
    by_duckdb = [measure_rows(cases.slice(row, 1), suite, _facts(suite)) for row in range(len(cases))]
    assert by_duckdb == [row.asDict() for row in by_spark]


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.table.name)
def test_both_measure_all_rows_and_none(suite: Suite, spark: SparkSession) -> None:
    cases = _cases(suite)
    for slice_ in (cases, cases.slice(0, 0)):
        assert measure_rows(slice_, suite, _facts(suite)) == measure(
            spark.createDataFrame(slice_), suite, _facts(suite)
        )
