"""What must hold for findings."""

from client_telemetry.expectations.suite import RowRule, Suite
from client_telemetry.tables.upgrade_findings import UPGRADE_FINDINGS
from client_telemetry.tables.upgrade_verdicts import VERDICTS

_WORDS = ", ".join(f"'{verdict}'" for verdict in VERDICTS)

SUITE = Suite(
    UPGRADE_FINDINGS,
    (
        RowRule(
            "verdict_is_known",
            f"verdict in ({_WORDS})",
            "critical",
            "the verdict is a word of the vocabulary",
        ),
        RowRule(
            "rule_has_a_source", "source <> ''", "critical", "every finding says where its rule comes from"
        ),
        RowRule("reason_is_told", "explanation <> ''", "critical", "every finding has its reason in words"),
        RowRule(
            "observed_means_requests",
            "confidence <> 'observed' or requests > 0",
            "critical",
            "an observed finding has requests behind it",
        ),
        RowRule(
            "condition_is_settled_or_not",
            "(condition is null) = (condition_met is null)",
            "critical",
            "a condition is met, not met or unknown, and nothing is without a condition",
        ),
        RowRule(
            "records_have_a_sequence",
            "size(source_objects) = size(source_sequences)",
            "critical",
            "each raw object that is named has the sequence of a record in it",
        ),
        RowRule(
            "observed_cites_its_source",
            "confidence <> 'observed' or size(source_objects) > 0",
            "warning",
            "an observed finding names the raw objects with the requests",
        ),
    ),
)
