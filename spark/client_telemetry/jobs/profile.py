"""profile: from connections and sessions to clients: who is out there, and who owns them."""

from client_telemetry.identity.owner_hints import rule_hints
from client_telemetry.identity.owners import load_owner_rules
from client_telemetry.pipeline.inputs import StageInputs
from client_telemetry.pipeline.options import add_options, no_days
from client_telemetry.pipeline.queries import queries
from client_telemetry.pipeline.stage import Outcome, Slice, Stage, parser, run
from client_telemetry.pipeline.text_file import read_text_file
from client_telemetry.profile.clients import READ, clients
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.client_sessions import CLIENT_SESSIONS
from client_telemetry.tables.clients import CLIENTS

TABLES = (CLIENTS,)
CONNECTIONS = (
    "select cast(coalesce(sum(coalesce(connections, 1)), 0) as bigint) as connections from client_connections"
)
"""Connections and refusals: a row flagged `summary` represents several."""


def profile(stage: Stage) -> Outcome:
    args = stage.arguments
    days, lake, cluster = args.days, stage.lake, stage.cluster
    rules = read_text_file(args.owners, "owner rules", load_owner_rules) if args.owners else ()
    stage.warnings += rule_hints(rules)
    branch = stage.branch(TABLES)
    inputs = StageInputs.of(stage, days, (CLIENT_CONNECTIONS, CLIENT_SESSIONS))
    where = {"cluster_id": cluster, "dt": days}
    with queries(stage, inputs, READ) as of_days:
        of_days.replace(branch, CLIENTS, clients(of_days, rules, stage.cluster_name), **where)
        (total,) = of_days.answers({"connections": CONNECTIONS})["connections"]
    facts = {"connections": total["connections"], "sessions": inputs.count(CLIENT_SESSIONS)}
    rows = stage.publish(branch, [Slice(table, where, facts) for table in TABLES], days)
    found = lake.rows(CLIENTS, columns=("dt", "principal", "owner", "application"), **where)
    without_owner = [row for row in found if row["owner"] is None]
    counts = {
        "applications": len({tuple(row.values()) for row in found}),
        "applications_without_owner": len({tuple(row.values()) for row in without_owner}),
        "clients_without_owner": len(without_owner),
        "clients": rows[CLIENTS.name],
    }
    message = (
        f"profile: cluster {cluster}, {', '.join(map(str, days))}: {counts['applications']} applications with "
        f"{counts['clients']} clients, {counts['applications_without_owner']} of them without an owner"
    )
    return Outcome(message, counts)


def main(argv: list[str] | None = None) -> int:
    arguments = parser("profile", __doc__)
    add_options(arguments, "--days", "--owners", "--without-spark-up-to")
    return run(arguments, profile, argv, no_days("profile"))
