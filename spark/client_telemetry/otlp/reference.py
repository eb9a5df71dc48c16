"""The reference decoder: OpenTelemetry's own classes. Slow and right; every other decoder is compared with it.

Some 4 microseconds a point. The payload is `opentelemetry.proto.metrics.v1.MetricsData` (KIP-714; wire-compatible
with ExportMetricsServiceRequest).
"""

from collections.abc import Iterable

from google.protobuf.message import DecodeError
from opentelemetry.proto.metrics.v1.metrics_pb2 import (
    ExponentialHistogram,
    Histogram,
    Metric,
    MetricsData,
    NumberDataPoint,
    Summary,
)

from client_telemetry.otlp.attributes import attribute_map
from client_telemetry.otlp.points import (
    IDENTITY_LABELS,
    DecodedPayload,
    HistogramPoint,
    NumberPoint,
    Temporality,
)
from client_telemetry.raw.errors import NotMetricsData, NumberOutOfRange

_TEMPORALITIES: dict[int, Temporality] = {1: "delta", 2: "cumulative"}
_LARGEST = 2**63 - 1


def decode(payload: bytes) -> DecodedPayload:
    """All points of a decompressed payload, in its order. An empty payload has none (KIP-714: nothing to send).

    Ignored: unknown fields, exemplars, unit, description, flags, schema URLs, scope attributes, metrics without
    data. Raises `NotMetricsData` (also for bytes that parse but hold not one ResourceMetrics, since protobuf
    takes almost any short text for unknown fields) and `NumberOutOfRange` (a count above 2^63 - 1).
    """
    try:
        message = MetricsData.FromString(payload)
    except DecodeError as error:
        raise NotMetricsData(str(error)) from None
    if payload and not message.resource_metrics:
        raise NotMetricsData(f"{len(payload)} bytes without one ResourceMetrics")
    decoded = DecodedPayload()
    resource_indexes: dict[frozenset, int] = {}
    labels: set[str] = set()
    for resource_metrics in message.resource_metrics:
        resource = attribute_map(resource_metrics.resource.attributes)
        key = frozenset(resource.items())
        if key not in resource_indexes:
            resource_indexes[key] = len(decoded.resources)
            decoded.resources.append(resource)
            labels.update(IDENTITY_LABELS.intersection(resource))
        for scope_metrics in resource_metrics.scope_metrics:
            scope = (scope_metrics.scope.name, scope_metrics.scope.version)
            if any(scope) and scope not in decoded.scopes:
                decoded.scopes.append(scope)
            for metric in scope_metrics.metrics:
                _decode_metric(metric, resource_indexes[key], decoded)
    for points in (decoded.numbers, decoded.histograms):
        for point in points:
            if point.attributes and not IDENTITY_LABELS.isdisjoint(point.attributes):
                labels.update(IDENTITY_LABELS.intersection(point.attributes))
    decoded.identity_labels = sorted(labels)
    return decoded


def _decode_metric(metric: Metric, resource_index: int, decoded: DecodedPayload) -> None:
    kind, name, index = metric.WhichOneof("data"), metric.name, decoded.points
    if kind == "gauge":
        decoded.numbers += [
            _number(point, index + i, resource_index, name, "gauge", None, None)
            for i, point in enumerate(metric.gauge.data_points)
        ]
    elif kind == "sum":
        data = metric.sum
        temporality, is_monotonic = _TEMPORALITIES.get(data.aggregation_temporality), data.is_monotonic
        decoded.numbers += [
            _number(point, index + i, resource_index, name, "sum", temporality, is_monotonic)
            for i, point in enumerate(data.data_points)
        ]
    elif kind == "histogram":
        decoded.histograms += _histograms(metric.histogram, index, resource_index, name)
    elif kind == "exponential_histogram":
        decoded.histograms += _exponential_histograms(
            metric.exponential_histogram, index, resource_index, name
        )
    elif kind == "summary":
        decoded.histograms += _summaries(metric.summary, index, resource_index, name)


def _number(
    point: NumberDataPoint, index, resource_index, name, kind, temporality, is_monotonic
) -> NumberPoint:
    which = point.WhichOneof("value")
    value_int = point.as_int if which == "as_int" else None
    value = point.as_double if which == "as_double" else float(value_int) if which else None
    return NumberPoint(
        index,
        resource_index,
        name,
        kind,
        temporality,
        is_monotonic,
        attribute_map(point.attributes),
        point.start_time_unix_nano or None,
        point.time_unix_nano or None,
        value,
        value_int,
    )


def _histograms(data: Histogram, index: int, resource_index: int, name: str) -> Iterable[HistogramPoint]:
    for i, point in enumerate(data.data_points):
        yield HistogramPoint(
            **_shared(point, index + i, resource_index, name),
            kind="histogram",
            temporality=_TEMPORALITIES.get(data.aggregation_temporality),
            **_optional(point, "sum", "min", "max"),
            bounds=list(point.explicit_bounds),
            bucket_counts=_storable(name, point.bucket_counts),
        )


def _exponential_histograms(
    data: ExponentialHistogram, index: int, resource_index: int, name: str
) -> Iterable[HistogramPoint]:
    for i, point in enumerate(data.data_points):
        yield HistogramPoint(
            **_shared(point, index + i, resource_index, name),
            kind="exponential_histogram",
            temporality=_TEMPORALITIES.get(data.aggregation_temporality),
            **_optional(point, "sum", "min", "max"),
            scale=point.scale,
            zero_count=_storable(name, [point.zero_count])[0],
            zero_threshold=point.zero_threshold,
            positive_offset=point.positive.offset,
            positive_counts=_storable(name, point.positive.bucket_counts),
            negative_offset=point.negative.offset,
            negative_counts=_storable(name, point.negative.bucket_counts),
        )


def _summaries(data: Summary, index: int, resource_index: int, name: str) -> Iterable[HistogramPoint]:
    for i, point in enumerate(data.data_points):
        yield HistogramPoint(
            **_shared(point, index + i, resource_index, name),
            kind="summary",
            temporality=None,
            sum=point.sum,
            quantiles=[(each.quantile, each.value) for each in point.quantile_values],
        )


def _shared(point, index: int, resource_index: int, name: str) -> dict:
    return {
        "point_index": index,
        "resource_index": resource_index,
        "metric": name,
        "attributes": attribute_map(point.attributes),
        "start_time_ns": point.start_time_unix_nano or None,
        "time_ns": point.time_unix_nano or None,
        "count": _storable(name, [point.count])[0],
    }


def _optional(point, *fields: str) -> dict:
    return {field: getattr(point, field) if point.HasField(field) else None for field in fields}


def _storable(name: str, counts: Iterable[int]) -> list[int]:
    """OTLP counts are unsigned, tables have signed integers."""
    stored = list(counts)
    if any(count > _LARGEST for count in stored):
        raise NumberOutOfRange(f"metric {name!r} has a count above 2^63 - 1")
    return stored
