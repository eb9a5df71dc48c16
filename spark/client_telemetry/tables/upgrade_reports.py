"""Upgrade questions that were asked, one row each."""

from client_telemetry.tables import rows
from client_telemetry.tables.suite import WARNING, every, row_count_is, rows_satisfy
from client_telemetry.tables.table import (
    BOOLEAN,
    CLUSTER_ID,
    CLUSTER_NAME,
    DATE,
    LONG,
    PROCESSING_TIME,
    STRING,
    TIMESTAMP,
    ArrayType,
    Column,
    MapType,
    Table,
    required,
    struct,
)

TARGETS = ArrayType(
    struct(
        to_release=STRING,
        breaks_at_once=LONG,
        breaks_latent=LONG,
        insufficient_evidence=LONG,
        degrades=LONG,
        unsupported=LONG,
        safe=LONG,
        works_again=LONG,
    )
)
"""Clients per verdict if the brokers went to that release; `breaks` is split by its `when`. `works_again` counts clients
that are already failing and are served there, whatever their verdict."""

UPGRADE_REPORTS: "Table[rows.UpgradeReportRow]" = Table(
    name="upgrade_reports",
    comment="One row per upgrade question: the question, the evidence and the snapshots.",
    columns=(
        CLUSTER_ID,
        CLUSTER_NAME,
        required("report_id", STRING, "Id of the question; a re-run replaces its rows"),
        required("from_release", STRING, "Exact release that the evidence is from"),
        required("to_release", STRING, "Exact target release of the question"),
        required("first_dt", DATE, "First day of evidence"),
        required("last_dt", DATE, "Last day of evidence"),
        Column("evidence_from", TIMESTAMP, "First evidence that was used; null = none"),
        Column(
            "evidence_until",
            TIMESTAMP,
            "Connections opened at this time or later are not evidence, and neither are request versions that a connection "
            "first used then. A connection opened earlier counts with all its requests of the day, so counts and "
            "last_seen_at of a connection that stayed open include later requests. Null = nothing was left out",
        ),
        Column("evidence_until_reason", STRING, "Why the evidence ends there"),
        required("clients", LONG, "Clients judged"),
        required(
            "clients_by_pushes_only",
            LONG,
            "Of these, known only by their metric pushes (KIP-714): none of their connections was seen, and they are judged by "
            "the software that they declare",
        ),
        required(
            "already_failing", LONG, "Of these, already refused or unable to log in on the from-release"
        ),
        required("connections", LONG, "Connections used as evidence"),
        Column(
            "connections_elsewhere",
            LONG,
            "Connections of these days that are not evidence: another release, or opened after the end of the evidence",
        ),
        required(
            "connections_unidentified",
            LONG,
            "Connections to brokers of the from-release, opened before the end of the evidence, without principal, client id and "
            "software: rejected before authentication. They belong to no client, and no client is judged by them",
        ),
        Column(
            "connections_counted_only",
            ArrayType(
                struct(
                    "software_name",
                    "software_version",
                    software_name=STRING,
                    software_version=STRING,
                    connections=LONG,
                    is_judged=BOOLEAN,
                )
            ),
            "Connections that brokers of the from-release had open according to their KIP-511 gauges, in excess of those that were "
            "seen of the software: at the end of the hour with the most of them. `is_judged`: no client was seen with this "
            "software, and a row without principal and client id represents them. Null = no manifest has them",
        ),
        required(
            "targets",
            TARGETS,
            "The target release and nearby ones, oldest first, with the clients per verdict; clients with a "
            "different verdict there are in upgrade_verdicts.other_targets",
        ),
        required("knowledge_version", STRING, "Digest of the knowledge base"),
        Column("knowledge_built_at", TIMESTAMP, "When it was built; null = not recorded (before 0.2.0)"),
        Column(
            "measured_targets",
            ArrayType(STRING),
            "Files of the measured targets that the question names as releases (docs/probe.md), as texts; null or empty = none",
        ),
        Column("knowledge_gaps", STRING, "What it does not know of these releases, in words; null = nothing"),
        required("snapshots", MapType(STRING, LONG), "Table name to the snapshot id that was read"),
        Column(
            "is_latest",
            BOOLEAN,
            f"{PROCESSING_TIME}whether no other answer to the question (cluster, from and to) is about a later day, or was given later about "
            "the same day; null = written before answers were marked, and the question was not asked since",
        ),
        required("code_version", STRING, f"{PROCESSING_TIME}version of the code"),
        required("created_at", TIMESTAMP, f"{PROCESSING_TIME}when the question was answered"),
    ),
    key=("cluster_id", "report_id"),
    partition=("cluster_id", "report_id"),
    expectations=lambda: {
        "days_are_a_range": rows_satisfy("first_dt <= last_dt", "the first day is not after the last"),
        "evidence_is_before_the_cut": rows_satisfy(
            "evidence_from is null or evidence_until is null or evidence_from < evidence_until",
            "no evidence is from after evidence_until",
        ),
        "clients_were_seen": rows_satisfy(
            "clients > 0", "at least one client was seen on the from-release", severity=WARNING
        ),
        "parts_are_clients": rows_satisfy(
            "already_failing <= clients and clients_by_pushes_only <= clients",
            "subsets of the clients are not larger than their total",
        ),
        "asked_release_is_compared": rows_satisfy(
            "size(filter(targets, t -> t.to_release = to_release)) = 1",
            "the target release is one of those compared",
        ),
        "targets_add_up": rows_satisfy(
            every(
                "targets",
                "t",
                "t.breaks_at_once + t.breaks_latent + t.insufficient_evidence + t.degrades + t.unsupported + t.safe = clients",
            ),
            "every client has a verdict for every compared release",
        ),
        "one_row": row_count_is(1, "a report has one row"),
    },
)
