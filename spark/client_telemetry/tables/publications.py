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
    Column,
    MapType,
    Table,
)

PUBLICATIONS: "Table[rows.PublicationRow]" = Table(
    name="publications",
    comment="One row per stage that published: the snapshot of each table that it updated. Written last.",
    columns=(
        CLUSTER_ID,
        Column("run_id", STRING, "Run that published", nullable=False),
        Column("stage", STRING, "Stage that published", nullable=False),
        Column("days", ArrayType(DATE), "Days that were replaced", nullable=False),
        Column("snapshots", MapType(STRING, LONG), "Table name to snapshot id", nullable=False),
        Column("published_at", TIMESTAMP, f"{PROCESSING_TIME}when the stage published", nullable=False),
    ),
    key=("cluster_id", "run_id", "stage", "published_at"),
    partition=("cluster_id",),
)
