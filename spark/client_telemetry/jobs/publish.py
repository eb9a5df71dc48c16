"""publish: an answered upgrade question as HTML, JSON, CSV and Markdown.

Reads what `impact` wrote, and coverage and profiles from the snapshots named there, or from today's tables if these are
gone. Needs no Spark session.
"""

import datetime as dt
from collections.abc import Iterable, Sequence
from typing import Any

from client_telemetry.console.arguments import day
from client_telemetry.formats.raw.garbage_collection import collector_paused
from client_telemetry.identity.hosts import NO_HOSTS, host_names
from client_telemetry.identity.owners import load_owner_rules
from client_telemetry.knowledge import kip511
from client_telemetry.lake.commits import SnapshotGone
from client_telemetry.pipeline.place import published_place
from client_telemetry.pipeline.stage import BadArguments, Outcome, Stage, parser, run
from client_telemetry.pipeline.text_file import read_text_file
from client_telemetry.reports.names import folder_name
from client_telemetry.reports.upgrade import client_profiles, failed_logins
from client_telemetry.reports.upgrade.build import build_report
from client_telemetry.reports.upgrade.publish import publish as write_report
from client_telemetry.tables.broker_hours import BROKER_HOURS
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.clients import CLIENTS
from client_telemetry.tables.connection_events import CONNECTION_EVENTS
from client_telemetry.tables.quality_results import QUALITY_RESULTS
from client_telemetry.tables.rows import (
    BrokerRow,
    ClientConnectionRow,
    ConnectionEventRow,
    QualityResultRow,
    UpgradeReportRow,
)
from client_telemetry.tables.table import Row, Table
from client_telemetry.tables.upgrade_findings import UPGRADE_FINDINGS
from client_telemetry.tables.upgrade_reports import UPGRADE_REPORTS
from client_telemetry.tables.upgrade_verdicts import UPGRADE_VERDICTS


def publish(stage: Stage) -> Outcome:
    args, lake = stage.arguments, stage.lake
    where = {"cluster_id": stage.cluster, "report_id": args.report_id}
    reports = lake.rows(UPGRADE_REPORTS, **where)
    if not reports:
        raise BadArguments(
            f"there is no report {args.report_id!r} of cluster {stage.cluster!r}: run impact first"
        )
    question = reports[0]

    days = _days(question)
    owner_rules = read_text_file(args.owners, "owner rules", load_owner_rules) if args.owners else ()
    hosts = read_text_file(args.hosts, "host names", host_names) if args.hosts else NO_HOSTS

    def of_the_days(table: Table[Row], columns: Sequence[str] = (), **equal: object) -> list[Row]:
        return as_read(stage, table, question["snapshots"][table.name], columns, dt=days, **equal)

    def connections_from(addresses: Sequence[str]) -> Iterable[ClientConnectionRow]:
        return lake.each_row(
            CLIENT_CONNECTIONS,
            None,
            failed_logins.CONNECTION_COLUMNS,
            cluster_id=stage.cluster,
            dt=days,
            client_address=list(addresses),
        )

    with collector_paused():
        brokers = of_the_days(BROKERS)
        report = build_report(
            question,
            lake.each_row(UPGRADE_VERDICTS, **where),
            lake.each_row(UPGRADE_FINDINGS, **where),
            of_the_days(BROKER_HOURS),
            brokers,
            _latest_results(stage, question),
            profile_rows=of_the_days(CLIENTS, client_profiles.COLUMNS),
            use_rows=of_the_days(
                CLIENTS, client_profiles.USE_COLUMNS, client_software_name=list(kip511.NOT_DECLARED)
            ),
            login_rows=_failed_logins(stage, brokers, days),
            connections_from=connections_from,
            owner_rules=owner_rules,
            hosts=hosts,
            cluster_name=args.cluster_name,
            asked_by=args.asked_by,
            planned_for=args.planned_for,
            deprecated_only=args.deprecated_only,
        )
    reviews = f"upgrade_review/{folder_name(report.question.cluster_name)}"
    with collector_paused(), published_place(args.publish, "upgrade_impact", reviews) as place:
        page = place.shown(write_report(report, place.root) / "index.html")
    counts = dict(report.counts)
    details: dict[str, object] = {"report": page, "sentence": report.sentence, "verdicts": counts}
    return Outcome(f"publish: {report.sentence}\n{page}", counts, details)


def _failed_logins(
    stage: Stage, brokers: Sequence[BrokerRow], days: Sequence[dt.date]
) -> Iterable[ConnectionEventRow]:
    """Not looked for if every broker reports that there were none: the events of the days are many."""
    if brokers and all(broker["failed_logins"] == 0 for broker in brokers):
        return ()
    return stage.lake.each_row(
        CONNECTION_EVENTS,
        None,
        failed_logins.COLUMNS,
        cluster_id=stage.cluster,
        dt=days,
        kind="authentication_failed",
    )


def as_read(
    stage: Stage, table: Table[Row], snapshot: int, columns: Sequence[str] = (), **equal: object
) -> list[Row]:
    """The cluster's rows that `impact` read; if they are no longer kept, those in the table today, with a warning."""
    where = {"cluster_id": stage.cluster, **equal}
    try:
        return stage.lake.rows(table, snapshot, columns, **where)
    except SnapshotGone:
        warning = (
            f"{table.name}: the rows that the report was made from are no longer kept, because of an erasure or the "
            "retention; the page shows today's rows of the same days"
        )
        if warning not in stage.warnings:
            stage.warnings.append(warning)
        return stage.lake.rows(table, None, columns, **where)


def _days(question: UpgradeReportRow) -> list[dt.date]:
    """The days of evidence."""
    first, last = question["first_dt"], question["last_dt"]
    return [first + dt.timedelta(days=n) for n in range((last - first).days + 1)]


def _latest_results(stage: Stage, question: UpgradeReportRow) -> list[QualityResultRow]:
    """The gates' last results for each partition that the report is based on."""
    latest: dict[tuple[Any, ...], QualityResultRow] = {}
    rows = stage.lake.rows(QUALITY_RESULTS, cluster_id=stage.cluster, dt=_days(question))
    for row in sorted(rows, key=lambda r: r["evaluated_at"]):
        if row["stage"] != "impact" or row["run_id"] == stage.run_id:
            latest[row["dt"], row["table_name"], row["expectation"]] = row
    return list(latest.values())


def main(argv: list[str] | None = None) -> int:
    arguments = parser("publish", __doc__)
    arguments.add_argument("--report-id", required=True, help="the report that impact wrote")
    arguments.add_argument(
        "--publish", required=True, help="folder or file:// URL in which upgrade_impact/... is written"
    )
    arguments.add_argument("--cluster-name", help="display name of the cluster")
    arguments.add_argument(
        "--owners", help="file of owner rules, for addresses of which only failed logins are known"
    )
    arguments.add_argument("--hosts", help="file of addresses and host names, in the form of /etc/hosts")
    arguments.add_argument(
        "--asked-by", help="contact for owners' answers: a team, e-mail address or channel"
    )
    arguments.add_argument(
        "--deprecated-only",
        action="store_true",
        help="the logs contain deprecated requests only (KAFKA-18272)",
    )
    arguments.add_argument("--planned-for", type=day, help="planned day of the upgrade")
    return run(arguments, publish, argv, starts_spark="never")
