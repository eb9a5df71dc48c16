"""profile: from connections and sessions to clients: who is out there, and who owns them."""

from client_telemetry.identity.owner_hints import rule_hints
from client_telemetry.identity.owners import load_owner_rules
from client_telemetry.lake.files import rows_in
from client_telemetry.pipeline.stage import (
    Outcome,
    Slice,
    Stage,
    days,
    parser,
    run,
    use_own_knowledge,
)
from client_telemetry.pipeline.text_file import read_text_file
from client_telemetry.profile.clients import clients
from client_telemetry.tables import clients as clients_suite
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.client_sessions import CLIENT_SESSIONS
from client_telemetry.tables.clients import CLIENTS

SUITES = (clients_suite.SUITE,)


def profile(stage: Stage) -> Outcome:
    use_own_knowledge(stage.arguments.knowledge)
    days, lake, cluster = stage.arguments.days, stage.lake, stage.cluster
    owners = stage.arguments.owners
    rules = read_text_file(owners, "owner rules", load_owner_rules) if owners else ()
    stage.warnings += rule_hints(rules)
    where = {"cluster_id": cluster, "dt": days}
    of_the_days = stage.condition(where)
    branch = stage.branch((CLIENTS,))
    published = lake.published(cluster)
    connections, sessions = (
        lake.read(table, published[table.name]).where(of_the_days)
        for table in (CLIENT_CONNECTIONS, CLIENT_SESSIONS)
    )
    branch.replace(CLIENTS, [clients(connections, sessions, rules, day) for day in days], **where)
    facts = {
        name: rows_in(lake.files(table, published[table.name], **where), table)
        for name, table in (("connections", CLIENT_CONNECTIONS), ("sessions", CLIENT_SESSIONS))
    }
    rows = stage.publish(branch, [Slice(suite, where, facts) for suite in SUITES], days)
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
    arguments.add_argument("--days", required=True, type=days, help="days to process, UTC")
    arguments.add_argument("--owners", help="file or URL of the owner rules; default: no owners")
    arguments.add_argument(
        "--knowledge", help="folder with your own knowledge; default: only the built-in knowledge base"
    )
    return run(
        arguments,
        profile,
        argv,
        lambda args: None if args.days else "profile: no day to process, nothing to do",
    )
