"""The fast reader of `ClientPush` records: a compiled pass over the bytes of many, to rows of integers.

It checks nothing but that it can read a record; what `parse_client_push` checks besides is up to the caller. A
record that holds anything unusual, or text that is not ASCII, is given up.
"""

import numpy as np
from numba import njit

from client_telemetry.raw.wire import (
    FULL,
    GIVEN_UP,
    TABLE,
    TABLE_FULL,
    byte_at,
    compiled,
    distinct,
    length,
    skip_unknown,
    uint32_at,
    uint64_at,
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
def _client(at, end, push, slots, entries, counts):
    """The fields of a ClientConnection. A second one in the same record adds to the first, as protobuf has it."""
    while at < end:
        tag = byte_at(at)
        at += 1
        if tag == 0x20 or tag == 0x60:  # client_port, api_versions_error
            value, at = _int32(at, end)
            push[CLIENT_PORT if tag == 0x20 else API_VERSIONS_ERROR] = value
            push[PRESENT] |= HAS_PORT if tag == 0x20 else HAS_API_VERSIONS_ERROR
        elif tag & 7 == 2 and 0x0A <= tag <= 0x5A and tag != 0x22:
            size, at = length(at, end)
            if at == 0:
                return GIVEN_UP
            field = tag >> 3
            column = CLIENT_ID + field - (1 if field < 4 else 2)
            number = distinct(slots, entries, counts, column, at, size, True)
            if number < 0:
                return FULL if number == TABLE_FULL else GIVEN_UP
            push[column] = number
            if field == 1:
                push[PRESENT] |= HAS_CLIENT_ID
            at += size
        else:
            at = skip_unknown(tag, at, end)
        if at == 0:
            return GIVEN_UP
    return 0


@njit
def _push(at, end, push, slots, entries, counts):
    push[:] = 0
    while at < end:
        tag = byte_at(at)
        at += 1
        if tag == 0x5A:  # payload
            push[PAYLOAD_BYTES], at = length(at, end)
            push[PAYLOAD_AT] = at
            if at:
                at += push[PAYLOAD_BYTES]
        elif tag == 0x32:  # client
            size, at = length(at, end)
            if at:
                status = _client(at, at + size, push, slots, entries, counts)
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
                is_text = column in (CLUSTER, CONTENT_TYPE)
                number = distinct(slots, entries, counts, column, at, size, is_text)
                if number < 0:
                    return FULL if number == TABLE_FULL else GIVEN_UP
                push[column] = number
                at += size
        elif tag == 0x20:  # sequence
            push[SEQUENCE], at = varint(at, end)
        elif tag == 0x29:  # received_at_nanos
            if end - at < 8:
                return GIVEN_UP
            push[RECEIVED_AT] = np.int64(uint64_at(at))
            at += 8
        elif tag == 0x65:  # payload_crc32c
            if end - at < 4:
                return GIVEN_UP
            push[CHECKSUM] = uint32_at(at)
            at += 4
        elif tag == 0x10:
            push[BROKER_ID], at = _int32(at, end)
        elif tag == 0x50:
            push[CODEC], at = _int32(at, end)
        elif tag == 0x40:
            push[TERMINATING], at = _int32(at, end)
            if push[TERMINATING] < 0 or push[TERMINATING] > 1:
                return GIVEN_UP
        elif tag == 0x68:
            push[PUSH_INTERVAL], at = _int32(at, end)
            push[PRESENT] |= HAS_INTERVAL
        elif tag == 0x70:
            push[SUBSCRIPTION], at = _int32(at, end)
            push[PRESENT] |= HAS_SUBSCRIPTION
        elif tag == 0x78:
            push[ERROR], at = _int32(at, end)
            push[PRESENT] |= HAS_ERROR
        else:
            at = skip_unknown(tag, at, end)
        if at == 0:
            return GIVEN_UP
    return GIVEN_UP if push[SEQUENCE] < 0 or push[RECEIVED_AT] < 0 else 0


@compiled("int64(int64[::1], int64[::1], int64, int64[:, ::1], boolean[::1], " + TABLE + ")")
def scan_pushes(starts, ends, record, pushes, given_up, slots, entries, counts):
    """Go on with record number `record`, from address starts[record] to ends[record]; returns the next record. If it
    is not the last one plus one, the table is full: make room and call again."""
    while record < len(starts):
        status = _push(starts[record], ends[record], pushes[record], slots, entries, counts)
        if status == FULL:
            break
        given_up[record] = status == GIVEN_UP
        record += 1
    return record


@compiled("void(int64, int64, int64, " + TABLE + ")")
def number_empty_ranges(at, first, last, slots, entries, counts):
    """Give the empty range the number 0 of each kind."""
    for kind in range(first, last):
        distinct(slots, entries, counts, kind, at, 0, False)
