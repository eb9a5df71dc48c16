"""Which of KIP-714's standard metrics each library really delivers: delivered, missing, or not asked for."""

import base64
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from client_telemetry.compatibility import roles
from client_telemetry.compatibility.knowledge import rows
from client_telemetry.reports.fleet.model import (
    DELIVERED,
    MISSING,
    NOT_KNOWN,
    NOT_SUBSCRIBED,
    PARTLY,
    MetricOfLibrary,
)
from client_telemetry.reports.versions import version_order

FILE = "standard_telemetry_metrics.csv"
COLUMNS = ("metric", "client_type", "otlp_type", "labels", "required", "source")
PREFIX = "org.apache.kafka."
CLIENT_TYPES = ("producer", "consumer")


@cache
def standard_metrics() -> dict[str, dict[str, bool]]:
    """Client type -> name of a standard metric, in KIP-714's order -> whether every client that pushes must have
    it."""
    found: dict[str, dict[str, bool]] = {client_type: {} for client_type in CLIENT_TYPES}
    for _, (metric, client_type, _, _, required, _) in rows(FILE, COLUMNS):
        found[client_type][metric] = required == "yes"
    return found


@dataclass(frozen=True)
class Subscriptions:
    """The subscriptions that the day's brokers tell of. `known`: whether every broker told."""

    matches: tuple[tuple[tuple[tuple[str, re.Pattern[str] | None], ...], tuple[str, ...]], ...]
    """(selectors, metric prefixes) of each."""
    known: bool

    @classmethod
    def of(cls, broker_rows: Iterable[Mapping[str, Any]]) -> "Subscriptions":
        """Rows of `brokers`. A selector that Python cannot compile (Kafka's are RE2) matches nothing for certain: the
        subscriptions then count as not known."""
        found, known = set(), False
        told = [row["subscriptions"] for row in broker_rows]
        known = bool(told) and all(each is not None for each in told)
        for subscription in (each for of_broker in told for each in of_broker or []):
            selectors = []
            for name, pattern in sorted((subscription["match"] or {}).items()):
                try:
                    selectors.append((name, re.compile(pattern)))
                except re.error:
                    known = False
                    selectors.append((name, None))
            found.add((tuple(selectors), tuple(sorted(subscription["metrics"] or []))))
        return cls(tuple(sorted(found, key=repr)), known)

    def prefixes(self, instance: Mapping[str, Any]) -> tuple[str, ...]:
        """What the subscriptions that match this instance ask for; `*` is everything."""
        return tuple(
            prefix
            for selectors, prefixes in self.matches
            if all(_matches(instance, *each) for each in selectors)
            for prefix in prefixes
        )


def _matches(instance: Mapping[str, Any], selector: str, pattern: re.Pattern[str] | None) -> bool:
    """Selectors of ClientMetricsConfigs; a source port is of one connection and taken for matching."""
    if pattern is None:
        return False
    if selector == "client_source_port":
        return True
    if selector == "client_source_address":
        values = instance["client_addresses"]
    elif selector == "client_instance_id":
        values = [base64.urlsafe_b64encode(instance["client_instance_id"]).decode().rstrip("=")]
    else:
        values = [instance.get(selector) or ""]
    return any(pattern.fullmatch(value) for value in values)


def client_types(instance: Mapping[str, Any], api_uses: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """What an instance is, by the names of the metrics that it delivers; where these do not tell, by the requests of
    its client."""
    told = tuple(each for each in CLIENT_TYPES if each in instance["metric_families"])
    if told or instance["metric_families"]:
        return told
    seen = roles.seen_in({use["api_key"] for use in api_uses if use["requests"]})
    return tuple(each for each in CLIENT_TYPES if any(each in role for role in seen))


def metrics_of_libraries(
    instances: Sequence[Mapping[str, Any]],
    api_uses_of: Mapping[tuple, Sequence[Mapping[str, Any]]],
    subscriptions: Subscriptions,
) -> tuple[tuple[MetricOfLibrary, ...], int]:
    """One entry per client type, software, version and standard metric; and the number of instances that are neither
    producer nor consumer as far as is known.

    `instances`: dicts with the columns of `client_sessions`, and `metrics` (standard ones that it delivered on the
    day) and `metric_families` (the word after `org.apache.kafka.` of any metric). `api_uses_of`: (principal, client
    id, software name, version) -> api_uses."""
    groups: dict[tuple, list[tuple[frozenset[str], tuple[str, ...]]]] = defaultdict(list)
    untold = 0
    for instance in instances:
        software = (instance["client_software_name"], instance["client_software_version"])
        uses = api_uses_of.get((instance["principal"], instance["client_id"], *software), ())
        types = client_types(instance, uses)
        untold += not types and not instance["metric_families"]
        asked = subscriptions.prefixes(instance)
        for client_type in types:
            groups[client_type, *software].append((frozenset(instance["metrics"]), asked))
    found = []
    for (client_type, name, version), members in sorted(groups.items(), key=_order):
        for metric, required in standard_metrics()[client_type].items():
            delivering = sum(metric in metrics for metrics, _ in members)
            subscribed = sum(_asked_for(metric, asked) for _, asked in members)
            found.append(
                MetricOfLibrary(
                    client_type,
                    name,
                    version,
                    metric,
                    required,
                    _state(delivering, subscribed, len(members), subscriptions.known),
                    len(members),
                    subscribed if subscriptions.known else None,
                    delivering,
                )
            )
    return tuple(found), untold


def _order(group: tuple) -> tuple:
    (client_type, name, version), _ = group
    return CLIENT_TYPES.index(client_type), name is None, name or "", version_order(version)


def _asked_for(metric: str, prefixes: Iterable[str]) -> bool:
    return any(prefix == "*" or metric.startswith(prefix) for prefix in prefixes)


def _state(delivering: int, subscribed: int, instances: int, known: bool) -> str:
    """Subscriptions are those at the end of the day, so a metric may be delivered that none asks for any more."""
    if delivering >= (max(subscribed, 1) if known else instances):
        return DELIVERED
    if delivering:
        return PARTLY
    if not known:
        return NOT_KNOWN
    return MISSING if subscribed else NOT_SUBSCRIBED
