"""What must hold for verdicts."""

from client_telemetry.expectations.suite import RowRule, SliceRule, Suite, every
from client_telemetry.knowledge.vocabulary import STEPS
from client_telemetry.tables.upgrade_verdicts import UPGRADE_VERDICTS, VERDICTS

_STEPS = ", ".join(f"'{step}'" for step in STEPS)
_WORDS = ", ".join(f"'{verdict}'" for verdict in VERDICTS)

SUITE = Suite(
    UPGRADE_VERDICTS,
    (
        RowRule(
            "verdict_is_known",
            f"verdict in ({_WORDS})",
            "critical",
            "the verdict is a value of the vocabulary",
        ),
        RowRule(
            "confidence_is_known",
            "confidence in ('observed', 'declared', 'inferred', 'none')",
            "critical",
            "the confidence is a value of the vocabulary",
        ),
        RowRule(
            "no_verdict_without_evidence",
            "verdict = 'insufficient_evidence' or confidence <> 'none' or {dropped_apis} = 0",
            "critical",
            "verdicts other than insufficient_evidence have evidence, unless the target removes nothing",
        ),
        RowRule(
            "breaking_says_when",
            "verdict <> 'breaks' or `when` in ('at_once', 'latent')",
            "critical",
            "a client that breaks does so at once or when triggered",
        ),
        RowRule(
            "explanation_is_present", "explanation <> ''", "critical", "every verdict has an explanation"
        ),
        RowRule(
            "outlooks_are_known",
            f"mixed_verdict in ({_WORDS}) and (rollback_verdict is null or rollback_verdict in ({_WORDS}))",
            "critical",
            "the verdicts for the mixed window and the rollback are values of the vocabulary",
        ),
        RowRule(
            "rollback_and_mixed_window_are_explained",
            "mixed_explanation <> '' and (rollback_verdict is null) = (coalesce(rollback_explanation, '') = '')",
            "critical",
            "the verdicts for the mixed window and the rollback have explanations",
        ),
        RowRule(
            "works_again_was_failing",
            "already_failing or not works_again",
            "critical",
            "a client that works again was failing before",
        ),
        RowRule(
            "steps_are_known",
            every("steps", "s", f"s.step in ({_STEPS}) and s.verdict in ({_WORDS}) and s.explanation <> ''"),
            "critical",
            "steps and their verdicts are values of the vocabulary, with explanations",
        ),
        RowRule(
            "other_targets_differ",
            every("other_targets", "t", "t.verdict <> verdict or not t.when <=> `when`"),
            "critical",
            "a release is listed only if it makes a difference",
        ),
        RowRule(
            "missing_evidence_is_listed",
            "verdict <> 'insufficient_evidence' or size(missing) > 0",
            "warning",
            "insufficient_evidence says what is missing",
        ),
        SliceRule(
            "every_client_is_judged",
            "count(*) - {clients}",
            "critical",
            "one verdict for every client that was seen",
            minimum=0,
            maximum=0,
        ),
    ),
)
