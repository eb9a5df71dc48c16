"""Groups clients into applications: the rules of identity/applications.py, applied to all clients of a principal at
once.
"""

from collections.abc import Callable
from typing import cast

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import ArrayType, StringType, StructField, StructType

from client_telemetry import knowledge
from client_telemetry.identity.application_rows import READ, Row, application_columns

ADDED = StructType(
    [
        *(StructField(name, StringType()) for name in ("application", "application_kind", "product")),
        StructField("application_notes", ArrayType(StringType())),
    ]
)


def with_applications(clients: DataFrame) -> DataFrame:
    """`clients` with the columns of ADDED. Needs the columns that identity/application_rows.py reads."""
    schema = StructType([*clients.schema.fields, *ADDED.fields])
    return clients.groupBy("cluster_id", "principal").applyInArrow(_adder(), schema)


def _adder() -> Callable[[pa.Table], pa.Table]:
    added, own = to_arrow_schema(ADDED), knowledge.in_use()

    def add(table: pa.Table) -> pa.Table:
        knowledge.use(own)
        read = zip(*(table.column(name).to_pylist() for name in READ), strict=True)
        columns = application_columns(cast("Row", dict(zip(READ, row, strict=True))) for row in read)
        for column in added:
            table = table.append_column(column, pa.array(columns[column.name], column.type))
        return table

    return add
