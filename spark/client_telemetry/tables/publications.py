"""What readers of several tables resolve through: which snapshots belong together."""

from client_telemetry.tables import rows
from client_telemetry.tables.table import (
    CLUSTER_ID,
    DATE,
    LONG,
    PROCESSING_TIME,
    STRING,
    TIMESTAMP,
    ArrayType,
    MapType,
    Table,
    required,
)

PUBLICATIONS: "Table[rows.PublicationRow]" = Table(
    name="publications",
    comment="One row per stage that published: the snapshot of each table that it updated. Written last.",
    columns=(
        CLUSTER_ID,
        required("run_id", STRING, "Run that published"),
        required("stage", STRING, "Stage that published"),
        required("days", ArrayType(DATE), "Days that were replaced"),
        required("snapshots", MapType(STRING, LONG), "Table name to snapshot id"),
        required("published_at", TIMESTAMP, f"{PROCESSING_TIME}when the stage published"),
    ),
    key=("cluster_id", "run_id", "stage", "published_at"),
    partition=("cluster_id",),
)
