"""publish: an answered upgrade question as HTML, JSON, CSV and Markdown.

Reads what `impact` wrote, and coverage and profiles from the snapshots named there, or today's tables. Needs no Spark session.
"""

import datetime as dt
from collections.abc import Iterable, Sequence

from client_telemetry.console.arguments import day
from client_telemetry.formats.raw.garbage_collection import collector_paused
from client_telemetry.identity.hosts import NO_HOSTS, host_names
from client_telemetry.identity.owners import load_owner_rules
from client_telemetry.jobs.artefacts_of_lake import with_artefacts
from client_telemetry.knowledge import kip511, measured_targets
from client_telemetry.pipeline.inputs import as_read, latest_results
from client_telemetry.pipeline.options import add_options
from client_telemetry.pipeline.place import published_place
from client_telemetry.pipeline.stage import BadArguments, Outcome, Stage, parser, run
from client_telemetry.pipeline.text_file import read_text_file
from client_telemetry.reports.names import folder_name
from client_telemetry.reports.upgrade import client_profiles, failed_logins
from client_telemetry.reports.upgrade import publish as publishing
from client_telemetry.reports.upgrade.build import build_report
from client_telemetry.reports.upgrade.model import UpgradeReport
from client_telemetry.tables.broker_hours import BROKER_HOURS
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.clients import CLIENTS
from client_telemetry.tables.connection_events import CONNECTION_EVENTS
from client_telemetry.tables.table import Row, Table
from client_telemetry.tables.upgrade_findings import UPGRADE_FINDINGS
from client_telemetry.tables.upgrade_reports import UPGRADE_REPORTS
from client_telemetry.tables.upgrade_verdicts import UPGRADE_VERDICTS


def publish(stage: Stage) -> Outcome:
    with collector_paused():
        report = with_artefacts(stage, _report(stage))
        reviews = f"upgrade_review/{folder_name(report.question.cluster_name)}"
        read = publishing.files_to_read(report.question)
        with published_place(stage.arguments.publish, "upgrade_impact", reviews, read) as place:
            page = place.shown(publishing.publish(report, place.root) / publishing.PAGE)
    details = {"report": page, "sentence": report.sentence, "verdicts": dict(report.counts)}
    return Outcome(f"publish: {report.sentence}\n{page}", dict(report.counts), details)


def _report(stage: Stage) -> UpgradeReport:
    args, lake, cluster = stage.arguments, stage.lake, stage.cluster
    where = {"cluster_id": cluster, "report_id": args.report_id}
    if not (reports := lake.rows(UPGRADE_REPORTS, **where)):
        raise BadArguments(f"there is no report {args.report_id!r} of cluster {cluster!r}: run impact first")
    question = reports[0]
    measured_targets.use_texts(question["measured_targets"])
    first, last = question["first_dt"], question["last_dt"]
    days = [first + dt.timedelta(days=n) for n in range((last - first).days + 1)]

    def of_the_days(table: Table[Row], columns: Sequence[str] = (), **equal: object) -> list[Row]:
        return as_read(stage, table, question["snapshots"][table.name], columns, dt=days, **equal)

    def connections_from(addresses: Sequence[str]) -> Iterable[failed_logins.Connection]:
        equal = {"cluster_id": cluster, "dt": days, "client_address": list(addresses)}
        return lake.each_row(CLIENT_CONNECTIONS, None, failed_logins.CONNECTION_COLUMNS, **equal)

    brokers = of_the_days(BROKERS)
    failed = {"cluster_id": cluster, "dt": days, "kind": "authentication_failed"}
    # The events of the days are many: not looked for if every broker reports that no login failed.
    has_failed_logins = not brokers or any(broker["failed_logins"] != 0 for broker in brokers)
    return build_report(
        question,
        lake.each_row(UPGRADE_VERDICTS, **where),
        lake.each_row(UPGRADE_FINDINGS, **where),
        of_the_days(BROKER_HOURS),
        brokers,
        latest_results(stage, days, lambda row: row["stage"] != "impact" or row["run_id"] == stage.run_id),
        profile_rows=of_the_days(CLIENTS, client_profiles.COLUMNS),
        use_rows=of_the_days(
            CLIENTS, client_profiles.USE_COLUMNS, client_software_name=list(kip511.NOT_DECLARED)
        ),
        login_rows=lake.each_row(CONNECTION_EVENTS, None, failed_logins.COLUMNS, **failed)
        if has_failed_logins
        else (),
        connections_from=connections_from,
        owner_rules=read_text_file(args.owners, "owner rules", load_owner_rules) if args.owners else (),
        hosts=read_text_file(args.hosts, "host names", host_names) if args.hosts else NO_HOSTS,
        cluster_name=args.cluster_name,
        asked_by=args.asked_by,
        planned_for=args.planned_for,
        deprecated_only=args.deprecated_only,
    )


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser("publish", __doc__)
    arguments.add_argument("--report-id", required=True, help="the report that impact wrote")
    add_options(arguments, "--publish", "--owners", "--hosts", "--workloads")
    arguments.add_argument("--asked-by", help="contact for owners' answers: team, e-mail address or channel")
    only = "the logs contain deprecated requests only (KAFKA-18272)"
    arguments.add_argument("--deprecated-only", action="store_true", help=only)
    arguments.add_argument("--planned-for", type=day, help="planned day of the upgrade")
    return run(arguments, publish, argv, has_gate=False)
