"""Input that could not be read, with its bytes and the reason."""

from client_telemetry.formats.raw.errors import vocabulary
from client_telemetry.tables import rows
from client_telemetry.tables.suite import WARNING, aggregate_is, is_one_of, row_count_is, rows_satisfy
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
    required,
)

UNDECODABLE_RECORDS: "Table[rows.UndecodableRecordRow]" = Table(
    name="undecodable_records",
    comment="One row per record, tail or object that could not be read. Nothing is dropped without a row here.",
    columns=(
        CLUSTER_ID,
        DT,
        required("dataset", STRING, "client_pushes, connections or manifests"),
        *SOURCE,
        required("stage", STRING, "Stage that could not read it: collect or decode"),
        required("error_class", STRING, "Reason, one of the classes in client_telemetry.formats.raw.errors"),
        required("message", STRING, "What is wrong and what to do"),
        required("bytes", BINARY, "The original bytes, at most the first 64 KiB"),
        required("bytes_total", LONG, "Original size in bytes"),
        Column("broker_id", INT, "If known"),
        Column("broker_incarnation", STRING, "If known"),
        Column("sequence", LONG, "If known"),
        Column("client_instance_id", BINARY, "If known"),
    ),
    key=("source_object", "source_offset"),
    expectations=lambda: {
        "error_class_is_known": is_one_of(
            "error_class", [error.__name__ for error in vocabulary()], "the error class is known"
        ),
        "message_is_there": rows_satisfy("message <> ''", "there is a message"),
        "bytes_are_kept": rows_satisfy(
            "octet_length(bytes) = least(bytes_total, 65536) or octet_length(bytes) = 65536",
            "the original bytes are kept, up to 64 KiB",
        ),
        "rows_match_ledger": row_count_is("undecodable", "the number of records matches the ledger"),
        "few_are_undecodable": aggregate_is(
            "count(*) / greatest({records}, 1)",
            "at most 0.1 % of records are undecodable",
            at_most=0.001,
            severity=WARNING,
        ),
    },
)
