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
            "the verdict is a value of the vocabulary",
        ),
        RowRule("rule_has_a_source", "source <> ''", "critical", "every finding has the source of its rule"),
        RowRule(
            "explanation_is_present", "explanation <> ''", "critical", "every finding has an explanation"
        ),
        RowRule(
            "observed_means_requests",
            "confidence <> 'observed' or requests > 0",
            "critical",
            "an observed finding has requests",
        ),
        RowRule(
            "condition_is_settled_or_not",
            "(condition is null) = (condition_met is null)",
            "critical",
            "a condition is met, not met or unknown; without a condition, none of these is set",
        ),
        RowRule(
            "records_have_a_sequence",
            "size(source_objects) = size(source_sequences)",
            "critical",
            "each raw object has the sequence of a record in it",
        ),
        RowRule(
            "observed_cites_its_source",
            "confidence <> 'observed' or size(source_objects) > 0",
            "warning",
            "an observed finding lists the raw objects with the requests",
        ),
    ),
)
