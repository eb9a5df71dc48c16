"""Events of earlier days that a day's connections need: those of connections that were open when the day began.

Most earlier events are of connections that are over. Spark's reader turns each event with its lists of requests into a
row before anything can drop it; Python workers look at when the connections were opened first, and read the rest of a
file only if one of them is still open.
"""

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from client_telemetry.lake.files import PartitionFile, files_by_task, stored_rows
from client_telemetry.sessionize.look_back import midnight
from client_telemetry.tables.connection_events import CONNECTION_EVENTS
from client_telemetry.workers.pieces import read_rows

_IN_AN_OBJECT = dt.timedelta(hours=1)
"""An object of a day has no events later than this after the day's end (contract v1: objects are closed at the end of
the hour).
"""
_COLUMNS = tuple(column.name for column in CONNECTION_EVENTS.columns)


def may_have_earlier_events(day: dt.date) -> Column:
    """Whether the connection of an event of the day may have events on earlier days: it is not as new as the day, and
    no summary, which is the only event of its connections.
    """
    is_new = F.coalesce(F.col("opened_at") >= midnight(day) + F.lit(_IN_AN_OBJECT), F.lit(False))
    return (F.col("kind") != "summary") & ~is_new


def earlier_events(of_the_days: DataFrame, earlier: Sequence[PartitionFile], last_day: dt.date) -> DataFrame:
    """Rows of `connection_events` in the files `earlier` that have the `opened_at` of a connection that may be older than
    its day: all events of these connections, and some of others.

    `of_the_days`: rows of `connection_events` of the days, of which `last_day` is the last.
    """
    older = of_the_days.where(may_have_earlier_events(last_day)).select("opened_at").distinct()
    opened = older.toArrow()["opened_at"].combine_chunks()
    tasks = files_by_task(earlier) if len(opened) else []
    return read_rows(
        of_the_days.sparkSession,
        len(tasks),
        lambda task: _of_open_connections(tasks[task], opened),
        CONNECTION_EVENTS.schema,
    )


def _of_open_connections(files: Iterable[PartitionFile], opened: pa.Array) -> Iterator[pa.RecordBatch]:
    for file in files:
        times = stored_rows([file], CONNECTION_EVENTS, ("opened_at",))
        if any(pc.any(_is_in(rows, opened)).as_py() for rows in times):
            for rows in stored_rows([file], CONNECTION_EVENTS, _COLUMNS):
                yield from rows.filter(_is_in(rows, opened)).combine_chunks().to_batches()


def _is_in(rows: pa.Table, opened: pa.Array) -> pa.ChunkedArray:
    return pc.is_in(rows["opened_at"], opened.cast(rows.schema.field("opened_at").type))
