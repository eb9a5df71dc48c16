"""Distinct runs of attributes as maps of Arrow, each run read once.

Runs of plain strings are read by compiled code; the others (numbers, names that occur twice, text that is not ASCII)
by protobuf's classes and `attribute_map`, which also says what a value's text is.
"""

import ctypes
from collections.abc import Callable

import numpy as np
import pyarrow as pa
from google.protobuf.message import DecodeError
from numba import njit
from opentelemetry.proto.metrics.v1.metrics_pb2 import NumberDataPoint
from opentelemetry.proto.resource.v1.resource_pb2 import Resource

from client_telemetry.formats.otlp.attributes import attribute_map
from client_telemetry.formats.otlp.points import IDENTITY_LABELS
from client_telemetry.formats.raw.wire import DistinctRanges, byte_at, compiled, distinct, length

_KEY, _TEXT = range(2)
_MOST_LABELS = 64
"""Of a run that compiled code reads: it compares each name with all before it."""


@njit
def _is_among(keys, key):
    for other in keys:  # noqa: SIM110
        if other == key:
            return True
    return False


@njit
def _plain_run(at, end, tag, used, pairs, table):
    """Pairs used after the run `{ tag, KeyValue { key, AnyValue { string_value } } }*`, -1 if it is not plain."""
    first = used
    while at < end:
        is_other = byte_at(at) != tag
        size, at = length(at + 1, end)
        if is_other or at == 0 or used - first == _MOST_LABELS:
            return -1
        stop = at + size
        key_at, key_size, text_at, text_size = at, np.int64(0), np.int64(0), np.int64(0)
        while at < stop:
            field = byte_at(at)
            size, at = length(at + 1, stop)
            if at == 0:
                return -1
            if field == 0x0A:
                key_at, key_size = at, size
            elif field == 0x12 and text_at == 0 and size and byte_at(at) == 0x0A:
                text_size, text_at = length(at + 1, at + size)
                if text_at + text_size != at + size:
                    text_at = np.int64(-1)
            else:
                return -1
            at += size
        if text_at <= 0:
            return -1
        key = distinct(table, _KEY, key_at, key_size, True)
        text = distinct(table, _TEXT, text_at, text_size, True)
        if key < 0 or text < 0 or _is_among(pairs[first:used, 0], key):
            return -1
        pairs[used, 0] = key
        pairs[used, 1] = text
        used += 1
    return used


@compiled("void(int64[:, ::1], int64, int64[::1], int32[:, ::1], boolean[::1], int64)")
def _plain_runs(ranges, tag, offsets, pairs, is_odd, table):
    used = 0
    for i in range(len(ranges)):
        after = _plain_run(ranges[i, 0], ranges[i, 0] + ranges[i, 1], tag, used, pairs, table)
        is_odd[i] = after < 0
        if after >= 0:
            used = after
        offsets[i + 1] = used


@compiled("void(int64[::1], int32[:, ::1], int64[::1], int32[::1], int32[::1], int32[::1])")
def _expand(offsets, pairs, chosen, out_offsets, keys, texts):
    at = 0
    for i in range(len(chosen)):
        run = chosen[i]
        if run >= 0:
            for pair in range(offsets[run], offsets[run + 1]):
                keys[at] = pairs[pair, 0]
                texts[at] = pairs[pair, 1]
                at += 1
        out_offsets[i + 1] = at


class LabelSets:
    """`is_bad`: bool[n], the runs that are no attributes; they stand as empty maps. `has_identity`: bool[n], the
    runs with a name of IDENTITY_LABELS."""

    def __init__(self, ranges: np.ndarray, tag: int, parse: Callable[[bytes], dict[str, str]]):
        n = len(ranges)
        self._offsets = np.zeros(n + 1, np.int64)
        # A pair takes 6 bytes and more.
        self._pairs = np.empty((int(ranges[:, 1].sum()) // 6 + 1, 2), np.int32)
        is_odd, self.is_bad = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
        table = DistinctRanges(2, 2 * len(self._pairs))
        _plain_runs(ranges, tag, self._offsets, self._pairs, is_odd, table.address)
        self._keys, self._texts = (table.strings(kind) for kind in (_KEY, _TEXT))
        if is_odd.any():
            self._read_odd(ranges, np.flatnonzero(is_odd), parse)
        identity = np.array([key in IDENTITY_LABELS for key in self._keys.to_pylist()], np.bool_)
        self.has_identity = np.zeros(n, np.bool_)
        if identity.any():
            runs = np.repeat(np.arange(n), np.diff(self._offsets))
            self.has_identity[runs[identity[self._pairs[: self._offsets[-1], 0]]]] = True

    def _read_odd(
        self, ranges: np.ndarray, odd: np.ndarray, parse: Callable[[bytes], dict[str, str]]
    ) -> None:
        keys, texts = (
            {text: i for i, text in enumerate(column.to_pylist())} for column in (self._keys, self._texts)
        )
        read: dict[int, list[tuple[int, int]]] = {}
        for run in odd.tolist():
            try:
                labels = parse(ctypes.string_at(*ranges[run].tolist()))
            except DecodeError:
                self.is_bad[run] = True
                continue
            read[run] = [
                (keys.setdefault(k, len(keys)), texts.setdefault(t, len(texts))) for k, t in labels.items()
            ]
        sizes = np.diff(self._offsets)
        for run, pairs in read.items():
            sizes[run] = len(pairs)
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        merged = np.empty((int(offsets[-1]), 2), np.int32)
        plain = np.ones(len(merged), np.bool_)
        for run, pairs in read.items():
            place = slice(offsets[run], offsets[run + 1])
            plain[place] = False
            if pairs:
                merged[place] = pairs
        merged[plain] = self._pairs[: self._offsets[-1]]
        self._offsets, self._pairs = offsets, merged
        self._keys, self._texts = pa.array(list(keys), pa.string()), pa.array(list(texts), pa.string())

    def maps(self, chosen: np.ndarray) -> pa.MapArray:
        """map<string, string> of dictionaries: for each element the run of that number, -1 is an empty map."""
        sizes = np.append(np.diff(self._offsets), 0)
        total = int(sizes[chosen].sum())
        offsets, keys, texts = (
            np.zeros(len(chosen) + 1, np.int32),
            np.empty(total, np.int32),
            np.empty(total, np.int32),
        )
        _expand(self._offsets, self._pairs, chosen, offsets, keys, texts)
        return pa.MapArray.from_arrays(
            pa.array(offsets),
            pa.DictionaryArray.from_arrays(keys, self._keys, safe=False),
            pa.DictionaryArray.from_arrays(texts, self._texts, safe=False),
        )


def point_attributes(ranges: np.ndarray) -> LabelSets:
    """Runs of the field `attributes` of number points."""
    return LabelSets(ranges, 0x3A, lambda data: attribute_map(NumberDataPoint.FromString(data).attributes))


def resources(ranges: np.ndarray) -> LabelSets:
    """Whole messages `Resource`."""
    return LabelSets(ranges, 0x0A, lambda data: attribute_map(Resource.FromString(data).attributes))
