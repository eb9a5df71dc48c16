"""What must hold for coverage."""

from client_telemetry.expectations.suite import RowRule, SliceRule, Suite
from client_telemetry.tables.broker_hours import BROKER_HOURS, COMPLETENESS

_WORDS = ", ".join(f"'{word}'" for word in COMPLETENESS)

SUITE = Suite(
    BROKER_HOURS,
    (
        RowRule("hour_is_of_the_day", "hour between 0 and 23", "critical", "hour is 0 to 23"),
        RowRule(
            "completeness_is_known",
            f"size(completeness) > 0 and size(array_except(completeness, array({_WORDS}))) = 0",
            "critical",
            "completeness has at least one value, all from the vocabulary",
        ),
        RowRule(
            "complete_stands_alone",
            "size(completeness) = 1 or not array_contains(completeness, 'complete')",
            "critical",
            "an hour is complete or has faults, not both",
        ),
        SliceRule(
            "every_broker_has_a_day",
            "count(*) - 24 * count(distinct dt, broker_id)",
            "critical",
            "24 hours for every broker and day",
            minimum=0,
            maximum=0,
        ),
        SliceRule(
            "nothing_was_lost",
            "count_if(size(array_intersect(completeness, array('missing_objects', 'sequence_gap', 'dropped_records', "
            "'unread_records', 'bad_manifest'))) > 0)",
            "warning",
            "no broker hours with records known to be missing: see their completeness",
            maximum=0,
        ),
    ),
)
