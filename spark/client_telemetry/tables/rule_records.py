"""How often each rule was right, by review."""

from client_telemetry.tables.table import CLUSTER_ID, LONG, PROCESSING_TIME, STRING, TIMESTAMP, Column, Table

RULE_RECORDS = Table(
    name="rule_records",
    comment="One row per review of an upgrade and rule that foresaw harm: what became of the clients that it was found for.",
    columns=(
        CLUSTER_ID,
        Column("review_id", STRING, "Of the review; a re-run replaces its rows", nullable=False),
        Column("from_release", STRING, "Exact release before", nullable=False),
        Column("to_release", STRING, "Exact release after", nullable=False),
        Column("rule_id", STRING, "Rule of the knowledge base", nullable=False),
        Column("predicted", LONG, "Clients that it was found for, and decided on", nullable=False),
        Column("happened", LONG, "Of these, what it says came about", nullable=False),
        Column("did_not_happen", LONG, "Of these, it did not", nullable=False),
        Column(
            "not_triggered",
            LONG,
            "Of these, latent and still waiting: neither right nor wrong",
            nullable=False,
        ),
        Column("cannot_tell", LONG, "Of these, gone, changed, failing before, or not tested", nullable=False),
        Column(
            "missed",
            LONG,
            "Clients that failed unexpectedly in what the rule is about (its API was refused, or they cannot log in), and that it was "
            "not found for",
            nullable=False,
        ),
        Column("reviewed_at", TIMESTAMP, PROCESSING_TIME + "when the review was made", nullable=False),
    ),
    key=("cluster_id", "review_id", "rule_id"),
    partition=("cluster_id", "review_id"),
)
