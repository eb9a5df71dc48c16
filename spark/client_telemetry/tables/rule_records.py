"""How often each rule was right, by review."""

from client_telemetry.tables import rows
from client_telemetry.tables.suite import WARNING, aggregate_is, rows_satisfy
from client_telemetry.tables.table import (
    CLUSTER_ID,
    LONG,
    PROCESSING_TIME,
    STRING,
    TIMESTAMP,
    Table,
    required,
)

RULE_RECORDS: "Table[rows.RuleRecordRow]" = Table(
    name="rule_records",
    comment="One row per review of an upgrade and rule that predicted harm: what happened to the clients with a finding of the rule.",
    columns=(
        CLUSTER_ID,
        required("review_id", STRING, "Id of the review; a re-run replaces its rows"),
        required("from_release", STRING, "Exact release before"),
        required("to_release", STRING, "Exact release after"),
        required("rule_id", STRING, "Rule of the knowledge base"),
        required("predicted", LONG, "Clients for which a finding of the rule decided the prediction"),
        required("happened", LONG, "Of these, the prediction came true"),
        required("did_not_happen", LONG, "Of these, the prediction did not come true"),
        required("not_triggered", LONG, "Of these, latent and not yet triggered: neither right nor wrong"),
        required("cannot_tell", LONG, "Of these, gone, changed, already failing before, or not tested"),
        required(
            "missed",
            LONG,
            "Clients without a finding of the rule that failed unexpectedly in what the rule is about (its API was refused, or "
            "they cannot log in)",
        ),
        required("reviewed_at", TIMESTAMP, PROCESSING_TIME + "when the review was made"),
    ),
    key=("cluster_id", "review_id", "rule_id"),
    partition=("cluster_id", "review_id"),
    expectations=lambda: {
        "counts_are_not_negative": rows_satisfy(
            "least(predicted, happened, did_not_happen, not_triggered, cannot_tell, missed) >= 0",
            "client counts are not negative",
        ),
        "every_client_is_counted_once": rows_satisfy(
            "predicted = happened + did_not_happen + not_triggered + cannot_tell",
            "each client with a finding of the rule is in one of the four columns",
        ),
        "rules_are_mostly_right": aggregate_is(
            "coalesce(sum(did_not_happen) / nullif(sum(happened + did_not_happen), 0), 0)",
            "at most 50 % of predictions did not come true: with more, the knowledge base or the records are wrong",
            at_least=0,
            at_most=0.5,
            severity=WARNING,
        ),
    },
)
