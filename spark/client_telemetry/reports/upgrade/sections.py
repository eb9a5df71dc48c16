"""The lists of a report, the same in every format: which applications stand in each, under which heading. A list without
applications is left out everywhere."""

from collections.abc import Callable, Sequence

from client_telemetry.reports.outcomes import OUTCOMES
from client_telemetry.reports.upgrade.model import Application, Section
from client_telemetry.reports.upgrade.questions import own_gaps, owner_questions

BREAKS = ("breaks_at_once", "breaks_latent")

_LISTS: tuple[tuple[str, str, Callable[[Application], bool]], ...] = (
    ("must-act", "Action required", lambda each: each.outcome in BREAKS),
    ("unidentified", "Unidentified clients", lambda each: any(c.is_unidentified for c in each.clients)),
    ("already_failing", "Already failing", lambda each: each.already_failing),
    ("works_again", "Works again", lambda each: each.works_again),
    *(
        (outcome, OUTCOMES[outcome].capitalize(), lambda each, outcome=outcome: each.outcome == outcome)
        for outcome in ("insufficient_evidence", "degrades", "unsupported")
    ),
    (
        "open_questions",
        "Safe, with an open question",
        lambda each: each.outcome == "safe" and bool(own_gaps(each)),
    ),
    ("safe", "Safe and safe so far", lambda each: each.outcome == "safe"),
    ("rare", "Short-lived clients", lambda each: each.seen_rarely is not None),
)


def sections(applications: Sequence[Application]) -> tuple[Section, ...]:
    found = (Section(key, heading, tuple(filter(belongs, applications))) for key, heading, belongs in _LISTS)
    return tuple(section for section in found if section.applications)


def needs_work(application: Application) -> bool:
    """Whether its owner has something to do or to answer."""
    return application.outcome != "safe" or application.already_failing or bool(owner_questions(application))
