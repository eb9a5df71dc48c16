"""What must hold for outcomes."""

from client_telemetry.expectations.suite import RowRule, SliceRule, Suite
from client_telemetry.tables.upgrade_outcomes import OUTCOMES, PHASES, UPGRADE_OUTCOMES


def _words(words: tuple[str, ...]) -> str:
    return ", ".join(f"'{word}'" for word in words)


FAILURES = ("refused", "authentication_failed", "silent_function", "stuck", "partly")

SUITE = Suite(
    UPGRADE_OUTCOMES,
    (
        RowRule(
            "outcome_is_known",
            f"outcome in ({_words(tuple(OUTCOMES))})",
            "critical",
            "the outcome is a word of the vocabulary",
        ),
        RowRule(
            "phase_is_known",
            f"phase in ({_words(PHASES)})",
            "critical",
            "the phase is a word of the vocabulary",
        ),
        RowRule(
            "failing_says_how_and_since_when",
            f"outcome <> 'failing' or (coalesce(kind, '') in ({_words(FAILURES)}) and since is not null)",
            "critical",
            "what fails does so in a known way since a known time",
        ),
        RowRule(
            "gone_says_how",
            "outcome <> 'gone_or_locked_out' or coalesce(kind, '') in ('left_group', 'failed_logins', 'silent')",
            "critical",
            "what is gone says what its going looked like",
        ),
        RowRule(
            "harm_has_its_evidence",
            "outcome not in ('failing', 'failing_before', 'gone_or_locked_out') or size(reasons) > 0",
            "critical",
            "harm has what the brokers recorded of it",
        ),
        RowRule(
            "confidence_is_known",
            "confidence in ('certain', 'likely', 'possible')",
            "critical",
            "the confidence is a word of the vocabulary",
        ),
        RowRule(
            "comparison_is_known",
            "comparison in ('happened', 'did_not_happen', 'unexpected', 'as_predicted', 'not_triggered', "
            "'fixed_meanwhile', 'cannot_tell', 'not_counted')",
            "critical",
            "the comparison is a word of the vocabulary",
        ),
        RowRule(
            "safe_is_not_said_to_have_happened",
            "comparison <> 'as_predicted' or outcome <> 'failing'",
            "critical",
            "a client that fails is not as predicted safe",
        ),
        RowRule(
            "phase_ends_after_it_begins",
            "phase_until >= phase_from",
            "critical",
            "a phase ends after it begins",
        ),
        SliceRule(
            "every_client_is_reviewed",
            "count(*) - {clients} * {phases}",
            "critical",
            "one row for every client and phase",
            minimum=0,
            maximum=0,
        ),
    ),
)
