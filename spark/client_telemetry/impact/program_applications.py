"""Which applications the programs behind shared client ids are parts of: identity/applications.py, once more for the principals
that have some."""

from collections.abc import Callable

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import LongType, StringType, StructField, StructType

from client_telemetry.compatibility import knowledge
from client_telemetry.identity.application_rows import PROGRAM, READ, application_columns
from client_telemetry.impact.client_evidence import keyed_by_client
from client_telemetry.tables.clients import APPLICATION, CLIENT_KEY


def applications_of_programs(known: DataFrame, profiled: DataFrame) -> DataFrame:
    """`client_hash`, `program` and the columns of APPLICATION, one row for each client and program of the principals one of
    whose client ids is several programs. A program is put beside clients by its own connections:
    `kafka-python-producer-1 (Produce v3)` to the `kafka-python-1.4.5` that was there at the same time. `known`: rows of `evidence`
    with `activity`."""
    counted = known.where("activity is not null")
    principals = counted.where(F.col("program") != "").select("principal").distinct()
    seen = keyed_by_client(
        counted.join(
            F.broadcast(principals.withColumnRenamed("principal", "of")),
            F.col("principal").eqNullSafe(F.col("of")),
            "left_semi",
        ).select(
            *CLIENT_KEY,
            "program",
            "first_seen_at",
            F.col("activity.last_request_at").alias("last_seen_at"),
            *(f"activity.{name}" for name in _OF_THE_ACTIVITY),
        )
    )
    latest = (
        keyed_by_client(profiled)
        .groupBy("client_hash", "client")
        .agg(F.max_by(F.struct("owner", "related"), "dt").alias("profile"))
    )
    rows = seen.join(latest, ["client_hash", "client"], "left").select(
        "client_hash", *CLIENT_KEY, "profile.owner", "profile.related", *seen.columns[len(CLIENT_KEY) : -2]
    )
    return rows.groupBy("principal").applyInArrow(_together(), _PROGRAM_APPLICATION).localCheckpoint()


_OF_THE_ACTIVITY = ("client_addresses", "group_ids", "answered", "broker_software_versions")
_PROGRAM_APPLICATION = StructType(
    [
        StructField("client_hash", LongType()),
        StructField("program", StringType()),
        *(StructField(column.name, column.kind) for column in APPLICATION),
    ]
)


def _together() -> Callable[[pa.Table], pa.Table]:
    own, schema = knowledge.in_use(), to_arrow_schema(_PROGRAM_APPLICATION)

    def together(table: pa.Table) -> pa.Table:
        knowledge.use(own)
        columns = application_columns(table.select([*READ, PROGRAM]).to_pylist())
        for name in schema.names[:2]:
            columns[name] = table.column(name).to_pylist()
        return pa.table([pa.array(columns[field.name], field.type) for field in schema], schema=schema)

    return together
