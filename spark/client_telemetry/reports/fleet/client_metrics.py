"""Which of KIP-714's standard metrics each library really delivers: delivered, missing, or not asked for."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice

from client_telemetry.identity.client_key import ClientKey, HasClientKey
from client_telemetry.knowledge import releases, roles, telemetry_metrics
from client_telemetry.reports.fleet.model import (
    DELIVERED,
    MISSING,
    NOT_KNOWN,
    NOT_SUBSCRIBED,
    PARTLY,
    MetricOfLibrary,
)
from client_telemetry.reports.versions import version_order
from client_telemetry.subscriptions.answers import ConfiguredSubscriptions
from client_telemetry.subscriptions.configuration import SELECTORS, RefusedByKafka, parse
from client_telemetry.subscriptions.configured_file import Resource
from client_telemetry.subscriptions.instances import ClientInstance
from client_telemetry.subscriptions.java_runtime import JavaRuntime, NoJava, UnsureMatch
from client_telemetry.tables.rows import ApiUseRecord, BrokerRow

PREFIX = "org.apache.kafka."
CLIENT_TYPES = ("producer", "consumer")
_AT_ONCE = 20_000
"""Instances that are in memory."""


def standard_metrics() -> dict[str, dict[str, bool]]:
    """Client type -> its standard metrics."""
    return {client_type: telemetry_metrics.standard_metrics(client_type) for client_type in CLIENT_TYPES}


class Instance(HasClientKey):
    """Columns of `client_sessions`; `metrics`: standard ones that it delivered on the day; `metric_families`: the word after
    `org.apache.kafka.` of any metric; `number`: of how many instances alike."""

    client_instance_id: bytes
    client_addresses: list[str]
    metrics: list[str]
    metric_families: list[str]
    number: int


_Group = tuple[str, str | None, str | None]
"""Client type, software name and version."""


@dataclass(frozen=True)
class Subscriptions:
    """The subscriptions that the day's brokers reported. `known`: whether every broker did, and all can be evaluated."""

    resources: tuple[Resource, ...]
    release: tuple[int, ...]
    known: bool

    @classmethod
    def of(cls, broker_rows: Iterable[BrokerRow]) -> "Subscriptions":
        """Rows of `brokers`. Brokers that reported different ones count as if all were configured."""
        rows = list(broker_rows)
        reported = [row["subscriptions"] for row in rows]
        different: dict[tuple[object, ...], Resource] = {}
        for subscription in (each for of_broker in reported for each in of_broker or []):
            metrics, match = tuple(subscription["metrics"] or ()), dict(subscription["match"] or {})
            properties = {
                "metrics": ",".join(metrics),
                "match": ",".join(f"{k}={v}" for k, v in match.items()),
            }
            name = f"{subscription.get('name')} {len(different)}"
            key = (tuple(sorted(metrics)), tuple(sorted(match.items())))
            different.setdefault(key, Resource(name, {k: v for k, v in properties.items() if v}))
        possible = {each for row in rows for each in row.get("releases") or ()}
        running = [releases.parse(each) for each in possible & set(releases.known())]
        known = bool(reported) and all(each is not None for each in reported)
        return cls(tuple(different.values()), min(running, default=(4, 0, 0)), known)

    @property
    def select_by_instance(self) -> bool:
        """Whether instances of one client may differ in what they are asked for."""
        of_instance = {"client_instance_id", "client_source_address"}
        return any(
            selector in each.properties.get("match", "")
            for each in self.resources
            for selector in of_instance
        )

    def asked_of(self, instances: Sequence[Instance]) -> tuple[list[tuple[str, ...]], bool]:
        """The metric prefixes that each instance is asked for, matched as brokers do (subscriptions/), and whether that
        is known. Of an instance with several addresses any counts; a source port is of one connection and is taken
        for matching."""
        if not self.resources or not instances:
            return [() for _ in instances], self.known
        try:
            with JavaRuntime() as java:
                return self._asked_of(instances, java)
        except (NoJava, UnsureMatch):
            return [() for _ in instances], False

    def _asked_of(
        self, instances: Sequence[Instance], java: JavaRuntime
    ) -> tuple[list[tuple[str, ...]], bool]:
        subscriptions, known = [], self.known
        for resource in self.resources:
            try:
                subscriptions.append(parse(resource.name, resource.properties, self.release, java))
            except RefusedByKafka:
                known = False  # no broker of this release has it: the manifest cannot be right
        clients, owners = [], []
        for number, instance in enumerate(instances):
            addresses: Sequence[str | None] = instance["client_addresses"] or (None,)
            for address in addresses:
                clients.append(_client_instance(instance, address))
                owners.append(number)
        asked: list[set[str]] = [set() for _ in instances]
        let_in = ConfiguredSubscriptions(subscriptions, self.release, java).let_in(clients)
        for number, by_attribute in zip(owners, let_in, strict=True):
            matching = -1
            for attribute, bits in zip(SELECTORS, by_attribute, strict=True):
                if attribute != "client_source_port":
                    matching &= bits
            for index, subscription in enumerate(subscriptions):
                if matching >> index & 1:
                    asked[number].update(subscription.metrics)
        return [tuple(sorted(each)) for each in asked], known


def _client_instance(instance: Instance, address: str | None) -> ClientInstance:
    return ClientInstance(
        bytes(instance["client_instance_id"]),
        instance.get("client_id"),
        instance.get("client_software_name"),
        instance.get("client_software_version"),
        address,
        None,
    )


def client_types(instance: Instance, api_uses: Iterable[ApiUseRecord]) -> tuple[str, ...]:
    """What an instance is, by the names of the metrics that it delivers; where these do not tell, by the requests of
    its client. A share consumer (KIP-932) has other metrics than the consumers of KIP-714 and counts as neither."""
    families = instance["metric_families"]
    types = tuple(
        each
        for each in CLIENT_TYPES
        if each in families and (each != "consumer" or "share_consumer" not in families)
    )
    if types or instance["metric_families"]:
        return types
    seen = roles.seen_in({use["api_key"] for use in api_uses if use["requests"]})
    return tuple(each for each in CLIENT_TYPES if any(each in role for role in seen))


@dataclass
class _Members:
    """Instances of one kind of one software version: how many, and how many of them deliver each metric, and are asked for it."""

    number: int = 0
    delivering: Counter[str] = field(default_factory=Counter)
    subscribed: Counter[str] = field(default_factory=Counter)


def metrics_of_libraries(
    instances: Iterable[Instance],
    api_uses_of: Mapping[ClientKey, Sequence[ApiUseRecord]],
    subscriptions: Subscriptions,
) -> tuple[tuple[MetricOfLibrary, ...], int]:
    """One entry per client type, software, version and standard metric; and the number of instances that are neither
    producer nor consumer as far as is known.

    `instances`: dicts with columns of `client_sessions`, `metrics` (standard ones that it delivered on the day),
    `metric_families` (the word after `org.apache.kafka.` of any metric) and `number`, of how many instances alike; gone through
    once, some thousands at a time. `api_uses_of`: (principal, client id, software name, version) -> api_uses."""
    groups: dict[_Group, _Members] = defaultdict(_Members)
    of_unknown_kind = 0
    known = subscriptions.known
    left = iter(instances)
    while some := list(islice(left, _AT_ONCE)):
        requested, all_known = subscriptions.asked_of(some)
        known &= all_known
        for instance, asked in zip(some, requested, strict=True):
            software = (instance["client_software_name"], instance["client_software_version"])
            uses = api_uses_of.get((instance["principal"], instance["client_id"], *software), ())
            types = client_types(instance, uses)
            number = instance["number"]
            if not types and not instance["metric_families"]:
                of_unknown_kind += number
            for client_type in types:
                members = groups[client_type, *software]
                members.number += number
                for metric in instance["metrics"]:
                    members.delivering[metric] += number
                for metric in _asked_for(client_type, asked):
                    members.subscribed[metric] += number
    found = []
    for (client_type, name, version), members in sorted(groups.items(), key=_order):
        for metric, required in standard_metrics()[client_type].items():
            delivering, subscribed = members.delivering[metric], members.subscribed[metric]
            found.append(
                MetricOfLibrary(
                    client_type,
                    name,
                    version,
                    metric,
                    required,
                    _state(delivering, subscribed, members.number, known),
                    members.number,
                    subscribed if known else None,
                    delivering,
                )
            )
    return tuple(found), of_unknown_kind


def _order(group: tuple[_Group, _Members]) -> tuple[object, ...]:
    (client_type, name, version), _ = group
    return CLIENT_TYPES.index(client_type), name is None, name or "", version_order(version)


@cache
def _asked_for(client_type: str, prefixes: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(
        metric
        for metric in standard_metrics()[client_type]
        if any(prefix == "*" or metric.startswith(prefix) for prefix in prefixes)
    )


def _state(delivering: int, subscribed: int, instances: int, known: bool) -> str:
    """Subscriptions are those at the end of the day, so a metric may be delivered that none asks for any more."""
    if delivering >= (max(subscribed, 1) if known else instances):
        return DELIVERED
    if delivering:
        return PARTLY
    if not known:
        return NOT_KNOWN
    return MISSING if subscribed else NOT_SUBSCRIBED
