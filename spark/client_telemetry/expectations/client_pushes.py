"""What must hold for pushes."""

from client_telemetry.expectations.suite import RowRule, SliceRule, Suite, flags_are_known
from client_telemetry.tables.client_pushes import CLIENT_PUSHES

SUITE = Suite(
    CLIENT_PUSHES,
    (
        RowRule(
            "instance_id_has_16_bytes",
            "client_instance_id is null or octet_length(client_instance_id) = 16",
            "critical",
            "a client instance id is 16 bytes (KIP-714)",
        ),
        RowRule(
            "missing_instance_is_flagged",
            "(client_instance_id is null) = array_contains(flags, 'no_instance_id')",
            "critical",
            "a push without instance id has the flag, and no other push has it",
        ),
        RowRule(
            "rejected_gives_no_points",
            "not array_contains(flags, 'rejected') or points + histogram_points = 0",
            "critical",
            "a push that the broker rejected has no points",
        ),
        flags_are_known(CLIENT_PUSHES),
        SliceRule(
            "rows_match_ledger",
            "count(*) - {push_rows}",
            "critical",
            "the number of pushes matches the ledger",
            minimum=0,
            maximum=0,
        ),
        SliceRule(
            "points_match_tables",
            "coalesce(sum(points + histogram_points), 0) - {points}",
            "critical",
            "the number of points matches the ledger",
            minimum=0,
            maximum=0,
        ),
        SliceRule(
            "clients_have_instance_ids",
            "coalesce(avg(cast(client_instance_id is null or array_contains(flags, 'zero_instance_id') as double)), 0)",
            "warning",
            "at most 1 % of pushes have no usable instance id: those belong to no session",
            maximum=0.01,
        ),
        SliceRule(
            "clocks_agree",
            "coalesce(avg(cast(coalesce(abs(clock_skew_ms), 0) > 60000 as double)), 0)",
            "warning",
            "at most 10 % of pushes come from clients whose clock differs from the broker's by more than a minute",
            maximum=0.1,
        ),
    ),
)
