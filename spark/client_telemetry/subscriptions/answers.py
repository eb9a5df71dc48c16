"""What a broker answers each client instance: GetTelemetrySubscriptions, for many instances at once.

Source: ClientMetricsManager.createClientInstance and computeSubscriptionId. The answer is a pure function of the
configured subscriptions and of the instance, so every broker gives the same one.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import google_crc32c

from client_telemetry.knowledge.telemetry_metrics import ALL_METRICS
from client_telemetry.subscriptions.configuration import (
    DEFAULT_INTERVAL_MS,
    SELECTORS,
    Subscription,
)
from client_telemetry.subscriptions.instances import ClientInstance
from client_telemetry.subscriptions.java_runtime import JavaRuntime


@dataclass(frozen=True)
class Answer:
    """`subscriptions`: indexes of the matching subscriptions, as configured. `metrics` in Kafka's order; empty: the
    client asks again after the interval and pushes nothing.
    """

    subscriptions: tuple[int, ...]
    push_interval_ms: int
    metrics: tuple[str, ...]
    subscription_id: int | None
    """None if the instance id is unknown."""


@dataclass
class ConfiguredSubscriptions:
    """Subscriptions of a cluster, in the order in which they were configured: that order decides the order of metrics
    if names share a bucket of a ConcurrentHashMap, or metrics one of a HashSet.
    """

    subscriptions: Sequence[Subscription]
    release: tuple[int, ...]
    java: JavaRuntime
    map_order: Sequence[str] | None = None
    """Names in the order of the broker's map, if known; default: that of a map filled in configured order."""
    _unions: dict[int, tuple[Answer, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._index = {subscription.name: index for index, subscription in enumerate(self.subscriptions)}
        self._order = [self._index[name] for name in self.map_order or self.java.map_order(self._index)]
        self._sets = [self.java.hash_set(subscription.metrics) for subscription in self.subscriptions]

    def answers(self, instances: Iterable[ClientInstance]) -> Iterator[Answer]:
        instances = list(instances)
        for instance, let_in in zip(instances, self.let_in(instances), strict=True):
            matching = -1
            for subscriptions in let_in:
                matching &= subscriptions
            answer, checksum_ = self._union(matching)
            if instance.instance_id is not None:
                number = subscription_id(checksum_, instance.instance_id)
                answer = Answer(answer.subscriptions, answer.push_interval_ms, answer.metrics, number)
            yield answer

    def let_in(self, instances: Sequence[ClientInstance]) -> Iterator[tuple[int, ...]]:
        """For each instance and each of SELECTORS: the subscriptions that this attribute lets through, as a bit set. A
        subscription matches an instance if every attribute lets it through; a missing attribute does so only if
        there is no selector for it.
        """
        everything = (1 << len(self.subscriptions)) - 1
        columns = list(zip(*(instance.attributes(self.release) for instance in instances), strict=True)) or [
            ()
        ] * len(SELECTORS)
        tables: list[dict[str | None, int]] = []
        for attribute, values in zip(SELECTORS, columns, strict=True):
            different = set(values)
            selectors = [
                (index, selector)
                for index, subscription in enumerate(self.subscriptions)
                for selector in subscription.selectors
                if selector.attribute == attribute
            ]
            without = everything
            for index, _ in selectors:
                without &= ~(1 << index)
            table: dict[str | None, int] = dict.fromkeys(different, without)
            if selectors:
                texts = self.java.texts(value for value in different if value is not None)
                matches: dict[str, frozenset[str]] = {}
                for index, selector in selectors:
                    if selector.regex not in matches:
                        matches[selector.regex] = texts.matching(selector.pattern)
                    for value in matches[selector.regex]:
                        table[value] |= 1 << index
            tables.append(table)
        rows = zip(*columns, strict=True) if instances else ()
        for row in rows:
            yield tuple(table[value] for table, value in zip(tables, row, strict=True))

    def _union(self, matching: int) -> tuple[Answer, int]:
        """The answer to all instances that match these subscriptions, without an id, and its checksum."""
        cached = self._unions.get(matching)
        if cached is not None:
            return cached
        indexes = [index for index in self._order if matching >> index & 1]
        everything = any(ALL_METRICS in self.subscriptions[index].metrics for index in indexes)
        metrics = (ALL_METRICS,) if everything else self.java.union(self._sets[index] for index in indexes)
        interval_ms = min(
            [DEFAULT_INTERVAL_MS, *(self.subscriptions[index].interval_ms for index in indexes)]
        )
        answer = Answer(tuple(sorted(indexes)), interval_ms, metrics, None)
        self._unions[matching] = answer, checksum(metrics, interval_ms)
        return self._unions[matching]


def checksum(metrics: Sequence[str], push_interval_ms: int) -> int:
    """CRC32C of Set.toString() and the interval."""
    return int(google_crc32c.value(f"[{', '.join(metrics)}]{push_interval_ms}".encode()))


def subscription_id(checksum_: int, instance_id: bytes) -> int:
    """A signed 32-bit number: the checksum xor Uuid.hashCode of the 16 bytes."""
    high, low = int.from_bytes(instance_id[:8]), int.from_bytes(instance_id[8:])
    mixed = high ^ low
    unsigned = (checksum_ ^ (mixed >> 32) ^ mixed) & 0xFFFFFFFF
    return unsigned - (1 << 32) if unsigned >> 31 else unsigned
