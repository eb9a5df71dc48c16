"""Sessions of client instances (KIP-714) from their pushes. The other half of the stage, connections: connections.py.

tables/client_sessions.py has the rules. Pushes are many and small: as rows of Spark they would cost several times as
much as processing them. So tasks read the data files themselves, and hand each other a few large pieces: pushes to the task
that processes all of an instance, its session to the task that has the connection of the last push.
"""

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from client_telemetry.lake.files import PartitionFile, files_by_task
from client_telemetry.pipeline.queries import Queries
from client_telemetry.sessionize.broker_incarnations import incarnations
from client_telemetry.sessionize.look_back import first_day
from client_telemetry.tables.client_sessions import CLIENT_SESSIONS
from client_telemetry.tables.rows import BrokerRow
from client_telemetry.workers.pieces import Pieces

if TYPE_CHECKING:
    from client_telemetry.sessionize.connection_ends import Connections
    from client_telemetry.sessionize.push_groups import Pushes

_PUSHES_AT_ONCE = 1_000_000


def client_sessions(
    queries: Queries,
    pushes: Sequence[PartitionFile],
    connections: Sequence[PartitionFile],
    brokers: Sequence[BrokerRow],
    day: dt.date,
) -> str:
    """The query of the partition `day` of `client_sessions`, from data files of `client_pushes` and `client_connections`, and
    rows of `brokers`.

    Pushes and brokers of the day and of the HISTORY_DAYS before it are used, and connections of the day; others are
    ignored.
    """
    today = [file for file in pushes if file.dt == day]
    before = [file for file in pushes if file.dt is not None and first_day(day) <= file.dt < day]
    reads = [(True, files) for files in files_by_task(today)] + [
        (False, files) for files in files_by_task(before)
    ]
    ends = files_by_task([file for file in connections if file.dt == day])
    tasks = 1 + sum(file.rows for file in today) // _PUSHES_AT_ONCE
    stopped = {
        (incarnation.cluster_id, incarnation.broker_incarnation): incarnation.stopped_at
        for incarnation in incarnations(brokers, day)
        if incarnation.stopped_at is not None
    }

    def read_pushes(task: int) -> Pieces:
        from client_telemetry.sessionize.push_groups import read

        today, files = reads[task]
        return read(files, today, tasks)

    def look_at_instances(pieces: "Iterator[Pushes]") -> Pieces:
        from client_telemetry.sessionize.connection_ends import by_port
        from client_telemetry.sessionize.push_evidence import sessions_of

        return by_port(sessions_of(pieces), tasks)

    def read_connections(task: int) -> Pieces:
        from client_telemetry.sessionize.connection_ends import read

        return read(ends[task], tasks)

    def look_at_ends(evidence: "Iterator[pa.Table | Connections]") -> Iterator[pa.RecordBatch]:
        from client_telemetry.sessionize.session_rows import session_rows

        yield from session_rows(evidence, stopped, day)

    instances = queries.read_pieces(len(reads), read_pushes).moved(tasks).worked(look_at_instances)
    evidence = instances.union(queries.read_pieces(len(ends), read_connections)).moved(tasks)
    name = f"sessions_{day:%Y%m%d}"
    queries.rows_of_pieces(name, evidence, look_at_ends, CLIENT_SESSIONS.arrow_schema)
    return f"select * from {name}"
