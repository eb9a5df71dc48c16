"""The reasons behind the verdicts."""

from client_telemetry.tables.clients import CLIENT_KEY, PROGRAM
from client_telemetry.tables.table import (
    CLIENT,
    CLUSTER_ID,
    INT,
    INTS,
    LONG,
    SOFTWARE,
    STRING,
    STRINGS,
    TIMESTAMP,
    ArrayType,
    Column,
    Table,
)

UPGRADE_FINDINGS = Table(
    name="upgrade_findings",
    comment="One row per upgrade question, client, rule and API: one reason, with its evidence and source.",
    columns=(
        CLUSTER_ID,
        Column("report_id", STRING, "Of the question", nullable=False),
        *CLIENT,
        *SOFTWARE,
        PROGRAM,
        Column(
            "finding",
            INT,
            "Place of the finding among those of the client, most serious first",
            nullable=False,
        ),
        Column("rule_id", STRING, "Rule of the knowledge base", nullable=False),
        Column("verdict", STRING, "What the finding alone would conclude", nullable=False),
        Column("confidence", STRING, "observed, declared or inferred", nullable=False),
        Column("when", STRING, "at_once or latent; null where nothing happens"),
        Column("trigger", STRING, "What sets a latent finding off"),
        Column("condition", STRING, "What must hold besides, if anything"),
        Column("condition_met", STRING, "yes, no, unknown; null = no condition"),
        Column("settled_by", STRING, "What would show whether the condition is met; null = nothing is open"),
        Column("api_key", INT, "API concerned; null = none"),
        Column("api_name", STRING, "Its name"),
        Column("versions", STRING, "Versions seen or declared"),
        Column(
            "requests",
            LONG,
            "Requests with these versions that were answered; where none was, those that were refused; null = not observed",
        ),
        Column("first_seen_at", TIMESTAMP, "First of them"),
        Column("last_seen_at", TIMESTAMP, "Last of them"),
        Column("broker_ids", INTS, "Brokers that saw them, sorted", nullable=False),
        Column(
            "source_objects",
            STRINGS,
            "Raw objects with records that show them, the latest of each version, sorted, at most 16",
            nullable=False,
        ),
        Column(
            "source_sequences",
            ArrayType(LONG),
            "For each of source_objects the sequence of the record in it, which `client-telemetry show-record` "
            "prints",
            nullable=False,
        ),
        Column("explanation", STRING, "The reason in plain words", nullable=False),
        Column("fix", STRING, "What to change"),
        Column("source", STRING, "Where the rule comes from", nullable=False),
    ),
    key=("cluster_id", "report_id", *CLIENT_KEY, PROGRAM.name, "finding"),
    partition=("cluster_id", "report_id"),
)
