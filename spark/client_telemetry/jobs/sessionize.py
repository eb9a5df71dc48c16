"""sessionize: from pushes and connection events to sessions and connections: client_sessions and client_connections.

A day's partition uses evidence of the day and of the earlier days that still matter, and nothing later, so days can be
computed in any order.
"""

import datetime as dt
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from client_telemetry.lake.files import values_in
from client_telemetry.pipeline.inputs import StageInputs
from client_telemetry.pipeline.options import add_options, no_days
from client_telemetry.pipeline.stage import Outcome, Slice, Stage, parser, run
from client_telemetry.sessionize.connections import Events, client_connections, events_left_out
from client_telemetry.sessionize.earlier_events import earlier_events
from client_telemetry.sessionize.look_back import with_history
from client_telemetry.sessionize.sessions import client_sessions
from client_telemetry.tables import client_connections as client_connections_suite
from client_telemetry.tables import client_sessions as client_sessions_suite
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.client_sessions import CLIENT_SESSIONS, HISTORY_DAYS
from client_telemetry.tables.connection_events import CONNECTION_EVENTS

SUITES = (client_connections_suite.SUITE, client_sessions_suite.SUITE)


def sessionize(stage: Stage) -> Outcome:
    days = stage.arguments.days
    branch = stage.branch((CLIENT_CONNECTIONS, CLIENT_SESSIONS))
    history = sorted({day - dt.timedelta(days=n) for day in days for n in range(HISTORY_DAYS + 1)})
    inputs = StageInputs.of(stage, days, (BROKERS, CLIENT_PUSHES, CONNECTION_EVENTS))
    needed, earlier = inputs.on(history), inputs.on([day for day in history if day not in days])
    brokers, pushes = needed.rows(BROKERS), needed.frame(CLIENT_PUSHES)
    of_the_days, files_before = inputs.frame(CONNECTION_EVENTS), earlier.files(CONNECTION_EVENTS)
    before = earlier_events(of_the_days, files_before, max(days)) if files_before else None
    events = {day: _events(of_the_days, before, day, is_first=day == min(days)) for day in days}
    connections = [client_connections(events[day], brokers, pushes, day) for day in days]
    where = {"cluster_id": stage.cluster, "dt": days}
    branch.replace(CLIENT_CONNECTIONS, connections, **where)
    files = needed.files(CLIENT_PUSHES)
    ends = branch.files(CLIENT_CONNECTIONS, **where)
    sessions = [client_sessions(stage.spark, files, ends, brokers, day) for day in days]
    branch.replace(CLIENT_SESSIONS, sessions, **where)

    left_out = sum(events_left_out(events[day], day) for day in days)
    of_the_day = [file for file in files if file.dt in days]
    facts = {
        "events": inputs.count(CONNECTION_EVENTS) - left_out,
        "pushes": values_in(of_the_day, CLIENT_PUSHES, "client_instance_id"),
    }
    rows = stage.publish(branch, [Slice(suite, where, facts) for suite in SUITES], days)
    counts = {"connections": rows[CLIENT_CONNECTIONS.name], "sessions": rows[CLIENT_SESSIONS.name]}
    message = (
        f"sessionize: cluster {stage.cluster}, {', '.join(map(str, days))}: "
        f"{counts['connections']} connections, {counts['sessions']} sessions"
    )
    return Outcome(message, counts)


def _events(of_the_days: DataFrame, before: DataFrame | None, day: dt.date, is_first: bool) -> Events:
    """The events that a day needs. `of_the_days`: of all days of the stage; `before`: of days before these."""
    parts = [] if before is None else [before]
    if not is_first:
        parts.append(of_the_days.where(F.col("dt") < F.lit(day)))
    earlier = with_history(reduce(DataFrame.unionByName, parts), day) if parts else None
    return Events(of_the_days.where(F.col("dt") == F.lit(day)), earlier)


def main(argv: list[str] | None = None) -> int:
    arguments = parser("sessionize", __doc__)
    add_options(arguments, "--days")
    return run(arguments, sessionize, argv, no_days("sessionize"))
