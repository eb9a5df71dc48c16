"""What must hold for records of rules."""

from client_telemetry.expectations.suite import RowRule, SliceRule, Suite
from client_telemetry.tables.rule_records import RULE_RECORDS

SUITE = Suite(
    RULE_RECORDS,
    (
        RowRule(
            "counts_are_not_negative",
            "least(predicted, happened, did_not_happen, not_triggered, cannot_tell, missed) >= 0",
            "critical",
            "client counts are not negative",
        ),
        RowRule(
            "every_client_is_counted_once",
            "predicted = happened + did_not_happen + not_triggered + cannot_tell",
            "critical",
            "each client with a finding of the rule is in one of the four columns",
        ),
        SliceRule(
            "rules_are_mostly_right",
            "coalesce(sum(did_not_happen) / nullif(sum(happened + did_not_happen), 0), 0)",
            "warning",
            "at most 50 % of predictions did not come true: with more, the knowledge base or the records are wrong",
            minimum=0,
            maximum=0.5,
        ),
    ),
)
