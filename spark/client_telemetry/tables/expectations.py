"""Expectations about aggregates of Spark SQL, beside Great Expectations' own types. Importing this takes seconds.

Great Expectations measures all aggregates of a suite in one query. Its own types for columns cost a query for each column
or two Spark jobs for each expectation (docs/decisions/0031-great-expectations-measures.md).
"""

from collections.abc import Callable, Mapping
from typing import ClassVar, Final

from great_expectations.core.metric_domain_types import MetricDomainTypes
from great_expectations.core.metric_function_types import MetricPartialFunctionTypes
from great_expectations.execution_engine.execution_engine import ExecutionEngine
from great_expectations.execution_engine.sparkdf_execution_engine import SparkDFExecutionEngine
from great_expectations.expectations.core.expect_table_row_count_to_equal import (
    ExpectTableRowCountToEqual as ExpectTableRowCountToEqual,
)
from great_expectations.expectations.expectation import BatchExpectation
from great_expectations.expectations.metadata_types import FailureSeverity as FailureSeverity
from great_expectations.expectations.metrics.metric_provider import metric_partial
from great_expectations.expectations.metrics.table_metric_provider import TableMetricProvider
from great_expectations.validator.metric_configuration import MetricConfiguration
from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

_ROWS: Final = "table.row_count"
_AGGREGATE: Final = "table.aggregate"
_UNEXPECTED: Final = "table.unexpected_rows_count"
_SQL: Final[Mapping[str, Callable[[Mapping[str, str]], str]]] = {
    _ROWS: lambda values: "count(*)",
    _AGGREGATE: lambda values: values["aggregate"],
    _UNEXPECTED: lambda values: f"count_if({unexpected(values['condition'])})",
}


def unexpected(condition: str) -> str:
    """The Spark SQL condition for rows that break one: those for which it is false or null."""
    return f"not coalesce({condition}, false)"


def sql_of(metric: MetricConfiguration) -> str:
    """The aggregate in Spark SQL that gives the value of a metric that a suite needs."""
    return _SQL[metric.metric_name](metric.metric_value_kwargs)


class _Aggregate(TableMetricProvider):
    """An aggregate that Great Expectations puts into one query with all others."""

    metric_name: ClassVar[str]

    @metric_partial(
        engine=SparkDFExecutionEngine,
        partial_fn_type=MetricPartialFunctionTypes.AGGREGATE_FN,
        domain_type=MetricDomainTypes.TABLE,
    )
    def _spark(
        cls,  # noqa: N805  # the decorator makes it a method of the class
        execution_engine: SparkDFExecutionEngine,
        metric_domain_kwargs: dict[str, object],
        metric_value_kwargs: dict[str, str],
        metrics: dict[str, object],
        runtime_configuration: dict[str, object],
    ) -> tuple[Column, dict[str, object], dict[str, object]]:
        return F.expr(_SQL[cls.metric_name](metric_value_kwargs)), metric_domain_kwargs, {}


class AggregateMetric(_Aggregate):
    metric_name = _AGGREGATE
    value_keys = ("aggregate",)


class UnexpectedRowsMetric(_Aggregate):
    metric_name = _UNEXPECTED
    value_keys = ("condition",)


class ExpectAggregateToBeBetween(BatchExpectation):
    """Expect an aggregate of the rows, in Spark SQL, to lie between two bounds, both inclusive. Null fails, except over
    no rows. `{name}` in it stands for a fact that the stage states, such as a count of another table.
    """

    aggregate: str
    min_value: float | None = None
    max_value: float | None = None

    domain_keys: ClassVar[tuple[str, ...]] = ExpectTableRowCountToEqual.domain_keys
    metric_dependencies: ClassVar[tuple[str, ...]] = (_AGGREGATE, _ROWS)
    success_keys: ClassVar[tuple[str, ...]] = ("aggregate", "min_value", "max_value")

    def _validate(
        self,
        metrics: dict[str, float | None],
        runtime_configuration: dict[str, object] | None = None,
        execution_engine: ExecutionEngine[object] | None = None,
    ) -> dict[str, object]:
        value, rows = metrics[_AGGREGATE], metrics[_ROWS]
        if value is None:
            success = not rows
        else:
            success = (self.min_value is None or value >= self.min_value) and (
                self.max_value is None or value <= self.max_value
            )
        return {"success": success, "result": {"element_count": rows, "observed_value": value}}


class ExpectRowsToSatisfy(BatchExpectation):
    """Expect a condition in Spark SQL to be true of each row; false and null break it. `{name}` as for aggregates."""

    condition: str

    domain_keys: ClassVar[tuple[str, ...]] = ExpectTableRowCountToEqual.domain_keys
    metric_dependencies: ClassVar[tuple[str, ...]] = (_UNEXPECTED, _ROWS)
    success_keys: ClassVar[tuple[str, ...]] = ("condition",)

    def _validate(
        self,
        metrics: dict[str, object],
        runtime_configuration: dict[str, object] | None = None,
        execution_engine: ExecutionEngine[object] | None = None,
    ) -> dict[str, object]:
        count, rows = metrics[_UNEXPECTED], metrics[_ROWS]
        return {"success": count == 0, "result": {"element_count": rows, "unexpected_count": count}}
