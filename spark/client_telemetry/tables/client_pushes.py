"""Pushes of client metrics (KIP-714), one row each."""

from client_telemetry.tables import rows
from client_telemetry.tables.suite import flags_are_known, is_zero, row_count_is, rows_satisfy, share_is
from client_telemetry.tables.table import (
    BINARY,
    BOOLEAN,
    BROKER_ID,
    BROKER_INCARNATION,
    CLIENT_CONNECTION,
    CLUSTER_ID,
    DT,
    INSTANCE_ID,
    INT,
    LABELS,
    LONG,
    SEQUENCE,
    SOURCE,
    STRING,
    STRINGS,
    TIMESTAMP,
    ArrayType,
    Column,
    Table,
    required,
)

CLIENT_PUSHES: "Table[rows.ClientPushRow]" = Table(
    name="client_pushes",
    comment="One row per PushTelemetry request that a broker passed on (KIP-714).",
    columns=(
        CLUSTER_ID,
        DT,
        BROKER_ID,
        BROKER_INCARNATION,
        SEQUENCE,
        required("received_at", TIMESTAMP, "Broker clock"),
        Column("client_instance_id", BINARY, "16 bytes (KIP-714); null = the push contains none"),
        INSTANCE_ID,
        *CLIENT_CONNECTION,
        required("terminating", BOOLEAN, "The client announced that it is closing"),
        Column("content_type", STRING, "`OTLP`"),
        required(
            "compression_type",
            INT,
            "Of the payload as stored: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd, -1 not known",
        ),
        required("payload_bytes", LONG, "Size of the payload as stored"),
        required("points", INT, "Number data points in client_metrics"),
        required("histogram_points", INT, "Points in client_metric_histograms"),
        required("resources", ArrayType(LABELS), "Distinct resource attribute sets, in order"),
        Column("scope_name", STRING, "Of the first named instrumentation scope; null = none"),
        Column("scope_version", STRING, "Of the same scope"),
        Column("push_interval_ms", INT, "Interval in force, if the broker reports it (Kafka 4.2 and later)"),
        Column("subscription_id", INT, "If the source has it"),
        Column(
            "error_code",
            INT,
            "Error code of the broker's response, if the source has it; a rejected push has no points",
        ),
        Column("clock_skew_ms", LONG, "received_at minus the latest point time; null = no point has a time"),
        required("flags", STRINGS, "Sorted; see the vocabulary"),
        *SOURCE,
    ),
    key=("cluster_id", "broker_id", "broker_incarnation", "sequence"),
    flags={
        "no_instance_id": "the push contains no client instance id",
        "zero_instance_id": "the client instance id is 16 zero bytes",
        "identity_in_payload": "the payload contains its own identity labels; the broker's record was used instead",
        "rejected": "the broker answered with an error; the payload was not decoded",
        "other_day": "received on a different day than the object's key says",
        "no_points": "the payload contains no metric",
    },
    expectations=lambda: {
        "instance_id_has_16_bytes": rows_satisfy(
            "client_instance_id is null or octet_length(client_instance_id) = 16",
            "a client instance id is 16 bytes (KIP-714)",
        ),
        "missing_instance_is_flagged": rows_satisfy(
            "(client_instance_id is null) = array_contains(flags, 'no_instance_id')",
            "a push without instance id has the flag, and no other push has it",
        ),
        "rejected_gives_no_points": rows_satisfy(
            "not array_contains(flags, 'rejected') or points + histogram_points = 0",
            "a push that the broker rejected has no points",
        ),
        "flags_are_known": flags_are_known(CLIENT_PUSHES),
        "rows_match_ledger": row_count_is("push_rows", "the number of pushes matches the ledger"),
        "points_match_tables": is_zero(
            "coalesce(sum(points + histogram_points), 0) - {points}",
            "the number of points matches the ledger",
        ),
        "clients_have_instance_ids": share_is(
            "client_instance_id is null or array_contains(flags, 'zero_instance_id')",
            "at most 1 % of pushes have no usable instance id: those belong to no session",
            at_most=0.01,
        ),
        "clocks_agree": share_is(
            "coalesce(abs(clock_skew_ms), 0) > 60000",
            "at most 10 % of pushes come from clients whose clock differs from the broker's by more than a minute",
            at_most=0.1,
        ),
    },
)
