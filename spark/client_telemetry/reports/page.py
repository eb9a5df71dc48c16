"""index.html: the report as one self-contained page. It loads nothing, works without JavaScript, and shows
client-supplied text only after client_strings.py and HTML escaping. Markup is in page.html, looks in page.css, the
filter and sorting in page.js; the content security policy admits these two by their digests and nothing else."""

import base64
import hashlib
from functools import cache
from importlib import resources

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup, escape

from client_telemetry.reports import charts, cluster_notes, outlooks, wording
from client_telemetry.reports.client_strings import client_label, pieces, shortened, shown, without_invisible
from client_telemetry.reports.coverage import COMPLETENESS
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
"""Clients whose findings the page holds; those of the others are in findings.csv and report.json."""
OWNERS_FIRST = 6
"""Owners on the first screen."""
WARNINGS_OPEN = 2
DIFFERENCES_OPEN = 4
VERSIONS_SHOWN = 40
SOFTWARE_SHOWN = 60
RUNS_SHOWN = 200
OBJECTS_SHOWN = 1


def report_page(report: UpgradeReport) -> str:
    """The page. A few hundred kilobytes for thousands of clients: see LISTED and EXPLAINED."""
    css, script = _file("page.css"), _file("page.js")
    by_outcome = {outcome: [c for c in report.clients if c.outcome == outcome] for outcome in OUTCOMES}
    broken = by_outcome["breaks_at_once"] + by_outcome["breaks_latent"]
    explained = [c for c in report.clients if c.outcome != "safe"]
    if by_outcome["safe"] and len(report.clients) <= EXPLAINED:
        explained = list(report.clients)
    return _template().render(
        report=report,
        question=report.question,
        by_outcome=by_outcome,
        broken=[(stake, group) for stake in report.owners if (group := _of_owner(broken, stake.owner))],
        explained={id(client) for client in explained[:EXPLAINED]},
        must_act=len(broken),
        groups={
            outcome: _groups(clients) for outcome, clients in by_outcome.items() if len(clients) > LISTED
        },
        rare=[client for client in report.clients if client.seen_rarely],
        folders={stake.owner: stake.folder for stake in report.owners},
        rule_numbers=_rule_numbers(report),
        compared=_compared(report),
        differing={
            "mixed": [c for c in report.clients if outlooks.differs_in_the_mixed_window(c)],
            "back": [c for c in report.clients if outlooks.differs_on_the_way_back(c)],
        },
        widest=max((software.clients for software in report.software), default=0),
        css=Markup(css),
        script=Markup(script),
        policy=_policy(css, script),
    )


def _compared(report: UpgradeReport) -> list[str]:
    """Outcomes that have a column in the comparison: those of the answer, and what any of the releases has."""
    always = ("breaks_at_once", "breaks_latent", "safe")
    return [each for each in OUTCOMES if each in always or any(t.counts[each] for t in report.targets)]


def marked(text: str | None, limit: int | None = None) -> Markup:
    """Client-supplied text: isolated from the direction of its surroundings, stand-ins for invisible characters
    set apart, the whole of it in the tooltip where it is cut."""
    if not text:
        return escape(client_label(text))
    short = text if limit is None else shortened(text, limit)
    inner = Markup("").join(
        Markup("<i>{}</i>").format(piece) if stands_in else escape(piece)
        for piece, stands_in in pieces(short)
    )
    if short == text:
        return inner if text.isascii() else Markup("<bdi>{}</bdi>").format(inner)
    return Markup('<bdi title="{}">{}</bdi>').format(shown(text), inner)


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


def _file(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _policy(css: str, script: str) -> str:
    """Content security policy: nothing is loaded, only this style and this script run."""
    style_digest, script_digest = _digest(css), _digest(script)
    return (
        f"default-src 'none'; style-src '{style_digest}'; script-src '{script_digest}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _visible(value: object) -> object:
    """Every value on its way into the page: whatever is no markup has its invisible characters shown."""
    return without_invisible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _template():
    environment = Environment(
        loader=DictLoader({"page.html": _file("page.html")}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )
    environment.filters |= {
        "number": wording.number,
        "minute": wording.minute,
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
        "brokers": wording.brokers,
        "period": lambda pair: wording.period(*pair),
        "marked": marked,
        "counted": wording.counted,
        "id": id,
    }
    environment.globals |= {
        "OUTCOMES": OUTCOMES,
        "OUTCOME_MEANINGS": OUTCOME_MEANINGS,
        "CONFIDENCE_MEANINGS": CONFIDENCE_MEANINGS,
        "COMPLETENESS": COMPLETENESS,
        "WEIGHTS": cluster_notes.WEIGHTS,
        "NOT_TOLD": wording.NOT_TOLD,
        "OWNERS_FIRST": OWNERS_FIRST,
        "WARNINGS_OPEN": WARNINGS_OPEN,
        "DIFFERENCES_OPEN": DIFFERENCES_OPEN,
        "EXPLAINED": EXPLAINED,
        "VERSIONS_SHOWN": VERSIONS_SHOWN,
        "SOFTWARE_SHOWN": SOFTWARE_SHOWN,
        "RUNS_SHOWN": RUNS_SHOWN,
        "OBJECTS_SHOWN": OBJECTS_SHOWN,
        "bar": charts.bar,
        "coverage_strip": charts.coverage_strip,
        "patterns": charts.patterns,
    }
    return environment.get_template("page.html")
