"""What a decoder gives for one push: resources, scopes and data points. Every decoder gives equal values.

A decoder is a function `decode(payload: bytes) -> DecodedPayload` over the *decompressed* payload; it raises
`NotMetricsData`. How the bytes are read is not here (reference.py).
"""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Temporality = Literal["delta", "cumulative"]

# The labels that brokers and collectors add (KIP-714, "Client metrics and metric labels"), in the spellings of
# docs/raw-dump-contract.md. In a payload they are only what the client claims.
IDENTITY_LABELS = frozenset(
    spelling
    for words in (
        ("client", "instance", "id"),
        ("client", "id"),
        ("client", "software", "name"),
        ("client", "software", "version"),
        ("client", "source", "address"),
        ("client", "source", "port"),
    )
    for spelling in ("_".join(words), ".".join(words), words[0] + "".join(w.title() for w in words[1:]))
) | {"principal", "kafka.cluster.id", "kafka.broker.id"}


class NumberPoint(NamedTuple):
    """A point of a gauge or sum; a row of `client_metrics` without the push's own columns.

    `point_index` counts all points of the push, of any kind, in the order of the payload.
    `temporality` and `is_monotonic` are None for a gauge, `temporality` also for a sum that does not say.
    Times are nanoseconds, None for 0 (as OTLP says "unknown"); they can be any 64-bit number.
    `value` where the client sent a double (NaN and infinities are kept), `value_int` where it sent an integer, both
    None where it sent none.
    """

    point_index: int
    resource_index: int
    metric: str
    kind: Literal["gauge", "sum"]
    temporality: Temporality | None
    is_monotonic: bool | None
    attributes: dict[str, str]
    start_time_ns: int | None
    time_ns: int | None
    value: float | None
    value_int: int | None


class HistogramPoint(NamedTuple):
    """A point of a histogram, exponential histogram or summary; a row of `client_metric_histograms`.

    `explicit_bounds` (n, ascending) and `bucket_counts` (n + 1, or both empty) belong to `histogram`; `scale`,
    `zero_count` and the positive and negative buckets (bucket i counts values in
    (base ** (offset + i), base ** (offset + i + 1)] with base = 2 ** 2 ** -scale) to `exponential_histogram`;
    `quantiles` and as many `quantile_values` to `summary`. What does not belong is None. Counts are unsigned in
    OTLP and signed in tables: above 2^63 - 1 they are given as that.
    """

    point_index: int
    resource_index: int
    metric: str
    kind: Literal["histogram", "exponential_histogram", "summary"]
    temporality: Temporality | None
    attributes: dict[str, str]
    start_time_ns: int | None
    time_ns: int | None
    count: int  # type: ignore[assignment]  # hides tuple.count, which nobody needs of a point
    sum: float | None
    min: float | None = None
    max: float | None = None
    explicit_bounds: list[float] | None = None
    bucket_counts: list[int] | None = None
    scale: int | None = None
    zero_count: int | None = None
    positive_offset: int | None = None
    positive_counts: list[int] | None = None
    negative_offset: int | None = None
    negative_counts: list[int] | None = None
    quantiles: list[float] | None = None
    quantile_values: list[float] | None = None


@dataclass
class DecodedPayload:
    """`resources` and `scopes` hold each distinct value once, in the order of the payload.

    Java repeats its resource for every metric, so it has one resource here; `resource_index` of a point counts
    in this list. `identity_labels`: names from `IDENTITY_LABELS` that resources or points carry, sorted. They
    stay in the maps as the client sent them and say nothing about who it is: identity is the broker's record.
    """

    resources: list[dict[str, str]] = field(default_factory=list)
    scopes: list[tuple[str, str]] = field(default_factory=list)
    numbers: list[NumberPoint] = field(default_factory=list)
    histograms: list[HistogramPoint] = field(default_factory=list)
    identity_labels: list[str] = field(default_factory=list)

    @property
    def points(self) -> int:
        return len(self.numbers) + len(self.histograms)

    @property
    def scope_name(self) -> str | None:
        """Of the first scope that has a name; Java's have none."""
        return next((name for name, _ in self.scopes if name), None)

    @property
    def scope_version(self) -> str | None:
        """Of the same scope."""
        return next((version or None for name, version in self.scopes if name), None)
