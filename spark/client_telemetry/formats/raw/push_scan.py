"""The fast reader of `ClientPush` records: a compiled pass over the bytes of many, to rows of integers.

It checks nothing but that it can read a record; what `parse_client_push` checks besides is up to the caller, also that
texts are UTF-8. A record that holds anything unusual is given up.
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
    length,
    put,
    put_column,
    skip_unknown,
    uint32_at,
    varint,
)

# Columns: positions of the payload are addresses; PRESENT has the bits below; columns of ranges hold their number
# among the distinct ones of the same kind, and the kind is the column. Number 0 is the empty range.
PRESENT, SEQUENCE, RECEIVED_AT, BROKER_ID, TERMINATING, CODEC, PAYLOAD_AT, PAYLOAD_BYTES, CHECKSUM = range(9)
PUSH_INTERVAL, SUBSCRIPTION, ERROR, CLIENT_PORT, API_VERSIONS_ERROR = range(9, 14)
CLUSTER, INCARNATION, INSTANCE, CONTENT_TYPE = range(14, 18)
CLIENT_ID, PRINCIPAL, ADDRESS = range(18, 21)
LISTENER, PROTOCOL, CONNECTION, SOFTWARE_NAME, SOFTWARE_VERSION, SENT_NAME, SENT_VERSION = range(21, 28)
COLUMNS = 28
RANGES = range(CLUSTER, COLUMNS)
TEXTS = (CLUSTER, *range(CONTENT_TYPE, COLUMNS))
HAS_INTERVAL, HAS_SUBSCRIPTION, HAS_ERROR, HAS_PORT, HAS_API_VERSIONS_ERROR, HAS_CLIENT_ID = (
    1,
    2,
    4,
    8,
    16,
    32,
)


@njit
def _int32(at, end):
    """(value, next) of an int32; larger ones would be cut."""
    value, at = varint(at, end)
    if value < -(2**31) or value >= 2**31:
        return np.int64(0), np.int64(0)
    return value, at


@njit
def _note(push, bit):
    """The field is there, even if it is 0."""
    put(push + 8 * PRESENT, int64_at(push + 8 * PRESENT) | bit)


@njit
def _client(at, end, push, table):
    """The fields of a ClientConnection. A second one in the same record adds to the first, as protobuf has it."""
    while at < end:
        tag = byte_at(at)
        at += 1
        if tag == 0x20 or tag == 0x60:  # client_port, api_versions_error
            value, at = _int32(at, end)
            put_column(push, CLIENT_PORT if tag == 0x20 else API_VERSIONS_ERROR, value)
            _note(push, HAS_PORT if tag == 0x20 else HAS_API_VERSIONS_ERROR)
        elif tag & 7 == 2 and 0x0A <= tag <= 0x5A and tag != 0x22:
            size, at = length(at, end)
            if at == 0:
                return GIVEN_UP
            field = tag >> 3
            column = CLIENT_ID + field - (1 if field < 4 else 2)
            number = distinct(table, column, at, size, False)
            if number < 0:
                return FULL
            put_column(push, column, number)
            if field == 1:
                _note(push, HAS_CLIENT_ID)
            at += size
        else:
            at = skip_unknown(tag, at, end)
        if at == 0:
            return GIVEN_UP
    return DONE


@njit
def _push(at, end, push, table):  # noqa: C901
    for column in range(COLUMNS):
        put_column(push, column, 0)
    while at < end:
        tag = byte_at(at)
        at += 1
        if tag == 0x5A:  # payload
            size, at = length(at, end)
            put_column(push, PAYLOAD_BYTES, size)
            put_column(push, PAYLOAD_AT, at)
            if at:
                at += size
        elif tag == 0x32:  # client
            size, at = length(at, end)
            if at:
                status = _client(at, at + size, push, table)
                if status:
                    return status
                at += size
        elif tag == 0x0A or tag == 0x1A or tag == 0x3A or tag == 0x4A:
            size, at = length(at, end)
            if at:
                column = CLUSTER
                if tag == 0x1A:
                    column = INCARNATION
                elif tag == 0x3A:
                    column = INSTANCE
                elif tag == 0x4A:
                    column = CONTENT_TYPE
                number = distinct(table, column, at, size, False)
                if number < 0:
                    return FULL
                put_column(push, column, number)
                at += size
        elif tag == 0x20:  # sequence
            value, at = varint(at, end)
            put_column(push, SEQUENCE, value)
        elif tag == 0x29:  # received_at_nanos
            if end - at < 8:
                return GIVEN_UP
            put_column(push, RECEIVED_AT, int64_at(at))
            at += 8
        elif tag == 0x65:  # payload_crc32c
            if end - at < 4:
                return GIVEN_UP
            put_column(push, CHECKSUM, uint32_at(at))
            at += 4
        elif tag == 0x10:
            value, at = _int32(at, end)
            put_column(push, BROKER_ID, value)
        elif tag == 0x50:
            value, at = _int32(at, end)
            put_column(push, CODEC, value)
        elif tag == 0x40:
            value, at = _int32(at, end)
            put_column(push, TERMINATING, value)
            if value not in (0, 1):
                return GIVEN_UP
        elif tag == 0x68:
            value, at = _int32(at, end)
            put_column(push, PUSH_INTERVAL, value)
            _note(push, HAS_INTERVAL)
        elif tag == 0x70:
            value, at = _int32(at, end)
            put_column(push, SUBSCRIPTION, value)
            _note(push, HAS_SUBSCRIPTION)
        elif tag == 0x78:
            value, at = _int32(at, end)
            put_column(push, ERROR, value)
            _note(push, HAS_ERROR)
        else:
            at = skip_unknown(tag, at, end)
        if at == 0:
            return GIVEN_UP
    below_zero = int64_at(push + 8 * SEQUENCE) < 0 or int64_at(push + 8 * RECEIVED_AT) < 0
    return GIVEN_UP if below_zero else DONE


@compiled("int64(int64[::1], int64[::1], int64, int64[:, ::1], boolean[::1], int64)")
def scan_pushes(starts, ends, record, pushes, given_up, table):
    """Go on with record number `record`, from address starts[record] to ends[record]; returns the next record. If it
    is not the last one plus one, the table is full: make room and call again."""
    pushes_at = pushes.ctypes.data
    while record < len(starts):
        status = _push(starts[record], ends[record], pushes_at + 8 * COLUMNS * record, table)
        if status == FULL:
            break
        given_up[record] = status == GIVEN_UP
        record += 1
    return record


@compiled("void(int64, int64, int64, int64)")
def number_empty_ranges(at, first, last, table):
    """Give the empty range the number 0 of each kind."""
    for kind in range(first, last):
        distinct(table, kind, at, 0, False)
