"""The reference decoder: OpenTelemetry's own classes. Slow and right; every other decoder is compared with it.

About 4 microseconds per point. The payload is `opentelemetry.proto.metrics.v1.MetricsData` (KIP-714; wire-compatible
with ExportMetricsServiceRequest).
"""

from collections.abc import Callable, Iterable
from typing import Any

from google.protobuf.message import DecodeError, Message
from opentelemetry.proto.metrics.v1.metrics_pb2 import (
    ExponentialHistogramDataPoint,
    HistogramDataPoint,
    Metric,
    MetricsData,
    NumberDataPoint,
    SummaryDataPoint,
)

from client_telemetry.formats.otlp.attributes import attribute_map
from client_telemetry.formats.otlp.points import (
    IDENTITY_LABELS,
    DecodedPayload,
    HistogramPoint,
    NumberPoint,
    Temporality,
)
from client_telemetry.formats.raw.errors import NotMetricsData

_TEMPORALITIES: dict[int, Temporality] = {1: "delta", 2: "cumulative"}
_LARGEST = 2**63 - 1
_Fields = dict[str, Any]


def decode(payload: bytes) -> DecodedPayload:
    """All points of a decompressed payload, in order. An empty payload has none.

    Ignored: unknown fields, exemplars, unit, description, flags, schema URLs, scope attributes, the zero threshold of
    exponential histograms, metrics without data. Raises `NotMetricsData`, also for bytes that parse but contain no
    ResourceMetrics: protobuf takes almost any short text for unknown fields.
    """
    try:
        message = MetricsData.FromString(payload)
    except DecodeError as error:
        raise NotMetricsData(str(error)) from None
    if payload and not message.resource_metrics:
        raise NotMetricsData(f"{len(payload)} bytes without one ResourceMetrics")
    decoded = DecodedPayload()
    indexes_by_bytes: dict[bytes, int] = {}
    indexes: dict[frozenset[tuple[str, str]], int] = {}
    scopes: dict[tuple[str, str], None] = {}
    for resource_metrics in message.resource_metrics:
        # Java repeats its resource for each metric, hence the lookup before anything is decoded.
        key = resource_metrics.resource.SerializeToString()
        index = indexes_by_bytes.get(key)
        if index is None:
            resource = attribute_map(resource_metrics.resource.attributes)
            index = indexes.setdefault(frozenset(resource.items()), len(decoded.resources))
            if index == len(decoded.resources):
                decoded.resources.append(resource)
            indexes_by_bytes[key] = index
        for scope_metrics in resource_metrics.scope_metrics:
            scope = (scope_metrics.scope.name, scope_metrics.scope.version)
            if any(scope):
                scopes[scope] = None
            for metric in scope_metrics.metrics:
                _decode_metric(metric, index, decoded)
    decoded.scopes = list(scopes)
    decoded.identity_labels = _identity_labels(decoded)
    return decoded


def _identity_labels(decoded: DecodedPayload) -> list[str]:
    labels = set().union(*decoded.resources)
    for points in (decoded.numbers, decoded.histograms):
        for point in points:
            if point.attributes:
                labels.update(point.attributes)
    return sorted(IDENTITY_LABELS & labels)


def _decode_metric(metric: Metric, resource_index: int, decoded: DecodedPayload) -> None:
    kind, name, index = metric.WhichOneof("data"), metric.name, decoded.points
    if kind == "gauge":
        points = metric.gauge.data_points
        decoded.numbers += _numbers(points, (index, resource_index, name, "gauge", None, None))
    elif kind == "sum":
        temporality = _TEMPORALITIES.get(metric.sum.aggregation_temporality)
        points = metric.sum.data_points
        decoded.numbers += _numbers(
            points, (index, resource_index, name, "sum", temporality, metric.sum.is_monotonic)
        )
    elif kind in _OF_KIND:
        data = getattr(metric, kind)
        temporality = _TEMPORALITIES.get(getattr(data, "aggregation_temporality", 0))
        decoded.histograms += (
            HistogramPoint(
                point_index=index + i,
                resource_index=resource_index,
                metric=name,
                kind=kind,
                temporality=temporality,
                attributes=attribute_map(point.attributes),
                start_time_ns=point.start_time_unix_nano or None,
                time_ns=point.time_unix_nano or None,
                count=min(point.count, _LARGEST),
                **_OF_KIND[kind](point),
            )
            for i, point in enumerate(data.data_points)
        )


def _numbers(points: Iterable[NumberDataPoint], shared: tuple[Any, ...]) -> Iterable[NumberPoint]:
    index, resource_index, name, kind, temporality, is_monotonic = shared
    for i, point in enumerate(points):
        value: float | None = point.as_double
        value_int = None
        if not value:  # 0.0, an integer or nothing; checking which costs as much as the rest of the point
            which = point.WhichOneof("value")
            value_int = point.as_int if which == "as_int" else None
            value = value if which == "as_double" else None
        yield NumberPoint(
            index + i,
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


def _of_histogram(point: HistogramDataPoint) -> _Fields:
    return {
        **_optional(point, "sum", "min", "max"),
        "explicit_bounds": list(point.explicit_bounds),
        "bucket_counts": _storable(point.bucket_counts),
    }


def _of_exponential_histogram(point: ExponentialHistogramDataPoint) -> _Fields:
    return {
        **_optional(point, "sum", "min", "max"),
        "scale": point.scale,
        "zero_count": min(point.zero_count, _LARGEST),
        "positive_offset": point.positive.offset,
        "positive_counts": _storable(point.positive.bucket_counts),
        "negative_offset": point.negative.offset,
        "negative_counts": _storable(point.negative.bucket_counts),
    }


def _of_summary(point: SummaryDataPoint) -> _Fields:
    return {
        "sum": point.sum,
        "quantiles": [quantile.quantile for quantile in point.quantile_values],
        "quantile_values": [quantile.value for quantile in point.quantile_values],
    }


_OF_KIND: dict[str, Callable[[Any], _Fields]] = {
    "histogram": _of_histogram,
    "exponential_histogram": _of_exponential_histogram,
    "summary": _of_summary,
}
"""What only points of this kind have."""


def _optional(point: Message, *fields: str) -> _Fields:
    return {field: getattr(point, field) if point.HasField(field) else None for field in fields}


def _storable(counts: Iterable[int]) -> list[int]:
    return [min(count, _LARGEST) for count in counts]
