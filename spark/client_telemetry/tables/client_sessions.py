"""Sessions of client instances (KIP-714), one row per instance and day."""

from client_telemetry.knowledge import kip511
from client_telemetry.tables import rows
from client_telemetry.tables.suite import (
    WARNING,
    aggregate_is,
    flags_are_known,
    is_one_of,
    is_zero,
    rows_satisfy,
    share_is,
)
from client_telemetry.tables.table import (
    BINARY,
    CLIENT,
    CLUSTER_ID,
    DOUBLE,
    DT,
    INSTANCE_ID,
    INTS,
    LONG,
    SOFTWARE,
    STRING,
    STRINGS,
    TIMESTAMP,
    Column,
    Table,
    required,
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
on another broker: Java's request.timeout.ms. One that comes later still says that the session went on."""

BROKER_STOP_MS = 5_000
"""A connection that closed so shortly before the last that was seen of a broker incarnation was closed by the broker
that stopped: in the sample's telemetry cluster a broker that was asked to stop took less than a second for it."""

CLOCK_OFF_MS = 60_000
"""A difference between two clocks that counts. Smaller ones can be a late delivery: franz-go waits for its broker to
come back and delivered points 28 s old in the sample."""

END_REASONS = {
    "terminating_push": "the client announced that it is closing, and nothing arrived later than 30 s after that",
    "connection_closed": "silent for longer than the gap until the end of the day, and the connection of the last "
    "push was closed by then; not proof of a crash, most Java producers close without announcing it",
    "broker_restart": "silent likewise, and the broker incarnation of the last push stopped within the gap after it, "
    "closing the connection if it was still open: the client did not come back",
    "gap_timeout": "silent likewise, and the fate of the connection is not known: no registry watched it, or "
    "it was lost with the push's broker later than a gap",
    "still_open": "may continue after the day: not silent for longer than the gap, or the connection of the last push "
    "was still open and seen. If the next day has no row, the session did not continue",
}

CLIENT_SESSIONS: "Table[rows.ClientSessionRow]" = Table(
    name="client_sessions",
    comment=(
        "One row per client instance and day on which it pushed. The day of a push is its `dt`; the order of pushes "
        "and all times are the brokers' receive time, so a push flagged `other_day` counts once, in the partition of "
        "its object, at the time at which it arrived. A partition uses evidence of the seven days before and nothing "
        "later, so days can be computed in any order. Gap = max(60 s, 3 x push interval in force), 15 minutes if "
        "the interval is not known; a gap is counted and does not begin a new session. The interval in force during a "
        "silence is the larger of those that the brokers reported with the pushes at its two ends; if they reported none "
        "(before Kafka 4.2), the median of up to five intervals between ordinary pushes around it, of fewer than three at most "
        "5 minutes. Pushes without an instance id belong to no session; rejected ones are evidence that the client runs. A client "
        "that closed before its first push has no row here: its connections are in `client_connections`."
    ),
    columns=(
        CLUSTER_ID,
        DT,
        required("client_instance_id", BINARY, "16 bytes (KIP-714)"),
        INSTANCE_ID,
        required("first_evidence_at", TIMESTAMP, "First push of the day"),
        required("last_evidence_at", TIMESTAMP, "Last push of the day"),
        Column(
            "started_at",
            TIMESTAMP,
            "First push of the session; null = older than the evidence used. The instance itself is older: a "
            "client waits 0.5 to 1.5 intervals before its first push",
        ),
        Column("started_before", TIMESTAMP, "If started_at is null: the session began before this time"),
        Column(
            "ended_at",
            TIMESTAMP,
            "If the session ended by the end of the day: when the connection closed (`connection_closed`), or the last "
            "push; null = still open",
        ),
        required("end_reason", STRING, "; ".join(f"`{k}`: {v}" for k, v in END_REASONS.items())),
        required("pushes", LONG, "Pushes of the day"),
        required("terminating_pushes", LONG, "Of these, with the terminating flag"),
        required("rejected_pushes", LONG, "Of these, refused by the broker, if the source has responses"),
        required("points", LONG, "Number data points of the day"),
        required("gaps", LONG, "Silences longer than the gap before a push of the day"),
        required("gap_seconds", DOUBLE, "Total length of these gaps"),
        Column(
            "push_interval_ms",
            LONG,
            "Interval in force at the last push: reported by the broker with it, or the median of the last five intervals "
            "between ordinary pushes of the day (of fewer than 3 intervals at most 300000); null = not known",
        ),
        Column("push_interval_source", STRING, "`broker`, `observed`; null = not known"),
        required(
            "subscription_changes",
            LONG,
            "How often a push of the day had a different interval or subscription id than the previous push, "
            "if both are known",
        ),
        Column(
            "clock_skew_ms",
            LONG,
            "Smallest received_at minus latest point time of the day's pushes: how far the client's clock is behind "
            "the broker's (negative: ahead); null = no push has a point with a time",
        ),
        required("broker_ids", INTS, "Brokers that received pushes of the day, sorted"),
        *CLIENT,
        *SOFTWARE,
        required("client_addresses", STRINGS, "Addresses of the day, sorted, at most 16"),
        required("flags", STRINGS, "Sorted; see the vocabulary"),
    ),
    key=("cluster_id", "client_instance_id", "dt"),
    flags={
        "push_after_terminating": "an ordinary push of the day was received after a terminating one",
        "several_addresses": "pushes of the day came from more than one address",
        "several_software_versions": "the registered software name or version changed, `unknown` not counted",
        "faster_than_interval": "two ordinary pushes in a row to one broker incarnation were closer than half the "
        "interval that the broker reported",
        "zero_instance_id": "the instance id is 16 zero bytes: it may be shared by many clients",
        "client_clock_off": "clock_skew_ms is more than a minute: the client's point times are off by that much",
        "broker_clocks_apart": "pushes went to several brokers, and received_at minus point time differed between "
        "connections by more than a minute: the brokers' clocks, or the client's, are not reliable for silences "
        "and order on that day",
    },
    expectations=lambda: {
        "instance_id_has_16_bytes": rows_satisfy(
            "octet_length(client_instance_id) = 16", "a client instance id is 16 bytes (KIP-714)"
        ),
        "evidence_is_in_order": rows_satisfy(
            "first_evidence_at <= last_evidence_at", "the first evidence is not after the last"
        ),
        "start_is_seen_or_not": rows_satisfy(
            "(started_at is null) <> (started_before is null)",
            "either the start of the session was seen, or an upper bound for it is known",
        ),
        "start_precedes_evidence": rows_satisfy(
            "coalesce(started_at, started_before) <= first_evidence_at",
            "the session began no later than the first evidence of the day",
        ),
        "end_reason_is_known": is_one_of(
            "end_reason", END_REASONS, "the end reason is a value of the vocabulary"
        ),
        "ended_unless_open": rows_satisfy(
            "case end_reason when 'still_open' then ended_at is null "
            "when 'connection_closed' then ended_at >= last_evidence_at else ended_at = last_evidence_at end",
            "a session that ended did so at its last push or when its connection closed; one that may still be open has no end",
        ),
        "pushes_are_counted": rows_satisfy(
            "pushes >= 1 and terminating_pushes between 0 and pushes and rejected_pushes between 0 and pushes",
            "at least one push, including terminating and rejected ones",
        ),
        "points_are_counted": rows_satisfy("points >= 0", "points are not negative"),
        "gaps_are_long": rows_satisfy(
            "gaps >= 0 and gap_seconds >= 60 * gaps and (gaps > 0 or gap_seconds = 0)",
            "each gap is longer than a minute",
        ),
        "interval_has_source": rows_satisfy(
            "case when push_interval_ms is null then push_interval_source is null "
            "else push_interval_ms > 0 and push_interval_source in ('broker', 'observed') end",
            "a push interval has a source",
        ),
        "subscription_changes_are_counted": rows_satisfy(
            "subscription_changes between 0 and pushes - 1",
            "there are fewer subscription changes than pushes",
        ),
        "broker_ids_are_sorted": rows_satisfy(
            "size(broker_ids) >= 1 and broker_ids = array_sort(array_distinct(broker_ids))",
            "brokers are listed without duplicates, sorted",
        ),
        "addresses_are_sorted": rows_satisfy(
            "size(client_addresses) <= 16 and client_addresses = array_sort(array_distinct(client_addresses))",
            "at most 16 addresses, without duplicates, sorted",
        ),
        "zero_instance_is_flagged": rows_satisfy(
            "(hex(client_instance_id) = repeat('0', 32)) = array_contains(flags, 'zero_instance_id')",
            "the zero instance id has its flag, and no other id has it",
        ),
        "flags_are_known": flags_are_known(CLIENT_SESSIONS),
        "evidence_is_of_the_day": rows_satisfy(
            "to_date(first_evidence_at) = dt and to_date(last_evidence_at) = dt",
            "pushes were received on the day of their object; otherwise the dump has records under the wrong day",
            severity=WARNING,
        ),
        "no_push_is_lost": is_zero(
            "coalesce(sum(pushes), 0) - {pushes}",
            "every push with an instance id is counted in exactly one session",
        ),
        "software_is_known": share_is(
            f"not ({kip511.is_declared('client_software_name')})",
            "at most 10 % of sessions have no registered software name: clients that push metrics have sent one",
            at_most=0.1,
        ),
        "instance_ids_are_real": aggregate_is(
            "coalesce(count_if(array_contains(flags, 'zero_instance_id')), 0)",
            "no sessions with the zero instance id: those clients cannot be distinguished",
            at_most=0,
            severity=WARNING,
        ),
    },
)
