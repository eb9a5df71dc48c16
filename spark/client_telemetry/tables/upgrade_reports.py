"""Upgrade questions that were asked, one row each."""

from client_telemetry.tables.table import (
    BOOLEAN,
    CLUSTER_ID,
    DATE,
    LONG,
    PROCESSING_TIME,
    STRING,
    TIMESTAMP,
    ArrayType,
    Column,
    MapType,
    Table,
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

UPGRADE_REPORTS = Table(
    name="upgrade_reports",
    comment="One row per upgrade question: what was asked, on which evidence, and from which snapshots.",
    columns=(
        CLUSTER_ID,
        Column("report_id", STRING, "Of the question; a re-run replaces its rows", nullable=False),
        Column("from_release", STRING, "Exact release that the evidence is from", nullable=False),
        Column("to_release", STRING, "Exact release that was asked about", nullable=False),
        Column("first_dt", DATE, "First day of evidence", nullable=False),
        Column("last_dt", DATE, "Last day of evidence", nullable=False),
        Column("evidence_from", TIMESTAMP, "First evidence that was used; null = none"),
        Column(
            "evidence_until",
            TIMESTAMP,
            "Connections opened at this time or later are no evidence, nor are request versions that a connection "
            "used first then. A connection opened before it counts with all that it did in the day, so counts and "
            "last_seen_at of one that outlived the cut include later requests. Null = nothing was left out",
        ),
        Column("evidence_until_reason", STRING, "Why evidence was cut there"),
        Column("clients", LONG, "Clients judged", nullable=False),
        Column(
            "clients_by_pushes_only",
            LONG,
            "Of these, known by their metric pushes (KIP-714) alone: no connection of theirs was seen, and they are judged by "
            "the software that they declare",
            nullable=False,
        ),
        Column(
            "already_failing",
            LONG,
            "Of these, refused or not able to log in on the from-release already",
            nullable=False,
        ),
        Column("connections", LONG, "Connections that are evidence", nullable=False),
        Column(
            "connections_elsewhere",
            LONG,
            "Connections of the days that are not: other release, or opened after the cut",
        ),
        Column(
            "connections_unidentified",
            LONG,
            "Connections to brokers of the from-release, opened before the cut, without principal, client id and "
            "software: refused before it was known whose they are. No client explains them and none is judged by them",
            nullable=False,
        ),
        Column(
            "connections_counted_only",
            ArrayType(
                struct(software_name=STRING, software_version=STRING, connections=LONG, is_judged=BOOLEAN)
            ),
            "Connections that brokers of the from-release had open by their KIP-511 gauges, beyond all that were seen of "
            "the software: at the end of the hour with most of them. `is_judged`: no client was seen with it, and a row "
            "without principal and client id stands for them. Null = no manifest tells",
        ),
        Column(
            "targets",
            TARGETS,
            "The release that was asked about and nearby ones, oldest first, with the clients per verdict; whose "
            "verdict differs is in upgrade_verdicts.other_targets",
            nullable=False,
        ),
        Column("knowledge_version", STRING, "Digest of the knowledge base", nullable=False),
        Column("snapshots", MapType(STRING, LONG), "Table to snapshot id that was read", nullable=False),
        Column("code_version", STRING, f"{PROCESSING_TIME}version of the program", nullable=False),
        Column("created_at", TIMESTAMP, f"{PROCESSING_TIME}when the question was answered", nullable=False),
    ),
    key=("cluster_id", "report_id"),
    partition=("cluster_id", "report_id"),
)
