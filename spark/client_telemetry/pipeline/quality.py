"""The audit: Great Expectations validates what a stage has written before readers see it.

Great Expectations measures all expectations of a suite on the Spark frame in one query. Of what is small (MOST_ROWS),
DuckDB measures the same aggregates, and Great Expectations validates them without an engine of its own.
"""

import datetime as dt
import json
import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
from pyspark.sql import DataFrame

from client_telemetry.lake.files import PartitionFile, stored_rows
from client_telemetry.lake.plain_rows import plain_rows
from client_telemetry.pipeline import duckdb_sql
from client_telemetry.pipeline.duckdb_sql import in_utc, parsed
from client_telemetry.pipeline.imported_when_used import import_when_used
from client_telemetry.subscriptions.instances import kafka_uuid
from client_telemetry.tables import quality_findings as findings
from client_telemetry.tables.rows import QualityResultRow
from client_telemetry.tables.suite import suite
from client_telemetry.tables.table import BINARY, Table

if TYPE_CHECKING:
    from great_expectations.core import ExpectationValidationResult
    from great_expectations.data_context.data_context.abstract_data_context import AbstractDataContext
    from great_expectations.expectations.expectation import Expectation
    from sqlglot.expressions import Select

_FAILURES_TOLD = 10
_EXAMPLES = 5
"""Rows that break an expectation and are kept with its result."""
_MOST_ITEMS = 20
"""Items of a list in an example."""
MOST_ROWS = 250_000
"""Rows of a slice that this process measures. Of so few, Spark takes seconds to plan and compile the query and a tenth of
that to run it; more are not to be in memory at once.
"""
_OF_DISTRIBUTIONS = ("scipy.stats", "altair")
"""Imported by Great Expectations for expectations about distributions, which no suite has: a third of the CPU of its import."""
Facts = Mapping[str, float]
_IMPORTING = threading.Lock()


@dataclass(frozen=True)
class Result:
    """The result of one expectation: columns of `quality_results`."""

    table_name: str
    expectation: str
    severity: str
    success: bool
    observed_value: str
    rows: int
    unexpected_count: int | None
    description: str
    result: str

    @property
    def sentence(self) -> str:
        return f"{self.description}; found {findings.found(self)}"


class GateFailed(Exception):
    """A critical expectation failed, or an expectation could not be evaluated."""


def import_in_background() -> None:
    """Start the import of Great Expectations, which takes seconds, while the JVM starts."""
    threading.Thread(target=_context, daemon=True).start()


@cache
def _imported() -> None:
    """Great Expectations, and what translates SQL. Callers hold _IMPORTING."""
    import_when_used(*_OF_DISTRIBUTIONS)
    import great_expectations  # noqa: F401

    import client_telemetry.tables.expectations  # noqa: F401

    duckdb_sql.make_ready()


def import_great_expectations() -> None:
    """What audits use, by one thread. Modules of Great Expectations import each other in a circle: a thread that enters it at
    another place than the one that is importing finds modules without their names.
    """
    with _IMPORTING:
        _imported()


@cache
def _context() -> "AbstractDataContext":
    """Creating a context takes longer than validating a suite."""
    logging.getLogger("great_expectations").setLevel(logging.WARNING)
    import_great_expectations()
    import great_expectations
    from great_expectations.data_context.types.base import ProgressBarsConfig

    context = great_expectations.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    return context


def validate(slice_: DataFrame, table: Table, facts: Facts) -> list[Result]:
    """Validate rows in one Spark query, whatever the number of expectations; each that fails on rows takes another, for
    examples. Raises GateFailed if an expectation cannot be evaluated.
    """
    import_great_expectations()
    from great_expectations import ExpectationSuite

    def examples(columns: Sequence[str], condition: str) -> pa.Table:
        rows = slice_.where(condition).orderBy(*table.key).limit(_EXAMPLES)
        return rows.select(*columns).toArrow()

    asset = (
        _context().data_sources.add_or_update_spark(table.name, persist=False).add_dataframe_asset("slice")
    )
    batch = asset.add_batch_definition_whole_dataframe("all").get_batch({"dataframe": slice_})
    validated = batch.validate(ExpectationSuite(table.name, _expectations(table, facts)))
    return [_result(table, result, examples) for result in validated.results]


def validate_files(files: Sequence[PartitionFile], table: Table, facts: Facts) -> list[Result]:
    """`validate` without Spark, for rows that fit in memory. The aggregates are translated from Spark's SQL."""
    return _validate_in_memory(lambda columns: stored_rows(files, table, columns), table, facts)


def validate_rows(rows: pa.Table, table: Table, facts: Facts) -> list[Result]:
    """The same for rows in memory, with the table's columns."""
    return _validate_in_memory(lambda columns: [rows.select(columns)], table, facts)


def _validate_in_memory(
    read: Callable[[Sequence[str]], Iterable[pa.Table]], table: Table, facts: Facts
) -> list[Result]:
    import_great_expectations()
    import duckdb

    from client_telemetry.tables.expectations import sql_of

    expectations = _expectations(table, facts)
    metrics = {
        metric.id: sql_of(metric)
        for expectation in expectations
        for metric in expectation.get_validation_dependencies().get_metric_configurations()
    }
    query = parsed(f"select {', '.join(metrics.values())} from slice")
    columns = _columns(query, table)
    empty = pa.schema([table.arrow_schema.field(name) for name in columns]).empty_table()
    rows = pa.concat_tables([empty, *read(columns)])
    with duckdb.connect(config={"threads": 1}) as database:
        database.register("slice", in_utc(rows))

        def examples(columns: Sequence[str], condition: str) -> pa.Table:
            names, key = (", ".join(f"`{name}`" for name in names) for names in (columns, table.key))
            query = f"select {names} from slice where {condition} order by {key} limit {_EXAMPLES}"
            return database.sql(parsed(query).sql(dialect="duckdb")).to_arrow_table()

        (numbers,) = database.execute(query.sql(dialect="duckdb")).fetchall()
        values = dict(zip(metrics, numbers, strict=True))
        return [_result(table, each.metrics_validate(values), examples) for each in expectations]


def _expectations(table: Table, facts: Facts) -> list["Expectation"]:
    """The expectations of the table with the facts in place of their names."""

    def stated(value: object) -> object:
        if isinstance(value, str):
            return value.format_map(facts)
        return facts[value["$PARAMETER"]] if isinstance(value, dict) else value

    return [
        expectation.copy(
            update={field: stated(getattr(expectation, field)) for field in expectation.success_keys}
            | {"meta": {"name": name}}
        )
        for name, expectation in suite(table).items()
    ]


def _result(
    table: Table,
    validated: "ExpectationValidationResult",
    examples: Callable[[Sequence[str], str], pa.Table],
) -> Result:
    """One result for quality_results. `examples(columns, condition)`: the first rows by key that meet a condition."""
    from client_telemetry.tables.expectations import unexpected

    document = cast("dict[str, Any]", validated.to_json_dict())
    config, result = document["expectation_config"], document["result"]
    name = config["meta"]["name"]
    if reasons := _exceptions(document["exception_info"]):
        raise GateFailed(
            f"{table.name}.{name} could not be evaluated: {reasons[0]}. Nothing was published; readers keep "
            "the previous state."
        )
    condition = config["kwargs"].get("condition")
    if condition and not validated.success:
        condition = unexpected(condition)
        columns = _example_columns(table, condition)
        schema = pa.schema([table.arrow_schema.field(column) for column in columns])
        rows = plain_rows(examples(columns, condition).cast(schema))
        result[findings.UNEXPECTED_ROWS] = [
            {
                column: value[:_MOST_ITEMS] if isinstance(value, list) else value
                for column, value in row.items()
            }
            for row in rows
        ]
    config["kwargs"].pop("batch_id", None)
    number = result.get("unexpected_count", result.get("observed_value"))
    return Result(
        table_name=table.name,
        expectation=name,
        severity=config["severity"],
        success=bool(validated.success),
        observed_value="null"
        if number is None
        else f"{number:g}"
        if isinstance(number, float)
        else str(number),
        rows=result.get("element_count", number),
        unexpected_count=result.get("unexpected_count"),
        description=config["description"],
        result=json.dumps(document, default=_as_text),
    )


def _example_columns(table: Table, condition: str) -> list[str]:
    """The key, and what the condition reads but for payloads."""
    names = {*table.key, *_columns(parsed(f"select {condition} from slice"), table)}
    payloads = {column.name for column in table.columns if column.kind == BINARY} - {*table.key}
    return [column.name for column in table.columns if column.name in names - payloads]


def _exceptions(info: Mapping[str, Any]) -> list[str]:
    """Messages about an expectation, or about each of its metrics by name."""
    errors = [info] if "raised_exception" in info else info.values()
    return [error["exception_message"].partition("\n")[0] for error in errors if error["raised_exception"]]


def _as_text(value: object) -> str:
    """Bytes in a key are a client instance id."""
    return kafka_uuid(value) if isinstance(value, bytes) else str(value)


def _columns(query: "Select", table: Table) -> list[str]:
    """Columns of the table that a query names. A field of a struct may be called like a column, which is then read for
    nothing.
    """
    from sqlglot import exp

    named = {column.name for column in query.find_all(exp.Column)}
    return [column.name for column in table.columns if column.name in named]


def result_rows(
    results: Sequence[Result], cluster_id: str, run_id: str, stage: str, day: dt.date
) -> list[QualityResultRow]:
    """Results as rows of quality_results."""
    of_run = {
        "cluster_id": cluster_id,
        "run_id": run_id,
        "stage": stage,
        "dt": day,
        "evaluated_at": dt.datetime.now(dt.UTC),
    }
    return [cast("QualityResultRow", of_run | asdict(result)) for result in results]


def failure_message(
    results: Sequence[Result], stage: str, cluster_id: str, run_id: str, branch: str
) -> str | None:
    """The message about failed critical expectations; None if none failed."""
    failed = [r for r in results if not r.success and r.severity == "critical"]
    if not failed:
        return None
    sentences = [f"{r.table_name}.{r.expectation} ({r.sentence})" for r in failed[:_FAILURES_TOLD]]
    more = len(failed) - len(sentences)
    reasons = "; ".join(sentences) + (f"; and {more} more" if more else "")
    return (
        f"{stage}: cluster {cluster_id}: {len(failed)} critical expectation{'s' * (len(failed) > 1)} failed: {reasons}. "
        f"Nothing was published; readers keep the previous state. What was found is in quality_results where "
        f"run_id = '{run_id}', the rejected rows are on branch {branch} of the tables. Mend the cause, then run "
        f"the stage again."
    )
