"""index.html: the report as one self-contained page. It loads nothing, works without JavaScript, and shows
client-supplied text only after client_strings.py and HTML escaping. Markup is in page.html, looks in page.css, the
filter and sorting in page.js, what it shares with other pages in markup.py and parts.html."""

from functools import cache
from typing import Any

from jinja2 import Template

from client_telemetry.identity.applications import KINDS
from client_telemetry.reports import charts
from client_telemetry.reports.markup import page_parts, template
from client_telemetry.reports.upgrade import mixed_and_rollback, release_notes, wording
from client_telemetry.reports.upgrade.model import (
    CONFIDENCE_MEANINGS,
    OUTCOME_MEANINGS,
    OUTCOMES,
    STEPS,
    Application,
    UpgradeReport,
    outcome,
)

LISTED = 200
"""Longest list of applications with a row for each; a longer one is grouped. Those that break have a row each always."""
CLIENTS_SHOWN = 60
"""Clients of an application that the page names; all are in clients.csv."""
EXPLAINED = 80
"""Applications whose findings the page holds, the first ones on it; those of the others are in findings.csv and
report.json."""
LESSER = ("insufficient_evidence", "degrades", "unsupported")
"""Outcomes between those that break and `safe`, whose findings the page holds if there is room."""
OWNERS_FIRST = 6
"""Owners on the first screen."""
DIFFERENCES_OPEN = 4
VERSIONS_SHOWN = 40
SOFTWARE_SHOWN = 60
OBJECTS_SHOWN = 1


def report_page(report: UpgradeReport) -> str:
    """The page. A few hundred kilobytes for thousands of clients: see LISTED and EXPLAINED."""
    by_outcome = {
        outcome: [each for each in report.applications if each.outcome == outcome] for outcome in OUTCOMES
    }
    breaking = by_outcome["breaks_at_once"] + by_outcome["breaks_latent"]
    broken = [(stake, group) for stake in report.owners if (group := _of_owner(breaking, stake.owner))]
    groups = {outcome: _groups(clients) for outcome, clients in by_outcome.items() if len(clients) > LISTED}
    explained = [client for _, group in broken for client in group]
    explained += [
        each for each in report.applications if each.outcome in LESSER and each.outcome not in groups
    ]
    if len(report.applications) <= EXPLAINED:
        explained += by_outcome["safe"]
    return _template().render(
        report=report,
        question=report.question,
        by_outcome=by_outcome,
        broken=broken,
        explained={id(each) for each in explained[:EXPLAINED]},
        must_act=len(breaking),
        groups=groups,
        rare=[each for each in report.applications if each.seen_rarely],
        failing=[each for each in report.applications if each.already_failing],
        working_again=[each for each in report.applications if each.works_again],
        folders={stake.owner: stake.folder for stake in report.owners},
        rule_numbers=_rule_numbers(report),
        compared=_compared(report),
        differing={
            "mixed": [a for a in report.applications if mixed_and_rollback.differs_in_the_mixed_window(a)],
            "back": [a for a in report.applications if mixed_and_rollback.differs_on_the_way_back(a)],
        },
        widest=max((software.clients for software in report.software), default=0),
        **page_parts(),
    )


def _compared(report: UpgradeReport) -> list[str]:
    """Outcomes that have a column in the comparison: those of the answer, and what any of the releases has."""
    always = ("breaks_at_once", "breaks_latent", "safe")
    return [each for each in OUTCOMES if each in always or any(t.counts[each] for t in report.targets)]


def _groups(applications: list[Application]) -> list[tuple[Application, list[Application]]]:
    """Applications that differ in nothing but name, principal and what was seen, under the first of them."""
    groups: dict[tuple[Any, ...], list[Application]] = {}
    for each in applications:
        key = (each.owner, wording.software(each), each.explanation, each.missing, each.fix)
        groups.setdefault(key, []).append(each)
    return [(group[0], group) for group in groups.values()]


def _rule_numbers(report: UpgradeReport) -> dict[str, int]:
    """Where each rule first stands in the list of rules, from 1: its anchor."""
    numbers: dict[str, int] = {}
    for number, rule in enumerate(report.rules, start=1):
        numbers.setdefault(rule.rule_id, number)
    return numbers


def _of_owner(applications: list[Application], owner: str | None) -> list[Application]:
    return [each for each in applications if each.owner == owner]


@cache
def _template() -> Template:
    filters = {
        "software": wording.software,
        "happens": wording.happens,
        "where_and_when": wording.where_and_when,
        "finding_seen": wording.finding_seen,
        "finding_outcome": wording.finding_outcome,
        "verdict_outcome": lambda verdict: outcome(verdict, None),
        "would_happen": wording.would_happen,
        "sentence_case": wording.sentence_case,
        "untold": wording.untold,
        "condition": wording.condition,
        "period": lambda pair: wording.period(*pair),
    }
    values = {
        "OUTCOMES": OUTCOMES,
        "OUTCOME_MEANINGS": OUTCOME_MEANINGS,
        "STEPS": STEPS,
        "CONFIDENCE_MEANINGS": CONFIDENCE_MEANINGS,
        "WEIGHTS": release_notes.WEIGHTS,
        "OWNERS_FIRST": OWNERS_FIRST,
        "DIFFERENCES_OPEN": DIFFERENCES_OPEN,
        "EXPLAINED": EXPLAINED,
        "CLIENTS_SHOWN": CLIENTS_SHOWN,
        "APPLICATION_KINDS": KINDS,
        "VERSIONS_SHOWN": VERSIONS_SHOWN,
        "SOFTWARE_SHOWN": SOFTWARE_SHOWN,
        "OBJECTS_SHOWN": OBJECTS_SHOWN,
        "bar": charts.bar,
    }
    return template("page.html", __package__, filters, values)
