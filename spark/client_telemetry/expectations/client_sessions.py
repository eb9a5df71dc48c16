"""What must hold for sessions of client instances."""

from client_telemetry.expectations.suite import RowRule, SliceRule, Suite, flags_are_known
from client_telemetry.knowledge import kip511
from client_telemetry.tables.client_sessions import CLIENT_SESSIONS, END_REASONS

_REASONS = ", ".join(f"'{reason}'" for reason in END_REASONS)

SUITE = Suite(
    CLIENT_SESSIONS,
    (
        RowRule(
            "instance_id_has_16_bytes",
            "octet_length(client_instance_id) = 16",
            "critical",
            "a client instance id is 16 bytes (KIP-714)",
        ),
        RowRule(
            "evidence_is_in_order",
            "first_evidence_at <= last_evidence_at",
            "critical",
            "the first evidence is not after the last",
        ),
        RowRule(
            "start_is_seen_or_not",
            "(started_at is null) <> (started_before is null)",
            "critical",
            "either the start of the session was seen, or an upper bound for it is known",
        ),
        RowRule(
            "start_precedes_evidence",
            "coalesce(started_at, started_before) <= first_evidence_at",
            "critical",
            "the session began no later than the first evidence of the day",
        ),
        RowRule(
            "end_reason_is_known",
            f"end_reason in ({_REASONS})",
            "critical",
            "the end reason is a value of the vocabulary",
        ),
        RowRule(
            "ended_unless_open",
            "case end_reason when 'still_open' then ended_at is null "
            "when 'connection_closed' then ended_at >= last_evidence_at else ended_at = last_evidence_at end",
            "critical",
            "a session that ended did so at its last push or when its connection closed; one that may still be open has no end",
        ),
        RowRule(
            "pushes_are_counted",
            "pushes >= 1 and terminating_pushes between 0 and pushes and rejected_pushes between 0 and pushes",
            "critical",
            "at least one push, including terminating and rejected ones",
        ),
        RowRule("points_are_counted", "points >= 0", "critical", "points are not negative"),
        RowRule(
            "gaps_are_long",
            "gaps >= 0 and gap_seconds >= 60 * gaps and (gaps > 0 or gap_seconds = 0)",
            "critical",
            "each gap is longer than a minute",
        ),
        RowRule(
            "interval_has_source",
            "case when push_interval_ms is null then push_interval_source is null "
            "else push_interval_ms > 0 and push_interval_source in ('broker', 'observed') end",
            "critical",
            "a push interval has a source",
        ),
        RowRule(
            "subscription_changes_are_counted",
            "subscription_changes between 0 and pushes - 1",
            "critical",
            "there are fewer subscription changes than pushes",
        ),
        RowRule(
            "broker_ids_are_sorted",
            "size(broker_ids) >= 1 and broker_ids = array_sort(array_distinct(broker_ids))",
            "critical",
            "brokers are listed without duplicates, sorted",
        ),
        RowRule(
            "addresses_are_sorted",
            "size(client_addresses) <= 16 and client_addresses = array_sort(array_distinct(client_addresses))",
            "critical",
            "at most 16 addresses, without duplicates, sorted",
        ),
        RowRule(
            "zero_instance_is_flagged",
            "(hex(client_instance_id) = repeat('0', 32)) = array_contains(flags, 'zero_instance_id')",
            "critical",
            "the zero instance id has its flag, and no other id has it",
        ),
        flags_are_known(CLIENT_SESSIONS),
        RowRule(
            "evidence_is_of_the_day",
            "to_date(first_evidence_at) = dt and to_date(last_evidence_at) = dt",
            "warning",
            "pushes were received on the day of their object; otherwise the dump has records under the wrong day",
        ),
        SliceRule(
            "no_push_is_lost",
            "coalesce(sum(pushes), 0) - {pushes}",
            "critical",
            "every push with an instance id is counted in exactly one session",
            minimum=0,
            maximum=0,
        ),
        SliceRule(
            "software_is_known",
            f"coalesce(avg(cast(not ({kip511.is_declared('client_software_name')}) as double)), 0)",
            "warning",
            "at most 10 % of sessions have no registered software name: clients that push metrics have sent one",
            maximum=0.1,
        ),
        SliceRule(
            "instance_ids_are_real",
            "coalesce(count_if(array_contains(flags, 'zero_instance_id')), 0)",
            "warning",
            "no sessions with the zero instance id: those clients cannot be distinguished",
            maximum=0,
        ),
    ),
)
