"""Sessions of client instances (KIP-714) from their pushes. Connections, the other half of the stage: connections.py.

The rules stand in tables/client_sessions.py. Pushes are many and small: as rows of Spark they cost several times what
it takes to look at them. So Python workers read the data files themselves, and Spark only moves what they make of
them, in a few large pieces: pushes to the task that looks at all of an instance, its session to the task that has the
connection of the last push.
"""

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

from client_telemetry.lake.files import PartitionFile, files_by_task
from client_telemetry.pipeline.pieces import PIECES, Pieces, moved, packed, read_pieces, unpacked
from client_telemetry.sessionize.broker_incarnations import incarnations
from client_telemetry.sessionize.look_back import first_day
from client_telemetry.tables.client_sessions import CLIENT_SESSIONS

_PUSHES_AT_ONCE = 1_000_000


def client_sessions(
    pushes: Sequence[PartitionFile], connections: Sequence[PartitionFile], brokers: DataFrame, day: dt.date
) -> DataFrame:
    """The slice of `day` of `client_sessions`, from data files of `client_pushes` and `client_connections`, and rows of
    `brokers`.

    Of pushes and brokers, those of the day and of the HISTORY_DAYS before it are used, of connections those of the
    day; others may be there and are ignored.
    """
    spark = brokers.sparkSession
    today = [file for file in pushes if file.dt == day]
    before = [file for file in pushes if file.dt is not None and first_day(day) <= file.dt < day]
    reads = [(True, files) for files in files_by_task(today)] + [
        (False, files) for files in files_by_task(before)
    ]
    ends = files_by_task([file for file in connections if file.dt == day])
    tasks = 1 + sum(file.rows for file in today) // _PUSHES_AT_ONCE
    stopped = {
        (its.cluster_id, its.broker_incarnation): its.stopped_at
        for its in incarnations(brokers, day)
        if its.stopped_at is not None
    }

    def read_pushes(task: int) -> Pieces:
        from client_telemetry.sessionize.push_groups import read

        today, files = reads[task]
        return read(files, today, tasks)

    def look_at_instances(pieces: Iterator[Any]) -> Pieces:
        from client_telemetry.sessionize.connection_ends import by_port
        from client_telemetry.sessionize.push_evidence import sessions_of

        return by_port(sessions_of(pieces), tasks)

    def read_connections(task: int) -> Pieces:
        from client_telemetry.sessionize.connection_ends import read

        return read(ends[task], tasks)

    def look_at_ends(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from client_telemetry.sessionize.session_rows import session_rows

        yield from session_rows(unpacked(batches), stopped, day)

    sessions = moved(read_pieces(spark, len(reads), read_pushes), tasks).mapInArrow(
        packed(look_at_instances), PIECES
    )
    known = read_pieces(spark, len(ends), read_connections)
    return moved(sessions.union(known), tasks).mapInArrow(look_at_ends, CLIENT_SESSIONS.schema)
