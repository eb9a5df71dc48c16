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
    required,
)

QUALITY_RESULTS: "Table[rows.QualityResultRow]" = Table(
    name="quality_results",
    comment="One row per gate, table and expectation: what was checked and what was found.",
    columns=(
        CLUSTER_ID,
        required("run_id", STRING, "Run that the gate belongs to"),
        required("stage", STRING, "Stage that wrote the table"),
        required("dt", DATE, "Day of the partition; for upgrade questions the last day of evidence"),
        required("table_name", STRING, "Table that was checked"),
        required("expectation", STRING, "Name of the expectation in the table's suite"),
        required("severity", STRING, "critical blocks publishing, warning does not"),
        required("success", BOOLEAN, "Whether the check passed"),
        required("observed_value", STRING, "The value that was found"),
        required("rows", LONG, "Rows of the partition"),
        Column(
            "unexpected_count", LONG, "Rows that violate it; null = the expectation is not about single rows"
        ),
        required("description", STRING, "The expectation in words"),
        Column(
            "result",
            STRING,
            "Validation result of Great Expectations as JSON; if rows violate the expectation, with up to 5 of them, first "
            "by key: key columns and those that the expectation reads. Null before 0.2.0",
        ),
        required("evaluated_at", TIMESTAMP, f"{PROCESSING_TIME}when the gate ran"),
    ),
    key=("cluster_id", "run_id", "stage", "dt", "table_name", "expectation", "evaluated_at"),
    partition=("cluster_id", "dt"),
)
