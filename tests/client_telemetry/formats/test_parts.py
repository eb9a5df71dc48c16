"""The count of what protobuf's classes would make of a payload, held against protobuf's classes."""

from pathlib import Path

import numpy as np
import pytest
from client_telemetry.formats.otlp import parts
from client_telemetry.formats.otlp.codecs import NOT_KNOWN, decompress
from client_telemetry.formats.otlp.parts import MAX_PARTS, MAX_POINTS, checked
from client_telemetry.formats.raw.errors import PayloadTooLarge
from google.protobuf.message import Message
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

from tests.client_telemetry.formats.crowded_payloads import CROWDED

PAYLOADS = Path(__file__).parents[2] / "data" / "payloads"


def counted(payload: bytes) -> tuple[int, int]:
    at = np.frombuffer(payload, np.uint8).ctypes.data
    stack = np.empty((100, 2), np.int64)
    return parts._count(at, at + len(payload), parts._HOLDS, parts._IS_POINT, stack, 2**62, 2**62)


def of_classes(message: Message) -> tuple[int, int]:
    points = found = 0
    for field, value in message.ListFields():
        values = value if field.is_repeated else [value]
        if field.message_type is not None:
            found += len(values)
            points += len(values) * field.message_type.name.endswith("DataPoint")
            for inner in map(of_classes, values):
                points, found = points + inner[0], found + inner[1]
        elif field.is_repeated and field.type not in (field.TYPE_STRING, field.TYPE_BYTES):
            found += len(values)
    return points, found


@pytest.mark.parametrize("path", sorted(PAYLOADS.glob("*.bin")), ids=lambda path: path.stem)
def test_real_payloads_have_the_parts_that_protobuf_makes_of_them(path):
    payload = decompress(path.read_bytes(), NOT_KNOWN)
    assert counted(payload) == of_classes(MetricsData.FromString(payload))


def test_packed_buckets_count_by_their_bytes():
    data = MetricsData()
    metric = data.resource_metrics.add().scope_metrics.add().metrics.add()
    metric.exponential_histogram.data_points.add(positive={"bucket_counts": [1, 2, 3]})
    assert counted(data.SerializeToString()) == of_classes(data) == (1, 9)


def test_what_is_cut_off_counts_up_to_there():
    data = MetricsData()
    data.resource_metrics.add().scope_metrics.add().metrics.add().gauge.data_points.add(as_double=1.0)
    assert counted(data.SerializeToString()[:-3] + b"\xff") == (0, 0)
    assert counted(data.SerializeToString() + b"\xff\xff") == (1, 5)


@pytest.mark.parametrize("name", CROWDED)
def test_a_crowded_payload_is_refused(name):
    with pytest.raises(PayloadTooLarge, match=f"more than ({MAX_POINTS} data|{MAX_PARTS} messages)"):
        checked(CROWDED[name]())
