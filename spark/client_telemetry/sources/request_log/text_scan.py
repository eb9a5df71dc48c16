"""Compiled reading of an entry in text, as RequestChannel writes it in releases before 2.8.

Nothing is escaped there: any word of the layout may stand in a client id or a principal. Taken is an entry in which each word
that tells where a field ends stands once, so that there is one way to read it. Positions are addresses (byte_scan.py).
"""

import numpy as np
from numba import njit

from client_telemetry.formats.raw.wire import byte_at, int64_at, same, uint64_at
from client_telemetry.knowledge.api_key import ApiKey
from client_telemetry.sources.request_log.byte_scan import (
    LINE_FEEDS,
    Words,
    behind_word,
    duration_ns,
    errors_of,
    hashed,
    holds,
    is_digit,
    is_read_whole,
    mixed,
    small_number,
    with_code,
)

(
    _VERSION,
    _CLIENT,
    _CORRELATION,
    _BODY,
    _RESPONSE,
    _FROM,
    _TOTAL,
    _PROTOCOL,
    _PRINCIPAL,
    _LISTENER,
    _NAME,
    _SOFTWARE,
    _THROTTLED,
    _FIRST_ERROR,
    _NEXT_ERROR,
) = range(15)
WORDS = Words(
    b", apiVersion=",
    b", clientId=",
    b", correlationId=",
    b") -- {",
    b",response:",
    b" from connection ",
    b";totalTime:",
    b"securityProtocol:",
    b",principal:",
    b",listener:",
    b",clientInformation:ClientInformation(softwareName=",
    b", softwareVersion=",
    b"{throttle_time_ms=",
    b"{error_code=",
    b",error_code=",
)
_RESPONSE_BYTES = len(",response:")
API_NAMES = Words(*(api.name.encode() for api in ApiKey))
_SPACES, _COLONS = np.uint64(0x2020202020202020), np.uint64(0x3A3A3A3A3A3A3A3A)
_EQUALS, _DS = np.uint64(0x3D3D3D3D3D3D3D3D), np.uint64(0x6464646464646464)
_ES = np.uint64(0x6565656565656565)
API_KEYS = np.array(list(ApiKey), np.int64)


@njit
def _api(at, names, keys):
    """(key, next) of an API's enum name with a comma behind it."""
    size = int64_at(names + 8)
    while size:
        if byte_at(at + size) == 44 and same(at, int64_at(names), size):
            return int64_at(keys), at + size
        names += 16
        keys += 8
        size = int64_at(names + 8)
    return np.int64(0), np.int64(0)


@njit
def _is_repeated(at, words):
    """Whether a word stands there that may stand in an entry only once."""
    byte = byte_at(at)
    if byte == 32:
        behind = byte_at(at + 1)
        if behind == 99:
            return behind_word(at - 1, words, _CORRELATION) != 0
        return behind == 102 and behind_word(at, words, _FROM) != 0
    return byte == 59 and behind_word(at, words, _TOTAL) != 0


@njit
def _is_of_client(at):
    """Whether a `=` is that of group_id, transactional_id or replica_id."""
    if byte_at(at) != 61 or byte_at(at - 1) != 100 or byte_at(at - 2) != 105 or byte_at(at - 3) != 95:
        return False
    before = byte_at(at - 4)
    return before == 112 or before == 108 or before == 97


@njit
def _behind_request(at, words):
    """Behind `,response:`. `at`: behind the brace."""
    while True:
        eight = uint64_at(at)
        if not (holds(eight, _COLONS) | holds(eight, _SPACES) | holds(eight, LINE_FEEDS)):
            at += 8
            continue
        for _ in range(8):
            byte = byte_at(at)
            if byte == 58:
                behind = behind_word(at - 9, words, _RESPONSE) if byte_at(at - 1) == 101 else np.int64(0)
                if behind:
                    return behind
            elif byte == 32:
                if _is_repeated(at, words):
                    return np.int64(0)
            elif byte == 10:
                return np.int64(0)
            at += 1


@njit
def _with_ids(at, end, with_names, value):
    """`value` with groups, transactional ids and replica ids hashed into it, and topics if `with_names`; `at`, `end`: of the
    request.
    """
    first = at
    while at < end:
        # Of eight bytes, those behind a `d` that are a `=`, or any `=`; a hit too many is looked at in vain.
        equals = holds(uint64_at(at), _EQUALS)
        if not (equals if with_names else equals & holds(uint64_at(at - 1), _DS)):
            at += 8
            continue
        last = at + 8
        while at < last and at < end:
            if _is_of_client(at) or (with_names and _is_topic(at)):
                # With what stands before the key: only at the beginning or behind a comma does it count.
                begin = at - 10 if at - 10 >= first else first
                while at < end and byte_at(at) != 44 and byte_at(at) != 125:
                    at += 1
                value = hashed(begin, at, value)
            at += 1
    return value


@njit
def _is_topic(at):
    """Whether a `=` is that of `{topic=` or `{name=`."""
    if byte_at(at) != 61:
        return False
    if byte_at(at - 1) == 101:
        return byte_at(at - 2) == 109 and byte_at(at - 4) == 110 and byte_at(at - 5) == 123
    return (
        byte_at(at - 1) == 99 and byte_at(at - 2) == 105 and byte_at(at - 5) == 116 and byte_at(at - 6) == 123
    )


@njit
def _own_code(at, words):
    """Where the answer's own error code stands, if it has one; `at`: of the answer."""
    behind = behind_word(at, words, _THROTTLED)
    if behind:
        while is_digit(byte_at(behind)):
            behind += 1
        return behind_word(behind, words, _NEXT_ERROR)
    return behind_word(at, words, _FIRST_ERROR)


@njit
def _errors(at, end, own):
    """As `errors_of`, of each error_code between the addresses. `own`: where the answer's own one stands."""
    codes = np.uint64(0), np.uint64(0), np.uint64(0)
    while at < end:
        if not (holds(uint64_at(at), _EQUALS) & holds(uint64_at(at - 1), _ES)):
            at += 8
            continue
        last = at + 8
        while at < last and at < end:
            is_code = byte_at(at) == 61 and byte_at(at - 1) == 101 and byte_at(at - 4) == 99
            at += 1
            if is_code and byte_at(at - 6) == 95 and byte_at(at - 11) == 101:
                first = at
                while at < end and byte_at(at) != 44 and byte_at(at) != 125:
                    at += 1
                codes = with_code(first, at, first == own and byte_at(first) != 48, codes)
    return errors_of(codes)


@njit
def _behind_response(at, words):
    """Behind ` from connection `."""
    while True:
        eight = uint64_at(at)
        if not (holds(eight, _SPACES) | holds(eight, LINE_FEEDS)):
            at += 8
            continue
        for _ in range(8):
            byte = byte_at(at)
            if byte == 32:
                behind = behind_word(at, words, _FROM)
                if behind:
                    return behind
                if behind_word(at - 1, words, _CORRELATION):
                    return np.int64(0)
            elif byte == 10:
                return np.int64(0)
            at += 1


@njit
def text_entry(at, words, names, keys, with_bodies, with_names, seed):  # noqa: C901
    """(essence, connection, total_ns, key) as Scanned has them, shape (`with_names`), and the addresses at which correlation
    id, connection id, listener and security protocol begin and end; `at`: behind `(apiKey=`.
    """
    nothing = np.int64(0)
    nowhere = nothing, nothing, nothing, nothing, nothing, nothing, nothing, nothing
    slow = np.uint64(0), np.uint64(0), nothing, nothing, np.uint64(0), nowhere
    first = at
    key, at = _api(at, names, keys)
    _, at = small_number(behind_word(at, words, _VERSION))
    if at == 0:
        return slow
    value = hashed(first, at, seed)
    at = behind_word(at, words, _CLIENT)
    if at == 0:
        return slow
    first = at
    behind = np.int64(0)
    while behind == 0:
        if byte_at(at) == 10:
            return slow
        if byte_at(at) == 44:
            behind = behind_word(at, words, _CORRELATION)
        at += 1
    value = hashed(first, at - 1, value)
    number = behind
    at = behind + 1 if byte_at(behind) == 45 else behind
    if not is_digit(byte_at(at)):
        return slow
    while is_digit(byte_at(at)):
        at += 1
    behind_number = at
    at = behind_word(at, words, _BODY)
    if at == 0:
        return slow
    first = at
    at = _behind_request(at, words)
    if at == 0:
        return slow
    body, shape = first, value
    if with_names:
        shape = _with_ids(first, at - _RESPONSE_BYTES, True, value)
    if with_bodies:
        value = _with_ids(first, at - _RESPONSE_BYTES, False, value)
    answer = at
    first = _behind_response(at, words)
    if with_names and is_read_whole(key):
        shape = hashed(body, first, value)
    if first == 0:
        return slow
    errors = _errors(answer, first, _own_code(answer, words)) if with_bodies else np.uint64(0)
    if errors:
        value, shape = mixed(value, errors), mixed(shape, errors)
    at = first
    while 32 < byte_at(at) < 127 and byte_at(at) != 59:
        at += 1
    behind = behind_word(at, words, _TOTAL)
    if behind == 0 or at == first:
        return slow
    peer, behind_peer = first, at
    connection = hashed(first, at, seed)
    total, at = duration_ns(behind)
    if at == 0 or byte_at(at) != 44:
        return slow
    first = np.int64(0)
    while first == 0:
        at += 1
        if byte_at(at) == 10 or _is_repeated(at, words):
            return slow
        if byte_at(at) == 115:
            first = behind_word(at, words, _PROTOCOL)
    at = first
    while byte_at(at) != 44 and byte_at(at) != 10:
        at += 1
    behind_protocol = at
    at = behind_word(at, words, _PRINCIPAL)
    if at == 0:
        return slow
    # To the end of the line: one listener, and no other place where the connection or the time could be.
    listener = np.int64(0)
    while byte_at(at) != 10:
        byte = byte_at(at)
        if byte == 44:
            behind = behind_word(at, words, _LISTENER)
            if behind:
                if listener:
                    return slow
                listener = behind
        elif _is_repeated(at, words):
            return slow
        at += 1
    if listener == 0:
        return slow
    at = listener
    while byte_at(at) != 44 and byte_at(at) != 40 and byte_at(at) != 41 and byte_at(at) > 32:
        at += 1
    if at == listener or (byte_at(at) < 32 and byte_at(at) != 10):
        return slow
    connection = hashed(listener, at, connection)
    behind_listener = at
    behind = behind_word(at, words, _NAME)
    if behind:
        at = behind
        while byte_at(at) != 44 and byte_at(at) != 41 and byte_at(at) != 10:
            at += 1
        at = behind_word(at, words, _SOFTWARE)
        if at == 0:
            return slow
        while byte_at(at) != 44 and byte_at(at) != 41 and byte_at(at) != 10:
            at += 1
        if byte_at(at) != 41:
            return slow
    value, shape = mixed(hashed(first, at, value), connection), hashed(first, at, shape)
    ids = number, behind_number, peer, behind_peer, listener, behind_listener, first, behind_protocol
    return value if value else np.uint64(1), connection, total, key, shape, ids
