"""What every decoder has to give."""

import csv
import datetime as dt
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from client_telemetry.formats.otlp import reference
from client_telemetry.formats.otlp.codecs import decompress
from client_telemetry.formats.otlp.columns import decode_columns
from client_telemetry.formats.otlp.points import IDENTITY_LABELS, DecodedPayload, HistogramPoint, NumberPoint
from client_telemetry.formats.raw.errors import NotMetricsData
from client_telemetry.formats.raw.reader import PADDING
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.metrics.v1.metrics_pb2 import (
    ExponentialHistogram,
    ExponentialHistogramDataPoint,
    Gauge,
    Histogram,
    HistogramDataPoint,
    Metric,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
    Summary,
    SummaryDataPoint,
)


def decode_by_columns(payload: bytes) -> DecodedPayload:
    """The fast decoder and what it leaves to the reference, in the reference's terms."""
    memory = np.frombuffer(payload + bytes(PADDING), np.uint8)
    columns = decode_columns(memory.ctypes.data + np.array([[0, len(payload)]]))
    if columns.given_up[0]:
        return reference.decode(payload)
    decoded = DecodedPayload([dict(resource) for resource in columns.resources.to_pylist()[0]])
    if columns.scope_names[0].is_valid:
        decoded.scopes = [(columns.scope_names[0].as_py(), columns.scope_versions[0].as_py() or "")]
    names = set().union(*decoded.resources)
    rows = pa.table(columns.numbers).to_pylist()
    for row in rows:
        attributes = dict(row["attributes"])
        names |= attributes.keys()
        start, time = (_nanos(row.pop(name)) for name in ("start_time", "time"))
        point = {**row, "attributes": attributes, "start_time_ns": start, "time_ns": time}
        decoded.numbers.append(NumberPoint(**point, resource_index=0))
    decoded.identity_labels = sorted(IDENTITY_LABELS & names)
    assert bool(decoded.identity_labels) == columns.has_identity[0]
    assert columns.points[0] == len(rows)
    return decoded


def _nanos(time: dt.datetime | None) -> int | None:
    """Columns have microseconds, and so have the captured payloads."""
    return (
        None
        if time is None
        else (time - dt.datetime.fromtimestamp(0, dt.UTC)) // dt.timedelta(microseconds=1) * 1000
    )


DECODERS = {"reference": reference.decode, "columns": decode_by_columns}
PAYLOADS = Path(__file__).parents[2] / "data/payloads"


@pytest.fixture(params=DECODERS.values(), ids=DECODERS)
def decode(request):
    return request.param


def text(**values: str) -> list[KeyValue]:
    return [KeyValue(key=key, value=AnyValue(string_value=value)) for key, value in values.items()]


def resource_metrics(*metrics: Metric, scope: tuple[str, str] = ("", ""), **resource: str) -> ResourceMetrics:
    scoped = ScopeMetrics(metrics=metrics, scope={"name": scope[0], "version": scope[1]})
    return ResourceMetrics(resource={"attributes": text(**resource)}, scope_metrics=[scoped])


def payload(*messages: ResourceMetrics) -> bytes:
    return MetricsData(resource_metrics=messages).SerializeToString()


def gauge(name: str, *points: NumberDataPoint) -> Metric:
    return Metric(name=name, gauge=Gauge(data_points=points))


def total(name: str, temporality: int, is_monotonic: bool, *points: NumberDataPoint) -> Metric:
    data = Sum(aggregation_temporality=temporality, is_monotonic=is_monotonic, data_points=points)
    return Metric(name=name, sum=data)


# ResourceMetrics { ScopeMetrics { Metric { "up", Gauge { NumberDataPoint { as_double = 1.5 } } } } }
UP = bytes.fromhex("0a17121512130a0275702a0d0a0b21000000000000f83f3a00")


def test_a_point_byte_by_byte(decode):
    assert decode(UP).numbers == [
        NumberPoint(0, 0, "up", "gauge", None, None, {"": ""}, None, None, 1.5, None),
    ]


@pytest.mark.parametrize(
    ("name", "codec"),
    [
        ("java-4.3.1-producer-kip714required-cumulative.none", 0),
        ("librdkafka-2.15.0-producer-c4.push1.c4", 4),
    ],
)
def test_all_points_of_a_captured_payload(decode, name, codec):
    decoded = decode(decompress((PAYLOADS / f"{name}.bin").read_bytes(), codec))
    with (PAYLOADS / f"{name}.points.csv").open(newline="") as file:
        expected = list(csv.DictReader(file))
    texts = [
        {column: "" if point[column] is None else str(point[column]) for column in expected[0]}
        for point in (
            p._asdict() | {"attributes": " ".join(f"{k}={v}" for k, v in p.attributes.items())}
            for p in decoded.numbers
        )
    ]
    assert texts == expected
    assert [p.point_index for p in decoded.numbers] == list(range(len(expected)))


# Java: counted in the text format that Java printed. librdkafka: averages are doubles, all else integers.
@pytest.mark.parametrize(
    ("name", "points", "nan", "integers", "resource", "scope"),
    [
        (
            "java-4.3.1-producer-all-delta.none",
            87,
            20,
            1,
            "transactional_id=tx-1 client_rack=r1",
            (None, None),
        ),
        ("java-4.3.1-consumer-all-delta.none", 102, 32, 1, "group_instance_id=i-1 group_id=g1", (None, None)),
        ("librdkafka-2.15.0-consumer-c4.push1.c4", 15, 0, 8, "group_id=g1", ("c1#consumer-1", "2.15.0")),
    ],
)
def test_what_a_captured_payload_consists_of(decode, name, points, nan, integers, resource, scope):
    codec = 4 if name.endswith("c4") else 0
    decoded = decode(decompress((PAYLOADS / f"{name}.bin").read_bytes(), codec))
    assert (decoded.points, len(decoded.numbers)) == (points, points)
    assert sum(p.value is not None and math.isnan(p.value) for p in decoded.numbers) == nan
    assert sum(p.value_int is not None for p in decoded.numbers) == integers
    assert decoded.resources == [dict(pair.split("=") for pair in resource.split())]
    assert (decoded.scope_name, decoded.scope_version) == scope
    assert decoded.identity_labels == []


def test_values(decode):
    points = [
        NumberDataPoint(as_double=0.0),
        NumberDataPoint(as_double=-0.0),
        NumberDataPoint(as_double=math.nan),
        NumberDataPoint(as_double=-math.inf),
        NumberDataPoint(as_int=0),
        NumberDataPoint(as_int=2**63 - 1),
        NumberDataPoint(as_int=-(2**63)),
        NumberDataPoint(),
    ]
    numbers = decode(payload(resource_metrics(gauge("g", *points)))).numbers
    assert [repr(p.value) for p in numbers] == ["0.0", "-0.0", "nan", "-inf", "None", "None", "None", "None"]
    assert [p.value_int for p in numbers] == [None, None, None, None, 0, 2**63 - 1, -(2**63), None]


def test_the_last_of_two_values_on_the_wire_stays(decode):
    as_int, as_double = b"\x31" + (3).to_bytes(8, "little"), b"\x21" + bytes(8)
    for wire, expected in ((as_int + as_double, (0.0, None)), (as_double + as_int, (None, 3))):
        data = wire
        for tag in (b"\x0a", b"\x2a", b"\x12", b"\x12", b"\x0a"):  # point, gauge, metric, scope, resource
            data = tag + bytes([len(data)]) + data
        point = decode(data).numbers[0]
        assert (point.value, point.value_int) == expected


def test_times_are_nanoseconds_and_zero_is_null(decode):
    points = [
        NumberDataPoint(time_unix_nano=1, start_time_unix_nano=0),
        NumberDataPoint(time_unix_nano=0, start_time_unix_nano=2**64 - 1),
    ]
    numbers = decode(payload(resource_metrics(gauge("g", *points)))).numbers
    assert [(p.start_time_ns, p.time_ns) for p in numbers] == [(None, 1), (2**64 - 1, None)]


def test_temporality_and_monotony_of_sums(decode):
    metrics = [
        total(f"s{t}{m}", t, m, NumberDataPoint(as_int=1)) for t in (0, 1, 2, 7) for m in (False, True)
    ]
    decoded = [
        (p.kind, p.temporality, p.is_monotonic) for p in decode(payload(resource_metrics(*metrics))).numbers
    ]
    assert decoded == [
        ("sum", temporality, monotonic)
        for temporality in (None, "delta", "cumulative", None)
        for monotonic in (False, True)
    ]


def test_resources_are_listed_once_in_order(decode):
    point = NumberDataPoint(as_int=1)
    same_but_reordered = resource_metrics(gauge("e", point), b="2", a="1")
    decoded = decode(
        payload(
            resource_metrics(gauge("a", point), a="1", b="2"),
            resource_metrics(gauge("b", point), a="1", b="2"),
            ResourceMetrics(scope_metrics=[ScopeMetrics(metrics=[gauge("c", point)])]),
            resource_metrics(gauge("d", point)),
            same_but_reordered,
            resource_metrics(a="3"),
        )
    )
    assert decoded.resources == [{"a": "1", "b": "2"}, {}, {"a": "3"}]
    assert [(p.metric, p.resource_index) for p in decoded.numbers] == [
        ("a", 0),
        ("b", 0),
        ("c", 1),
        ("d", 1),
        ("e", 0),
    ]


def test_the_first_named_scope_is_the_scope(decode):
    decoded = decode(
        payload(
            resource_metrics(),
            resource_metrics(scope=("", "9")),
            resource_metrics(scope=("kgo", "")),
            resource_metrics(scope=("kgo", "1")),
        )
    )
    assert decoded.scopes == [("", "9"), ("kgo", ""), ("kgo", "1")]
    assert (decoded.scope_name, decoded.scope_version) == ("kgo", None)


def test_the_last_of_two_equal_attributes_stays(decode):
    point = NumberDataPoint(as_int=1, attributes=text(node_id="1") + text(node_id="2"))
    assert decode(payload(resource_metrics(gauge("g", point)))).numbers[0].attributes == {"node_id": "2"}


def test_attributes_that_are_no_strings_become_text(decode):
    attributes = [KeyValue(key="node.id", value=AnyValue(int_value=3)), KeyValue(key="none")]
    point = NumberDataPoint(as_int=1, attributes=attributes)
    assert decode(payload(resource_metrics(gauge("g", point)))).numbers[0].attributes == {
        "node.id": "3",
        "none": "",
    }


def test_identity_labels_are_named_and_left_where_they_are(decode):
    claimed = {
        "client_id": "someone else",
        "clientSoftwareVersion": "9",
        "kafka.broker.id": "1",
        "group_id": "g",
    }
    point = NumberDataPoint(as_int=1, attributes=text(principal="User:admin", topic="t"))
    decoded = decode(payload(resource_metrics(gauge("g", point), **claimed)))
    assert decoded.identity_labels == ["clientSoftwareVersion", "client_id", "kafka.broker.id", "principal"]
    assert decoded.resources == [claimed]
    assert decoded.numbers[0].attributes == {"principal": "User:admin", "topic": "t"}


def test_histograms(decode):
    point = HistogramDataPoint(
        count=6,
        sum=7.5,
        min=-1,
        max=4,
        explicit_bounds=[0, 2.5],
        bucket_counts=[1, 2, 3],
        time_unix_nano=9,
        attributes=text(a="b"),
    )
    bare = HistogramDataPoint(count=2**64 - 1, bucket_counts=[2**64 - 1])
    metric = Metric(name="h", histogram=Histogram(aggregation_temporality=1, data_points=[point, bare]))
    assert decode(payload(resource_metrics(metric))).histograms == [
        HistogramPoint(
            0,
            0,
            "h",
            "histogram",
            "delta",
            {"a": "b"},
            None,
            9,
            6,
            7.5,
            -1,
            4,
            explicit_bounds=[0, 2.5],
            bucket_counts=[1, 2, 3],
        ),
        HistogramPoint(
            1,
            0,
            "h",
            "histogram",
            "delta",
            {},
            None,
            None,
            2**63 - 1,
            None,
            explicit_bounds=[],
            bucket_counts=[2**63 - 1],
        ),
    ]


def test_exponential_histograms(decode):
    point = ExponentialHistogramDataPoint(
        count=6,
        sum=7.5,
        scale=-2,
        zero_count=1,
        positive={"offset": -3, "bucket_counts": [1, 0, 4]},
        negative={"offset": 2},
    )
    data = ExponentialHistogram(aggregation_temporality=2, data_points=[point])
    assert decode(payload(resource_metrics(Metric(name="e", exponential_histogram=data)))).histograms == [
        HistogramPoint(
            0, 0, "e", "exponential_histogram", "cumulative", {}, None, None, 6, 7.5,
            scale=-2, zero_count=1, positive_offset=-3, positive_counts=[1, 0, 4], negative_offset=2, negative_counts=[],
        )
    ]  # fmt: skip


def test_summaries(decode):
    point = SummaryDataPoint(count=6, sum=7.5, start_time_unix_nano=3)
    point.quantile_values.add(quantile=0.5, value=1.25)
    point.quantile_values.add(quantile=0.99, value=math.inf)
    metric = Metric(name="s", summary=Summary(data_points=[point]))
    assert decode(payload(resource_metrics(metric))).histograms == [
        HistogramPoint(
            0,
            0,
            "s",
            "summary",
            None,
            {},
            3,
            None,
            6,
            7.5,
            quantiles=[0.5, 0.99],
            quantile_values=[1.25, math.inf],
        )
    ]


def test_the_point_index_counts_all_kinds_in_the_order_of_the_payload(decode):
    number = NumberDataPoint(as_int=1)
    histogram = Metric(
        name="h", histogram=Histogram(data_points=[HistogramDataPoint(), HistogramDataPoint()])
    )
    decoded = decode(
        payload(
            resource_metrics(gauge("a", number), histogram),
            resource_metrics(total("b", 1, True, number, number)),
        )
    )
    assert [(p.metric, p.point_index) for p in decoded.numbers] == [("a", 0), ("b", 3), ("b", 4)]
    assert [p.point_index for p in decoded.histograms] == [1, 2]
    assert decoded.points == 5


def test_exemplars_units_and_unknown_fields_are_ignored(decode):
    point = NumberDataPoint(as_int=1, exemplars=[{"as_double": 5.0}], flags=1)
    plain = payload(resource_metrics(gauge("g", NumberDataPoint(as_int=1))))
    metric = Metric(name="g", unit="ms", description="d", gauge=Gauge(data_points=[point]))
    unknown = Metric.FromString(metric.SerializeToString() + b"\xfa\x3e\x05later")
    assert decode(payload(resource_metrics(unknown)) + b"\xf8\x3e\x01").numbers == decode(plain).numbers


def test_payloads_without_points(decode):
    assert decode(b"").points == 0
    # franz-go with nothing to tell: a resource and a scope without metrics
    decoded = decode(payload(resource_metrics(scope=("kgo", "v1.22.2"))))
    assert (decoded.points, decoded.resources, decoded.scope_name) == (0, [{}], "kgo")
    # metrics without data, or with data but no points
    assert decode(payload(resource_metrics(Metric(name="none"), gauge("empty")))).points == 0


@pytest.mark.parametrize(
    "data",
    [
        b"\x0a\x7f",
        UP[:-1],
        b"\xff" * 20,
        b"<html>",
        b"\x28\xb5\x2f\xfd\x00\x58",
        b"\x12\x02ok",
        UP.replace(b"up", b"u\xff"),
    ],
    ids=[
        "cut in a length",
        "cut at the end",
        "noise",
        "text",
        "still compressed",
        "unknown fields alone",
        "not UTF-8",
    ],
)
def test_what_is_no_metrics_data(decode, data):
    with pytest.raises(NotMetricsData):
        decode(data)
