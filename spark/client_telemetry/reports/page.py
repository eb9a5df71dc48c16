"""index.html: the report as one self-contained page. It loads nothing, works without JavaScript, and shows
client-supplied text only after client_strings.py and HTML escaping. Markup is in page.html, looks in page.css, the
filter and sorting in page.js, what it shares with other pages in markup.py and parts.html."""

from functools import cache

from jinja2 import Template

from client_telemetry.reports import charts, cluster_notes, outlooks, wording
from client_telemetry.reports.markup import page_parts, template
from client_telemetry.reports.model import (
    CONFIDENCE_MEANINGS,
    OUTCOME_MEANINGS,
    OUTCOMES,
    ClientVerdict,
    UpgradeReport,
    outcome,
)

LISTED = 200
"""Longest list of clients with a row for each; a longer one is grouped. Clients that break have a row each always."""
EXPLAINED = 80
"""Clients whose findings the page holds, the first ones on it; those of the others are in findings.csv and
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
    by_outcome = {outcome: [c for c in report.clients if c.outcome == outcome] for outcome in OUTCOMES}
    breaking = by_outcome["breaks_at_once"] + by_outcome["breaks_latent"]
    broken = [(stake, group) for stake in report.owners if (group := _of_owner(breaking, stake.owner))]
    groups = {outcome: _groups(clients) for outcome, clients in by_outcome.items() if len(clients) > LISTED}
    explained = [client for _, group in broken for client in group]
    explained += [c for c in report.clients if c.outcome in LESSER and c.outcome not in groups]
    if len(report.clients) <= EXPLAINED:
        explained += by_outcome["safe"]
    return _template().render(
        report=report,
        question=report.question,
        by_outcome=by_outcome,
        broken=broken,
        explained={id(client) for client in explained[:EXPLAINED]},
        must_act=len(breaking),
        groups=groups,
        rare=[client for client in report.clients if client.seen_rarely],
        folders={stake.owner: stake.folder for stake in report.owners},
        rule_numbers=_rule_numbers(report),
        compared=_compared(report),
        differing={
            "mixed": [c for c in report.clients if outlooks.differs_in_the_mixed_window(c)],
            "back": [c for c in report.clients if outlooks.differs_on_the_way_back(c)],
        },
        widest=max((software.clients for software in report.software), default=0),
        **page_parts(),
    )


def _compared(report: UpgradeReport) -> list[str]:
    """Outcomes that have a column in the comparison: those of the answer, and what any of the releases has."""
    always = ("breaks_at_once", "breaks_latent", "safe")
    return [each for each in OUTCOMES if each in always or any(t.counts[each] for t in report.targets)]


def _groups(clients: list[ClientVerdict]) -> list[tuple[ClientVerdict, list[ClientVerdict]]]:
    """Clients that differ in nothing but client id, principal and what was seen, under the first of them."""
    groups: dict[tuple, list[ClientVerdict]] = {}
    for client in clients:
        told = (client.client_software_name, client.client_software_version)
        key = (client.owner, *told, client.explanation, client.missing, client.fix)
        groups.setdefault(key, []).append(client)
    return [(group[0], group) for group in groups.values()]


def _rule_numbers(report: UpgradeReport) -> dict[str, int]:
    """Where each rule first stands in the list of rules, from 1: its anchor."""
    numbers: dict[str, int] = {}
    for number, rule in enumerate(report.rules, start=1):
        numbers.setdefault(rule.rule_id, number)
    return numbers


def _of_owner(clients: list[ClientVerdict], owner: str | None) -> list[ClientVerdict]:
    return [client for client in clients if client.owner == owner]


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
        "opened": wording.opened,
        "untold": wording.untold,
        "condition": wording.condition,
        "period": lambda pair: wording.period(*pair),
    }
    values = {
        "OUTCOMES": OUTCOMES,
        "OUTCOME_MEANINGS": OUTCOME_MEANINGS,
        "CONFIDENCE_MEANINGS": CONFIDENCE_MEANINGS,
        "WEIGHTS": cluster_notes.WEIGHTS,
        "OWNERS_FIRST": OWNERS_FIRST,
        "DIFFERENCES_OPEN": DIFFERENCES_OPEN,
        "EXPLAINED": EXPLAINED,
        "VERSIONS_SHOWN": VERSIONS_SHOWN,
        "SOFTWARE_SHOWN": SOFTWARE_SHOWN,
        "OBJECTS_SHOWN": OBJECTS_SHOWN,
        "bar": charts.bar,
    }
    return template("page.html", __package__, filters, values)
