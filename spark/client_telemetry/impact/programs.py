"""Which connections of a client id that several programs share are whose: identity/programs.py decides, for the clients
whose day shows a reason to look. Which applications the programs are parts of: identity/applications.py, once more for the
principals that have some."""

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import LongType, StringType, StructField, StructType

from client_telemetry.compatibility import knowledge
from client_telemetry.identity.application_rows import PROGRAM, READ, application_columns
from client_telemetry.identity.programs import NOT_COMPARED, Seen, may_be_several, programs
from client_telemetry.impact.client_evidence import (
    connection_hash,
    counting,
    keyed_by_client,
)
from client_telemetry.impact.question import Question
from client_telemetry.tables.clients import APPLICATION, CLIENT_KEY

_PROGRAM = StructType([StructField("connection_hash", LongType()), StructField("program", StringType())])


_FEW = 200_000
"""Programs of connections, of some fifty bytes, that each worker gets all of: other connections need not be sorted for them."""


def programs_of_connections(connections: DataFrame, profiled: DataFrame, asked: Question) -> DataFrame | None:
    """`connection_hash` (of client_evidence.py) and `program`, one row for each program that a connection can be of;
    None where no client id is several programs. `connections`, `profiled`: rows of client_connections and clients."""
    shared = _shared(profiled).persist()
    try:
        if shared.isEmpty():
            return None
        of_them = keyed_by_client(counting(connections, asked)).join(
            F.broadcast(shared), "client_hash", "left_semi"
        )
        each = of_them.select(
            "client_hash",
            "client_id",
            connection_hash().alias("connection_hash"),
            F.coalesce("client_address", F.lit("")).alias("address"),
            F.unix_micros("first_seen_at").alias("first"),
            F.unix_micros(_last_request_at()).alias("last"),
            F.transform(
                F.filter("api_uses", lambda use: use.requests > 0),
                lambda use: F.struct(use.api_key.alias("api_key"), use.version.alias("version")),
            ).alias("uses"),
        )
        found = each.groupBy("client_hash").applyInArrow(_apart(), _PROGRAM).localCheckpoint()
        return F.broadcast(found) if found.count() <= _FEW else found
    finally:
        shared.unpersist()


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


def _last_request_at() -> Column:
    """Its last evidence may be a snapshot, minutes after its last request."""
    return F.coalesce(
        F.array_max(F.transform("api_uses", lambda use: use.last_request_at)), F.col("last_seen_at")
    )


def _shared(profiled: DataFrame) -> DataFrame:
    """`client_hash` of the clients that may be several programs: rows of `clients` with two answered
    versions of an API."""
    compared = F.filter("api_uses", lambda use: (use.requests > 0) & ~use.api_key.isin(*sorted(NOT_COMPARED)))
    answered = F.transform(
        compared, lambda use: F.struct(use.api_key.alias("api_key"), use.version.alias("version"))
    )
    keys = F.transform("answered", lambda use: use.api_key)
    own = knowledge.in_use()

    def several(client_ids: pa.Array, uses: pa.Array) -> pa.Array:
        knowledge.use(own)
        pairs = zip(client_ids.to_pylist(), uses.to_pylist(), strict=True)
        return pa.array([may_be_several(client_id, _versions(of_client)) for client_id, of_client in pairs])

    return (
        keyed_by_client(profiled)
        .select("client_hash", "client_id", answered.alias("answered"))
        .where(F.size(F.array_distinct(keys)) < F.size("answered"))
        .where(F.arrow_udf(several, "boolean")("client_id", "answered"))  # type: ignore[attr-defined]
        .select("client_hash")
        .distinct()
    )


def _versions(uses: list[Mapping[str, Any]]) -> dict[int, set[int]]:
    versions: dict[int, set[int]] = {}
    for use in uses:
        versions.setdefault(use["api_key"], set()).add(use["version"])
    return versions


def _apart() -> Callable[[pa.Table], pa.Table]:
    own, schema = knowledge.in_use(), to_arrow_schema(_PROGRAM)

    def apart(table: pa.Table) -> pa.Table:
        knowledge.use(own)
        connections: dict[int, Seen] = {}
        for row in table.to_pylist():
            uses = frozenset((use["api_key"], use["version"]) for use in row["uses"])
            seen = Seen(row["address"], row["first"], row["last"], uses)
            before = connections.get(row["connection_hash"])
            if before is not None:  # of another day
                seen = Seen(
                    seen.address,
                    min(seen.first, before.first),
                    max(seen.last, before.last),
                    seen.uses | before.uses,
                )
            connections[row["connection_hash"]] = seen
        client_id = table.column("client_id")[0].as_py() if len(table) else None
        hashes = sorted(connections)
        names = programs(client_id, [connections[each] for each in hashes])
        rows = [(each, name) for each, of_it in zip(hashes, names, strict=True) for name in of_it]
        return pa.table(
            [pa.array([row[place] for row in rows], schema.field(place).type) for place in (0, 1)],
            schema=schema,
        )

    return apart
