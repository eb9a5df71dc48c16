"""The reasons behind the verdicts."""

from client_telemetry.tables import rows
from client_telemetry.tables.clients import CLIENT_KEY, PROGRAM
from client_telemetry.tables.suite import WARNING, is_one_of, rows_satisfy
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
    required,
)
from client_telemetry.tables.upgrade_verdicts import VERDICTS

UPGRADE_FINDINGS: "Table[rows.UpgradeFindingRow]" = Table(
    name="upgrade_findings",
    comment="One row per upgrade question, client, rule and API: one reason, with its evidence and source.",
    columns=(
        CLUSTER_ID,
        required("report_id", STRING, "Id of the question"),
        *CLIENT,
        *SOFTWARE,
        PROGRAM,
        required("finding", INT, "Index of the finding among those of the client, most serious first"),
        required("rule_id", STRING, "Rule of the knowledge base"),
        required("verdict", STRING, "Verdict of the finding alone"),
        required("confidence", STRING, "observed, declared or inferred"),
        Column("when", STRING, "at_once or latent; null if nothing happens"),
        Column("trigger", STRING, "What triggers a latent finding"),
        Column("condition", STRING, "Additional condition, if any"),
        Column("condition_met", STRING, "yes, no, unknown; null = no condition"),
        Column("settled_by", STRING, "What would show whether the condition is met; null = this is known"),
        Column("api_key", INT, "API concerned; null = none"),
        Column("api_name", STRING, "Name of the API"),
        Column("versions", STRING, "Versions seen or declared"),
        Column(
            "requests",
            LONG,
            "Answered requests with these versions; if there are none, the refused ones; null = not observed",
        ),
        Column("first_seen_at", TIMESTAMP, "First of these requests"),
        Column("last_seen_at", TIMESTAMP, "Last of these requests"),
        required("broker_ids", INTS, "Brokers that saw these requests, sorted"),
        required(
            "source_objects",
            STRINGS,
            "Raw objects with records that show these requests, the latest per version, sorted, at most 16",
        ),
        required(
            "source_sequences",
            ArrayType(LONG),
            "For each entry of source_objects, the sequence of the record; `client-telemetry show-record` prints the "
            "record",
        ),
        required("explanation", STRING, "The reason in words"),
        Column("fix", STRING, "What to change"),
        required("source", STRING, "Where the rule comes from"),
    ),
    key=("cluster_id", "report_id", *CLIENT_KEY, PROGRAM.name, "finding"),
    partition=("cluster_id", "report_id"),
    expectations=lambda: {
        "verdict_is_known": is_one_of("verdict", VERDICTS, "the verdict is a value of the vocabulary"),
        "rule_has_a_source": rows_satisfy("source <> ''", "every finding has the source of its rule"),
        "explanation_is_present": rows_satisfy("explanation <> ''", "every finding has an explanation"),
        "observed_means_requests": rows_satisfy(
            "confidence <> 'observed' or requests > 0", "an observed finding has requests"
        ),
        "condition_is_settled_or_not": rows_satisfy(
            "(condition is null) = (condition_met is null)",
            "a condition is met, not met or unknown; without a condition, none of these is set",
        ),
        "records_have_a_sequence": rows_satisfy(
            "size(source_objects) = size(source_sequences)",
            "each raw object has the sequence of a record in it",
        ),
        "observed_cites_its_source": rows_satisfy(
            "confidence <> 'observed' or size(source_objects) > 0",
            "an observed finding lists the raw objects with the requests",
            severity=WARNING,
        ),
    },
)
