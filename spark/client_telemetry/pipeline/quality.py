"""The audit: Great Expectations judges what a stage has written before readers see it.

One query turns each rule into a number for the partition: in Spark, or in DuckDB for what is small (MOST_ROWS). Great
Expectations judges the row of numbers. What ran is compared with what was declared: a misspelled expectation, which
Great Expectations drops with a log line, or an empty suite fails the gate instead of passing it.
"""

import datetime as dt
import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from client_telemetry.lake.files import PartitionFile, stored_rows
from client_telemetry.tables import quality_findings as findings
from client_telemetry.tables.rows import QualityResultRow
from client_telemetry.tables.suite import RowRule, SliceRule, Suite

_FAILURES_TOLD = 10
MOST_ROWS = 250_000
"""Rows of a slice that this process measures. Of so few, Spark takes seconds to plan and compile the query and a tenth of
that to run it; more are not to be in memory at once.
"""


@dataclass(frozen=True)
class Result:
    """The result of one expectation."""

    table_name: str
    expectation: str
    severity: str
    success: bool
    observed_value: str
    rows: int
    unexpected_count: int | None
    description: str

    @property
    def sentence(self) -> str:
        return f"{self.description}; found {findings.found(self)}"


Numbers = dict[str, float | None]
"""The values that the expectations of a suite check, by name."""


class GateFailed(Exception):
    """A critical expectation failed, or a suite did not check what it declares."""


class SuiteIncomplete(GateFailed):
    """Fewer expectations ran than the suite declares."""


def import_in_background() -> None:
    """Start the import of Great Expectations, which takes seconds, while the JVM starts."""
    threading.Thread(target=_great_expectations, daemon=True).start()


def _great_expectations() -> Any:
    logging.getLogger("great_expectations").setLevel(logging.WARNING)
    import great_expectations

    return great_expectations


def measure(slice_: DataFrame, suite: Suite, facts: Mapping[str, float]) -> Numbers:
    """The number behind each rule, by rule name, and `rows`: one Spark query, whatever the number of rules."""
    values = {rule.name: rule.value.format(**facts) for rule in suite.all_rules}
    numbers = slice_.agg(F.count("*").alias("rows"), *[F.expr(v).alias(n) for n, v in values.items()])
    (row,) = numbers.collect()
    return row.asDict()


def measure_files(files: Sequence[PartitionFile], suite: Suite, facts: Mapping[str, float]) -> Numbers:
    """`measure` without Spark, for rows that fit in memory. The rules are translated from Spark's SQL."""
    return _measured(lambda columns: stored_rows(files, suite.table, columns), suite, facts)


def measure_rows(rows: pa.Table, suite: Suite, facts: Mapping[str, float]) -> Numbers:
    """The same for rows in memory, with the table's columns."""
    return _measured(lambda columns: [rows.select(columns)], suite, facts)


def _measured(
    read: Callable[[Sequence[str]], Iterable[pa.Table]], suite: Suite, facts: Mapping[str, float]
) -> Numbers:
    import duckdb
    import sqlglot

    values = ", ".join(f"{rule.value.format(**facts)} as `{rule.name}`" for rule in suite.all_rules)
    query = sqlglot.parse_one(f"select count(*) as `rows`, {values} from slice", read="spark").transform(
        _counted
    )
    named = {column.name for column in query.find_all(sqlglot.exp.Column)}
    # A field of a struct may be called like a column, which is then read for nothing.
    columns = [column.name for column in suite.table.columns if column.name in named]
    empty = pa.schema([suite.table.arrow_schema.field(name) for name in columns]).empty_table()
    rows = pa.concat_tables([empty, *read(columns)])
    with duckdb.connect(config={"threads": 1}) as database:
        database.register("slice", _in_utc(rows))
        (numbers,) = database.execute(query.sql(dialect="duckdb")).fetchall()
        names = [column[0] for column in database.description or ()]
    return dict(zip(names, numbers, strict=True))


def _counted(node: Any) -> Any:
    """Of no rows, Spark's count_if is 0 and DuckDB's null."""
    from sqlglot import exp

    if isinstance(node, exp.CountIf):
        return exp.Filter(this=exp.Count(this=exp.Star()), expression=exp.Where(this=node.this))
    return node


def _in_utc(rows: pa.Table) -> pa.Table:
    """Times without their zone, which is UTC: DuckDB knows zones only with an extension that it would download."""
    fields = [
        field.with_type(pa.timestamp(field.type.unit)) if pa.types.is_timestamp(field.type) else field
        for field in rows.schema
    ]
    return rows.cast(pa.schema(fields))


def judge(suite: Suite, numbers: Mapping[str, float | None]) -> list[Result]:
    """Let Great Expectations judge the row of numbers. Raises SuiteIncomplete."""
    import pandas

    gx = _great_expectations()
    rows = int(numbers["rows"] or 0)
    frame = pandas.DataFrame({rule.name: [_judged(rule, numbers)] for rule in suite.all_rules})
    checks = gx.ExpectationSuite(
        name=suite.table.name,
        expectations=[
            {
                "type": rule.expectation,
                "kwargs": {"column": rule.name, **rule.bounds},
                "meta": {"rule": rule.name},
                "severity": rule.severity,
                "description": rule.description,
            }
            for rule in suite.all_rules
        ],
    )
    validation = _numbers_of_a_slice().get_batch({"dataframe": frame}).validate(checks)
    ran = {
        (result.expectation_config.meta["rule"], result.expectation_config.type): bool(result.success)
        for result in validation.results
    }
    missing = [r.name for r in suite.all_rules if (r.name, r.expectation) not in ran]
    if missing or not suite.rules:
        what = f"did not run: {', '.join(missing)}" if missing else "the suite declares no rule of its own"
        raise SuiteIncomplete(
            f"{suite.table.name}: {what}. Correct the suite in client_telemetry/tables/{suite.table.name}.py "
            "(a misspelled expectation type is dropped by Great Expectations); readers keep the previous state."
        )
    return [
        Result(
            table_name=suite.table.name,
            expectation=rule.name,
            severity=rule.severity,
            success=ran[rule.name, rule.expectation],
            observed_value=_text(numbers[rule.name]),
            rows=rows,
            unexpected_count=int(numbers[rule.name] or 0) if isinstance(rule, RowRule) else None,
            description=rule.description,
        )
        for rule in suite.all_rules
    ]


@cache
def _numbers_of_a_slice() -> Any:
    """Great Expectations' batch definition for a frame that is passed later; creating a context takes longer than a
    suite.
    """
    context = _great_expectations().get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    asset = context.data_sources.add_pandas("slice").add_dataframe_asset("numbers")
    return asset.add_batch_definition_whole_dataframe("all")


def _judged(rule: RowRule | SliceRule, numbers: Mapping[str, float | None]) -> float:
    """The number passed to Great Expectations, which takes null for "nothing to check": null fails a rule, except an
    aggregate over no rows, where nothing can fail.
    """
    number = numbers[rule.name]
    if number is not None:
        return float(number)
    within = rule.bounds.get("min_value", rule.bounds.get("max_value", 0))
    return within if not numbers["rows"] else float("inf") if "max_value" in rule.bounds else float("-inf")


def _text(number: float | None) -> str:
    return "null" if number is None else f"{number:g}" if isinstance(number, float) else str(number)


def result_rows(
    results: Sequence[Result], cluster_id: str, run_id: str, stage: str, day: dt.date
) -> list[QualityResultRow]:
    """Results as rows of quality_results."""
    at = dt.datetime.now(dt.UTC)
    return [
        {
            "cluster_id": cluster_id,
            "run_id": run_id,
            "stage": stage,
            "dt": day,
            "table_name": result.table_name,
            "expectation": result.expectation,
            "severity": result.severity,
            "success": result.success,
            "observed_value": result.observed_value,
            "rows": result.rows,
            "unexpected_count": result.unexpected_count,
            "description": result.description,
            "evaluated_at": at,
        }
        for result in results
    ]


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
