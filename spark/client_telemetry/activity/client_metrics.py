"""The KIP-714 metrics that show how a client is doing with its brokers, and their points as samples. Pure.

Names are KIP-714's, below `org.apache.kafka.`. The fleet page shows which library sends which. Throttling, latencies
and queue times are milliseconds; Java sends NaN if there was nothing to measure.
"""

import itertools
import math
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from client_telemetry.activity.comparison import BY_CHANCE, DIFFERENCE, RATIO, Scale
from client_telemetry.activity.samples import Sample, SumPoint, counted

PREFIX = "org.apache.kafka."

GAUGE, COUNT = "gauge", "count"
UP, DOWN = "up", "down"

LATENCY = Scale(RATIO, 1.5, 0.1, is_log=True)
"""In milliseconds; averages of healthy clients differ by a third from one period to the next."""
SHARE = Scale(DIFFERENCE, 0.02, 0.0, reference=BY_CHANCE)
IDLE = Scale(DIFFERENCE, 0.15, 0.0)
EVENTS = Scale(RATIO, 1.5, 0.1, reference=BY_CHANCE)
"""Rare events, per minute."""


class Metric(NamedTuple):
    """`kind`: GAUGE or COUNT. `worse`: which direction is worse; None = neither. `words`: for readers."""

    name: str
    kind: str
    unit: str
    scale: Scale
    worse: str | None
    words: str


def _latency(name: str, words: str) -> Metric:
    return Metric(name, GAUGE, "ms", LATENCY, UP, words)


def _events(name: str, words: str) -> Metric:
    return Metric(name, COUNT, "a minute", EVENTS, UP, words)


METRICS = (
    _latency("producer.request.latency.avg", "request latency of producers"),
    _latency("producer.node.request.latency.avg", "request latency of producers by broker"),
    _latency("consumer.node.request.latency.avg", "request latency of consumers by broker"),
    _latency("consumer.fetch.manager.fetch.latency.avg", "fetch latency"),
    _latency("consumer.coordinator.commit.latency.avg", "commit latency"),
    _latency("consumer.coordinator.rebalance.latency.avg", "rebalance latency"),
    _latency("producer.record.queue.time.avg", "time in the producer's queue"),
    _latency("producer.produce.throttle.time.avg", "throttling of producers"),
    _latency("consumer.fetch.manager.fetch.throttle.time.avg", "throttling of consumers"),
    _events("producer.record.retry.total", "records sent again"),
    _events("consumer.coordinator.rebalance.total", "rebalances"),
    _events("producer.connection.creation.total", "connections of producers"),
    _events("consumer.connection.creation.total", "connections of consumers"),
    Metric(
        "consumer.poll.idle.ratio.avg", GAUGE, "share of time", IDLE, None, "share of time that poll waits"
    ),
)
SENT, ERRORS = "producer.record.send.total", "producer.record.error.total"
ERROR_SHARE = Metric(
    "producer.record.error.share", COUNT, "share of records", SHARE, UP, "records that failed"
)
"""From Java's record.error.total and record.send.total: by itself each says nothing if the send rate changes."""
BY_NAME = {metric.name: metric for metric in METRICS}
NAMES = frozenset({*BY_NAME, SENT, ERRORS})
"""The metrics that are read from the tables."""
_LARGEST = 2.0**64
"""No count is larger (OTLP has 64 bits), no time and no share: such a number is unknown, as NaN is. A client may push any double,
and the sum of two may be infinite."""


class Instance(NamedTuple):
    """A KIP-714 client instance: it exists as long as its process."""

    client_instance_id: bytes
    client_id: str | None
    principal: str
    software_name: str
    software_version: str


class Point(NamedTuple):
    """A data point. `start`, `time`: seconds by the client's clock, None if not reported; `received`: by the broker's."""

    metric: str
    attributes: str
    temporality: str | None
    received: float
    start: float | None
    time: float | None
    value: float


@dataclass
class Series:
    """The metrics of one instance: samples by the metric's name below PREFIX. `interval`: median seconds between its
    pushes.
    """

    instance: Instance
    samples: dict[str, list[Sample]] = field(default_factory=dict)
    interval: float = 0.0


def series(points: Mapping[Instance, Iterable[Point]]) -> list[Series]:
    """Several points of one push (one per broker) are averaged for gauges and added for sums."""
    return [
        _series(instance, list(map(_plausible, points[instance]))) for instance in sorted(points, key=str)
    ]


def _plausible(point: Point) -> Point:
    return point if abs(point.value) <= _LARGEST else point._replace(value=math.nan)


def _series(instance: Instance, points: list[Point]) -> Series:
    by_metric: dict[str, list[Point]] = {}
    for point in points:
        by_metric.setdefault(point.metric, []).append(point)
    series_of_instance = Series(instance)
    for name, own in sorted(by_metric.items()):
        metric = BY_NAME.get(name)
        samples = _gauges(own) if metric is not None and metric.kind == GAUGE else _sums(own)
        if samples:
            series_of_instance.samples[name] = samples
    arrivals = sorted({point.received for point in points})
    gaps = [later - earlier for earlier, later in itertools.pairwise(arrivals)]
    series_of_instance.interval = statistics.median(gaps) if gaps else 0.0
    return series_of_instance


def _gauges(points: list[Point]) -> list[Sample]:
    by_push: dict[float, list[float]] = {}
    for point in points:
        if math.isfinite(point.value):
            by_push.setdefault(point.received, []).append(point.value)
    return [Sample(at, at, math.fsum(values) / len(values)) for at, values in sorted(by_push.items())]


def _sums(points: list[Point]) -> list[Sample]:
    by_series: dict[tuple[str, str | None], list[SumPoint]] = {}
    for point in points:
        by_series.setdefault((point.attributes, point.temporality), []).append(
            SumPoint(point.received, point.start, point.time, point.value)
        )
    return sorted(
        sample
        for (_, temporality), own in sorted(by_series.items(), key=str)
        for sample in counted(own, temporality)
    )
