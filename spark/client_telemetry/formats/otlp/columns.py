"""The fast decoder: number points of many payloads as columns of Arrow.

It gives the rows of the reference decoder or none: a payload that it does not take (`given_up`) is for the
reference, be it unusual or broken.
"""

import ctypes
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from google.protobuf.message import DecodeError
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope

from client_telemetry.formats.otlp import label_sets
from client_telemetry.formats.otlp.parts import MAX_POINTS
from client_telemetry.formats.otlp.scan import (
    AS_DOUBLE,
    AS_INT,
    ATTRIBUTES,
    CUMULATIVE,
    DELTA,
    ITS_POINTS,
    ITS_RESOURCE,
    ITS_SCOPE,
    KINDS,
    LABELS,
    METRIC,
    MONOTONIC,
    NAME,
    PAYLOAD,
    PAYLOAD_COLUMNS,
    POINT_COLUMNS,
    RESOURCE,
    SCOPE,
    SHAPE,
    START,
    SUM,
    TIME,
    VALUE,
    scan,
)
from client_telemetry.formats.raw.wire import DistinctRanges, compiled

_TIMESTAMP = pa.timestamp("us", "UTC")
_SMALLEST_POINT = 60
"""Bytes per point to make room for at first; a real one takes 100 and more."""
_MOST_POINTS = 2 * MAX_POINTS
"""Of payloads that are decoded together: one payload, and what comes before it."""


@dataclass(frozen=True)
class PayloadColumns:
    """What the first `n` of the given payloads hold. `given_up`: bool[n]; all else is empty for those.

    `points`: int64[n]; `latest_ns`: int64[n], 0 where no point has a time; `has_identity`: bool[n], the payload has
    labels of IDENTITY_LABELS. `resources`: list<map<string, string>>[n], of one element or none; `scope_names` and
    `scope_versions`: string[n], as dictionaries.

    `payload`: int64[m], to which payload a point belongs, ascending; `numbers`: its columns by their names in the
    table client_metrics, strings as dictionaries.
    """

    given_up: np.ndarray
    points: np.ndarray
    latest_ns: np.ndarray
    has_identity: np.ndarray
    resources: pa.Array
    scope_names: pa.Array
    scope_versions: pa.Array
    payload: np.ndarray
    numbers: dict[str, pa.Array]


@compiled(
    "void(int64[:, ::1], int64[::1], boolean[::1], int32[:, ::1], int64[:, ::1], uint8[:, ::1], int64[::1], boolean[::1])"
)
def _split(points, first, has_identity, out_int, out_long, valid, latest, identity):
    """Points to columns: validity bits, microseconds, per payload the latest time and whether a label is identity."""
    for i in range(len(points)):
        payload, shape = points[i, PAYLOAD], points[i, SHAPE]
        byte, bit = i >> 3, np.uint8(1 << (i & 7))
        out_int[0, i] = i - first[payload]
        out_int[1, i] = points[i, NAME]
        out_int[2, i] = shape & SUM
        out_int[3, i] = 1 if shape & CUMULATIVE else 0
        start, time = points[i, START], points[i, TIME]
        out_long[0, i] = start // 1000
        out_long[1, i] = time // 1000
        out_long[2, i] = points[i, VALUE]
        out_long[3, i] = points[i, LABELS]
        out_long[4, i] = payload
        if shape & (DELTA | CUMULATIVE):
            valid[0, byte] |= bit
        if shape & SUM:
            valid[1, byte] |= bit
        if shape & MONOTONIC:
            valid[2, byte] |= bit
        if start:
            valid[3, byte] |= bit
        if time:
            valid[4, byte] |= bit
            latest[payload] = max(latest[payload], time)
        if shape & AS_INT and (not shape & AS_DOUBLE):
            valid[6, byte] |= bit
        elif shape & AS_DOUBLE:
            valid[5, byte] |= bit
        if points[i, LABELS] >= 0 and has_identity[points[i, LABELS]]:
            identity[payload] = True


def decode_columns(ranges: np.ndarray) -> PayloadColumns:
    """Decode decompressed payloads together: all, or as many as have some `_MOST_POINTS` points, one at least. `ranges`:
    int64[n, 2], from what address to what a payload lies; PADDING bytes of any value follow it. None may have more than
    MAX_POINTS. Nothing of that memory is kept.
    """
    n = len(ranges)
    table = DistinctRanges(KINDS)
    per_payload = np.empty((n, PAYLOAD_COLUMNS), np.int64)
    given_up = np.zeros(n, np.bool_)
    room = int((ranges[:, 1] - ranges[:, 0]).sum()) // _SMALLEST_POINT + 64
    points = np.empty((room, POINT_COLUMNS), np.int64)
    at = used = 0
    while True:
        at, used = scan(ranges, at, per_payload, points, used, given_up, table.address)
        if at == n:
            break
        if table.is_full:
            table.grow()
        elif at and len(points) >= _MOST_POINTS:
            n, per_payload, given_up = at, per_payload[:at].copy(), given_up[:at].copy()
            break
        else:
            points = np.concatenate([points, np.empty_like(points)])
    points = points[:used]

    attributes = label_sets.point_attributes(table.ranges(ATTRIBUTES))
    resources = label_sets.resources(table.ranges(RESOURCE))
    scopes, is_bad_scope = _scopes(table.ranges(SCOPE))
    bad = attributes.is_bad.any() or resources.is_bad.any() or is_bad_scope.any()
    if bad:
        labels = points[:, LABELS]
        given_up[points[labels >= 0][attributes.is_bad[labels[labels >= 0]], PAYLOAD]] = True
        given_up |= np.append(resources.is_bad, False)[per_payload[:, ITS_RESOURCE]]
        given_up |= np.append(is_bad_scope, False)[per_payload[:, ITS_SCOPE]]
        points = points[~given_up[points[:, PAYLOAD]]]
    per_payload[given_up] = (-1, -1, 0)

    its_points = per_payload[:, ITS_POINTS]
    m = len(points)
    latest, identity = np.zeros(n, np.int64), np.zeros(n, np.bool_)
    ints, longs = np.empty((4, m), np.int32), np.empty((5, m), np.int64)
    valid = np.zeros((7, (m + 7) // 8), np.uint8)
    first = np.cumsum(its_points) - its_points
    _split(points, first, attributes.has_identity, ints, longs, valid, latest, identity)
    its_resource = per_payload[:, ITS_RESOURCE]
    has_resource = its_resource >= 0
    identity |= np.append(resources.has_identity, False)[its_resource]
    names, versions = (_texts([scope[i] for scope in scopes], per_payload[:, ITS_SCOPE]) for i in range(2))
    return PayloadColumns(
        given_up=given_up,
        points=its_points,
        latest_ns=latest,
        has_identity=identity,
        resources=pa.ListArray.from_arrays(
            pa.array(np.concatenate([[0], np.cumsum(has_resource)]), pa.int32()),
            resources.maps(its_resource[has_resource]),
        ),
        scope_names=names,
        scope_versions=versions,
        payload=longs[4],
        numbers={
            "point_index": pa.array(ints[0]),
            "metric": _dictionary(ints[1], table.strings(METRIC)),
            "kind": _dictionary(ints[2], pa.array(["gauge", "sum"])),
            "temporality": _dictionary(
                _array(pa.int32(), ints[3], valid[0]), pa.array(["delta", "cumulative"])
            ),
            "is_monotonic": pa.Array.from_buffers(
                pa.bool_(), m, [pa.py_buffer(valid[1]), pa.py_buffer(valid[2])]
            ),
            "attributes": attributes.maps(longs[3]),
            "start_time": _array(_TIMESTAMP, longs[0], valid[3]),
            "time": _array(_TIMESTAMP, longs[1], valid[4]),
            "value": _array(pa.float64(), longs[2], valid[5]),
            "value_int": _array(pa.int64(), longs[2], valid[6]),
        },
    )


def _scopes(ranges: np.ndarray) -> tuple[list[tuple[str | None, str | None]], np.ndarray]:
    """Name and version of each scope, None for a scope without a name; and which are none."""
    scopes: list[tuple[str | None, str | None]] = []
    is_bad = np.zeros(len(ranges), np.bool_)
    for i, (at, size) in enumerate(ranges.tolist()):
        try:
            scope = InstrumentationScope.FromString(ctypes.string_at(at, size))
        except DecodeError:
            is_bad[i] = True
            scope = InstrumentationScope()
        scopes.append((scope.name, scope.version or None) if scope.name else (None, None))
    return scopes, is_bad


def _texts(texts: list[str | None], numbers: np.ndarray) -> pa.DictionaryArray:
    """The texts of these numbers; null for -1."""
    absent = np.array([text is None for text in texts] + [True])[numbers]
    values = pa.array([text or "" for text in texts] + [""], pa.string())
    return _dictionary(pa.array(numbers.astype(np.int32), mask=absent), values)


def _dictionary(indices: np.ndarray | pa.Array, values: pa.Array) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(indices, values, safe=False)


def _array(kind: pa.DataType, values: np.ndarray, valid: np.ndarray) -> pa.Array:
    return pa.Array.from_buffers(kind, len(values), [pa.py_buffer(valid), pa.py_buffer(values)])
