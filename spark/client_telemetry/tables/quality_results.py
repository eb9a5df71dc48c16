"""Results of the quality gates. Written even when a gate fails."""

from client_telemetry.tables import rows
from client_telemetry.tables.table import (
    BOOLEAN,
    CLUSTER_ID,
    DATE,
    LONG,
    PROCESSING_TIME,
    STRING,
    TIMESTAMP,
    Column,
    Table,
)

QUALITY_RESULTS: "Table[rows.QualityResultRow]" = Table(
    name="quality_results",
    comment="One row per gate, table and expectation: what was checked and what was found.",
    columns=(
        CLUSTER_ID,
        Column("run_id", STRING, "Run that the gate belongs to", nullable=False),
        Column("stage", STRING, "Stage that wrote the table", nullable=False),
        Column(
            "dt", DATE, "Day of the partition; for upgrade questions the last day of evidence", nullable=False
        ),
        Column("table_name", STRING, "Table that was checked", nullable=False),
        Column("expectation", STRING, "Name of the expectation in the table's suite", nullable=False),
        Column("severity", STRING, "critical blocks publishing, warning does not", nullable=False),
        Column("success", BOOLEAN, "Whether the check passed", nullable=False),
        Column("observed_value", STRING, "The value that was found", nullable=False),
        Column("rows", LONG, "Rows of the partition", nullable=False),
        Column(
            "unexpected_count", LONG, "Rows that violate it; null = the expectation is not about single rows"
        ),
        Column("description", STRING, "The expectation in words", nullable=False),
        Column(
            "result",
            STRING,
            "Validation result of Great Expectations as JSON; if rows violate the expectation, with up to 5 of them, first "
            "by key: key columns and those that the expectation reads. Null before 0.2.0",
        ),
        Column("evaluated_at", TIMESTAMP, f"{PROCESSING_TIME}when the gate ran", nullable=False),
    ),
    key=("cluster_id", "run_id", "stage", "dt", "table_name", "expectation", "evaluated_at"),
    partition=("cluster_id", "dt"),
)
