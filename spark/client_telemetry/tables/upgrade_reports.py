"""Upgrade questions that were asked, one row each."""

from client_telemetry.tables.table import (
    CLUSTER_ID,
    DATE,
    LONG,
    PROCESSING_TIME,
    STRING,
    TIMESTAMP,
    Column,
    MapType,
    Table,
)

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
            "evidence_until", TIMESTAMP, "Evidence from this time on was not used; null = none was left out"
        ),
        Column("evidence_until_reason", STRING, "Why evidence was cut there"),
        Column("clients", LONG, "Clients judged", nullable=False),
        Column("connections", LONG, "Connections that are evidence", nullable=False),
        Column(
            "connections_elsewhere", LONG, "Connections of the days that are not: other release, or later"
        ),
        Column("knowledge_version", STRING, "Digest of the knowledge base", nullable=False),
        Column("snapshots", MapType(STRING, LONG), "Table to snapshot id that was read", nullable=False),
        Column("code_version", STRING, f"{PROCESSING_TIME}version of the program", nullable=False),
        Column("created_at", TIMESTAMP, f"{PROCESSING_TIME}when the question was answered", nullable=False),
    ),
    key=("cluster_id", "report_id"),
    partition=("cluster_id", "report_id"),
)
