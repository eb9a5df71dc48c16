"""Events of earlier days that a day's connections need: those of connections that were open when the day began.

Most earlier events are of connections that are over. Readers of whole rows turn each event with its lists of requests into
a row before anything can drop it; tasks look at when the connections were opened first, and read the rest of a file only
if one of them is still open.
"""

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from client_telemetry.lake.files import PartitionFile, files_by_task, stored_rows
from client_telemetry.pipeline.queries import Queries
from client_telemetry.sessionize.look_back import midnight_us
from client_telemetry.tables.connection_events import CONNECTION_EVENTS

EARLIER = "earlier_events"
"""A relation with the columns of `connection_events`."""
_COLUMNS = tuple(column.name for column in CONNECTION_EVENTS.columns)
_IN_AN_OBJECT = dt.timedelta(hours=1)
"""An object of a day has no events later than this after the day's end (contract v1: objects are closed at the end of
the hour).
"""


def may_have_earlier_events(day: dt.date) -> str:
    """Condition: whether the connection of an event of the day may have events on earlier days: it is not as new as the day, and
    no summary, which is the only event of its connections.
    """
    new_us = midnight_us(day) + _IN_AN_OBJECT // dt.timedelta(microseconds=1)
    return f"kind <> 'summary' and unix_micros(opened_at) < {new_us}"


def read_earlier_events(queries: Queries, earlier: Sequence[PartitionFile], last_day: dt.date) -> None:
    """Define EARLIER: rows in the files `earlier` of `connection_events` that have the `opened_at` of a connection that may be
    older than its day: all events of these connections, and some of others.

    `last_day`: of the days in the relation `connection_events`, which `earlier` come before.
    """
    older = (
        f"select distinct unix_micros(opened_at) as opened_us from connection_events "
        f"where {may_have_earlier_events(last_day)}"
    )
    rows = queries.answers({"older": older})["older"] if earlier else ()
    opened_us = pa.array([row["opened_us"] for row in rows], pa.int64())
    tasks = files_by_task(earlier) if len(opened_us) else []

    def read(task: int) -> Iterator[pa.RecordBatch]:
        return _of_open_connections(tasks[task], opened_us)

    queries.read_rows(EARLIER, len(tasks), read, CONNECTION_EVENTS.arrow_schema)


def _of_open_connections(files: Iterable[PartitionFile], opened_us: pa.Array) -> Iterator[pa.RecordBatch]:
    def is_in(rows: pa.Table) -> pa.ChunkedArray:
        return pc.is_in(rows["opened_at"].cast(pa.int64()), opened_us)

    for file in files:
        times = stored_rows([file], CONNECTION_EVENTS, ("opened_at",))
        if any(pc.any(is_in(rows)).as_py() for rows in times):
            for rows in stored_rows([file], CONNECTION_EVENTS, _COLUMNS):
                yield from rows.filter(is_in(rows)).combine_chunks().to_batches()
