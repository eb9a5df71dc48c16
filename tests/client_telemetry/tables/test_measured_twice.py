"""Small slices are measured by DuckDB and large ones by Great Expectations on Spark: of each suite's good and bad rows, both give
the same results.
"""

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa
import pytest
from client_telemetry.pipeline.quality import GateFailed, validate, validate_rows
from client_telemetry.tables.all_tables import TABLES
from client_telemetry.tables.clients import CLIENTS
from client_telemetry.tables.expectations import ExpectRowsToSatisfy
from client_telemetry.tables.suite import WARNING, rows_satisfy, suite
from client_telemetry.tables.table import Table
from pyspark.sql import SparkSession

from tests.client_telemetry.tables.test_client_suites import rows

AUDITED = [table for table in TABLES if table.expectations()]
JOBS_OF_A_QUERY = 3
"""A distinct count takes two or three: adaptive execution runs each shuffle as a job."""
FACTS: Mapping[str, float] = defaultdict(lambda: 3)


def _cases(table: Table) -> pa.Table:
    """The good row, and each bad one."""
    data = rows(table)
    schema = pa.schema([field.with_nullable(True) for field in table.arrow_schema])
    return pa.Table.from_pylist([data.GOOD, *(data.GOOD | change for change in data.BAD.values())], schema)


@pytest.mark.parametrize("table", AUDITED, ids=lambda table: table.name)
def test_both_give_the_same_results(table: Table, spark: SparkSession) -> None:
    cases = _cases(table)
    for slice_ in (cases, cases.slice(0, 1), cases.slice(0, 0)):
        assert validate_rows(slice_, table, FACTS) == validate(spark.createDataFrame(slice_), table, FACTS)


@pytest.mark.parametrize("table", AUDITED, ids=lambda table: table.name)
def test_a_failed_row_is_shown_with_its_key(table: Table) -> None:
    rules = suite(table)
    bad_rows = {n: bad for n, bad in rows(table).BAD.items() if isinstance(rules[n], ExpectRowsToSatisfy)}
    for name, change in bad_rows.items():
        bad = pa.Table.from_pylist([rows(table).GOOD | change], table.arrow_schema)
        (result,) = (each for each in validate_rows(bad, table, FACTS) if each.expectation == name)
        (example,) = json.loads(result.result)["result"]["partial_unexpected_list"]
        assert {*table.key} <= example.keys() <= {column.name for column in table.columns}
        assert (result.success, result.unexpected_count, result.rows) == (False, 1, 1)


def test_spark_measures_a_suite_in_one_query_and_keeps_no_rows(spark: SparkSession) -> None:
    good = _cases(CLIENTS).slice(0, 1)
    frame = spark.createDataFrame(good)
    tracker = spark.sparkContext.statusTracker()
    jobs = len(tracker.getJobIdsForGroup(None))
    results = validate(frame, CLIENTS, defaultdict(int, {"connections": 1, "sessions": 1}))
    assert len(results) > 40
    assert len(tracker.getJobIdsForGroup(None)) - jobs <= JOBS_OF_A_QUERY
    assert spark.sparkContext._jsc.getPersistentRDDs().isEmpty()


def test_what_cannot_be_evaluated_does_not_pass(spark: SparkSession) -> None:
    broken = replace(
        CLIENTS, expectations=lambda: {"unknown": rows_satisfy("no_such > 1", "unknown", WARNING)}
    )
    with pytest.raises(
        GateFailed, match=r"could not be evaluated: .*no_such.*readers keep the previous state"
    ):
        validate(spark.createDataFrame([], CLIENTS.schema), broken, {})
