"""Input that could not be read, with its bytes and the reason."""

from typing import TYPE_CHECKING

from client_telemetry.formats.raw.errors import vocabulary
from client_telemetry.tables.suite import Expectations, Suite
from client_telemetry.tables.table import (
    BINARY,
    CLUSTER_ID,
    DT,
    INT,
    LONG,
    SOURCE,
    STRING,
    Column,
    Table,
    listed,
)

if TYPE_CHECKING:
    from client_telemetry.tables.rows import UndecodableRecordRow

UNDECODABLE_RECORDS: "Table[UndecodableRecordRow]" = Table(
    name="undecodable_records",
    comment="One row per record, tail or object that could not be read. Nothing is dropped without a row here.",
    columns=(
        CLUSTER_ID,
        DT,
        Column("dataset", STRING, "client_pushes, connections or manifests", nullable=False),
        *SOURCE,
        Column("stage", STRING, "Stage that could not read it: collect or decode", nullable=False),
        Column(
            "error_class",
            STRING,
            "Reason, one of the classes in client_telemetry.formats.raw.errors",
            nullable=False,
        ),
        Column("message", STRING, "What is wrong and what to do", nullable=False),
        Column("bytes", BINARY, "The original bytes, at most the first 64 KiB", nullable=False),
        Column("bytes_total", LONG, "Original size in bytes", nullable=False),
        Column("broker_id", INT, "If known"),
        Column("broker_incarnation", STRING, "If known"),
        Column("sequence", LONG, "If known"),
        Column("client_instance_id", BINARY, "If known"),
    ),
    key=("source_object", "source_offset"),
)

_CLASSES = listed(error.__name__ for error in vocabulary())


def _expectations() -> Expectations:
    from client_telemetry.tables.expectations import (
        WARNING,
        ExpectAggregateToBeBetween,
        ExpectRowsToSatisfy,
        ExpectTableRowCountToEqual,
    )

    return {
        "error_class_is_known": ExpectRowsToSatisfy(
            condition=f"error_class in ({_CLASSES})", description="the error class is known"
        ),
        "message_is_there": ExpectRowsToSatisfy(condition="message <> ''", description="there is a message"),
        "bytes_are_kept": ExpectRowsToSatisfy(
            condition="octet_length(bytes) = least(bytes_total, 65536) or octet_length(bytes) = 65536",
            description="the original bytes are kept, up to 64 KiB",
        ),
        "rows_match_ledger": ExpectTableRowCountToEqual(
            value={"$PARAMETER": "undecodable"},
            description="the number of records matches the ledger",
        ),
        "few_are_undecodable": ExpectAggregateToBeBetween(
            aggregate="count(*) / greatest({records}, 1)",
            max_value=0.001,
            severity=WARNING,
            description="at most 0.1 % of records are undecodable",
        ),
    }


SUITE = Suite(UNDECODABLE_RECORDS, _expectations)
