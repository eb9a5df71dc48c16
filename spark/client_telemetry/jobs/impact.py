"""impact: which clients an upgrade of the brokers breaks.

Reads one consistent set of snapshots and tags them with the report's id. Replaces the report's rows of upgrade_reports,
upgrade_verdicts and upgrade_findings.
"""

import datetime as dt
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from importlib.metadata import version
from typing import Any

from client_telemetry import knowledge
from client_telemetry.compatibility.listener_mechanisms import (
    BadMechanisms,
    add_mechanisms,
    check_listeners,
    listener_mechanisms,
)
from client_telemetry.compatibility.target_argument import named
from client_telemetry.console.arguments import day
from client_telemetry.formats.target_file import UnusableTarget
from client_telemetry.identity.hosts import host_names
from client_telemetry.identity.scram_users import scram_principals
from client_telemetry.impact.client_evidence import Evidence, time_of
from client_telemetry.impact.counted_connections import counted_only, evidence_of
from client_telemetry.impact.known_clients import (
    FEWEST_PARTS,
    ROWS_OF_A_PART,
    applications_of_programs,
    known_clients,
    parts_of,
    summary,
)
from client_telemetry.impact.question import (
    ListenerLogin,
    NoSuchQuestion,
    contradicting,
    offered_mechanisms,
    question,
    reported_scram_users,
)
from client_telemetry.impact.totals import totals
from client_telemetry.impact.verdict_files import Report
from client_telemetry.impact.verdict_rows import (
    compared_targets,
    verdict_counts,
    write_verdicts,
)
from client_telemetry.impact.what_decides import Mechanisms
from client_telemetry.knowledge import releases
from client_telemetry.knowledge.served import dropped
from client_telemetry.knowledge.vocabulary import PRECEDENCE
from client_telemetry.pipeline.stage import (
    BadArguments,
    Outcome,
    Slice,
    Stage,
    days_of_evidence,
    parser,
    run,
    use_own_knowledge,
)
from client_telemetry.pipeline.text_file import read_text_file
from client_telemetry.tables import upgrade_findings as upgrade_findings_suite
from client_telemetry.tables import upgrade_reports as upgrade_reports_suite
from client_telemetry.tables import upgrade_verdicts as upgrade_verdicts_suite
from client_telemetry.tables.broker_hours import BROKER_HOURS
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.clients import CLIENTS
from client_telemetry.tables.upgrade_findings import UPGRADE_FINDINGS
from client_telemetry.tables.upgrade_reports import UPGRADE_REPORTS
from client_telemetry.tables.upgrade_verdicts import UPGRADE_VERDICTS

READ = (BROKERS, BROKER_HOURS, CLIENT_CONNECTIONS, CLIENTS)
WRITTEN = (UPGRADE_REPORTS, UPGRADE_VERDICTS, UPGRADE_FINDINGS)
ROWS_WITHOUT_SPARK = 100_000
"""Default number of connections and clients that this process judges alone: sooner than Spark, which takes 10 CPU seconds for
its start."""
COUNTED_ONLY = ("software_name", "software_version", "connections", "is_judged")
SUITES = (upgrade_reports_suite.SUITE, upgrade_verdicts_suite.SUITE, upgrade_findings_suite.SUITE)


def impact(stage: Stage) -> Outcome:
    use_own_knowledge(stage.arguments.knowledge)
    args, lake, cluster = stage.arguments, stage.lake, stage.cluster
    if args.hosts:
        read_text_file(args.hosts, "host names", host_names)
    days = days_of_evidence(stage)
    branch = stage.branch(WRITTEN)
    published = lake.published(cluster)
    snapshots = {table.name: published[table.name] for table in READ}
    brokers = [
        row for d in days for row in lake.rows(BROKERS, snapshots[BROKERS.name], cluster_id=cluster, dt=d)
    ]
    try:
        target = named(args.to_release)
        upgrade_question = question(cluster, args.from_release, target, days, brokers)
    except (NoSuchQuestion, UnusableTarget) as error:
        raise BadArguments(str(error)) from error

    connections, profiled = (
        lake.files(table, snapshots[table.name], cluster_id=cluster, dt=days)
        for table in (CLIENT_CONNECTIONS, CLIENTS)
    )
    size = sum(file.rows for file in (*connections, *profiled))
    spark, parts = None, 1
    if size > args.without_spark_up_to:
        spark, parts = stage.spark, max(FEWEST_PARTS, size // ROWS_OF_A_PART)
    hours = [
        row
        for d in days
        for row in lake.rows(BROKER_HOURS, snapshots[BROKER_HOURS.name], cluster_id=cluster, dt=d)
    ]
    of_all = totals(spark, upgrade_question, connections, profiled, parts)
    counted_more = counted_only(hours, brokers, of_all, upgrade_question)
    scram_users = (
        read_text_file(args.scram_users, "SCRAM users", scram_principals)
        if args.scram_users
        else reported_scram_users(brokers)
    )
    stated = _stated_mechanisms(stage, of_all.logins)
    where = {"cluster_id": cluster, "report_id": args.report_id}
    time = time_of(of_all.first_micros, of_all.last_micros, upgrade_question)
    clients = known_clients(
        spark,
        Evidence(upgrade_question, time, of_all.shared),
        connections,
        profiled,
        evidence_of(counted_more or ()),
        Mechanisms(offered_mechanisms(brokers, stated, of_all.logins), scram_users),
        parts,
    ).kept()
    client_totals = summary(clients)
    of_programs = (
        applications_of_programs(clients, client_totals.principals, parts)
        if client_totals.principals
        else None
    )
    places = (lake.place(UPGRADE_VERDICTS), lake.place(UPGRADE_FINDINGS))
    result = write_verdicts(
        parts_of(clients, of_programs, parts),
        Report(
            cluster,
            args.report_id,
            upgrade_question.from_release,
            upgrade_question.to_release,
            client_totals.span.cells,
            places,
            upgrade_question.source_features,
        ),
    )
    clients.release()
    branch.replace_files(UPGRADE_VERDICTS, result.verdicts, **where)
    branch.replace_files(UPGRADE_FINDINGS, result.findings, **where)
    targets = compared_targets(result, upgrade_question)
    verdicts = verdict_counts(targets, upgrade_question.to_release)
    report = {
        "cluster_id": cluster,
        "report_id": args.report_id,
        "from_release": upgrade_question.from_release,
        "to_release": upgrade_question.to_release,
        "first_dt": min(days),
        "last_dt": max(days),
        "evidence_from": client_totals.span.first,
        "evidence_until": upgrade_question.until,
        "evidence_until_reason": upgrade_question.until_reason,
        "clients": sum(verdicts.values()),
        "clients_by_pushes_only": of_all.only_pushed.total(),
        "already_failing": result.already_failing,
        "connections": of_all.connections,
        "connections_elsewhere": of_all.elsewhere,
        "connections_unidentified": of_all.unidentified,
        "connections_counted_only": None
        if counted_more is None
        else [{name: getattr(counted, name) for name in COUNTED_ONLY} for counted in counted_more],
        "targets": targets,
        "knowledge_version": knowledge.version(),
        "knowledge_built_at": knowledge.built_at(),
        "knowledge_gaps": releases.what_is_not_known(
            upgrade_question.from_release, upgrade_question.to_release
        )
        or None,
        "snapshots": snapshots,
        "code_version": version("client-telemetry"),
        "created_at": dt.datetime.now(dt.UTC),
    }
    branch.replace_rows(UPGRADE_REPORTS, [report], **where)
    facts = {
        "clients": report["clients"],
        "dropped_apis": len(dropped(upgrade_question.from_release, upgrade_question.to_release)),
    }
    for table in READ:
        lake.keep(table, snapshots[table.name], f"report {args.report_id}")
    stage.publish(branch, [Slice(suite, where, facts) for suite in SUITES], days)

    programs = _applications(lake.rows(UPGRADE_VERDICTS, columns=_OF_APPLICATIONS, **where))
    message = (
        f"impact: cluster {cluster}, {upgrade_question.from_release} to {upgrade_question.to_release}: {programs.total():,} applications with "
        f"{report['clients']:,} clients: "
        + ", ".join(f"{programs[v]} {v}" for v in PRECEDENCE if programs[v])
    )
    counts = {"applications": programs.total(), "clients": report["clients"], **verdicts}
    return Outcome(message, counts, {"report_id": args.report_id})


def _stated_mechanisms(stage: Stage, logins: Collection[ListenerLogin]) -> dict[str, tuple[str, ...]]:
    """What --mechanisms says, with a warning where a login contradicts it. Raises BadArguments."""
    if not stage.arguments.mechanisms:
        return {}
    try:
        stated = listener_mechanisms(stage.arguments.mechanisms)
        check_listeners(stated, [listener or "" for listener, _ in logins])
    except BadMechanisms as error:
        raise BadArguments(str(error)) from error
    for name, mechanisms in stated.items():
        if others := contradicting(mechanisms, name, logins):
            stage.warnings.append(
                f"listener {name} was stated to offer {', '.join(mechanisms)}, but clients log in with {' or '.join(others)} there: "
                "these count as offered, too"
            )
    return stated


_OF_APPLICATIONS = ("principal", "owner", "application", "verdict")


def _applications(verdicts: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """Number of applications by the verdict of their worst client."""
    worst: dict[tuple[object, ...], int] = {}
    for row in verdicts:
        key = row["principal"], row["owner"], row["application"]
        worst[key] = min(PRECEDENCE.index(row["verdict"]), worst.get(key, len(PRECEDENCE)))
    return Counter(PRECEDENCE[place] for place in worst.values())


def main(argv: list[str] | None = None) -> int:
    arguments = parser("impact", __doc__)
    arguments.add_argument(
        "--report-id", required=True, help="id of the report; an existing report with this id is replaced"
    )
    arguments.add_argument(
        "--from", dest="from_release", help="release of the brokers; default: what they report"
    )
    arguments.add_argument(
        "--to",
        dest="to_release",
        required=True,
        help="exact release to upgrade to, or a file of `client-telemetry probe`",
    )
    arguments.add_argument(
        "--day", type=day, help="last day of evidence, UTC; default: the last processed one"
    )
    arguments.add_argument("--window", type=int, default=7, help="days of evidence")
    arguments.add_argument(
        "--scram-users",
        help="file or URL with the output of kafka-configs --describe --entity-type users, the users with SCRAM credentials; "
        "default: what the brokers report",
    )
    add_mechanisms(arguments)
    arguments.add_argument(
        "--hosts",
        help="file of addresses and host names that publish will take: a mistake in it ends the question here, before its work",
    )
    arguments.add_argument(
        "--without-spark-up-to",
        type=int,
        metavar="ROWS",
        default=ROWS_WITHOUT_SPARK,
        help="connections and clients that this process judges alone, without Spark; default: %(default)s",
    )
    arguments.add_argument(
        "--knowledge", help="folder with your own knowledge; default: only the built-in knowledge base"
    )
    return run(
        arguments,
        impact,
        argv,
        starts_spark="if needed",
        workers_import="client_telemetry.impact.verdict_rows",
    )
