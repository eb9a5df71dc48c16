"""Reads planned upgrades from the text of a campaigns file (docs/campaigns.md has its form)."""

import datetime as dt
from collections.abc import Callable, Sequence
from pathlib import Path

import yaml

from client_telemetry.campaign.plan import (
    ACKNOWLEDGE,
    KINDS,
    WAIVE,
    BadCampaign,
    Campaign,
    Statement,
    Target,
    Thresholds,
)
from client_telemetry.campaign.yaml_entry import Entry, bad, document, scalar
from client_telemetry.compatibility import target_argument
from client_telemetry.formats.target_file import UnusableTarget
from client_telemetry.knowledge import releases
from client_telemetry.knowledge.vocabulary import PRECEDENCE

_KEYS = ("name", "clusters", "to", "date", "contact", "deadlines", "gate", "statements")
_GATE_KEYS = ("fail_on", "least_coverage", "evidence_days", "knowledge_days")
TARGETS = ("application", "client_id", "rule", "owner", "principal", "cluster")
_STATEMENT_KEYS = ("kind", *TARGETS, "by", "on", "until", "text")


Naming = Callable[[str], str]
"""From what `to` says to a release or the name of a measured target. Raises UnusableTarget."""


def beside(location: str, naming: Naming = target_argument.named) -> Naming:
    """Takes the path of a file in `to` from the folder of the campaigns file at `location`."""

    def named_beside(text: str) -> str:
        return naming(path_beside(location, text))

    return named_beside


def path_beside(location: str, text: str) -> str:
    """
    >>> path_beside("conf/campaigns.yaml", "next.json"), path_beside("conf/campaigns.yaml", "4.0.1")
    ('conf/next.json', '4.0.1')
    """
    is_file = text.endswith(".json") and "://" not in location
    return str(Path(location).parent / text) if is_file else text


def read_campaigns(text: str, naming: Naming = target_argument.named) -> tuple[Campaign, ...]:
    """In the file's order. Raises BadCampaign, whose message begins with the line.

    >>> [campaign] = read_campaigns('''
    ... campaigns:
    ...   - {name: orders-4.0, clusters: [orders-eu], to: 4.0.1, date: 2027-02-01, contact: kafka@example.com}
    ... ''')
    >>> campaign.clusters, campaign.to_release
    (('orders-eu',), '4.0.1')
    """
    return tuple(campaign for campaign, _ in read_entries(text, naming))


def read_entries(text: str, naming: Naming = target_argument.named) -> list[tuple[Campaign, Entry]]:
    """Campaigns with their entries in the file."""
    root = document(text)
    if root is None:
        raise BadCampaign(
            "line 1: the file is empty: write `campaigns:` and below it one `- name: ...` for each upgrade"
        )
    top = Entry(root, "the file", ("campaigns",))
    top.value("campaigns")
    entries: list[tuple[Campaign, Entry]] = []
    for number, node in enumerate(top.items("campaigns"), 1):
        entry = Entry(node, f"campaign {number}", _KEYS)
        entry.what = f"campaign {entry.text('name')!r}"
        campaign = _campaign(entry, naming)
        if any(other.name == campaign.name for other, _ in entries):
            raise bad(node, f"{entry.what} is in the file twice: names are unique")
        entries.append((campaign, entry))
    return entries


def named(campaigns: Sequence[Campaign], name: str) -> Campaign:
    """Raises BadCampaign with the names that there are."""
    for campaign in campaigns:
        if campaign.name == name:
            return campaign
    names = ", ".join(campaign.name for campaign in campaigns) or "none"
    raise BadCampaign(f"there is no campaign {name!r}: the file has {names}")


def _campaign(entry: Entry, naming: Naming) -> Campaign:
    clusters = entry.texts("clusters")
    if len(set(clusters)) < len(clusters):
        raise bad(entry.value("clusters"), f"{entry.what}: a cluster is listed twice")
    to = entry.text("to")
    try:
        to_release = releases.exact(naming(to))
    except (releases.UnusableRelease, UnusableTarget) as error:
        raise bad(entry.value("to"), f"{entry.what}: to: {error}") from None
    day = entry.day("date")
    return Campaign(
        name=entry.text("name"),
        clusters=clusters,
        to_release=to_release,
        to="" if to == to_release else to,
        date=day,
        contact=entry.text("contact"),
        deadlines=_deadlines(entry, day) if "deadlines" in entry else {},
        gate=_gate(entry) if "gate" in entry else Thresholds(),
        statements=tuple(_statement(node, entry) for node in entry.items("statements")),
    )


def _deadlines(campaign: Entry, date: dt.date) -> dict[str, dt.date]:
    entry = Entry(campaign.value("deadlines"), f"deadlines of {campaign.what}", None)
    days = {owner: entry.day(owner) for owner in entry.names()}
    for owner, day in days.items():
        if day > date:
            raise bad(entry.value(owner), f"{entry.what}: {owner}: {day} is after the upgrade on {date}")
    return days


def _gate(campaign: Entry) -> Thresholds:
    entry = Entry(campaign.value("gate"), f"gate of {campaign.what}", _GATE_KEYS)
    default = Thresholds()
    fail_on = entry.texts("fail_on") if "fail_on" in entry else default.fail_on
    for verdict in fail_on:
        if verdict not in PRECEDENCE or verdict == PRECEDENCE[-1]:
            raise bad(
                entry.value("fail_on"),
                f"{entry.what}: fail_on: {verdict!r} is not a verdict that can stop an upgrade: use {', '.join(PRECEDENCE[:-1])}",
            )
    return Thresholds(
        fail_on,
        entry.number("least_coverage", 0, 1) if "least_coverage" in entry else default.least_coverage,
        int(entry.number("evidence_days", 0, 366)) if "evidence_days" in entry else default.evidence_days,
        int(entry.number("knowledge_days", 1, 3660)) if "knowledge_days" in entry else default.knowledge_days,
    )


def _statement(node: yaml.Node, campaign: Entry) -> Statement:
    entry = Entry(node, f"statement of {campaign.what}", _STATEMENT_KEYS)
    kind = entry.text("kind")
    if kind not in KINDS:
        raise bad(entry.value("kind"), f"{entry.what}: kind {kind!r} is not one of {', '.join(KINDS)}")
    target = Target(**{key: scalar(entry.value(key)) for key in TARGETS if key in entry})
    statement = Statement(
        kind,
        target,
        by=entry.text("by"),
        on=entry.day("on"),
        until=entry.day("until") if "until" in entry else None,
        text=entry.text_or_none("text") or "",
    )
    if mistake := check_statement(statement):
        raise bad(node, f"{entry.what}: {mistake}")
    return statement


def check_statement(statement: Statement) -> str:
    """What is wrong with a statement, in words; empty if nothing."""
    target = statement.target
    if not (target.application or target.client_id is not None or target.rule or target.owner):
        return "it has no target: name an application, a client_id, an owner, or (to waive) a rule"
    if target.rule and statement.kind != WAIVE:
        return f"a rule can be waived only; to {statement.kind}, name an application, a client_id or an owner"
    if statement.kind == ACKNOWLEDGE:
        return "an acknowledgement has no `until`; to name a day, promise" if statement.until else ""
    if statement.until is None:
        return f"no `until`: the last day of a {'waiver' if statement.kind == WAIVE else 'promise'}"
    if statement.until < statement.on:
        return f"until {statement.until} is before it was made, on {statement.on}"
    return (
        "a waiver needs a reason: write it as `text`"
        if statement.kind == WAIVE and not statement.text
        else ""
    )
