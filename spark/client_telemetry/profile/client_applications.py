"""Puts clients together to applications: the rules of identity/applications.py, for all clients of a principal at once."""

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import ArrayType, StringType, StructField, StructType

from client_telemetry.compatibility import knowledge
from client_telemetry.identity.applications import Client, applications

ADDED = StructType(
    [
        *(StructField(name, StringType()) for name in ("application", "application_kind", "product")),
        StructField("application_notes", ArrayType(StringType())),
    ]
)
_READ = (
    "principal",
    "client_id",
    "client_software_name",
    "client_software_version",
    "owner",
    "first_seen_at",
    "last_seen_at",
    "client_addresses",
    "group_ids",
    "answered",
    "related",
    "broker_software_versions",
)
_ADDRESSES = 64
"""Addresses of a client that are compared with those of others."""


def with_applications(clients: DataFrame) -> DataFrame:
    """`clients` with the columns of ADDED. Needs the columns of _READ: those of `clients`, `client_addresses`, and
    `answered`, structs of api_key and version."""
    schema = StructType([*clients.schema.fields, *ADDED.fields])
    return clients.groupBy("cluster_id", "principal").applyInArrow(_adder(), schema)


def _adder() -> Callable[[pa.Table], pa.Table]:
    added, own = to_arrow_schema(ADDED), knowledge.in_use()

    def add(table: pa.Table) -> pa.Table:
        knowledge.use(own)
        read = zip(*(table.column(name).to_pylist() for name in _READ), strict=True)
        found = applications([_client(dict(zip(_READ, row, strict=True))) for row in read])
        columns = {
            "application": [each.name for each in found],
            "application_kind": [each.kind for each in found],
            "product": [each.product for each in found],
            "application_notes": [list(each.notes) for each in found],
        }
        for column in added:
            table = table.append_column(column, pa.array(columns[column.name], column.type))
        return table

    return add


def _client(row: Mapping[str, Any]) -> Client:
    versions: dict[int, set[int]] = {}
    for use in row["answered"] or ():
        versions.setdefault(use["api_key"], set()).add(use["version"])
    software: dict[str, set[tuple[str | None, str | None]]] = {}
    beside = set()
    for other in row["related"] or ():
        if other["relation"] == "same_principal_and_address":
            beside.add(other["client_id"])
        else:
            pair = (other["client_software_name"], other["client_software_version"])
            software.setdefault(other["relation"], set()).add(pair)
    return Client(
        row["principal"],
        row["client_id"],
        row["client_software_name"],
        row["client_software_version"],
        row["owner"],
        row["first_seen_at"],
        row["last_seen_at"],
        frozenset((row["client_addresses"] or ())[:_ADDRESSES]),
        frozenset(row["group_ids"] or ()),
        {key: frozenset(of_api) for key, of_api in versions.items()},
        same_as=frozenset(software.get("one_application", ())),
        not_same_as=frozenset(software.get("two_applications", ())),
        doubtful=frozenset(software.get("doubtful", ())),
        beside=frozenset(beside),
        on_one_release=len(row["broker_software_versions"] or ()) <= 1,
    )
