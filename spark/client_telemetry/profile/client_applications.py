"""Relates the clients of a principal to each other and groups them into applications: the rules of related_clients.py and
identity/applications.py, applied to all of them at once.
"""

from collections.abc import Callable, Sequence
from typing import cast

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from client_telemetry import knowledge
from client_telemetry.identity.application_rows import READ, Row, application_columns
from client_telemetry.profile.client_identity import OF_RELATIVES, WITH_IDENTITY, fields
from client_telemetry.profile.related_clients import ProfiledClient, related
from client_telemetry.tables.table import LONG

_ADDED = to_arrow_schema(StructType(fields(*OF_RELATIVES, softwares=LONG)))
WITH_APPLICATIONS = pa.schema([*WITH_IDENTITY, *_ADDED])
_RELATED = tuple(ProfiledClient.__annotations__)


def applications_of(cluster_name: str) -> Callable[[pa.Table], pa.Table]:
    """Adds to all clients of a principal and day: the columns of WITH_APPLICATIONS that client_identity.py does not know."""
    own = knowledge.in_use()

    def add(table: pa.Table) -> pa.Table:
        knowledge.use(own)
        softwares, relations = related(cast("list[ProfiledClient]", table.select(_RELATED).to_pylist()))
        columns: dict[str, Sequence[object]] = {
            "softwares": softwares,
            "related": relations,
            "cluster_name": [cluster_name] * len(table),
        }
        read = (table.column(name).to_pylist() if name != "related" else relations for name in READ)
        rows = (cast("Row", dict(zip(READ, row, strict=True))) for row in zip(*read, strict=True))
        columns |= application_columns(rows)
        for field in _ADDED:
            table = table.append_column(field, pa.array(columns[field.name], field.type))
        return table.select(WITH_APPLICATIONS.names).cast(WITH_APPLICATIONS)

    return add
