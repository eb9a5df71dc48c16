"""The verdict for each client of an upgrade question."""

from client_telemetry.knowledge.vocabulary import STEPS, Verdict
from client_telemetry.tables import rows
from client_telemetry.tables.clients import APPLICATION, CLIENT_KEY, PROGRAM
from client_telemetry.tables.suite import WARNING, every, is_one_of, row_count_is, rows_satisfy
from client_telemetry.tables.table import (
    BOOLEAN,
    CLIENT,
    CLUSTER_ID,
    INTS,
    LONG,
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

VERDICTS: dict[str, str] = {
    Verdict.BREAKS: "the client's main job stops",
    Verdict.INSUFFICIENT_EVIDENCE: "nothing known breaks, but not enough is known to call the client safe",
    Verdict.DEGRADES: "the client keeps doing its main job but loses a function",
    Verdict.UNSUPPORTED: "works, but Kafka no longer supports this client version",
    Verdict.SAFE: "every API that its role needs was observed or is declared, and the target accepts it",
}
"""In order of precedence."""

_STEPS = listed(STEPS)
_WORDS = listed(VERDICTS)

UPGRADE_VERDICTS: "Table[rows.UpgradeVerdictRow]" = Table(
    name="upgrade_verdicts",
    comment="One row per upgrade question and client: the verdict.",
    columns=(
        CLUSTER_ID,
        required("report_id", STRING, "Id of the question"),
        *CLIENT,
        *SOFTWARE,
        PROGRAM,
        required("verdict", STRING, "; ".join(f"`{k}`: {v}" for k, v in VERDICTS.items())),
        required("confidence", STRING, "observed, declared, inferred or none"),
        Column("when", STRING, "at_once, or latent (later, when triggered); null if nothing happens"),
        required("roles", STRINGS, "What the client does, inferred from its requests, sorted"),
        required("explanation", STRING, "The reason in one sentence"),
        Column("fix", STRING, "What to change; null if there is nothing to do"),
        required("missing", STRINGS, "What is not known and what would settle it"),
        Column(
            "identified_as", STRING, "Library and version, resolved from the declared name; null = unknown"
        ),
        Column(
            "condition",
            STRING,
            "What the verdict depends on that the evidence cannot show, and what would settle it; null = nothing",
        ),
        required(
            "already_failing",
            BOOLEAN,
            "The client's main job is already refused, or it cannot log in, on the from-release",
        ),
        required("works_again", BOOLEAN, "The client already fails, and the target release accepts it again"),
        required(
            "as_before",
            BOOLEAN,
            "The verdict is based only on problems that the client already has on the from-release, such as an offset reset "
            "that both releases refuse",
        ),
        required(
            "steps",
            ArrayType(struct("when", step=STRING, verdict=STRING, when=STRING, explanation=STRING)),
            "What happens at each step of the change: `rolling` (brokers of both releases), `not_finalized` (all on the new "
            "release with the feature levels of the old one), `finalized` (with the newest levels of the new release), "
            "`rollback_before_finalization`, `rollback_after_finalization`. The verdict of the row is the most serious one "
            "of `not_finalized` and `finalized`. Empty if the question itself is about an older release",
        ),
        Column(
            "rollback_verdict",
            STRING,
            "Verdict for a rollback of the brokers to the from-release after the upgrade; null "
            "if the question itself is about an older release: the verdict is then that of the rollback",
        ),
        Column(
            "rollback_explanation", STRING, "The reason in one sentence; null if rollback_verdict is null"
        ),
        required("mixed_verdict", STRING, "Verdict for the time in which brokers run both releases"),
        required("mixed_explanation", STRING, "The reason in one sentence"),
        required(
            "other_targets",
            ArrayType(struct("when", to_release=STRING, verdict=STRING, when=STRING, reason=STRING)),
            "The compared releases (upgrade_reports.targets) on which verdict or `when` differs, oldest first, with "
            "the requests or the rule that make the difference",
        ),
        Column("owner", STRING, "Owner of the client; null = no rule matches"),
        Column("owner_contact", STRING, "How to reach the owner"),
        *APPLICATION,
        required("connections", LONG, "Connections used as evidence"),
        required("requests", LONG, "Requests used as evidence"),
        required(
            "broker_ids",
            INTS,
            "Brokers that saw connections of the client, sorted; empty if only its pushes were seen",
        ),
        required("first_seen_at", TIMESTAMP, "First evidence used"),
        required("last_seen_at", TIMESTAMP, "Last evidence used"),
        required(
            "well_observed",
            BOOLEAN,
            "Whether each of its roles was seen long enough for its rhythm (docs/decisions/0021-well-observed.md)",
        ),
    ),
    key=("cluster_id", "report_id", *CLIENT_KEY, PROGRAM.name),
    partition=("cluster_id", "report_id"),
    expectations=lambda: {
        "verdict_is_known": is_one_of("verdict", VERDICTS, "the verdict is a value of the vocabulary"),
        "confidence_is_known": is_one_of(
            "confidence",
            ("observed", "declared", "inferred", "none"),
            "the confidence is a value of the vocabulary",
        ),
        "no_verdict_without_evidence": rows_satisfy(
            "verdict = 'insufficient_evidence' or confidence <> 'none' or {dropped_apis} = 0",
            "verdicts other than insufficient_evidence have evidence, unless the target removes nothing",
        ),
        "breaking_says_when": rows_satisfy(
            "verdict <> 'breaks' or `when` in ('at_once', 'latent')",
            "a client that breaks does so at once or when triggered",
        ),
        "explanation_is_present": rows_satisfy("explanation <> ''", "every verdict has an explanation"),
        "outlooks_are_known": rows_satisfy(
            f"mixed_verdict in ({_WORDS}) and (rollback_verdict is null or rollback_verdict in ({_WORDS}))",
            "the verdicts for the mixed window and the rollback are values of the vocabulary",
        ),
        "rollback_and_mixed_window_are_explained": rows_satisfy(
            "mixed_explanation <> '' and (rollback_verdict is null) = (coalesce(rollback_explanation, '') = '')",
            "the verdicts for the mixed window and the rollback have explanations",
        ),
        "works_again_was_failing": rows_satisfy(
            "already_failing or not works_again", "a client that works again was failing before"
        ),
        "steps_are_known": rows_satisfy(
            every("steps", "s", f"s.step in ({_STEPS}) and s.verdict in ({_WORDS}) and s.explanation <> ''"),
            "steps and their verdicts are values of the vocabulary, with explanations",
        ),
        "other_targets_differ": rows_satisfy(
            every("other_targets", "t", "t.verdict <> verdict or not t.when <=> `when`"),
            "a release is listed only if it makes a difference",
        ),
        "missing_evidence_is_listed": rows_satisfy(
            "verdict <> 'insufficient_evidence' or size(missing) > 0",
            "insufficient_evidence says what is missing",
            severity=WARNING,
        ),
        "every_client_is_judged": row_count_is("clients", "one verdict for every client that was seen"),
    },
)
