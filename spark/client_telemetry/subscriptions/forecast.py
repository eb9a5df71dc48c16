"""Expected pushes, points and bytes of a client instance under an answer, from what it really pushed, or from similar
clients.

For an instance that is asked for no more than before, its own numbers are used. For new metrics, and for clients that
never pushed, the numbers come from instances of the same library, version and kind; then of the same library and kind;
then from what a library of that kind is known to push.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from client_telemetry.knowledge.telemetry_metrics import (
    ALL_METRICS,
    asked_for,
    java_metrics,
    librdkafka_metrics,
    standard_metrics,
)
from client_telemetry.subscriptions.answers import Answer
from client_telemetry.subscriptions.observed import (
    ADMIN,
    CONSUMER,
    JAVA,
    LIBRDKAFKA,
    PRODUCER,
    SHARE_CONSUMER,
    ObservedInstance,
)

OWN = "own pushes"
SAME_VERSION = "same version"
SAME_LIBRARY = "same library"
KNOWN_SIZES = "known sizes"
NOTHING = ""

_STEADY = 0.1
_LARGEST_DELAY_S = 1.0
_ENOUGH = 0.6
"""Share of the points that others push under the same prefixes: whoever pushes that many was asked for them."""
_KNOWN_PUSHES = {
    (JAVA, PRODUCER): (130, 12_200),
    (JAVA, CONSUMER): (175, 35_000),
    (JAVA, ADMIN): (82, 8_100),
    (LIBRDKAFKA, PRODUCER): (12, 1_700),
    (LIBRDKAFKA, CONSUMER): (17, 2_680),
    ("franz-go", PRODUCER): (2, 230),
    ("franz-go", CONSUMER): (5, 630),
}
"""Points and payload bytes of a push under `*`, as real clients pushed in include/sample/telemetry_cluster. Topics,
partitions and brokers add to them.
"""

COMPRESSED_SHARE = {JAVA: 0.13, LIBRDKAFKA: 0.27, "franz-go": 0.58}
"""Compressed size / payload size with zstd for such payloads: measured once on the captures of the sample."""
_OTHER_SHARE = 0.5


@dataclass(frozen=True)
class Expected:
    """For one instance. `basis`: the source of points and bytes. `largest_bytes` and `largest_compressed_bytes`: of one
    push. Bytes are payloads as the exporter gets them, `compressed_bytes` what crosses the network.
    """

    pushes_per_day: float
    points_per_push: float
    bytes_per_push: float
    largest_bytes: float
    compressed_share: float
    basis: str

    @property
    def points_per_day(self) -> float:
        return self.pushes_per_day * self.points_per_push

    @property
    def bytes_per_day(self) -> float:
        return self.pushes_per_day * self.bytes_per_push

    @property
    def compressed_bytes_per_day(self) -> float:
        return self.bytes_per_day * self.compressed_share

    @property
    def largest_compressed_bytes(self) -> float:
        return self.largest_bytes * self.compressed_share


@dataclass(frozen=True)
class LakeSizes:
    """Bytes of the lake's data files per point (client_metrics and client_metric_histograms) and per push
    (client_pushes), as the decode job wrote the evidence.
    """

    bytes_per_point: float
    bytes_per_push: float

    def bytes_per_day(self, total: Mapping[str, float]) -> float:
        """For a total returned by sum_of."""
        return total["points"] * self.bytes_per_point + total["pushes"] * self.bytes_per_push


NOTHING_EXPECTED = Expected(0, 0, 0, 0, 1, NOTHING)


def compressed_share(library: str | None) -> float:
    """Compressed size / payload size."""
    return COMPRESSED_SHARE.get(library or "", _OTHER_SHARE)


def covers(requested: Sequence[str], needed: Sequence[str]) -> bool:
    """Whether an instance that was asked for `requested` was asked for everything in `needed`."""
    return all(
        ALL_METRICS in requested or (prefix != ALL_METRICS and asked_for(prefix, requested))
        for prefix in needed
    )


@dataclass(frozen=True)
class _Rate:
    """Of one metric, in an average push."""

    points: float
    bytes: float


Rates = Mapping[str, _Rate]


def _points(rates: Rates) -> float:
    return sum(rate.points for rate in rates.values())


def _own_rates(observed: ObservedInstance) -> Rates:
    """Payload bytes are divided among metrics by the estimated size of their points."""
    ordinary = max(1, observed.pushes - observed.rejected_pushes)
    weight = sum(share.weight for share in observed.metrics.values())
    per_weight = observed.payload_bytes / ordinary / weight if weight else 0.0
    return {
        metric: _Rate(share.points / ordinary, share.weight * per_weight)
        for metric, share in observed.metrics.items()
    }


class Peers:
    """Average pushes of instances of one library and kind, by metric."""

    def __init__(self, instances: Iterable[ObservedInstance]) -> None:
        groups: dict[tuple[object, ...], list[Rates]] = defaultdict(list)
        for instance in instances:
            if instance.pushed and instance.metrics:
                rates = _own_rates(instance)
                for kind in instance.client_types:
                    groups[instance.library, kind].append(rates)
                    groups[instance.library, kind, instance.library_version].append(rates)
        self._groups = groups

    def rates(self, observed: ObservedInstance, prefixes: Sequence[str]) -> tuple[Rates, str]:
        """Rates of the requested metrics, and their basis."""
        own_rates: dict[str, _Rate] = {}
        basis = NOTHING
        for kind in observed.client_types or (PRODUCER,):
            known_rates = _known_rates(observed.library, kind, prefixes)
            # For other libraries no complete list of metrics is known.
            enough = _ENOUGH * _points(known_rates) if observed.library in (JAVA, LIBRDKAFKA) else 0
            for group, name in (
                ((observed.library, kind, observed.library_version), SAME_VERSION),
                ((observed.library, kind), SAME_LIBRARY),
            ):
                members = self._fullest(group, prefixes)
                average = _average(members, prefixes)
                if members and sum(rate.points for rate in average.values()) >= enough:
                    own_rates |= average
                    basis = basis or name
                    break
            else:
                own_rates |= known_rates
                basis = basis or (KNOWN_SIZES if known_rates else NOTHING)
        return own_rates, basis

    def _fullest(self, group: tuple[object, ...], prefixes: Sequence[str]) -> list[Rates]:
        """Members that were asked for most of the prefixes, judging by what they delivered."""
        counted = [
            (sum(asked_for(metric, prefixes) for metric in rates), rates)
            for rates in self._groups.get(group, ())
        ]
        most = max((count for count, _ in counted), default=0)
        return [rates for count, rates in counted if count and count >= _ENOUGH * most]


def _average(members: Sequence[Rates], prefixes: Sequence[str]) -> Rates:
    sums: dict[str, tuple[float, float]] = {}
    for rates in members:
        for metric, rate in rates.items():
            if asked_for(metric, prefixes):
                points, size = sums.get(metric, (0.0, 0.0))
                sums[metric] = points + rate.points, size + rate.bytes
    return {
        metric: _Rate(points / len(members), size / len(members)) for metric, (points, size) in sums.items()
    }


def _known_rates(library: str | None, kind: str, prefixes: Sequence[str]) -> Rates:
    if kind == SHARE_CONSUMER:  # no push of one was measured; it has fewer metrics
        kind = CONSUMER
    sizes = _KNOWN_PUSHES.get((library or "", kind))
    if sizes is None:
        return {}
    points, size = sizes
    lists: dict[str | None, Callable[[str], Collection[str]]]
    lists = {JAVA: java_metrics, LIBRDKAFKA: librdkafka_metrics}
    names = lists.get(library, standard_metrics)(kind)
    everything = ALL_METRICS in prefixes or not names
    share = 1.0 if everything else sum(asked_for(metric, prefixes) for metric in names) / len(names)
    return {f"org.apache.kafka.{kind}.": _Rate(points * share, size * share)} if prefixes and share else {}


def expected(
    observed: ObservedInstance, before: Answer, after: Answer, peers: Peers, days: int, pushes: bool
) -> Expected:
    """`before`: what it was asked for in the days of evidence. `pushes`: whether it is expected to push at all."""
    if not after.metrics or not pushes:
        return NOTHING_EXPECTED
    own = _own_rates(observed)
    rates: Rates = {metric: rate for metric, rate in own.items() if asked_for(metric, after.metrics)}
    basis = OWN
    if not observed.pushed or not covers(before.metrics, after.metrics):
        more, basis_of_more = peers.rates(observed, after.metrics)
        if _points(rates) < _ENOUGH * _points(more):
            # It was not asked for all of it. Known sizes are of whole pushes, without single metrics to add up.
            rates = more if basis_of_more == KNOWN_SIZES else {**more, **rates}
            basis = basis_of_more
    size = sum(rate.bytes for rate in rates.values())
    own_size = sum(rate.bytes for rate in own.values())
    largest = observed.largest_payload_bytes * size / own_size if own_size else size
    return Expected(
        _pushes(observed, before, after) / days,
        sum(rate.points for rate in rates.values()),
        size,
        max(largest, size),
        compressed_share(observed.library),
        basis,
    )


def _pushes(observed: ObservedInstance, before: Answer, after: Answer) -> float:
    """Number of pushes over the days of evidence.

    Pushes are one interval plus a delay apart, the first one 0.5 to 1.5 intervals after the client got its
    subscription. So a client that is connected for `t` pushes t / interval - 0.5 times on average, and once more if it
    sends a terminating push.
    """
    interval = after.push_interval_ms / 1000
    if not observed.pushed:
        return max(0.0, observed.seconds / interval - 0.5)
    ordinary = observed.pushes - observed.terminating_pushes
    answer = (
        before if before.metrics else after
    )  # an instance that pushed was asked, by whatever subscription
    old = (observed.push_interval_ms or answer.push_interval_ms) / 1000
    present = observed.seconds - observed.silent_seconds
    regular = present / old + 1
    delay = 0.0
    if (
        abs(ordinary - regular) <= _STEADY * regular
    ):  # otherwise its interval was different for part of the time
        if abs(old - interval) < 0.001 * interval:
            return float(observed.pushes)
        if ordinary > 1:
            delay = min(max(0.0, present / (ordinary - 1) - old), _LARGEST_DELAY_S)
    there = present + (1 if observed.terminating_pushes else 1.5) * old
    return max(0.0, there / (interval + delay) - 0.5) + observed.terminating_pushes


def observed_total(instances: Iterable[ObservedInstance], days: int) -> dict[str, float]:
    """What arrived in the days of evidence, per day. Bytes are decompressed."""
    return _total(
        (
            each.pushes / days,
            each.points / days,
            each.payload_bytes / days,
            each.payload_bytes * compressed_share(each.library) / days,
        )
        for each in instances
    )


def sum_of(expectations: Iterable[Expected]) -> dict[str, float]:
    """Sums over all, per day."""
    return _total(
        (each.pushes_per_day, each.points_per_day, each.bytes_per_day, each.compressed_bytes_per_day)
        for each in expectations
    )


def _total(of_instances: Iterable[tuple[float, ...]]) -> dict[str, float]:
    sums = [0.0] * 4
    for amounts in of_instances:
        sums = [sum_ + amount for sum_, amount in zip(sums, amounts, strict=True)]
    return dict(zip(("pushes", "points", "bytes", "compressed_bytes"), sums, strict=True))
