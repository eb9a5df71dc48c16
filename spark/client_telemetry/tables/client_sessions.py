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

HISTORY_DAYS = 7
"""How many days before a day are evidence for its slice."""

MIN_GAP_MS = 60_000
"""A shorter silence is never a gap. Kafka's broker forgets an instance after max(60 s, 3 x push interval), too
(ClientMetricsManager)."""

LARGEST_PUSH_INTERVAL_MS = 300_000
"""No subscription makes a Kafka broker ask for pushes less often (ClientMetricsManager takes the smallest interval,
and 5 minutes without a subscription). Used where the interval is not known."""

IN_FLIGHT_MS = 30_000
"""An ordinary push that was under way when the client closed may be received so much later than the terminating one,
on another broker: Java's request.timeout.ms. One that comes later still says that the life went on."""

END_REASONS = {
    "terminating_push": "the client said that it closes, and nothing came later than 30 s after that",
    "gap_timeout": "silent for longer than the gap until the end of the day, as far as pushes were recorded; "
    "not proof of a crash, most Java producers close without a word",
    "still_open": "may continue after the day. If the next day has no row, it did not",
}

CLIENT_SESSIONS = Table(
    name="client_sessions",
    comment=(
        "One row per client instance and day on which it pushed. The day of a push is its `dt`; the order of pushes "
        "and all times are the brokers' receive time, so a push that is flagged `other_day` counts in the slice of "
        "its object, once, at the time at which it came. A slice uses evidence of the seven days before and nothing "
        "later, so days can be computed in any order. Gap = max(60 s, 3 x push interval in force), 15 minutes where "
        "the interval is not known; a gap is counted and does not begin a new life. Pushes without an "
        "instance id belong to no session; rejected ones are evidence of life."
    ),
    columns=(
        CLUSTER_ID,
        DT,
        Column("client_instance_id", BINARY, "16 bytes (KIP-714)", nullable=False),
        Column("first_evidence_at", TIMESTAMP, "First push of the day", nullable=False),
        Column("last_evidence_at", TIMESTAMP, "Last push of the day", nullable=False),
        Column(
            "started_at",
            TIMESTAMP,
            "First push of the life; null = older than the evidence that is used. The instance itself is older: a "
            "client waits 0.5 to 1.5 intervals before its first push",
        ),
        Column("started_before", TIMESTAMP, "Where started_at is null: the life began before this time"),
        Column(
            "ended_at", TIMESTAMP, "Last push, if the life ended by the end of the day; null = still open"
        ),
        Column(
            "end_reason", STRING, "; ".join(f"`{k}`: {v}" for k, v in END_REASONS.items()), nullable=False
        ),
        Column("pushes", LONG, "Pushes of the day", nullable=False),
        Column("terminating_pushes", LONG, "Of these, with the terminating flag", nullable=False),
        Column(
            "rejected_pushes",
            LONG,
            "Of these, refused by the broker, where the source has it",
            nullable=False,
        ),
        Column("points", LONG, "Number data points of the day", nullable=False),
        Column("gaps", LONG, "Silences longer than the gap before a push of the day", nullable=False),
        Column("gap_seconds", DOUBLE, "Their length in sum", nullable=False),
        Column(
            "push_interval_ms",
            LONG,
            "Interval in force at the last push: told by the broker with it, or the median distance of the day's "
            "ordinary pushes (of fewer than 3 distances at most 300000); null = not known",
        ),
        Column("push_interval_source", STRING, "`broker`, `observed`; null = not known"),
        Column("broker_ids", INTS, "Brokers that got pushes of the day, sorted", nullable=False),
        *CLIENT,
        *SOFTWARE,
        Column("client_addresses", STRINGS, "Addresses of the day, sorted, at most 16", nullable=False),
        Column("flags", STRINGS, "Sorted; see the vocabulary", nullable=False),
    ),
    key=("cluster_id", "client_instance_id", "dt"),
    flags={
        "push_after_terminating": "an ordinary push of the day was received after a terminating one",
        "several_addresses": "pushes of the day came from more than one address",
        "several_software_versions": "the registered software name or version changed, `unknown` not counted",
        "faster_than_interval": "two ordinary pushes in a row to one broker incarnation were closer than half the "
        "interval that the broker told",
        "zero_instance_id": "the instance id is 16 zero bytes: many clients may hide behind it",
    },
)
