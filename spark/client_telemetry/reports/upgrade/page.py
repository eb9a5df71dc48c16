"""index.html: the report as one self-contained page. It loads nothing, works without JavaScript, and shows
client-supplied text only after client_strings.py and HTML escaping. Markup is in page.html, looks in page.css, the
filter and sorting in page.js, what it shares with other pages in markup.py and parts.html."""

import base64
import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from jinja2 import Template
from markupsafe import Markup

from client_telemetry.console.grouped import grouped
from client_telemetry.knowledge import age, kip511
from client_telemetry.knowledge.apis import in_words
from client_telemetry.knowledge.vocabulary import APPLICATION_KINDS, Verdict
from client_telemetry.reports import charts
from client_telemetry.reports.client_strings import shown
from client_telemetry.reports.evidence import RelatedClient
from client_telemetry.reports.markup import is_address, page_parts, template
from client_telemetry.reports.outcomes import (
    OUTCOME_MEANINGS,
    OUTCOMES,
    SAFE_SO_FAR,
    SAFE_SO_FAR_MEANING,
    outcome,
)
from client_telemetry.reports.upgrade import (
    broker_metrics,
    changes,
    configuration,
    mixed_and_rollback,
    release_notes,
    sections,
    wording,
)
from client_telemetry.reports.upgrade.failed_logins import login_in_words
from client_telemetry.reports.upgrade.model import (
    CONFIDENCE_MEANINGS,
    STEPS,
    Application,
    Change,
    ClientVerdict,
    OwnerStake,
    UpgradeReport,
)
from client_telemetry.reports.upgrade.owner_message import letter_address
from client_telemetry.reports.upgrade.questions import library_question, own_gaps
from client_telemetry.reports.upgrade.sections import needs_work
from client_telemetry.reports.upgrade.ticket_cells import question_in_words
from client_telemetry.reports.wording import brokers, period

LISTED = 200
"""Longest list of applications with a row for each; a longer one is grouped. Those that break have a row each always."""
CLIENTS_SHOWN = 60
"""Clients of an application that the page names; all are in clients.csv."""
COMPACT = 6000
"""Applications from which on a page holds only the first rows and groups of each list; the script finds the others in
compact data. Without the script, and on paper, they are in clients.csv and the owners' packs: 50,000 rows are no page."""
ROWS_OF_COMPACT = 300
GROUPS_OF_COMPACT = 40
"""Rows of applications that break, and groups of each other list, on such a page."""
ANCHOR_DIGITS = 8
"""Of the anchor of an application without a row, in that data."""
EXPLAINED = 80
"""Applications with a panel, the first ones on the page; the findings of the others are in findings.csv and report.json."""
EXPLAINED_OF_COMPACT = 20
LESSER = ("insufficient_evidence", "degrades", "unsupported")
"""Outcomes between those that break and `safe`, whose findings the page holds if there is room."""
CHANGES_FIRST = 6
OWNERS_FIRST = 12
"""Changes and owners on the first screen."""
CHANGED_SHOWN = 30
"""Verdicts that changed since the earlier report; all are in report.json."""
CARDS_SHOWN = 40
CANDIDATES_SHOWN = 3
IDS_SHOWN = 8
VERSIONS_SHOWN = 40
SOFTWARE_SHOWN = 60
OBJECTS_SHOWN = 1


class OwnerShown(NamedTuple):
    """A row of the list of owners. `to_check`: applications that need an answer or a look, and do not break."""

    stake: OwnerStake
    breaking: int
    to_check: int
    letter: str | None
    """A mailto: address with a subject; None = the contact is no address, there is nothing to do, or the page is compact."""


class ChangesShown(NamedTuple):
    """What the cell of an application says of its changes."""

    fixes: tuple[str, ...]
    certainties: frozenset[str]


def with_links(page: str, links: Sequence[tuple[str, str]]) -> str | None:
    """A page that was made before, with these links to other published pages instead of its own; None where it has no place for
    them."""
    before, begin, rest = page.partition(_LINKS_BEGIN)
    _, end, after = rest.partition(_LINKS_END)
    return f"{before}{begin}{_listed(links)}{end}{after}" if end else None


_LINKS_BEGIN = '<nav aria-label="Files" class="files"><ul>\n'
_LINKS_END = '<li><a href="clients.csv" download>'


def _listed(links: Sequence[tuple[str, str]]) -> Markup:
    """Those to files of owners, of which there can be hundreds, are folded."""
    item = Markup('<li><a href="{}"{}>{}</a></li>\n')
    of_owners = [(name, href) for name, href in links if href.startswith("owners/")]
    others = Markup("").join(
        item.format(href, "", name) for name, href in links if (name, href) not in of_owners
    )
    if not of_owners:
        return others
    listed = Markup("").join(item.format(href, Markup(" download"), name) for name, href in of_owners)
    heading = f"Messages to owners after the upgrade: {len(of_owners):,}"
    return others + Markup("<li><details><summary>{}</summary><ul>\n{}</ul></details></li>\n").format(
        heading, listed
    )


def report_page(report: UpgradeReport, links: Sequence[tuple[str, str]] = ()) -> str:
    """The page. A few hundred kilobytes for thousands of clients: see LISTED and EXPLAINED. `links`: to other published
    pages, as (name, relative address)."""
    by_outcome: dict[str, list[Application]] = {outcome: [] for outcome in OUTCOMES}
    by_outcome |= grouped(report.applications, lambda each: each.outcome)
    by_outcome["open_questions"] = [
        a for s in report.sections if s.key == "open_questions" for a in s.applications
    ]
    breaking = by_outcome["breaks_at_once"] + by_outcome["breaks_latent"]
    by_owner = grouped(breaking, lambda each: each.owner)
    broken = [(stake, by_owner[stake.owner]) for stake in report.owners if stake.owner in by_owner]
    compact = len(report.applications) > COMPACT
    groups = {
        outcome: _groups(clients, compact) for outcome, clients in by_outcome.items() if len(clients) > LISTED
    }
    drawn = _first_rows(broken, ROWS_OF_COMPACT if compact else len(breaking))
    explained = [client for _, group in broken for client in group]
    explained += [
        each for each in report.applications if each.outcome in LESSER and each.outcome not in groups
    ]
    if len(report.applications) <= EXPLAINED:
        explained += by_outcome["safe"]
    cards = [
        (client, application)
        for application in report.applications
        for client in application.clients
        if client.is_unidentified
    ]
    unidentified = [] if compact else [application for _, application in cards[:CARDS_SHOWN]]
    explained = explained[: EXPLAINED_OF_COMPACT if compact else EXPLAINED]
    panels = {id(each) for each in (*explained, *unidentified)}
    numbered = list(enumerate(report.changes, start=1))
    question = report.question
    return page_template().render(
        report=report,
        question=question,
        by_outcome=by_outcome,
        broken=broken,
        drawn=drawn,
        compact=compact,
        others=_others(report, {id(each) for rows in drawn.values() for each in rows}, groups),
        must_act=len(breaking),
        groups=groups,
        annex=[each for each in report.applications if id(each) in panels],
        panels=panels,
        links=_listed(links),
        numbered=numbered,
        first_changes=_first_changes(numbered),
        cards=cards,
        begin=report.question.evidence_from
        or min((client.first_seen_at for client in report.clients), default=None),
        end=report.question.evidence_until
        or max((client.last_seen_at for client in report.clients), default=None),
        rare=[each for each in report.applications if each.seen_rarely],
        tables=sections.tables(report.sections, question),
        folders={stake.owner: stake.folder for stake in report.owners},
        rule_numbers=_rule_numbers(report),
        compared=_compared(report),
        owners=[_owner_shown(report, stake, compact) for stake in report.owners],
        knowledge_sentence=age.sentence(
            question.knowledge_version,
            question.knowledge_built_at,
            question.created_at,
            question.knowledge_gaps,
        ),
        knowledge_warning=age.warning(question.knowledge_built_at, question.created_at),
        planned=wording.plan(report.planned_for, None),
        during_the_change=wording.during_the_change(report.is_rollback),
        differing={
            "mixed": [a for a in report.applications if mixed_and_rollback.differs_in_the_mixed_window(a)],
            "back": [a for a in report.applications if mixed_and_rollback.differs_on_rollback(a)],
        },
        widest=max((software.clients for software in report.software), default=0),
        **page_parts(),
    )


def _owner_shown(report: UpgradeReport, stake: OwnerStake, compact: bool) -> OwnerShown:
    theirs = report.of_owner[stake.owner]
    breaking = [each for each in theirs if each.verdict == Verdict.BREAKS]
    letter = (
        letter_address(report, stake, subject_only=True)
        if not compact and stake.has_pack and stake.contact and is_address(stake.contact)
        else None
    )
    return OwnerShown(stake, len(breaking), sum(map(needs_work, theirs)) - len(breaking), letter)


def _first_changes(numbered: list[tuple[int, Change]]) -> list[tuple[int, Change]]:
    """For the first screen: the first few in their order, and always how many applications wait for an answer of their owner."""
    first = numbered[:CHANGES_FIRST]
    opened = [pair for pair in numbered[CHANGES_FIRST:] if pair[1].certainty == "open"]
    return first[: CHANGES_FIRST - len(opened)] + opened


def _changes_shown(application: Application) -> ChangesShown:
    broken = (client for client in application.clients if client.verdict == Verdict.BREAKS)
    return ChangesShown(_known_fixes(broken), changes.certainties_of(application))


def _known_fixes(clients: Iterable[ClientVerdict]) -> tuple[str, ...]:
    """Changes of clients without those of which the library is not identified."""
    fixes = (changes.of_fix(client.fix) for client in clients)
    return tuple(dict.fromkeys(fix.text for fix in fixes if fix.certainty != "open"))


def _related_software(related: RelatedClient) -> str:
    return kip511.software(related.client_software_name, related.client_software_version)


def _compared(report: UpgradeReport) -> list[str]:
    """Outcomes that have a column in the comparison: those of the answer, and what any of the releases has."""
    always = ("breaks_at_once", "breaks_latent", "safe")
    return [each for each in OUTCOMES if each in always or any(t.counts[each] for t in report.targets)]


def _first_rows(
    broken: list[tuple[OwnerStake, list[Application]]], most: int
) -> dict[str, list[Application]]:
    """The applications with a row, by the folder of their owner: the first of each owner, then more until there are `most`."""
    each = max(1, most // max(1, len(broken)))
    total = sum(len(group) for _, group in broken)
    left = most
    drawn = {}
    for stake, group in broken:
        drawn[stake.folder] = group if total <= most else group[: min(each, max(left, 0))]
        left -= len(drawn[stake.folder])
    return drawn


def _others(
    report: UpgradeReport, drawn: set[int], groups: Mapping[str, list[tuple[Application, list[Application]]]]
) -> str:
    """Applications without a row of their own, as base64 of gzipped JSON: `words` (each text once), `rows` of name and the
    places in `words` of principal, owner, folder of the owner, outcome, software and change, and `anchors`, row by row the
    first digits of those of the application and its clients (in one text, which is half as long when packed). Empty where
    every application has its row."""
    words: dict[str, int] = {}
    folders = {stake.owner: stake.folder for stake in report.owners}
    without_row = [
        each
        for each in report.applications
        if id(each) not in drawn and (each.outcome in groups or each.verdict == Verdict.BREAKS)
    ]
    rows = [
        [
            shown(each.name),
            *(
                words.setdefault(word, len(words))
                for word in (
                    shown(each.principal or ""),
                    each.owner or "no owner",
                    folders[each.owner],
                    wording.verdict_words(each),
                    shown(kip511.registered(each.clients[0].client_software_name)),
                    "; ".join(each.changes),
                )
            ),
        ]
        for each in without_row
    ]
    anchors = ",".join(
        "".join(_digits(anchor) for anchor in (each.anchor, *(client.anchor for client in each.clients)))
        for each in without_row
    )
    document = {"words": list(words), "rows": rows, "anchors": anchors}
    data = json.dumps(document, separators=(",", ":")).encode()
    return base64.b64encode(gzip.compress(data, mtime=0)).decode() if rows else ""


def _digits(anchor: str) -> str:
    """As many of an anchor as tell it from those of 100,000 others: page.js looks for them by ANCHOR_DIGITS."""
    return anchor.rpartition("-")[2][:ANCHOR_DIGITS]


def _groups(applications: list[Application], compact: bool) -> list[tuple[Application, list[Application]]]:
    """Applications that differ in nothing but name, principal and what was seen, under the first of them; on a compact page
    also in their owner and version, the largest groups."""

    def alike(each: Application) -> tuple[object, ...]:
        of_owner = () if compact else (each.owner, wording.software(each))
        return (*of_owner, each.safe_so_far, each.explanation, each.missing, each.fix)

    groups = grouped(applications, alike)
    found = [(group[0], group) for group in groups.values()]
    return sorted(found, key=lambda pair: -len(pair[1]))[:GROUPS_OF_COMPACT] if compact else found


def _rule_numbers(report: UpgradeReport) -> dict[str, int]:
    """Where each rule first stands in the list of rules, from 1: its anchor."""
    numbers: dict[str, int] = {}
    for number, rule in enumerate(report.rules, start=1):
        numbers.setdefault(rule.rule_id, number)
    return numbers


@cache
def page_template() -> Template:
    filters: dict[str, object] = {
        "in_words": in_words,
        "brokers_in_words": brokers,
        "configuration_summary": configuration.summary,
        "configuration_lists": configuration.lists,
        "metrics_summary": broker_metrics.summary,
        "metrics_lists": broker_metrics.lists,
        "software": wording.software,
        "happens": wording.happens,
        "verdict_words": wording.verdict_words,
        "difference_words": wording.difference_words,
        "where_and_when": wording.where_and_when,
        "finding_seen": wording.finding_seen,
        "finding_outcome": wording.finding_outcome,
        "verdict_outcome": lambda verdict: outcome(verdict, None),
        "would_happen": wording.would_happen,
        "sentence_case": wording.sentence_case,
        "further_missing": wording.further_missing,
        "own_gaps": own_gaps,
        "library_question": library_question,
        "question_in_words": question_in_words,
        "condition": wording.condition,
        "fixes": _changes_shown,
        "known_fixes": lambda application: _known_fixes(
            client for client in application.clients if client.fix or client.verdict == Verdict.BREAKS
        ),
        "how_known": wording.how_known,
        "seen": wording.seen,
        "day": lambda at: f"{at:%Y-%m-%d}",
        "identified": wording.identified,
        "by_candidate": changes.by_candidate,
        "for_any_other": changes.for_any_other,
        "edits": changes.edits_of,
        "related_software": _related_software,
        "needs_more": changes.needs_more,
        "inferred": lambda change: changes.inferred(change, change.applications),
        "failed_login": login_in_words,
        "mail": lambda stake, report, compact: letter_address(report, stake, subject_only=compact),
        "period": lambda pair: period(*pair),
    }
    values = {
        "OUTCOMES": OUTCOMES,
        "OUTCOME_MEANINGS": OUTCOME_MEANINGS,
        "SAFE_SO_FAR": SAFE_SO_FAR,
        "SAFE_SO_FAR_MEANING": SAFE_SO_FAR_MEANING,
        "STEPS": STEPS,
        "CONFIDENCE_MEANINGS": CONFIDENCE_MEANINGS,
        "WEIGHTS": release_notes.WEIGHTS,
        "OWNERS_FIRST": OWNERS_FIRST,
        "CHANGES_FIRST": CHANGES_FIRST,
        "CARDS_SHOWN": CARDS_SHOWN,
        "CHANGED_SHOWN": CHANGED_SHOWN,
        "CANDIDATES_SHOWN": CANDIDATES_SHOWN,
        "IDS_SHOWN": IDS_SHOWN,
        "EXPLAINED": EXPLAINED,
        "CLIENTS_SHOWN": CLIENTS_SHOWN,
        "ANCHOR_DIGITS": ANCHOR_DIGITS,
        "APPLICATION_KINDS": APPLICATION_KINDS,
        "VERSIONS_SHOWN": VERSIONS_SHOWN,
        "SOFTWARE_SHOWN": SOFTWARE_SHOWN,
        "OBJECTS_SHOWN": OBJECTS_SHOWN,
        "bar": charts.bar,
        "pareto_bar": charts.pareto_bar,
        "days_seen_strip": charts.days_seen_strip,
    }
    return template("page.html", __package__, filters, values, "application.html")
