"""What an upgrade did to each client."""

from client_telemetry.tables import rows
from client_telemetry.tables.suite import is_one_of, is_zero, rows_satisfy
from client_telemetry.tables.table import (
    CLIENT,
    CLUSTER_ID,
    DOUBLE,
    INTS,
    PROCESSING_TIME,
    SOFTWARE,
    STRING,
    STRINGS,
    TIMESTAMP,
    ArrayType,
    Column,
    Table,
    listed,
    required,
    struct,
)

OUTCOMES = {
    "failing": "does not do its work, or part of it",
    "gone_or_locked_out": "seen before, silent since",
    "failing_before": "failed before the first broker changed",
    "changed": "runs a different version or library than before",
    "not_tested": "no upgraded broker has answered it yet",
    "not_seen": "not seen, but its silence is not yet unusual",
    "new": "nothing from before the roll to compare with",
    "unaffected": "works as before",
}
PHASES = ("rolling", "not_finalized", "finalized", "rolled_back")

FAILURES = ("refused", "authentication_failed", "silent_function", "stuck", "partly")

UPGRADE_OUTCOMES: "Table[rows.UpgradeOutcomeRow]" = Table(
    name="upgrade_outcomes",
    comment="One row per review of an upgrade, client and phase: what was predicted and what happened.",
    columns=(
        CLUSTER_ID,
        required("review_id", STRING, "Id of the review; a re-run replaces its rows"),
        required("from_release", STRING, "Exact release before"),
        required("to_release", STRING, "Exact release after"),
        Column(
            "report_id", STRING, "Upgrade report that it is compared with; null = predicted for the review"
        ),
        *CLIENT,
        *SOFTWARE,
        required("addresses", STRINGS, "Addresses from which it was seen, sorted"),
        required("phase", STRING, f"One of {', '.join(PHASES)}"),
        required("phase_from", TIMESTAMP, "When the phase began"),
        required("phase_until", TIMESTAMP, "End of the phase, or of the records"),
        Column("predicted", STRING, "Verdict for the phase; null = the client did not exist before"),
        Column("predicted_when", STRING, "at_once or latent; null if nothing was predicted"),
        required("rules", STRINGS, "Rules that decided the prediction, sorted"),
        required("outcome", STRING, "; ".join(f"`{k}`: {v}" for k, v in OUTCOMES.items())),
        Column(
            "kind",
            STRING,
            "failing and failing_before: refused, authentication_failed, silent_function, stuck, partly; gone: left_group, "
            "failed_logins, silent; changed: fixed; unaffected: works_again, or null",
        ),
        Column("since", TIMESTAMP, "When the outcome began; null if nothing changed"),
        required("confidence", STRING, "certain, likely or possible"),
        required(
            "comparison",
            STRING,
            "Over all phases: happened, did_not_happen, unexpected, as_predicted, not_triggered, fixed_meanwhile, "
            "cannot_tell, not_counted",
        ),
        required("lost_functions", STRINGS, "Functions that stopped"),
        required("api_keys", INTS, "APIs that were refused or answered only with errors, sorted"),
        Column(
            "api_names",
            STRINGS,
            "Names of api_keys, in their order; null = written before there was this column",
        ),
        required("reasons", STRINGS, "What the brokers recorded, in sentences"),
        required(
            "rates",
            ArrayType(struct("before", "after", function=STRING, before=DOUBLE, after=DOUBLE)),
            "Answered requests per minute, before and during the phase",
        ),
        Column("fix", STRING, "What to change, as predicted; null = nothing"),
        Column("owner", STRING, "Owner of the client; null = no rule matches"),
        Column("owner_contact", STRING, "How to reach the owner"),
        required("reviewed_at", TIMESTAMP, PROCESSING_TIME + "when the review was made"),
    ),
    key=(
        "cluster_id",
        "review_id",
        "client_id",
        "principal",
        "client_software_name",
        "phase",
    ),
    partition=("cluster_id", "review_id"),
    expectations=lambda: {
        "outcome_is_known": is_one_of("outcome", OUTCOMES, "the outcome is a value of the vocabulary"),
        "phase_is_known": is_one_of("phase", PHASES, "the phase is a value of the vocabulary"),
        "failing_says_how_and_since_when": rows_satisfy(
            f"outcome <> 'failing' or (coalesce(kind, '') in ({listed(FAILURES)}) and since is not null)",
            "a failing client has a kind and a start time",
        ),
        "gone_says_how": rows_satisfy(
            "outcome <> 'gone_or_locked_out' or coalesce(kind, '') in ('left_group', 'failed_logins', 'silent')",
            "a client that is gone has a kind",
        ),
        "harm_has_its_evidence": rows_satisfy(
            "outcome not in ('failing', 'failing_before', 'gone_or_locked_out') or size(reasons) > 0",
            "a harmful outcome has the brokers' records as reasons",
        ),
        "confidence_is_known": is_one_of(
            "confidence", ("certain", "likely", "possible"), "the confidence is a value of the vocabulary"
        ),
        "comparison_is_known": rows_satisfy(
            "comparison in ('happened', 'did_not_happen', 'unexpected', 'as_predicted', 'not_triggered', "
            "'fixed_meanwhile', 'cannot_tell', 'not_counted')",
            "the comparison is a value of the vocabulary",
        ),
        "safe_is_not_said_to_have_happened": rows_satisfy(
            "comparison <> 'as_predicted' or outcome <> 'failing'",
            "a failing client does not count as correctly predicted safe",
        ),
        "phase_ends_after_it_begins": rows_satisfy(
            "phase_until >= phase_from", "a phase ends after it begins"
        ),
        "every_client_is_reviewed": is_zero(
            "count(*) - {clients} * {phases}",
            "one row for every client and phase",
        ),
    },
)
