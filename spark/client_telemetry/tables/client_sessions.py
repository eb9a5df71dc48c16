"""Lives of client instances (KIP-714), one row each and day."""

from client_telemetry.tables.table import (
    BINARY,
    CLIENT,
    CLUSTER_ID,
    DOUBLE,
    DT,
    INTS,
    LONG,
    SOFTWARE,
    STRING,
    STRINGS,
    TIMESTAMP,
    Column,
    Table,
)

END_REASONS = {
    "terminating_push": "the client said that it closes, and nothing came after",
    "gap_timeout": "silent for longer than the gap until the end of the day; not proof of a crash",
    "still_open": "may continue after the day",
}

CLIENT_SESSIONS = Table(
    name="client_sessions",
    comment=(
        "One row per client instance and day. A slice uses evidence of the seven days before and nothing later, so "
        "days can be computed in any order. Gap = max(60 s, 3 x push interval in force)."
    ),
    columns=(
        CLUSTER_ID,
        DT,
        Column("client_instance_id", BINARY, "16 bytes (KIP-714)", nullable=False),
        Column("first_evidence_at", TIMESTAMP, "First push within the day", nullable=False),
        Column("last_evidence_at", TIMESTAMP, "Last push within the day", nullable=False),
        Column(
            "started_at", TIMESTAMP, "First push of the life; null = older than the evidence that is used"
        ),
        Column("started_before", TIMESTAMP, "Where started_at is null: the life began before this time"),
        Column(
            "ended_at", TIMESTAMP, "Last push, if the life ended by the end of the day; null = still open"
        ),
        Column(
            "end_reason", STRING, "; ".join(f"`{k}`: {v}" for k, v in END_REASONS.items()), nullable=False
        ),
        Column("pushes", LONG, "Pushes within the day", nullable=False),
        Column("terminating_pushes", LONG, "Of these, with the terminating flag", nullable=False),
        Column("points", LONG, "Number data points within the day", nullable=False),
        Column("gaps", LONG, "Silences longer than the gap that ended within the day", nullable=False),
        Column("gap_seconds", DOUBLE, "Their length in sum", nullable=False),
        Column(
            "push_interval_ms",
            LONG,
            "Interval in force at the last push: told by the broker, or the median "
            "distance of pushes; null = one push and nothing told",
        ),
        Column("push_interval_source", STRING, "`broker`, `observed`; null = not known"),
        Column("broker_ids", INTS, "Brokers that got pushes within the day, sorted", nullable=False),
        *CLIENT,
        *SOFTWARE,
        Column("client_addresses", STRINGS, "Addresses within the day, sorted, at most 16", nullable=False),
        Column("flags", STRINGS, "Sorted; see the vocabulary", nullable=False),
    ),
    key=("cluster_id", "client_instance_id", "dt"),
    flags={
        "push_after_terminating": "an ordinary push came after a terminating one",
        "several_addresses": "pushes came from more than one address",
        "several_software_versions": "the registered software name or version changed",
        "faster_than_interval": "two pushes to one broker were closer than half the interval, none terminating",
        "zero_instance_id": "the instance id is 16 zero bytes: many clients may hide behind it",
    },
)
