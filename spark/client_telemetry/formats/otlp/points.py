"""What a decoder returns for one push: resources, scopes and data points. All decoders return equal values.

A decoder is a function `decode(payload: bytes) -> DecodedPayload` of the *decompressed* payload; it raises
`NotMetricsData`. reference.py has the decoding itself.
"""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Temporality = Literal["delta", "cumulative"]

# The labels that brokers and collectors add (KIP-714, "Client metrics and metric labels"), as spelled in
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

    `point_index` counts all points of the push, of any kind, in payload order. `temporality` and `is_monotonic` are
    None for a gauge, `temporality` also for a sum without one. Times are nanoseconds, None for 0 (OTLP's "unknown");
    they can be any 64-bit number. `value` is set if the client sent a double (NaN and infinities are kept), `value_int`
    if it sent an integer, neither if it sent none.
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
    `zero_count` and the positive and negative buckets (bucket i counts values in (base ** (offset + i), base ** (offset
    + i + 1)] with base = 2 ** 2 ** -scale) to `exponential_histogram`; `quantiles` and as many `quantile_values` to
    `summary`. Fields of other kinds are None. Counts are unsigned in OTLP and signed in tables: larger ones are capped
    at 2^63 - 1.
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
    """`resources` and `scopes` hold each distinct value once, in payload order.

    Java repeats its resource for every metric and so has one resource here; a point's `resource_index` refers to this
    list. `identity_labels`: names from `IDENTITY_LABELS` on resources or points, sorted. They stay in the maps as the
    client sent them and prove nothing about its identity, which comes from the broker's record.
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
        """Name of the first scope that has one; Java's have none."""
        return next((name for name, _ in self.scopes if name), None)

    @property
    def scope_version(self) -> str | None:
        """Version of the same scope."""
        return next((version or None for name, version in self.scopes if name), None)
