"""What must hold for verdicts."""

from client_telemetry.compatibility.verdict import STEPS
from client_telemetry.expectations.suite import RowRule, SliceRule, Suite
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
            "the verdict is a word of the vocabulary",
        ),
        RowRule(
            "confidence_is_known",
            "confidence in ('observed', 'declared', 'inferred', 'none')",
            "critical",
            "the confidence is a word of the vocabulary",
        ),
        RowRule(
            "no_verdict_without_evidence",
            "verdict = 'insufficient_evidence' or confidence <> 'none' or {dropped_apis} = 0",
            "critical",
            "another verdict than insufficient_evidence has evidence, unless the target takes nothing away",
        ),
        RowRule(
            "breaking_says_when",
            "verdict <> 'breaks' or `when` in ('at_once', 'latent')",
            "critical",
            "what breaks does so at once or at a trigger",
        ),
        RowRule("reason_is_told", "explanation <> ''", "critical", "every verdict has its reason in words"),
        RowRule(
            "outlooks_are_known",
            f"mixed_verdict in ({_WORDS}) and (rollback_verdict is null or rollback_verdict in ({_WORDS}))",
            "critical",
            "the verdicts of the mixed window and of the way back are words of the vocabulary",
        ),
        RowRule(
            "outlooks_are_told",
            "mixed_explanation <> '' and (rollback_verdict is null) = (coalesce(rollback_explanation, '') = '')",
            "critical",
            "the mixed window and the way back have their reasons in words",
        ),
        RowRule(
            "works_again_was_failing",
            "already_failing or not works_again",
            "critical",
            "what works again was failing before",
        ),
        RowRule(
            "steps_are_known",
            f"forall(steps, s -> s.step in ({_STEPS}) and s.verdict in ({_WORDS}) and s.explanation <> '')",
            "critical",
            "steps and their verdicts are words of the vocabulary, with their reasons",
        ),
        RowRule(
            "other_targets_differ",
            "not exists(other_targets, t -> t.verdict = verdict and t.when <=> `when`)",
            "critical",
            "a release is listed where it makes a difference",
        ),
        RowRule(
            "missing_evidence_is_told",
            "verdict <> 'insufficient_evidence' or size(missing) > 0",
            "warning",
            "insufficient evidence says what is missing",
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
