"""impact: which clients an upgrade of the brokers breaks.

Reads one consistent set of snapshots and tags them with the report's id. Replaces the report's rows of upgrade_reports,
upgrade_verdicts and upgrade_findings.
"""

from collections.abc import Sequence

from client_telemetry.compatibility.listener_mechanisms import BadMechanisms, add_mechanisms
from client_telemetry.formats.target_file import UnusableTarget
from client_telemetry.identity.hosts import host_names
from client_telemetry.impact.answer import OF_APPLICATIONS, READ, ROWS_WITHOUT_SPARK, answer, by_worst_client
from client_telemetry.impact.latest import marked
from client_telemetry.impact.question import NoSuchQuestion
from client_telemetry.jobs.artefacts_of_lake import has_inventory
from client_telemetry.knowledge.served import dropped
from client_telemetry.knowledge.vocabulary import PRECEDENCE
from client_telemetry.pipeline.inputs import StageInputs, days_of_evidence
from client_telemetry.pipeline.options import add_options
from client_telemetry.pipeline.stage import (
    BadArguments,
    Outcome,
    Slice,
    Stage,
    parser,
    run,
)
from client_telemetry.pipeline.text_file import read_text_file
from client_telemetry.tables.artefacts import ARTEFACTS
from client_telemetry.tables.upgrade_findings import UPGRADE_FINDINGS
from client_telemetry.tables.upgrade_reports import UPGRADE_REPORTS
from client_telemetry.tables.upgrade_verdicts import UPGRADE_VERDICTS

TABLES = (UPGRADE_REPORTS, UPGRADE_VERDICTS, UPGRADE_FINDINGS)


def impact(stage: Stage) -> Outcome:
    args, lake = stage.arguments, stage.lake
    if args.hosts:
        read_text_file(args.hosts, "host names", host_names)
    days = days_of_evidence(stage.lake, stage.arguments)
    branch = stage.branch(TABLES)
    read = (*READ, ARTEFACTS) if has_inventory(stage) else READ
    inputs = StageInputs.of(stage, days, read)
    try:
        question, files, verdicts, report = answer(stage, inputs)
    except (NoSuchQuestion, UnusableTarget, BadMechanisms) as error:
        raise BadArguments(str(error)) from error
    where = {"cluster_id": stage.cluster, "report_id": args.report_id}
    branch.replace_files(UPGRADE_VERDICTS, files.verdicts, **where)
    branch.replace_files(UPGRADE_FINDINGS, files.findings, **where)
    reports = marked(lake, report)
    of_reports = where | {"report_id": [row["report_id"] for row in reports]}
    branch.replace_rows(UPGRADE_REPORTS, reports, **of_reports)
    for table in read:
        lake.keep(table, inputs.snapshots[table.name], f"report {args.report_id}")
    dropped_apis = dropped(question.from_release, question.to_release)
    facts = {"clients": report["clients"], "dropped_apis": len(dropped_apis)}
    stage.publish(branch, [Slice(table, where, facts) for table in TABLES], days)
    programs = by_worst_client(lake.rows(UPGRADE_VERDICTS, columns=OF_APPLICATIONS, **where))
    message = (
        f"impact: cluster {stage.cluster}, {question.from_release} to {question.to_release}: "
        f"{programs.total():,} applications with {report['clients']:,} clients: "
        + ", ".join(f"{programs[verdict]} {verdict}" for verdict in PRECEDENCE if programs[verdict])
    )
    counts = {"applications": programs.total(), "clients": report["clients"], **verdicts}
    return Outcome(message, counts, {"report_id": args.report_id})


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser("impact", __doc__)
    arguments.add_argument(
        "--from", dest="from_release", help="release or measured target of the brokers; default: their own"
    )
    arguments.add_argument(
        "--to",
        dest="to_release",
        required=True,
        help="exact release to upgrade to, or a measured target: a file of `client-telemetry probe`, or a name",
    )
    add_options(arguments, "--targets", "--report-id", "--day", "--window", "--scram-users", "--hosts")
    add_mechanisms(arguments)
    arguments.add_argument(
        "--without-spark-up-to",
        type=int,
        metavar="ROWS",
        default=ROWS_WITHOUT_SPARK,
        help="connections and clients that this process judges alone, without Spark; default: %(default)s",
    )
    preloaded = "client_telemetry.impact.verdict_rows"
    return run(arguments, impact, argv, workers_import=preloaded)
