"""The answer to an upgrade question: files of verdicts and findings, written where the question's tables are, and the row of
upgrade_reports. With few clients in this process, otherwise in Spark's workers.
"""

import datetime as dt
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, NamedTuple

from client_telemetry import knowledge
from client_telemetry.compatibility.listener_mechanisms import check_listeners, listener_mechanisms
from client_telemetry.identity.scram_users import scram_principals
from client_telemetry.impact.client_evidence import Evidence, time_of
from client_telemetry.impact.counted_connections import CountedOnly, counted_only, evidence_of
from client_telemetry.impact.known_clients import (
    FEWEST_PARTS,
    ROWS_OF_A_PART,
    Summary,
    applications_of_programs,
    known_clients,
    parts_of,
    summary,
)
from client_telemetry.impact.question import (
    ListenerLogin,
    Question,
    contradicting,
    offered_mechanisms,
    question,
    reported_scram_users,
)
from client_telemetry.impact.totals import Totals, totals
from client_telemetry.impact.verdict_files import Report
from client_telemetry.impact.verdict_files import Written as VerdictFiles
from client_telemetry.impact.verdict_rows import compared_targets, verdict_counts, write_verdicts
from client_telemetry.impact.what_decides import Mechanisms
from client_telemetry.knowledge import measured_targets, releases
from client_telemetry.knowledge.vocabulary import PRECEDENCE
from client_telemetry.pipeline.inputs import StageInputs
from client_telemetry.pipeline.stage import Stage
from client_telemetry.pipeline.target_folder import named
from client_telemetry.pipeline.text_file import read_text_file
from client_telemetry.tables.broker_hours import BROKER_HOURS
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.clients import CLIENTS
from client_telemetry.tables.rows import BrokerRow
from client_telemetry.tables.upgrade_findings import UPGRADE_FINDINGS
from client_telemetry.tables.upgrade_verdicts import UPGRADE_VERDICTS

READ = (BROKERS, BROKER_HOURS, CLIENT_CONNECTIONS, CLIENTS)
ROWS_WITHOUT_SPARK = 100_000
"""Default number of connections and clients that this process judges alone: sooner than Spark, which takes 10 CPU seconds for
its start."""
_COUNTED_ONLY = ("software_name", "software_version", "connections", "is_judged")


class Answer(NamedTuple):
    question: Question
    files: VerdictFiles
    verdicts: Mapping[str, int]
    """Clients per verdict on the target."""
    report: Mapping[str, Any]
    """Row of upgrade_reports."""


def answer(stage: Stage, inputs: StageInputs) -> Answer:
    """Raises NoSuchQuestion, UnusableTarget, BadMechanisms, and BadArguments for the file of SCRAM users."""
    args, brokers = stage.arguments, inputs.rows(BROKERS)
    source = named(args.from_release, args.targets) if args.from_release else None
    asked = question(stage.cluster, source, named(args.to_release, args.targets), inputs.days, brokers)
    connections, profiled = inputs.files(CLIENT_CONNECTIONS), inputs.files(CLIENTS)
    size = sum(file.rows for file in (*connections, *profiled))
    spark, parts = None, 1
    if size > args.without_spark_up_to:
        spark, parts = stage.spark, max(FEWEST_PARTS, size // ROWS_OF_A_PART)
    of_all = totals(spark, asked, connections, profiled, parts)
    counted = counted_only(inputs.rows(BROKER_HOURS), brokers, of_all, asked)
    clients = known_clients(
        spark,
        Evidence(asked, time_of(of_all.first_micros, of_all.last_micros, asked), of_all.shared),
        connections,
        profiled,
        evidence_of(counted or ()),
        _mechanisms(stage, brokers, of_all.logins),
        parts,
    ).kept()
    of_clients = summary(clients)
    of_programs = (
        applications_of_programs(clients, of_clients.principals, parts) if of_clients.principals else None
    )
    files = write_verdicts(parts_of(clients, of_programs, parts), _written_report(stage, asked, of_clients))
    clients.release()
    targets = compared_targets(files, asked)
    verdicts = verdict_counts(targets, asked.to_release)
    report = {
        "cluster_id": stage.cluster,
        "cluster_name": stage.cluster_name,
        "report_id": args.report_id,
        "first_dt": min(inputs.days),
        "last_dt": max(inputs.days),
        "evidence_from": of_clients.span.first,
        "clients": sum(verdicts.values()),
        "already_failing": files.already_failing,
        "targets": targets,
        "snapshots": inputs.snapshots,
        **_of_question(asked),
        **_of_connections(of_all, counted),
    }
    return Answer(asked, files, verdicts, report)


def _mechanisms(stage: Stage, brokers: Sequence[BrokerRow], logins: Collection[ListenerLogin]) -> Mechanisms:
    location = stage.arguments.scram_users
    users = (
        read_text_file(location, "SCRAM users", scram_principals)
        if location
        else reported_scram_users(brokers)
    )
    return Mechanisms(offered_mechanisms(brokers, _stated_mechanisms(stage, logins), logins), users)


def _stated_mechanisms(stage: Stage, logins: Collection[ListenerLogin]) -> dict[str, tuple[str, ...]]:
    """What --mechanisms says, with a warning where a login contradicts it. Raises BadMechanisms."""
    if not stage.arguments.mechanisms:
        return {}
    stated = listener_mechanisms(stage.arguments.mechanisms)
    check_listeners(stated, [listener or "" for listener, _ in logins])
    for name, mechanisms in stated.items():
        if others := contradicting(mechanisms, name, logins):
            stage.warnings.append(
                f"listener {name} was stated to offer {', '.join(mechanisms)}, but clients log in with {' or '.join(others)} there: "
                "these count as offered, too"
            )
    return stated


def _written_report(stage: Stage, asked: Question, of_clients: Summary) -> Report:
    places = stage.lake.place(UPGRADE_VERDICTS), stage.lake.place(UPGRADE_FINDINGS)
    return Report(asked, stage.arguments.report_id, of_clients.span.cells, places)


def _of_question(asked: Question) -> dict[str, object]:
    return {
        "from_release": asked.from_release,
        "to_release": asked.to_release,
        "evidence_until": asked.until,
        "evidence_until_reason": asked.until_reason,
        "knowledge_version": knowledge.version(),
        "knowledge_built_at": knowledge.built_at(),
        "measured_targets": measured_targets.texts(asked.from_release, asked.to_release),
        "knowledge_gaps": releases.what_is_not_known(asked.from_release, asked.to_release) or None,
        "code_version": version("client-telemetry"),
        "created_at": dt.datetime.now(dt.UTC),
    }


def _of_connections(of_all: Totals, counted: Sequence[CountedOnly] | None) -> dict[str, object]:
    return {
        "clients_by_pushes_only": of_all.only_pushed.total(),
        "connections": of_all.connections,
        "connections_elsewhere": of_all.elsewhere,
        "connections_unidentified": of_all.unidentified,
        "connections_counted_only": None
        if counted is None
        else [{name: getattr(software, name) for name in _COUNTED_ONLY} for software in counted],
    }


OF_APPLICATIONS = ("principal", "owner", "application", "verdict")
"""Columns of upgrade_verdicts."""


def by_worst_client(verdicts: Iterable[Mapping[str, object]]) -> Counter[str]:
    """Number of applications by the verdict of their worst client."""
    worst: dict[tuple[object, ...], int] = {}
    for row in verdicts:
        key = row["principal"], row["owner"], row["application"]
        worst[key] = min(PRECEDENCE.index(row["verdict"]), worst.get(key, len(PRECEDENCE)))
    return Counter(PRECEDENCE[place] for place in worst.values())
