"""Queries in one SQL, Spark's: run by Spark, or, where there is little data, by DuckDB in this process, which then needs no JVM.
sqlglot translates; tests/client_telemetry/pipeline/test_queries.py and those of each query compare the rows.

A relation is a table of the stage's inputs, or what was defined of others; texts name it after `from` and `join`, and give it
another name (`as`) where they name its columns with it.
"""

import datetime as dt
import re
import tempfile
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, Self, cast

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema

from client_telemetry.lake.branch import Branch
from client_telemetry.lake.files import stored_rows
from client_telemetry.lake.plain_rows import plain_rows
from client_telemetry.pipeline.duckdb_sql import in_utc, translated, with_zone
from client_telemetry.pipeline.inputs import StageInputs
from client_telemetry.pipeline.one_query import in_one_query
from client_telemetry.pipeline.stage import Stage
from client_telemetry.tables.table import Table
from client_telemetry.workers.exchange import Exchange, ExchangeOnSpark, read_in_tasks
from client_telemetry.workers.pieces import Pieces, read_rows

Work = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""What Python makes of a relation's batches, or of those of one of its parts."""
WorkOnGroup = Callable[[pa.Table], pa.Table]


RowsOfPieces = Callable[[Iterator[Any]], Iterator[pa.RecordBatch]]
"""What is made of the pieces of a task, which are of the type that was read."""
Answers = dict[str, Iterator[Any]]
"""Rows by the name of their query: each a dict, of the type that the query's user knows."""
Values = tuple[Any, ...]
"""Of a row, in the order of the query's columns."""
PLACE = "place"
"""bigint. Column of each table of the inputs: grows with the place of a row in the table."""
_NAMED = re.compile(r"\b(from|join)\s+(\w+)", re.IGNORECASE)
_BATCH_ROWS = 10_000
MOST_BYTES = 2**29
"""Of the rows in this process, as Arrow: some hundred bytes each, unless clients push long texts."""


MOST_MEMORY = "1GB"
"""Of DuckDB. A query that needs more ends, and the stage begins again, with Spark (pipeline/stage.py)."""


class TooManyBytes(Exception):
    """The rows are few, and long."""


class Queries(ABC):
    """Relations by name. A context: what is kept goes with it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    @abstractmethod
    def release(self) -> None: ...

    @abstractmethod
    def rows_of(self, name: str, rows: pa.Table) -> None:
        """A relation of these rows: few, sent with the query."""

    @abstractmethod
    def define(self, name: str, text: str) -> None:
        """A relation that is computed where it is used."""

    @abstractmethod
    def define_aggregates(
        self, name: str, relation: str, by: Sequence[str], aggregates: Mapping[str, str], order: str
    ) -> None:
        """A relation of one row for each group of a relation's wide rows with equal values, or null, in `by`: these columns, and
        `aggregates`, each one call of a function. `order`: a column that differs within a group."""

    @abstractmethod
    def keep(self, name: str) -> None:
        """Computed once for several uses."""

    @abstractmethod
    def work(self, name: str, text: str, work: Work, schema: pa.Schema, parts: Sequence[str] = ()) -> None:
        """A relation of what `work` makes of the rows of a query. `parts`: columns; rows with equal values in them come to one
        call."""

    @abstractmethod
    def work_groups(
        self, name: str, text: str, by: Sequence[str], work: WorkOnGroup, schema: pa.Schema
    ) -> None:
        """A relation of what `work` makes of all rows of a query that have equal values, or null, in these columns."""

    @abstractmethod
    def replace(self, branch: Branch, table: Table, text: str, **partitions: object) -> None:
        """Replace these partitions of a table on a branch by the rows of a query."""

    @abstractmethod
    def read_rows(
        self, name: str, tasks: int, read: Callable[[int], Iterator[pa.RecordBatch]], schema: pa.Schema
    ) -> None:
        """A relation of the rows that so many tasks read."""

    @abstractmethod
    def read_pieces(self, tasks: int, read: Callable[[int], Pieces]) -> Exchange:
        """What so many tasks read, in pieces for other tasks."""

    @abstractmethod
    def rows_of_pieces(self, name: str, pieces: Exchange, rows_of: RowsOfPieces, schema: pa.Schema) -> None:
        """A relation of what is made of such pieces."""

    @abstractmethod
    def answers(self, texts: Mapping[str, str]) -> Answers:
        """The rows of several queries, times in UTC."""

    @abstractmethod
    def in_order(self, text: str, order: Sequence[str], part: str | None = None) -> Iterator[Values]:
        """The rows of a query one after the other, not all of them in memory. `part`: a column; only rows that have the same
        value in it are next to each other and in order."""


def same(names: Iterable[str], one: str, other: str, equal: str = "=") -> str:
    """The condition of a join: equal values in these columns of two relations. `equal`: `<=>` if nulls are equal, too.

    >>> same(("a", "b"), "one", "other", "<=>")
    'one.a <=> other.a and one.b <=> other.b'
    """
    return " and ".join(f"{one}.{name} {equal} {other}.{name}" for name in names)


def is_little(stage: Stage, rows: int) -> bool:
    """Whether so many rows are few enough for this process (option --without-spark-up-to)."""
    return rows <= int(stage.arguments.without_spark_up_to)


def queries(
    stage: Stage,
    inputs: StageInputs,
    tables: Mapping[Table, Sequence[str]],
    beside: int = 0,
    days: Mapping[Table, Sequence[dt.date]] | None = None,
) -> Queries:
    """With these columns of these tables as relations, of the days of the inputs or, for some tables, of these `days`; in this
    process where there are few rows of them and `beside` them, which tasks read from files."""
    of = {table: inputs.on((days or {}).get(table, inputs.days)) for table in tables}
    if is_little(stage, beside + sum(of[table].count(table) for table in tables)):
        with suppress(TooManyBytes):
            return InProcess(
                {table.name: _stored(of[table], table, columns) for table, columns in tables.items()}
            )
    return OnSpark(
        stage.spark,
        {
            table.name: of[table].frame(table).select(*columns, F.monotonically_increasing_id().alias(PLACE))
            for table, columns in tables.items()
        },
    )


def _stored(inputs: StageInputs, table: Table, columns: Sequence[str]) -> Iterator[pa.Table]:
    """A row group at a time, with PLACE."""
    schema = pa.schema([table.arrow_schema.field(name) for name in columns])
    place = 0
    for rows in chain([schema.empty_table()], stored_rows(inputs.files(table), table, columns)):
        yield rows.append_column(PLACE, pa.array(range(place, place + len(rows)), pa.int64()))
        place += len(rows)


class OnSpark(Queries):
    def __init__(self, spark: SparkSession, relations: Mapping[str, DataFrame]) -> None:
        self._spark = spark
        self._frames = dict(relations)
        self._sources: dict[str, str] = {}
        """Relation -> what stands for its name: a query in parentheses, or a view of its frame."""
        self._views: list[str] = []
        """Sessions are shared: each name is used once."""
        self._kept: list[DataFrame] = []

    def release(self) -> None:
        for frame in self._kept:
            frame.unpersist()
        for view in self._views:
            self._spark.catalog.dropTempView(view)
        self._kept.clear()
        self._views.clear()
        self._sources.clear()

    def rows_of(self, name: str, rows: pa.Table) -> None:
        self._frames[name] = F.broadcast(self._spark.createDataFrame(rows))

    def define(self, name: str, text: str) -> None:
        self._sources[name] = f"({self._with_sources(text)})"

    def define_aggregates(
        self, name: str, relation: str, by: Sequence[str], aggregates: Mapping[str, str], order: str
    ) -> None:
        # Aggregation of texts and lists would sort the rows twice; a window sorts them once.
        keys = ", ".join(by)
        columns = ", ".join(f"{aggregate} over whole as {name}" for name, aggregate in aggregates.items())
        ordered = f"partition by {keys} order by {order}"
        self.define(
            name,
            f"""
select {", ".join((*by, *aggregates))}
from (
    select {keys}, {columns}, row_number() over ({ordered}) as place_in_group
    from {relation}
    window whole as ({ordered} rows between unbounded preceding and unbounded following)
)
where place_in_group = 1
""",
        )

    def keep(self, name: str) -> None:
        source = self._sources.pop(name, None)
        frame = self._spark.sql(f"select * from {source}") if source else self._frames[name]
        self._frames[name] = frame.persist()
        self._kept.append(frame)

    def work(self, name: str, text: str, work: Work, schema: pa.Schema, parts: Sequence[str] = ()) -> None:
        rows = self.frame(text)
        if parts:
            rows = rows.repartition(*parts)
        self._frames[name] = rows.mapInArrow(work, from_arrow_schema(schema))

    def work_groups(
        self, name: str, text: str, by: Sequence[str], work: WorkOnGroup, schema: pa.Schema
    ) -> None:
        self._frames[name] = self.frame(text).groupBy(*by).applyInArrow(work, from_arrow_schema(schema))

    def replace(self, branch: Branch, table: Table, text: str, **partitions: object) -> None:
        branch.replace(table, self.frame(text), **partitions)

    def read_rows(
        self, name: str, tasks: int, read: Callable[[int], Iterator[pa.RecordBatch]], schema: pa.Schema
    ) -> None:
        self._frames[name] = read_rows(self._spark, tasks, read, from_arrow_schema(schema))

    def read_pieces(self, tasks: int, read: Callable[[int], Pieces]) -> Exchange:
        return read_in_tasks(self._spark, tasks, read)

    def rows_of_pieces(self, name: str, pieces: Exchange, rows_of: RowsOfPieces, schema: pa.Schema) -> None:
        self._frames[name] = cast("ExchangeOnSpark", pieces).frame(rows_of, schema)

    def answers(self, texts: Mapping[str, str]) -> Answers:
        return in_one_query({name: self.frame(text) for name, text in texts.items()})

    def in_order(self, text: str, order: Sequence[str], part: str | None = None) -> Iterator[Values]:
        rows = self.frame(text)
        by = [F.expr(each) for each in order]
        rows = rows.repartition(part).sortWithinPartitions(part, *by) if part else rows.sort(*by)
        return map(tuple, rows.toLocalIterator())

    def frame(self, text: str) -> DataFrame:
        return self._spark.sql(self._with_sources(text))

    def _with_sources(self, text: str) -> str:
        return _NAMED.sub(lambda found: f"{found[1]} {self._source(found[2])}", text)

    def _source(self, name: str) -> str:
        """Raises KeyError if there is no such relation."""
        if name not in self._sources:
            view = f"{name}_{uuid.uuid4().hex}"
            self._frames[name].createOrReplaceTempView(view)
            self._views.append(view)
            self._sources[name] = view
        return self._sources[name]


class InProcess(Queries):
    def __init__(self, relations: Mapping[str, Iterable[pa.Table]]) -> None:
        """`relations`: tables whose rows follow each other, at least one of each. They are kept on the disk: a client that pushes
        long texts does not fill the memory. Raises TooManyBytes."""
        import duckdb

        self._folder = tempfile.TemporaryDirectory(prefix="client_telemetry_queries_")
        file = Path(self._folder.name, "rows.duckdb")
        self._database = duckdb.connect(file, config={"threads": 1, "memory_limit": MOST_MEMORY})
        try:
            # DuckDB keeps it open: of a process that is killed, no rows stay behind, once they are no longer in its log.
            file.unlink()
            self._store(relations)
            self._database.execute("checkpoint")
        except BaseException:
            self.release()
            raise

    def _store(self, relations: Mapping[str, Iterable[pa.Table]]) -> None:
        stored_bytes = 0
        for name, parts in relations.items():
            for number, rows in enumerate(parts):
                stored_bytes += rows.nbytes
                if stored_bytes > MOST_BYTES:
                    raise TooManyBytes
                self._database.register("part", in_utc(rows))
                into = f'insert into "{name}"' if number else f'create table "{name}" as'
                self._database.execute(f"{into} select * from part")
        self._database.unregister("part")

    def release(self) -> None:
        self._database.close()
        self._folder.cleanup()

    def rows_of(self, name: str, rows: pa.Table) -> None:
        self._database.register(name, in_utc(rows))

    def define(self, name: str, text: str) -> None:
        self._database.execute(f'create temp view "{name}" as {translated(text)}')

    def define_aggregates(
        self, name: str, relation: str, by: Sequence[str], aggregates: Mapping[str, str], order: str
    ) -> None:
        # A window would keep what it computes for each row of a group: gigabytes of lists.
        columns = ", ".join(f"{aggregate} as {name}" for name, aggregate in aggregates.items())
        keys = ", ".join(by)
        self.define(name, f"select {keys}, {columns} from {relation} group by {keys}")

    def keep(self, name: str) -> None:
        rows = self._database.table(name).to_arrow_table(_BATCH_ROWS)
        self._database.execute(f'drop view "{name}"')
        self._database.register(name, rows)

    def work(self, name: str, text: str, work: Work, schema: pa.Schema, parts: Sequence[str] = ()) -> None:
        rows = self._query(text)
        self.rows_of(name, pa.Table.from_batches(work(with_zone(rows).to_batches(_BATCH_ROWS)), schema))

    def work_groups(
        self, name: str, text: str, by: Sequence[str], work: WorkOnGroup, schema: pa.Schema
    ) -> None:
        rows = with_zone(self._query(f"select * from ({text}) order by {', '.join(by)}"))
        keys = list(zip(*(rows[column].to_pylist() for column in by), strict=True))
        begins = [place for place, key in enumerate(keys) if not place or key != keys[place - 1]]
        groups = [work(rows.slice(begin, end - begin)) for begin, end in pairwise([*begins, len(keys)])]
        self.rows_of(name, pa.concat_tables([schema.empty_table(), *groups]))

    def replace(self, branch: Branch, table: Table, text: str, **partitions: object) -> None:
        branch.replace_table(table, with_zone(self._query(text)), **partitions)

    def read_rows(
        self, name: str, tasks: int, read: Callable[[int], Iterator[pa.RecordBatch]], schema: pa.Schema
    ) -> None:
        batches = chain.from_iterable(read(task) for task in range(tasks))
        self.rows_of(name, pa.Table.from_batches(batches, schema))

    def read_pieces(self, tasks: int, read: Callable[[int], Pieces]) -> Exchange:
        return read_in_tasks(None, tasks, read)

    def rows_of_pieces(self, name: str, pieces: Exchange, rows_of: RowsOfPieces, schema: pa.Schema) -> None:
        def batches(received: Iterator[object]) -> Pieces:
            return ((0, batch) for batch in rows_of(received))

        self.rows_of(name, pa.Table.from_batches(pieces.worked(batches).collected(), schema))

    def answers(self, texts: Mapping[str, str]) -> Answers:
        return {name: iter(plain_rows(with_zone(self._query(text)))) for name, text in texts.items()}

    def in_order(self, text: str, order: Sequence[str], part: str | None = None) -> Iterator[Values]:
        by = ", ".join([*([part] if part else []), *order])
        rows = self._query(f"select * from ({text}) order by {by}")
        for batch in rows.to_batches(_BATCH_ROWS):
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)

    def _query(self, text: str) -> pa.Table:
        return self._database.sql(translated(text)).to_arrow_table(_BATCH_ROWS)
