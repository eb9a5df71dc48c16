"""How many objects protobuf's classes would make of a payload, told by its bytes without making them.

Two bytes can stand for an empty data point, which costs hundreds in memory; one byte for a bucket of a histogram.
"""

import numpy as np
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

from client_telemetry.formats.raw.errors import PayloadTooLarge
from client_telemetry.formats.raw.wire import compiled, length, varint

MAX_POINTS, MAX_PARTS = 200_000, 2_000_000
"""Of a payload. Parts are messages within messages and numbers of lists. Some 20 MB of a real client's metrics have as many
points, under the brokers' limit of 1 MiB compressed; a worker needs some 250 MB for them."""

CROWDED_BYTES = 2 * MAX_POINTS
"""Bytes that a payload has at least which exceeds a limit: a part takes two, or is one of a list in one."""

_DEPTH = 100
"""protobuf refuses messages that are nested more deeply."""

_LIST, _PLAIN = -1, -2
_FIELDS = 32


def _structure() -> tuple[np.ndarray, np.ndarray]:
    """int8[types, _FIELDS]: what a field of a type holds, by number: a type (MetricsData is 0), _LIST of numbers, or
    _PLAIN; bool[types]: which types are data points."""
    types: list[Descriptor] = [MetricsData.DESCRIPTOR]
    found: list[list[int]] = []
    for type_ in types:
        found.append([_PLAIN] * _FIELDS)
        for field in type_.fields:
            if field.message_type is not None:
                if field.message_type not in types:
                    types.append(field.message_type)
                found[-1][field.number] = types.index(field.message_type)
            elif field.is_repeated and field.type not in (
                FieldDescriptor.TYPE_STRING,
                FieldDescriptor.TYPE_BYTES,
            ):
                found[-1][field.number] = _LIST
    return np.array(found, np.int8), np.array([each.name.endswith("DataPoint") for each in types])


_HOLDS, _IS_POINT = _structure()


@compiled("UniTuple(int64, 2)(int64, int64, int8[:, ::1], boolean[::1], int64[:, ::1], int64, int64)")
def _count(at, end, holds, is_point, stack, max_points, max_parts):  # noqa: C901
    """(points, parts) from `at` to `end`, up to where it is broken or a limit is exceeded. Groups, which nobody writes,
    count as what is in them."""
    points, parts, depth, type_ = np.int64(0), np.int64(0), 0, np.int64(0)
    while points <= max_points and parts <= max_parts:
        if at >= end:
            if depth == 0:
                break
            depth -= 1
            end, type_ = stack[depth, 0], stack[depth, 1]
            continue
        tag, at = varint(at, end)
        if at == 0:
            break
        field, kind = tag >> 3, tag & 7
        held = np.int64(holds[type_, field]) if 0 <= field < holds.shape[1] else np.int64(_PLAIN)
        if kind == 2:
            size, at = length(at, end)
            if at == 0:
                break
            if held >= 0:
                parts += 1
                if is_point[held]:
                    points += 1
                if depth < len(stack):
                    stack[depth, 0], stack[depth, 1] = end, type_
                    depth += 1
                    end, type_ = at + size, held
                    continue
            elif held == _LIST:
                parts += size
            at += size
        else:
            if held == _LIST:
                parts += 1
            if kind == 0:
                _, at = varint(at, end)
                if at == 0:
                    break
            elif kind == 1:
                at += 8
            elif kind == 5:
                at += 4
    return points, parts


def check_parts(start: int, end: int) -> None:
    """Raises PayloadTooLarge for a payload of more than MAX_POINTS or MAX_PARTS, which lies from address `start` to `end`."""
    if end - start < CROWDED_BYTES:
        return
    stack = np.empty((_DEPTH, 2), np.int64)
    points, parts = _count(start, end, _HOLDS, _IS_POINT, stack, MAX_POINTS, MAX_PARTS)
    if points > MAX_POINTS:
        raise PayloadTooLarge(f"more than {MAX_POINTS} data points in {end - start} bytes")
    if parts > MAX_PARTS:
        raise PayloadTooLarge(f"more than {MAX_PARTS} messages and numbers in {end - start} bytes")


def checked(payload: bytes) -> bytes:
    """The payload, if `check_parts` lets it pass."""
    start = np.frombuffer(payload, np.uint8).ctypes.data
    check_parts(start, start + len(payload))
    return payload
