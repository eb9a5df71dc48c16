"""Lines of a JSON request log, many at a time, as far as they need not be parsed.

Most entries differ from one before in nothing but their time, their duration and their bodies. Compiled code reads what
every entry has outside of its bodies and gives two numbers for it, so that Python looks at a line only if the numbers are
new. What an entry says is not here (request_entry.py).

The layout is Kafka's: `[2026-11-22 12:06:01,979] DEBUG Completed request:{…} (kafka.request.logger)`. All other lines, and
entries whose fields stand in another order than RequestConvertToJson writes them, are for the slow path.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from client_telemetry.raw.wire import compiled

SLOW = 0
"""In `essence`: the line has to be read by itself."""

_START = np.uint64(0xCBF29CE484222325)


class Scanned(NamedTuple):
    """Of n lines: line i lies from bounds[i] to bounds[i + 1], its line feed included. `essence`, `connection`: uint64,
    equal for lines that tell the same of their connection, and for lines of one connection. `local_ms`: milliseconds since
    1970 as the line has them, in the log's own zone. `total_ns`: from receiving the request to sending the answer.
    `key`: of the API."""

    bounds: np.ndarray
    essence: np.ndarray
    connection: np.ndarray
    local_ms: np.ndarray
    total_ns: np.ndarray
    key: np.ndarray


def scan(lines: bytearray, with_ids: bool = True) -> Scanned:
    """`lines`: whole ones; the last one gets a line feed if it has none. `with_ids`: whether groups and transactional ids in
    requests make a difference."""
    if not lines.endswith(b"\n"):
        lines += b"\n"
    block = np.frombuffer(lines, np.uint8)
    ends = np.flatnonzero(block == 10) + 1
    bounds = np.zeros(len(ends) + 1, np.int64)
    bounds[1:] = ends
    n = len(bounds) - 1
    essence, connection = np.zeros(n, np.uint64), np.zeros(n, np.uint64)
    local_ms, total_ns, key = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int32)
    _scan(block, with_ids, bounds, essence, connection, local_ms, total_ns, key, *_WORDS)
    return Scanned(bounds, essence, connection, local_ms, total_ns, key)


def _word(text: bytes) -> np.ndarray:
    return np.frombuffer(text, np.uint8).copy()


_WORDS = tuple(
    map(
        _word,
        (
            b'Completed request:{"isForwarded":false,"requestHeader":{"requestApiKey":',
            b',"requestApiVersion":',
            b',"correlationId":',
            b',"clientId":',
            b',"requestApiKeyName":"',
            b'},"request":',
            b',"connection":"',
            b'","totalTimeMs":',
            b',"securityProtocol":"',
            b'},"temporaryMemoryBytes":',
        ),
    )
)


@njit
def _is(data, at, end, word):
    """Where the word ends, if it stands there; otherwise -1."""
    if at < 0 or at + len(word) > end:
        return -1
    for i in range(len(word)):
        if data[at + i] != word[i]:
            return -1
    return at + len(word)


@njit
def _number_ends(data, at, end):
    while at < end and (48 <= data[at] <= 57 or data[at] == 45):
        at += 1
    return at


@njit
def _string_ends(data, at, end):
    """Behind the closing quote of a string that begins at `at`; -1 if there is none."""
    if at >= end or data[at] != 34:
        return -1
    at += 1
    while at < end:
        if data[at] == 92:
            at += 2
            continue
        if data[at] == 34:
            return at + 1
        at += 1
    return -1


@njit
def _hash(data, at, end, value):
    for i in range(at, end):
        value = (value ^ np.uint64(data[i])) * np.uint64(0x100000001B3)
    return (value ^ (value >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15)


@njit
def _two(data, at):
    return (np.int64(data[at]) - 48) * 10 + np.int64(data[at + 1]) - 48


@njit
def _millis(data, at):
    """Of `2026-11-22 12:06:01,979`, or -1."""
    for i in range(23):
        c = data[at + i]
        if i == 4 or i == 7:
            if c != 45:
                return -1
        elif i == 10:
            if c != 32 and c != 84:
                return -1
        elif i == 13 or i == 16:
            if c != 58:
                return -1
        elif i == 19:
            if c != 44 and c != 46:
                return -1
        elif c < 48 or c > 57:
            return -1
    year, month, day = _two(data, at) * 100 + _two(data, at + 2), _two(data, at + 5), _two(data, at + 8)
    if month < 1 or month > 12 or day < 1 or day > 31:
        return -1
    # Days from the civil date, years beginning in March.
    y = year - (1 if month <= 2 else 0)
    era = y // 400
    of_era = y - era * 400
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    days = era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468
    seconds = (_two(data, at + 11) * 60 + _two(data, at + 14)) * 60 + _two(data, at + 17)
    millis = _two(data, at + 20) * 10 + np.int64(data[at + 22]) - 48
    return (days * 86400 + seconds) * 1000 + millis


@njit
def _ids(data, at, end, value):
    """The request's groups and transactional ids, into the hash; and where the request ends."""
    last = end - 12
    while at < last:
        c = data[at]
        if c == 34:
            # "groupId":" and "transactionalId":" end in Id":"
            if data[at + 1] == 58 and data[at + 2] == 34 and data[at - 1] == 100 and data[at - 2] == 73:
                before = data[at - 3]
                if before == 112 or before == 108:  # group, transactional
                    ends = _string_ends(data, at + 2, end)
                    if ends < 0:
                        return np.int64(-1), value
                    value = _hash(data, at - 6, ends, value)
                    at = ends
                    continue
            # ,"response":
            elif (
                data[at + 1] == 114 and data[at - 1] == 44 and data[at + 2] == 101 and data[at + 3] == 115
            ) and (data[at + 8] == 101 and data[at + 9] == 34 and data[at + 10] == 58):
                return np.int64(at), value
        at += 1
    return np.int64(end), value


@compiled(
    "void(uint8[::1], boolean, int64[::1], uint64[::1], uint64[::1], int64[::1], int64[::1], int32[::1], "
    + ", ".join(["uint8[::1]"] * 10)
    + ")"
)
def _scan(
    data, with_ids, bounds, essence, connection, local_ms, total_ns, key,
    mark, version, correlation, client, name, request, conn, total, protocol, memory,
):  # fmt: skip
    for row in range(len(bounds) - 1):
        begin, end = bounds[row], bounds[row + 1]
        if end - begin < 200 or data[begin] != 91 or data[begin + 24] != 93 or data[begin + 25] != 32:
            continue
        at = begin + 26
        while at < begin + 34 and data[at] != 32:
            at += 1
        at = _is(data, at + 1, end, mark)
        if at < 0:
            continue
        first = at
        at = _number_ends(data, at, end)
        api = np.int32(0)
        for i in range(first, at):
            api = api * 10 + np.int32(data[i]) - 48
        at = _is(data, at, end, version)
        if at < 0:
            continue
        at = _number_ends(data, at, end)
        value = _hash(data, first, at, _START)
        at = _is(data, at, end, correlation)
        if at < 0:
            continue
        at = _number_ends(data, at, end)
        at = _is(data, at, end, client)
        if at < 0:
            continue
        first = at
        at = at + 4 if data[at] == 110 else _string_ends(data, at, end)
        if at < 0:
            continue
        value = _hash(data, first, at, value)
        at = _is(data, at, end, name)
        if at < 0:
            continue
        at = _string_ends(data, at - 1, end)
        if at < 0:
            continue
        if data[at] == 44:  # ,"requestApiVersionDeprecated":true
            while at < end and data[at] != 125:
                at += 1
        at = _is(data, at, end, request)
        if at < 0:
            continue
        # The end of the line, backwards.
        found = np.int64(-1)
        i = end - 60
        while i >= at:
            if data[i] == 44 and data[i + 1] == 34 and data[i + 2] == 99 and _is(data, i, end, conn) > 0:
                found = i
                break
            i -= 1
        if found < 0:
            continue
        if with_ids:
            ends, value = _ids(data, at, found, value)
            if ends < 0:
                continue
        first = found + len(conn)
        at = _string_ends(data, first - 1, end)
        if at < 0:
            continue
        which = _hash(data, first, at - 1, _START)
        at = _is(data, at - 1, end, total)
        if at < 0:
            continue
        nanos, digits = np.int64(0), np.int64(-1)
        while at < end and (48 <= data[at] <= 57 or (data[at] == 46 and digits < 0)):
            if data[at] == 46:
                digits = 0
            elif digits < 6:
                nanos = nanos * 10 + np.int64(data[at]) - 48
                if digits >= 0:
                    digits += 1
            at += 1
        for _ in range(6 - max(digits, 0)):
            nanos *= 10
        if data[at] != 44:
            continue
        while at < end and _is(data, at, end, protocol) < 0:
            at += 1
            while at < end and data[at] != 44:
                at += 1
        if at >= end:
            continue
        first = at
        # To the end of clientInformation, past strings.
        depth = 0
        while at < end:
            if data[at] == 34:
                at = _string_ends(data, at, end)
                if at < 0:
                    break
                continue
            if data[at] == 123:
                depth += 1
            elif data[at] == 125:
                break
            at += 1
        if at < 0 or at >= end or depth != 1:
            continue
        value = _hash(data, first, at, value)
        stop = _is(data, at, end, memory)
        stop = _number_ends(data, stop, end) if stop > 0 else at + 1
        if data[stop] != 125:
            continue
        moment = _millis(data, begin + 1)
        if moment < 0:
            continue
        value = _hash(data, first, first, value ^ which)
        essence[row] = value if value != 0 else np.uint64(1)
        connection[row] = which
        local_ms[row] = moment
        total_ns[row] = nanos
        key[row] = api
