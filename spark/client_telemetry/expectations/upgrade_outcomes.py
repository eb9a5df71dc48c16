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
            "the outcome is a value of the vocabulary",
        ),
        RowRule(
            "phase_is_known",
            f"phase in ({_words(PHASES)})",
            "critical",
            "the phase is a value of the vocabulary",
        ),
        RowRule(
            "failing_says_how_and_since_when",
            f"outcome <> 'failing' or (coalesce(kind, '') in ({_words(FAILURES)}) and since is not null)",
            "critical",
            "a failing client has a kind and a start time",
        ),
        RowRule(
            "gone_says_how",
            "outcome <> 'gone_or_locked_out' or coalesce(kind, '') in ('left_group', 'failed_logins', 'silent')",
            "critical",
            "a client that is gone has a kind",
        ),
        RowRule(
            "harm_has_its_evidence",
            "outcome not in ('failing', 'failing_before', 'gone_or_locked_out') or size(reasons) > 0",
            "critical",
            "a harmful outcome has the brokers' records as reasons",
        ),
        RowRule(
            "confidence_is_known",
            "confidence in ('certain', 'likely', 'possible')",
            "critical",
            "the confidence is a value of the vocabulary",
        ),
        RowRule(
            "comparison_is_known",
            "comparison in ('happened', 'did_not_happen', 'unexpected', 'as_predicted', 'not_triggered', "
            "'fixed_meanwhile', 'cannot_tell', 'not_counted')",
            "critical",
            "the comparison is a value of the vocabulary",
        ),
        RowRule(
            "safe_is_not_said_to_have_happened",
            "comparison <> 'as_predicted' or outcome <> 'failing'",
            "critical",
            "a failing client does not count as correctly predicted safe",
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
