"""sessionize: from pushes and connection events to sessions and connections: client_sessions and client_connections.

A day's partition uses evidence of the day and of the earlier days that still matter, and nothing later, so days can be
computed in any order.
"""

import datetime as dt

from client_telemetry.lake.files import rows_in, values_in
from client_telemetry.pipeline.inputs import StageInputs
from client_telemetry.pipeline.options import add_options, no_days
from client_telemetry.pipeline.queries import queries
from client_telemetry.pipeline.stage import Outcome, Slice, Stage, parser, run
from client_telemetry.sessionize.connections import READ, client_connections, events_left_out
from client_telemetry.sessionize.earlier_events import read_earlier_events
from client_telemetry.sessionize.sessions import client_sessions
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.client_sessions import CLIENT_SESSIONS, HISTORY_DAYS
from client_telemetry.tables.connection_events import CONNECTION_EVENTS

TABLES = (CLIENT_CONNECTIONS, CLIENT_SESSIONS)


def sessionize(stage: Stage) -> Outcome:
    days = sorted(stage.arguments.days)
    branch = stage.branch(TABLES)
    history = sorted({day - dt.timedelta(days=n) for day in days for n in range(HISTORY_DAYS + 1)})
    inputs = StageInputs.of(stage, days, (BROKERS, CLIENT_PUSHES, CONNECTION_EVENTS))
    needed, earlier = inputs.on(history), inputs.on([day for day in history if day not in days])
    brokers, pushes = needed.rows(BROKERS), needed.files(CLIENT_PUSHES)
    before = earlier.files(CONNECTION_EVENTS)
    where = {"cluster_id": stage.cluster, "dt": days}
    beside = rows_in(before, CONNECTION_EVENTS)
    with queries(stage, inputs, READ, beside, {CLIENT_PUSHES: history}) as of_days:
        read_earlier_events(of_days, before, max(days))
        connections = [client_connections(of_days, brokers, day, is_first=day == min(days)) for day in days]
        of_days.replace(branch, CLIENT_CONNECTIONS, " union all ".join(connections), **where)
        ends = branch.files(CLIENT_CONNECTIONS, **where)
        sessions = [client_sessions(of_days, pushes, ends, brokers, day) for day in days]
        of_days.replace(branch, CLIENT_SESSIONS, " union all ".join(sessions), **where)
        left_out = events_left_out(of_days, days)

    facts = {
        "events": inputs.count(CONNECTION_EVENTS) - left_out,
        "pushes": values_in(inputs.files(CLIENT_PUSHES), CLIENT_PUSHES, "client_instance_id"),
    }
    rows = stage.publish(branch, [Slice(table, where, facts) for table in TABLES], days)
    counts = {"connections": rows[CLIENT_CONNECTIONS.name], "sessions": rows[CLIENT_SESSIONS.name]}
    message = (
        f"sessionize: cluster {stage.cluster}, {', '.join(map(str, days))}: "
        f"{counts['connections']} connections, {counts['sessions']} sessions"
    )
    return Outcome(message, counts)


def main(argv: list[str] | None = None) -> int:
    arguments = parser("sessionize", __doc__)
    add_options(arguments, "--days", "--without-spark-up-to")
    return run(arguments, sessionize, argv, no_days("sessionize"))
