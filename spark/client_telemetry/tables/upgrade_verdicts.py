"""The conclusion for each client of an upgrade question."""

from client_telemetry.tables.clients import APPLICATION, CLIENT_KEY, PROGRAM
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
    struct,
)

VERDICTS = {
    "breaks": "what the client exists for stops",
    "insufficient_evidence": "nothing breaks by what is known, and not enough is known to call it safe",
    "degrades": "keeps its main job and loses a function",
    "unsupported": "works on the wire, documented as unsupported",
    "safe": "every API that its role needs was observed or is declared, and the target serves it",
}
"""In order of precedence."""

UPGRADE_VERDICTS = Table(
    name="upgrade_verdicts",
    comment="One row per upgrade question and client: the verdict.",
    columns=(
        CLUSTER_ID,
        Column("report_id", STRING, "Of the question", nullable=False),
        *CLIENT,
        *SOFTWARE,
        PROGRAM,
        Column("verdict", STRING, "; ".join(f"`{k}`: {v}" for k, v in VERDICTS.items()), nullable=False),
        Column("confidence", STRING, "observed, declared, inferred or none", nullable=False),
        Column("when", STRING, "at_once, or latent (later, at a trigger); null where nothing happens"),
        Column("roles", STRINGS, "What the client does, from the requests seen, sorted", nullable=False),
        Column("explanation", STRING, "One sentence for a person", nullable=False),
        Column("fix", STRING, "What to change; null where nothing is to be done"),
        Column("missing", STRINGS, "What is not known, and what would settle it", nullable=False),
        Column(
            "identified_as", STRING, "Library and version, as resolved from the declared name; null = unknown"
        ),
        Column(
            "condition",
            STRING,
            "What the verdict depends on that the evidence cannot show, and what would settle it; null = nothing",
        ),
        Column(
            "already_failing",
            BOOLEAN,
            "What the client exists for is refused, or it cannot log in, on the from-release already",
            nullable=False,
        ),
        Column(
            "works_again",
            BOOLEAN,
            "It is already failing, and the release that was asked about serves it again",
            nullable=False,
        ),
        Column(
            "as_before",
            BOOLEAN,
            "The verdict rests on nothing but what waits for the client on the from-release too, as an offset reset that "
            "both releases refuse",
            nullable=False,
        ),
        Column(
            "steps",
            ArrayType(struct(step=STRING, verdict=STRING, when=STRING, explanation=STRING)),
            "What happens at each step of the change: `rolling` (brokers of both releases), `not_finalized` (all on the new "
            "release with the feature levels of the old one), `finalized` (with its own newest levels), "
            "`rollback_before_finalization`, `rollback_after_finalization`. The verdict of the row is the most serious one "
            "of `not_finalized` and `finalized`. Empty where the question is itself about an older release",
            nullable=False,
        ),
        Column(
            "rollback_verdict",
            STRING,
            "What becomes of the client when the brokers return to the from-release after the upgrade, a verdict; null "
            "where the question is itself about an older release: then the verdict is that of the way back",
        ),
        Column("rollback_explanation", STRING, "Why, in a sentence; null as rollback_verdict"),
        Column(
            "mixed_verdict",
            STRING,
            "What becomes of the client while some brokers run one release and some the other, a verdict",
            nullable=False,
        ),
        Column("mixed_explanation", STRING, "Why, in a sentence", nullable=False),
        Column(
            "other_targets",
            ArrayType(struct(to_release=STRING, verdict=STRING, when=STRING, reason=STRING)),
            "The compared releases (upgrade_reports.targets) on which verdict or when is another, oldest first, with "
            "the requests or the rule that make the difference",
            nullable=False,
        ),
        Column("owner", STRING, "Owner of the client; null = no rule matches"),
        Column("owner_contact", STRING, "How to reach the owner"),
        *APPLICATION,
        Column("connections", LONG, "Connections that are evidence", nullable=False),
        Column("requests", LONG, "Requests that are evidence", nullable=False),
        Column(
            "broker_ids",
            INTS,
            "Brokers that saw connections of the client, sorted; empty if only its pushes were seen",
            nullable=False,
        ),
        Column("first_seen_at", TIMESTAMP, "First evidence used", nullable=False),
        Column("last_seen_at", TIMESTAMP, "Last evidence used", nullable=False),
        Column(
            "well_observed",
            BOOLEAN,
            "Whether each of its roles was seen for long enough by its own rhythm (docs/decisions/0021-well-observed.md)",
            nullable=False,
        ),
    ),
    key=("cluster_id", "report_id", *CLIENT_KEY, PROGRAM.name),
    partition=("cluster_id", "report_id"),
)
