"""What an upgrade did to each client."""

from typing import TYPE_CHECKING

from client_telemetry.tables.suite import Expectations, Suite
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
    struct,
)

if TYPE_CHECKING:
    from client_telemetry.tables.rows import UpgradeOutcomeRow

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

UPGRADE_OUTCOMES: "Table[UpgradeOutcomeRow]" = Table(
    name="upgrade_outcomes",
    comment="One row per review of an upgrade, client and phase: what was predicted and what happened.",
    columns=(
        CLUSTER_ID,
        Column("review_id", STRING, "Id of the review; a re-run replaces its rows", nullable=False),
        Column("from_release", STRING, "Exact release before", nullable=False),
        Column("to_release", STRING, "Exact release after", nullable=False),
        Column(
            "report_id", STRING, "Upgrade report that it is compared with; null = predicted for the review"
        ),
        *CLIENT,
        *SOFTWARE,
        Column("addresses", STRINGS, "Addresses from which it was seen, sorted", nullable=False),
        Column("phase", STRING, f"One of {', '.join(PHASES)}", nullable=False),
        Column("phase_from", TIMESTAMP, "When the phase began", nullable=False),
        Column("phase_until", TIMESTAMP, "End of the phase, or of the records", nullable=False),
        Column("predicted", STRING, "Verdict for the phase; null = the client did not exist before"),
        Column("predicted_when", STRING, "at_once or latent; null if nothing was predicted"),
        Column("rules", STRINGS, "Rules that decided the prediction, sorted", nullable=False),
        Column("outcome", STRING, "; ".join(f"`{k}`: {v}" for k, v in OUTCOMES.items()), nullable=False),
        Column(
            "kind",
            STRING,
            "failing and failing_before: refused, authentication_failed, silent_function, stuck, partly; gone: left_group, "
            "failed_logins, silent; changed: fixed; unaffected: works_again, or null",
        ),
        Column("since", TIMESTAMP, "When the outcome began; null if nothing changed"),
        Column("confidence", STRING, "certain, likely or possible", nullable=False),
        Column(
            "comparison",
            STRING,
            "Over all phases: happened, did_not_happen, unexpected, as_predicted, not_triggered, fixed_meanwhile, "
            "cannot_tell, not_counted",
            nullable=False,
        ),
        Column("lost_functions", STRINGS, "Functions that stopped", nullable=False),
        Column(
            "api_keys", INTS, "APIs that were refused or answered only with errors, sorted", nullable=False
        ),
        Column(
            "api_names",
            STRINGS,
            "Names of api_keys, in their order; null = written before there was this column",
        ),
        Column("reasons", STRINGS, "What the brokers recorded, in sentences", nullable=False),
        Column(
            "rates",
            ArrayType(struct("before", "after", function=STRING, before=DOUBLE, after=DOUBLE)),
            "Answered requests per minute, before and during the phase",
            nullable=False,
        ),
        Column("fix", STRING, "What to change, as predicted; null = nothing"),
        Column("owner", STRING, "Owner of the client; null = no rule matches"),
        Column("owner_contact", STRING, "How to reach the owner"),
        Column("reviewed_at", TIMESTAMP, PROCESSING_TIME + "when the review was made", nullable=False),
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
)


FAILURES = ("refused", "authentication_failed", "silent_function", "stuck", "partly")


def _expectations() -> Expectations:
    from client_telemetry.tables.expectations import ExpectAggregateToBeBetween, ExpectRowsToSatisfy

    return {
        "outcome_is_known": ExpectRowsToSatisfy(
            condition=f"outcome in ({listed(tuple(OUTCOMES))})",
            description="the outcome is a value of the vocabulary",
        ),
        "phase_is_known": ExpectRowsToSatisfy(
            condition=f"phase in ({listed(PHASES)})", description="the phase is a value of the vocabulary"
        ),
        "failing_says_how_and_since_when": ExpectRowsToSatisfy(
            condition=f"outcome <> 'failing' or (coalesce(kind, '') in ({listed(FAILURES)}) and since is not null)",
            description="a failing client has a kind and a start time",
        ),
        "gone_says_how": ExpectRowsToSatisfy(
            condition="outcome <> 'gone_or_locked_out' or coalesce(kind, '') in ('left_group', 'failed_logins', 'silent')",
            description="a client that is gone has a kind",
        ),
        "harm_has_its_evidence": ExpectRowsToSatisfy(
            condition="outcome not in ('failing', 'failing_before', 'gone_or_locked_out') or size(reasons) > 0",
            description="a harmful outcome has the brokers' records as reasons",
        ),
        "confidence_is_known": ExpectRowsToSatisfy(
            condition="confidence in ('certain', 'likely', 'possible')",
            description="the confidence is a value of the vocabulary",
        ),
        "comparison_is_known": ExpectRowsToSatisfy(
            condition=(
                "comparison in ('happened', 'did_not_happen', 'unexpected', 'as_predicted', 'not_triggered', "
                "'fixed_meanwhile', 'cannot_tell', 'not_counted')"
            ),
            description="the comparison is a value of the vocabulary",
        ),
        "safe_is_not_said_to_have_happened": ExpectRowsToSatisfy(
            condition="comparison <> 'as_predicted' or outcome <> 'failing'",
            description="a failing client does not count as correctly predicted safe",
        ),
        "phase_ends_after_it_begins": ExpectRowsToSatisfy(
            condition="phase_until >= phase_from", description="a phase ends after it begins"
        ),
        "every_client_is_reviewed": ExpectAggregateToBeBetween(
            aggregate="count(*) - {clients} * {phases}",
            min_value=0,
            max_value=0,
            description="one row for every client and phase",
        ),
    }


SUITE = Suite(UPGRADE_OUTCOMES, _expectations)
