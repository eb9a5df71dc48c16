"""campaign.json, summary.json, campaign.md, states.csv and metrics.prom. Fields: docs/campaigns.md."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Final

from client_telemetry.campaign.gate import WORDS, decision_document
from client_telemetry.campaign.states import StateChange
from client_telemetry.campaign.vocabulary import LEFT
from client_telemetry.reports.campaign.view import ApplicationRow, CampaignView
from client_telemetry.reports.json_text import json_text
from client_telemetry.reports.markdown import bullets, code, prose, section, table
from client_telemetry.reports.open_metrics import OTHER_OWNERS, Gauge, exposition
from client_telemetry.reports.spreadsheet import table_csv

_ROWS_SHOWN: Final = 100
_OWNERS_MEASURED: Final = 200
"""Owners with series of their own; the others are one series."""


_AS_THEY_ARE: Final = ("counts", "forecast", "burn_down", "owners", "applications", "changes", "corrections")


def campaign_json(view: CampaignView) -> str:
    document: dict[str, object] = {
        "schema_version": 1,
        "campaign": view.campaign,
        "day": view.day,
        "sentence": view.sentence,
        "gate": decision_document(view.campaign, view.decision, view.day),
        **{name: getattr(view, name) for name in _AS_THEY_ARE},
        "reports": [
            {"cluster": each.cluster, "report_id": each.report_id, "day": each.day} for each in view.reports
        ],
    }
    return json_text(document) + "\n"


def summary_json(view: CampaignView) -> str:
    """What a list of campaigns shows beside gate.json. `asked_at`: when the newest report was made."""
    document: dict[str, object] = {
        "schema_version": 1,
        "sentence": view.sentence,
        "contact": view.campaign.contact,
        "counts": view.counts,
        "left": sum(view.counts[state] for state in LEFT),
        "asked_at": max((report.created_at for report in view.reports), default=None),
    }
    return json_text(document) + "\n"


def states_csv(view: CampaignView) -> str:
    """The whole history, oldest first."""
    header = tuple(field.name for field in fields(StateChange))
    return table_csv(header, ([_cell(getattr(change, name)) for name in header] for change in view.changes))


def _cell(value: object) -> object:
    return value if isinstance(value, str | tuple) or value is None else str(value)


def campaign_markdown(view: CampaignView) -> str:
    campaign = view.campaign
    lines = [
        f"# {prose(campaign.name)}: {prose(', '.join(campaign.clusters))} to {prose(campaign.target)} on {campaign.date}",
        "",
        f"**{prose(view.sentence)}**",
        "",
        f"State of {view.day} (UTC). Contact: {prose(campaign.contact)}.",
        "",
        f"## Gate: {WORDS[view.decision.code]}",
        "",
        *(
            bullets(f"{WORDS[r.code]}: {r.text}" for r in view.decision.reasons)
            or ["- no application is left"]
        ),
        "",
        *_owner_lines(view),
        *_application_lines(view),
        *_change_lines(view),
        *_correction_lines(view),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _owner_lines(view: CampaignView) -> list[str]:
    cells = [
        (
            prose(each.owner or "no owner"),
            str(each.left),
            str(each.fixed),
            "" if each.oldest_days is None else f"{each.oldest_days} d",
            f"{each.deadline}{' (passed)' if each.is_late else ''}",
        )
        for each in view.owners
    ]
    columns = ("Owner", "Left", "Fixed", "Oldest", "Deadline")
    return section("Owners", table(columns, cells, columns[1:4]) if cells else ())


def _application_lines(view: CampaignView) -> list[str]:
    left = view.left
    if not left:
        return []
    cells = [
        (
            code(each.name),
            prose(clusters_left(each)),
            prose(each.owner or "no owner"),
            each.state,
            prose(each.deciding.fix or each.deciding.why),
            str(each.deadline),
        )
        for each in left[:_ROWS_SHOWN]
    ]
    lines = table(("Application", "Cluster", "Owner", "State", "Change", "By"), cells)
    if len(left) > _ROWS_SHOWN:
        lines += ["", f"{len(left) - _ROWS_SHOWN} more in states.csv."]
    return section("Left", lines)


def clusters_left(application: ApplicationRow) -> str:
    """The clusters on which something is left to do; all of them if nothing is."""
    left = [change.cluster for change in application.on if change.state in LEFT]
    return ", ".join(left or [change.cluster for change in application.on])


def _change_lines(view: CampaignView) -> Iterator[str]:
    if not view.recent:
        return
    yield from ("## What changed in the last 7 days", "")
    for change in view.recent[:_ROWS_SHOWN]:
        was = f"{change.before} → " if change.before else ""
        who = f" ({prose(change.by)})" if change.by else ""
        yield f"- {change.day} {code(change.application)} on {prose(change.cluster)}: {was}{change.state}{who}. {prose(change.why)}"
    if len(view.recent) > _ROWS_SHOWN:
        yield f"- {len(view.recent) - _ROWS_SHOWN} more in states.csv"


def _correction_lines(view: CampaignView) -> Iterator[str]:
    if not view.corrections:
        return
    yield from ("", "## Corrected", "")
    for each in reversed(view.corrections[-_ROWS_SHOWN:]):
        was, now = each.was or "no change", each.now or "no change"
        yield f"- {each.day} {code(each.application)} on {prose(each.cluster)}: {was} → {now}, found on {each.found_on}. {prose(each.why)}"


def open_metrics(view: CampaignView) -> str:
    """OpenMetrics text of the campaign, for a textfile collector or an endpoint. At most some 1,900 series whatever the fleet:
    application names are no labels.
    """
    return exposition(_gauges(view))


def _gauges(view: CampaignView) -> Iterator[Gauge]:
    campaign = view.campaign

    def gauge(
        name: str, words: str, samples: Iterable[tuple[dict[str, str], float]], unit: str = ""
    ) -> Gauge:
        of_campaign = (({"campaign": campaign.name, **labels}, value) for labels, value in samples)
        return Gauge(f"client_telemetry_campaign_{name}", words, tuple(of_campaign), unit)

    states = (({"state": state}, count) for state, count in view.counts.items())
    yield gauge("applications", "Applications of a planned upgrade by state", states)
    yield gauge("owner_applications", "Applications of an owner by state", _of_owners(view))
    decisions = (({"decision": word}, int(code == view.decision.code)) for code, word in WORDS.items())
    yield gauge("gate", "Decision of the gate: 1 for the one that holds", decisions)
    yield gauge("days_left", "Days until the planned upgrade", [({}, (campaign.date - view.day).days)])
    ages = (({"cluster": each.cluster}, (view.day - each.day).days) for each in view.reports)
    yield gauge("evidence_age_days", "Age of the newest evidence", ages, "days")
    shares = (
        ({"cluster": each.cluster}, each.complete_share)
        for each in view.reports
        if each.complete_share is not None
    )
    yield gauge("coverage_ratio", "Share of broker hours seen completely", shares, "ratio")


def _of_owners(view: CampaignView) -> Iterator[tuple[dict[str, str], int]]:
    shown = {owner.owner for owner in view.owners[:_OWNERS_MEASURED]}
    counts = Counter(
        ((each.owner or "no owner") if each.owner in shown else OTHER_OWNERS, each.state)
        for each in view.applications
    )
    for (owner, state), count in sorted(counts.items()):
        yield {"owner": owner, "state": state}, count
