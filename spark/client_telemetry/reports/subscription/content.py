"""The content of a check's report as plain data: what report.json has, and what the page and the ticket show."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import Any

from client_telemetry.subscriptions import check as checks
from client_telemetry.subscriptions.check import HARMS, SILENCES, CheckResult, InstanceResult, clients_of
from client_telemetry.subscriptions.commands import commands
from client_telemetry.subscriptions.configuration import Subscription
from client_telemetry.subscriptions.instances import kafka_uuid
from client_telemetry.subscriptions.observed import ABORTS, DISCONNECTS

SCHEMA_VERSION = 1
SERIOUS = (ABORTS, DISCONNECTS, checks.LOSES_FOR_GOOD, checks.TOO_LARGE)
"""Harms that speak against a change; the others pass."""
GO, NO_GO = "go", "no-go"
COMMANDS = (
    ("Apply", "apply"),
    ("The same with kafka-configs.sh", "apply_with_configs"),
    ("Verify", "look"),
    ("Undo", "take_back"),
    ("Required ACLs", "acls"),
)


@dataclass(frozen=True)
class Question:
    """What was asked, of which cluster and days."""

    report_id: str
    cluster_id: str
    cluster_name: str
    first_day: date
    last_day: date
    created_at: datetime
    release: str
    other_releases: tuple[str, ...]
    bootstrap_server: str
    knowledge_version: str
    """Of the knowledge base: which library sends which metrics."""
    code_version: str


def content(question: Question, result: CheckResult, remarks: Sequence[str] = ()) -> dict[str, object]:
    """The whole answer. Times are ISO 8601, UTC; sizes are bytes. `remarks`: on the question, before those on the result."""
    clients = clients_of(result)
    totals = result.totals()
    harmed = [(harm, each) for each in result.instances for harm in each.harms]
    harms = _with_clients("harm", HARMS, harmed)
    silent = [(each.silent, each) for each in result.instances if each.silent]
    found: dict[str, object] = {
        "schema_version": SCHEMA_VERSION,
        **{name: _plain(value) for name, value in asdict(question).items()},
        "days": result.situation.days,
        "plugin": result.situation.plugin,
        "telemetry_max_bytes": result.situation.telemetry_max_bytes,
        "proposal": [
            {"action": each.action, "name": each.name, **each.properties} for each in result.operations
        ],
        "configured": [{"name": each.name, **each.properties} for each in result.configured],
        "before": [_subscription(each) for each in result.before],
        "after": [_subscription(each) for each in result.after],
        "refused": [asdict(each) for each in result.refusals],
        "remarks": [*remarks, *result.remarks],
        "instances": result.counts(),
        "matching_clients": sum(bool(each["subscriptions"]) for each in clients),
        "totals": totals,
        "lake_bytes_per_day": _lake_bytes(result, totals["after"]),
        "lake_bytes_per_day_before": _lake_bytes(result, totals["before"]),
        "harms": harms,
        "silent": _with_clients("reason", SILENCES, silent),
        "standard_metrics": [asdict(each) for each in result.deliveries],
        "commands": asdict(commands(result.operations, result.configured, question.bootstrap_server)),
        "clients": clients,
        "client_instances": _instances(result),
    }
    found["answer"] = NO_GO if result.refusals or any(each["harm"] in SERIOUS for each in harms) else GO
    found["sentence"] = sentence(found)
    return found


def sentence(found: Mapping[str, Any]) -> str:
    """The answer in one sentence or two."""
    instances, totals = found["instances"], found["totals"]
    words = []
    if found["refused"]:
        names = ", ".join(repr(each["name"]) for each in found["refused"])
        words.append(f"Kafka refuses {names}.")
    parts = [
        f"{instances.get(change, 0):,} {text}"
        for change, text in (
            (checks.STARTS, "start to push"),
            (checks.CHANGES, "change"),
            (checks.STOPS, "stop"),
            (checks.SAME, "do not change"),
        )
        if instances.get(change)
    ]
    of_all = sum(instances.values())
    words.append(
        f"Of {of_all:,} client instances {', '.join(parts)}." if parts else "It affects no client instance."
    )
    before, after = totals["before"], totals["after"]
    words.append(
        f"Pushes per day: {before['pushes']:,.0f} before, {after['pushes']:,.0f} after; payload "
        f"{size(before['bytes'])} before, {size(after['bytes'])} after."
    )
    serious = [each for each in found["harms"] if each["harm"] in SERIOUS]
    for each in serious:
        words.append(f"{each['instances']:,} of them: {each['explanation']}.")
    return " ".join(words)


def size(number: float) -> str:
    """
    >>> size(999), size(1000), size(2_500_000)
    ('999 B', '1.0 kB', '2.5 MB')
    """
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= factor:
            return f"{number / factor:,.1f} {unit}"
    return f"{number:.0f} B"


def _subscription(each: Subscription) -> dict[str, object]:
    return {
        "name": each.name,
        "metrics": list(each.metrics),
        "interval_ms": each.interval_ms,
        "match": {selector.attribute: selector.regex for selector in each.selectors},
    }


def _with_clients(
    name: str, explanations: Mapping[str, str], found: Iterable[tuple[str, InstanceResult]]
) -> list[dict[str, object]]:
    """Words of `explanations` in their order, of which there is any, with how many instances they hold for, and of which clients."""
    instances: dict[str, list[InstanceResult]] = defaultdict(list)
    for word, each in found:
        instances[word].append(each)
    return [
        {
            name: word,
            "explanation": explanation,
            "instances": len(instances[word]),
            "client_ids": sorted({str(each.observed.instance.client_id) for each in instances[word]}),
        }
        for word, explanation in explanations.items()
        if word in instances
    ]


def _instances(result: CheckResult) -> list[dict[str, Any]]:
    names_before = [each.name for each in result.before]
    names_after = [each.name for each in result.after]
    rows = []
    for each in result.instances:
        client = each.observed.instance
        rows.append(
            {
                "client_instance_id": kafka_uuid(client.instance_id) if client.instance_id else None,
                "client_id": client.client_id,
                "principal": each.observed.principal,
                "client_software_name": client.software_name,
                "client_software_version": client.software_version,
                "client_address": client.source_address,
                "client_port": client.source_port,
                "owner": each.observed.owner,
                "change": each.change,
                "subscriptions_before": [names_before[i] for i in each.before.subscriptions],
                "subscriptions": [names_after[i] for i in each.after.subscriptions],
                "let_out": {name: list(selectors) for name, selectors in each.let_out.items()},
                "push_interval_ms_before": each.before.push_interval_ms,
                "push_interval_ms": each.after.push_interval_ms,
                "requested_metrics_before": list(each.before.metrics),
                "requested_metrics": list(each.after.metrics),
                "subscription_id_before": each.before.subscription_id,
                "subscription_id": each.after.subscription_id,
                "silent": each.silent,
                "harms": list(each.harms),
                "pushes_per_day": each.expected_after.pushes_per_day,
                "points_per_push": each.expected_after.points_per_push,
                "bytes_per_push": each.expected_after.bytes_per_push,
                "basis": each.expected_after.basis or None,
            }
        )
    return rows


def _lake_bytes(result: CheckResult, total: Mapping[str, float]) -> float | None:
    sizes = result.situation.lake
    return None if sizes is None else sizes.bytes_per_day(total)


def _plain(value: object) -> object:
    if isinstance(value, date | datetime):
        return value.isoformat()
    return list(value) if isinstance(value, tuple) else value
