"""The lists of a report, the same in every format: which applications stand in each, under which heading. A list without
applications is left out everywhere."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from client_telemetry.reports.outcomes import OUTCOMES
from client_telemetry.reports.upgrade.model import Application, Question, Section
from client_telemetry.reports.upgrade.questions import own_gaps, owner_questions

BREAKS = ("breaks_at_once", "breaks_latent")


class _List(NamedTuple):
    key: str
    heading: str
    belongs: Callable[[Application], bool]
    meaning: str = ""
    """What its applications have in common; {from_release} and {to_release} are those of the question. The page shows it above
    a table of the applications. Empty: the list has markup of its own in page.html."""


def _has(outcome: str) -> Callable[[Application], bool]:
    return lambda each: each.outcome == outcome


_LISTS = (
    _List("must-act", "Action required", lambda each: each.outcome in BREAKS),
    _List("unidentified", "Unidentified clients", lambda each: any(c.is_unidentified for c in each.clients)),
    _List(
        "already_failing",
        "Already failing",
        lambda each: each.already_failing,
        "Refused by {from_release}, or unable to log in, today.",
    ),
    _List(
        "works_again",
        "Works again",
        lambda each: each.works_again,
        "Failing today, and accepted by {to_release}.",
    ),
    *(
        _List(outcome, OUTCOMES[outcome].capitalize(), _has(outcome))
        for outcome in ("insufficient_evidence", "degrades", "unsupported")
    ),
    _List(
        "open_questions",
        "Safe, with an open question",
        lambda each: each.outcome == "safe" and bool(own_gaps(each)),
    ),
    _List("safe", "Safe and safe so far", _has("safe")),
    _List("rare", "Short-lived clients", lambda each: each.seen_rarely is not None),
)


def sections(applications: Sequence[Application]) -> tuple[Section, ...]:
    found = (Section(each.key, each.heading, tuple(filter(each.belongs, applications))) for each in _LISTS)
    return tuple(section for section in found if section.applications)


def tables(found: Sequence[Section], question: Question) -> list[tuple[Section, str]]:
    """Sections that the page draws alike, as a table, each with its meaning."""
    releases = {"from_release": question.from_release, "to_release": question.to_release}
    meanings = {each.key: each.meaning.format(**releases) for each in _LISTS}
    return [(section, meanings[section.key]) for section in found if meanings[section.key]]


def needs_work(application: Application) -> bool:
    """Whether its owner has something to do or to answer."""
    return application.outcome != "safe" or application.already_failing or bool(owner_questions(application))
