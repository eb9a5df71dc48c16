"""What must hold for events of the connection registry."""

from client_telemetry.expectations.suite import RowRule, SliceRule, Suite, every, flags_are_known
from client_telemetry.tables.connection_events import CONNECTION_EVENTS

SUITE = Suite(
    CONNECTION_EVENTS,
    (
        RowRule(
            "kind_is_known",
            "kind in ('opened', 'active', 'closed', 'authentication_failed', 'summary') "
            "or array_contains(flags, 'unknown_kind')",
            "critical",
            "the event is of a known kind, or flagged",
        ),
        RowRule(
            "stands_for_something",
            "connections is null or connections > 0",
            "warning",
            "a summary of failures or connections represents at least one",
        ),
        RowRule(
            "uses_are_counted",
            every("api_uses", "u", "u.requests >= 0 and u.rejected >= 0"),
            "critical",
            "request counts are not negative",
        ),
        RowRule(
            "opened_before_observed",
            "opened_at <= observed_at",
            "warning",
            "no event is dated before its connection opened",
        ),
        flags_are_known(CONNECTION_EVENTS),
        SliceRule(
            "rows_match_ledger",
            "count(*) - {event_rows}",
            "critical",
            "the number of events matches the ledger",
            minimum=0,
            maximum=0,
        ),
    ),
)
