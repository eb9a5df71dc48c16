"""Small slices are measured by DuckDB and large ones by Great Expectations on Spark: of each suite's good and bad rows, both give
the same results.
"""

import importlib
import json
import pkgutil
from collections import defaultdict
from collections.abc import Mapping

import client_telemetry.tables
import pyarrow as pa
import pytest
from client_telemetry.pipeline.quality import GateFailed, validate, validate_rows
from client_telemetry.tables.clients import CLIENTS
from client_telemetry.tables.clients import SUITE as CLIENTS_SUITE
from client_telemetry.tables.expectations import ExpectRowsToSatisfy
from client_telemetry.tables.suite import WARNING, Suite, rows_satisfy
from pyspark.sql import SparkSession

from tests.client_telemetry.tables.test_client_suites import rows

SUITES = [
    module.SUITE
    for info in pkgutil.iter_modules(client_telemetry.tables.__path__)
    if hasattr(module := importlib.import_module(f"client_telemetry.tables.{info.name}"), "SUITE")
]
JOBS_OF_A_QUERY = 3
"""A distinct count takes two or three: adaptive execution runs each shuffle as a job."""
FACTS: Mapping[str, float] = defaultdict(lambda: 3)


def _cases(suite: Suite) -> pa.Table:
    """The good row, and each bad one."""
    data = rows(suite)
    schema = pa.schema([field.with_nullable(True) for field in suite.table.arrow_schema])
    return pa.Table.from_pylist([data.GOOD, *(data.GOOD | change for change in data.BAD.values())], schema)


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.table.name)
def test_both_give_the_same_results(suite: Suite, spark: SparkSession) -> None:
    cases = _cases(suite)
    for slice_ in (cases, cases.slice(0, 1), cases.slice(0, 0)):
        assert validate_rows(slice_, suite, FACTS) == validate(spark.createDataFrame(slice_), suite, FACTS)


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.table.name)
def test_a_failed_row_is_shown_with_its_key(suite: Suite) -> None:
    rules = suite.expectations
    bad_rows = {n: bad for n, bad in rows(suite).BAD.items() if isinstance(rules[n], ExpectRowsToSatisfy)}
    for name, change in bad_rows.items():
        bad = pa.Table.from_pylist([rows(suite).GOOD | change], suite.table.arrow_schema)
        (result,) = (each for each in validate_rows(bad, suite, FACTS) if each.expectation == name)
        (example,) = json.loads(result.result)["result"]["partial_unexpected_list"]
        assert {*suite.table.key} <= example.keys() <= {column.name for column in suite.table.columns}
        assert (result.success, result.unexpected_count, result.rows) == (False, 1, 1)


def test_spark_measures_a_suite_in_one_query_and_keeps_no_rows(spark: SparkSession) -> None:
    good = _cases(CLIENTS_SUITE).slice(0, 1)
    frame = spark.createDataFrame(good)
    tracker = spark.sparkContext.statusTracker()
    jobs = len(tracker.getJobIdsForGroup(None))
    results = validate(frame, CLIENTS_SUITE, defaultdict(int, {"connections": 1, "sessions": 1}))
    assert len(results) > 40
    assert len(tracker.getJobIdsForGroup(None)) - jobs <= JOBS_OF_A_QUERY
    assert spark.sparkContext._jsc.getPersistentRDDs().isEmpty()


def test_what_cannot_be_evaluated_does_not_pass(spark: SparkSession) -> None:
    broken = Suite(CLIENTS, lambda: {"unknown": rows_satisfy("no_such > 1", "unknown", WARNING)})
    with pytest.raises(
        GateFailed, match=r"could not be evaluated: .*no_such.*readers keep the previous state"
    ):
        validate(spark.createDataFrame([], CLIENTS.schema), broken, {})
