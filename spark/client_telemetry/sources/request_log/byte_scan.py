"""Pieces of which the compiled readers of log lines are made: words, numbers, hashes, times. Positions are addresses, as in
formats/raw/wire.py, and `0` as the next position means that the line is not what the reader takes.

A line ends with a line feed, which is in no word, number or string, and PADDING bytes (formats/raw/reader.py) follow the last one:
so nothing looks for the end of the line. Where a loop could, it stops at the line feed.
"""

import numpy as np
from numba import njit

from client_telemetry.formats.raw.reader import PADDING
from client_telemetry.formats.raw.wire import byte_at, int64_at, same, uint64_at
from client_telemetry.sources.request_log.request_entry import READ_WHOLE

_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
LINE_FEEDS = np.uint64(0x0A0A0A0A0A0A0A0A)
_ONES, _HIGH = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)


class Words:
    """Literal bytes for compiled readers. `address`: of int64[n + 1, 2], address and size of each and zeros, because counting an
    array's references costs more than looking at a word; the memory is held here."""

    def __init__(self, *words: bytes) -> None:
        self._held = [np.frombuffer(word + bytes(PADDING), np.uint8) for word in words]
        places = [(held.ctypes.data, len(word)) for held, word in zip(self._held, words, strict=True)]
        self._table = np.array([*places, (0, 0)], np.int64)
        self.address = self._table.ctypes.data


@njit
def behind_word(at, words, number):
    """Where the word ends that stands at `at`."""
    size = int64_at(words + 16 * number + 8)
    return at + size if at and same(at, int64_at(words + 16 * number), size) else np.int64(0)


@njit
def is_digit(byte):
    return 48 <= byte <= 57


@njit
def small_number(at):
    """(value, next) of 1 to 5 decimal digits without leading zeros."""
    value, first = np.int64(0), at
    if not at or not is_digit(byte_at(at)) or (byte_at(at) == 48 and is_digit(byte_at(at + 1))):
        return value, np.int64(0)
    while is_digit(byte_at(at)):
        value = value * 10 + byte_at(at) - 48
        at += 1
        if at - first > 5:
            return value, np.int64(0)
    return value, at


@njit
def duration_ns(at):
    """(nanoseconds, next) of milliseconds with up to 9 digits before the point and 6 behind it."""
    nanos, first = np.int64(0), at
    if not at or not is_digit(byte_at(at)) or (byte_at(at) == 48 and is_digit(byte_at(at + 1))):
        return nanos, np.int64(0)
    while is_digit(byte_at(at)):
        nanos = nanos * 10 + byte_at(at) - 48
        at += 1
        if at - first > 9:
            return nanos, np.int64(0)
    missing = 6
    if byte_at(at) == 46:
        at += 1
        if not is_digit(byte_at(at)):
            return nanos, np.int64(0)
        while is_digit(byte_at(at)):
            if missing == 0:
                return nanos, np.int64(0)
            nanos = nanos * 10 + byte_at(at) - 48
            at += 1
            missing -= 1
    for _ in range(missing):
        nanos *= 10
    return nanos, at


@njit
def hashed(at, end, value):
    """A hash of the bytes and of `value`, uint64."""
    size = end - at
    value = (value ^ np.uint64(size)) * _MIX
    while size >= 8:
        value = (value ^ uint64_at(at)) * _MIX
        value ^= value >> _SHIFT
        at += 8
        size -= 8
    if size > 0:
        tail = uint64_at(at) & ((np.uint64(1) << np.uint64(8 * size)) - np.uint64(1))
        value = (value ^ tail) * _MIX
    return value ^ (value >> _SHIFT)


@njit
def mixed(value, other):
    value = (value ^ other) * _MIX
    return value ^ (value >> _SHIFT)


@njit
def holds(word, byte):
    """Whether one of eight bytes is this one; `byte`: it eight times over. Not 0 = yes."""
    word ^= byte
    return (word - _ONES) & ~word & _HIGH


@njit
def line_feed_from(at):
    """Where the next line feed is; there is one."""
    while not holds(uint64_at(at), LINE_FEEDS):
        at += 8
    while byte_at(at) != 10:
        at += 1
    return at


@njit
def _two(at):
    return (byte_at(at) - 48) * 10 + byte_at(at + 1) - 48


@njit
def _may_be(place, byte):
    """Whether a time may have this byte there: digits, and what separates them."""
    if place == 4 or place == 7:
        return byte == 45
    if place == 10:
        return byte == 32 or byte == 84
    if place == 13 or place == 16:
        return byte == 58
    if place == 19:
        return byte == 44 or byte == 46
    return is_digit(byte)


@njit
def local_millis(at):
    """Milliseconds since 1970 of `2026-11-22 12:06:01,979`, with `T` or `.` as well; -1 for anything else."""
    for i in range(23):
        if not _may_be(i, byte_at(at + i)):
            return np.int64(-1)
    year, month, day = _two(at) * 100 + _two(at + 2), _two(at + 5), _two(at + 8)
    hour, minute, second = _two(at + 11), _two(at + 14), _two(at + 17)
    if year < 1970 or month < 1 or month > 12 or day < 1 or hour > 23 or minute > 59 or second > 59:
        return np.int64(-1)
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    longest = 31
    if month == 4 or month == 6 or month == 9 or month == 11:
        longest = 30
    elif month == 2:
        longest = 29 if is_leap else 28
    if day > longest:
        return np.int64(-1)
    # Days from the civil date, years beginning in March.
    y = year - (1 if month <= 2 else 0)
    era = y // 400
    of_era = y - era * 400
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    days = era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468
    seconds = (hour * 60 + minute) * 60 + second
    return (days * 86400 + seconds) * 1000 + _two(at + 20) * 10 + byte_at(at + 22) - 48


@njit
def is_read_whole(key):
    """Whether the key of an API is in READ_WHOLE."""
    return key in READ_WHOLE


@njit
def with_code(first, end, is_own, codes):
    """`codes` with an error code of an answer, whose digits lie between the addresses: (a bit for each of 0 to 63, and of 64 to
    127, the bits of hashes of all others and of the answer's own one), uint64. So an answer's partitions may fail in any number and order.
    """
    low, high, others = codes
    code = np.int64(0)
    at = first
    while at < end and is_digit(byte_at(at)) and code < 128:
        code = code * 10 + byte_at(at) - 48
        at += 1
    if at < end or code > 127 or (is_own and code):
        return low, high, others | hashed(first, end, np.uint64(is_own))
    if is_own:
        return codes
    bit = np.uint64(1) << np.uint64(code & 63)
    return (low | bit, high, others) if code < 64 else (low, high | bit, others)


@njit
def errors_of(codes):
    """A hash of error codes; 0 if all of them are 0."""
    low, high, others = codes
    if low <= np.uint64(1) and high == 0 and others == 0:
        return np.uint64(0)
    value = mixed(mixed(mixed(_MIX, low), high), others)
    return value if value else np.uint64(1)
