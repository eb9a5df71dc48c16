"""One compiled pass over the bytes of many payloads: number points as rows of integers, everything else as ranges.

Metric names, the run of attribute fields of a point, resources and scopes are opaque here: each distinct range gets
a number (formats/raw/wire.py) and is read once per distinct range (label_sets.py). A payload that holds anything else than
gauges and sums as clients send them is given up as a whole, and nothing of it stays.

Tags are OTLP's: field number times 8 plus wire type (opentelemetry/proto/metrics/v1/metrics.proto).
"""

import numpy as np
from numba import njit

from client_telemetry.formats.raw.wire import (
    DONE,
    FULL,
    GIVEN_UP,
    byte_at,
    compiled,
    distinct,
    int64_at,
    is_ascii,
    length,
    put_column,
    same,
    skip_unknown,
)

METRIC, ATTRIBUTES, RESOURCE, SCOPE = range(4)
KINDS = 4

# Columns of the points: which payload, numbers of the metric and the attributes (-1: none), what the point is, times
# in nanoseconds (0: not set), and the value's eight bytes.
PAYLOAD, NAME, LABELS, SHAPE, START, TIME, VALUE = range(7)
POINT_COLUMNS = 7
POINT_BYTES = 8 * POINT_COLUMNS
# Bits of SHAPE.
SUM, DELTA, CUMULATIVE, MONOTONIC, AS_DOUBLE, AS_INT = 1, 2, 4, 8, 16, 32

# Columns of the payloads: numbers of the resource and the scope (-1: none), points.
ITS_RESOURCE, ITS_SCOPE, ITS_POINTS = range(3)
PAYLOAD_COLUMNS = 3
PAYLOAD_BYTES = 8 * PAYLOAD_COLUMNS


@njit
def _number_points(at, end, shape, payload, name, points, room, used, table):  # noqa: C901
    """(status, points used) after the body of a gauge or sum."""
    first, temporality, monotonic = used, np.int64(0), np.int64(0)
    while at < end:
        tag = byte_at(at)
        at += 1
        if tag == 0x0A:  # data_points
            size, at = length(at, end)
            if at == 0:
                return GIVEN_UP, used
            if used >= room:
                return FULL, used
            stop = at + size
            labels_from = labels_to = start = time = np.int64(0)
            value, its_shape = np.int64(0), shape
            while at < stop:
                tag = byte_at(at)
                at += 1
                if tag == 0x3A:  # attributes, one field each; taken as one range
                    if labels_from == 0:
                        labels_from = at - 1
                    elif labels_to != at - 1:
                        return GIVEN_UP, used
                    size, at = length(at, stop)
                    if at == 0:
                        return GIVEN_UP, used
                    at += size
                    labels_to = at
                elif tag == 0x19 or tag == 0x11 or tag == 0x21 or tag == 0x31:
                    if stop - at < 8:
                        return GIVEN_UP, used
                    number = int64_at(at)
                    at += 8
                    if tag == 0x19:  # time_unix_nano
                        time = number
                    elif tag == 0x11:  # start_time_unix_nano
                        start = number
                    else:  # as_double or as_int: the last one counts
                        value = number
                        its_shape = shape | (AS_DOUBLE if tag == 0x21 else AS_INT)
                elif tag == 0x40:  # flags
                    if at >= stop or byte_at(at) >= 128:
                        return GIVEN_UP, used
                    at += 1
                else:
                    at = skip_unknown(tag, at, stop)
                    if at == 0:
                        return GIVEN_UP, used
            if start < 0 or time < 0:  # after the year 2262
                return GIVEN_UP, used
            labels = np.int64(-1)
            if labels_to:
                labels = distinct(table, ATTRIBUTES, labels_from, labels_to - labels_from, False)
                if labels < 0:
                    return FULL, used
            point = points + POINT_BYTES * used
            put_column(point, PAYLOAD, payload)
            put_column(point, NAME, name)
            put_column(point, LABELS, labels)
            put_column(point, SHAPE, its_shape)
            put_column(point, START, start)
            put_column(point, TIME, time)
            put_column(point, VALUE, value)
            used += 1
        elif shape and (tag == 0x10 or tag == 0x18):  # aggregation_temporality, is_monotonic
            if at >= end or byte_at(at) > (2 if tag == 0x10 else 1):
                return GIVEN_UP, used
            if tag == 0x10:
                temporality = byte_at(at)
            else:
                monotonic = byte_at(at)
            at += 1
        else:
            at = skip_unknown(tag, at, end)
            if at == 0:
                return GIVEN_UP, used
    more = (temporality * DELTA) | (monotonic * MONOTONIC)
    if more:
        for point in range(points + POINT_BYTES * first, points + POINT_BYTES * used, POINT_BYTES):
            put_column(point, SHAPE, int64_at(point + 8 * SHAPE) | more)
    return DONE, used


@njit
def _metric(at, end, payload, points, room, used, table):
    name_at, name_size = at, np.int64(0)
    data_at, data_end, shape = np.int64(0), np.int64(0), np.int64(0)
    while at < end:
        tag = byte_at(at)
        at += 1
        if tag == 0x0A or tag == 0x12 or tag == 0x1A:  # name, description, unit
            size, at = length(at, end)
            if at == 0 or not is_ascii(at, size):
                return GIVEN_UP, used
            if tag == 0x0A:
                name_at, name_size = at, size
            at += size
        elif tag == 0x2A or tag == 0x3A:  # gauge, sum
            size, at = length(at, end)
            if at == 0 or data_at:
                return GIVEN_UP, used
            data_at, data_end, shape = at, at + size, np.int64(0 if tag == 0x2A else SUM)
            at += size
        else:
            at = skip_unknown(tag, at, end)
            if at == 0:
                return GIVEN_UP, used
    if data_at == 0:
        return DONE, used
    name = distinct(table, METRIC, name_at, name_size, False)
    if name < 0:
        return FULL, used
    return _number_points(data_at, data_end, shape, payload, name, points, room, used, table)


@njit
def _scope(at, size, its, table):
    """A payload has one scope, besides empty ones."""
    if size == 0:
        return DONE
    scope = distinct(table, SCOPE, at, size, False)
    if scope < 0:
        return FULL
    if int64_at(its + 8 * ITS_SCOPE) not in (-1, scope):
        return GIVEN_UP
    put_column(its, ITS_SCOPE, scope)
    return DONE


@njit
def _scope_metrics(at, end, payload, its, points, room, used, table):
    while at < end:
        tag = byte_at(at)
        at += 1
        if tag == 0x12:  # metrics
            size, at = length(at, end)
            if at == 0:
                return GIVEN_UP, used
            status, used = _metric(at, at + size, payload, points, room, used, table)
            if status:
                return status, used
            at += size
        elif tag == 0x0A:  # scope
            size, at = length(at, end)
            if at == 0:
                return GIVEN_UP, used
            status = _scope(at, size, its, table)
            if status:
                return status, used
            at += size
        else:
            at = skip_unknown(tag, at, end)
            if at == 0:
                return GIVEN_UP, used
    return DONE, used


@njit
def _payload(at, end, payload, its, points, room, used, table):  # noqa: C901
    put_column(its, ITS_RESOURCE, -1)
    put_column(its, ITS_SCOPE, -1)
    if at == end:
        return DONE, used
    known_at, known_size = np.int64(0), np.int64(-1)
    while at < end:
        tag = byte_at(at)
        at += 1
        if tag != 0x0A:  # resource_metrics
            at = skip_unknown(tag, at, end)
            if at == 0:
                return GIVEN_UP, used
            continue
        size, at = length(at, end)
        if at == 0:
            return GIVEN_UP, used
        stop = at + size
        resource_at, resource_size = at, np.int64(-1)
        while at < stop:
            tag = byte_at(at)
            at += 1
            if tag != 0x0A and tag != 0x12:
                at = skip_unknown(tag, at, stop)
                if at == 0:
                    return GIVEN_UP, used
                continue
            size, at = length(at, stop)
            if at == 0:
                return GIVEN_UP, used
            if tag == 0x12:  # scope_metrics
                status, used = _scope_metrics(at, at + size, payload, its, points, room, used, table)
                if status:
                    return status, used
            elif resource_size >= 0:  # two resources would be merged
                return GIVEN_UP, used
            else:
                resource_at, resource_size = at, size
            at += size
        resource_size = max(resource_size, np.int64(0))
        if known_size < 0:
            known_at, known_size = resource_at, resource_size
        elif resource_size != known_size or not same(resource_at, known_at, known_size):
            return GIVEN_UP, used
    if known_size < 0:
        return GIVEN_UP, used
    resource = distinct(table, RESOURCE, known_at, known_size, False)
    if resource < 0:
        return FULL, used
    put_column(its, ITS_RESOURCE, resource)
    return DONE, used


@compiled(
    "UniTuple(int64, 2)(int64[:, ::1], int64, int64[:, ::1], int64[:, ::1], int64, boolean[::1], int64)"
)
def scan(ranges, payload, payloads, points, used, given_up, table):
    """Go on with payload number `payload`; returns (next payload, points used).

    `ranges`: addresses, payload i lies from ranges[i, 0] to ranges[i, 1]. `table`: of distinct ranges, its address. If
    the next payload is not the last one plus one, `points` or the table is full: make room and call again.
    """
    # Addresses from here on: an array costs as much to pass as a point costs to read.
    points_at, payloads_at, room = points.ctypes.data, payloads.ctypes.data, len(points)
    while payload < len(ranges):
        its = payloads_at + PAYLOAD_BYTES * payload
        status, after = _payload(
            ranges[payload, 0], ranges[payload, 1], payload, its, points_at, room, used, table
        )
        if status == FULL:
            return payload, used
        given_up[payload] = status == GIVEN_UP
        put_column(its, ITS_POINTS, after - used if status == DONE else 0)
        if status == DONE:
            used = after
        payload += 1
    return payload, used
