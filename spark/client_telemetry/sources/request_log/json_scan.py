"""Compiled reading of an entry in JSON, as RequestConvertToJson writes it in all releases since 2.8.

The whole entry is read, so that one that was damaged anywhere is left to the parser: what is taken here is JSON without
blanks, with the fields of an entry in Kafka's order. Positions are addresses (byte_scan.py); 0 = not taken.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from client_telemetry.formats.raw.wire import byte_at, uint64_at
from client_telemetry.sources.request_log.byte_scan import (
    Words,
    behind_word,
    duration_ns,
    errors_of,
    hashed,
    is_digit,
    is_read_whole,
    mixed,
    small_number,
    with_code,
)

_ONES, _HIGH = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
_BLANKS, _QUOTES, _BACKSLASHES = (np.uint64(0x0101010101010101 * byte) for byte in (0x20, 0x22, 0x5C))
_DEEPEST = 60

(
    _VERSION, _CORRELATION, _CLIENT, _NAME, _DEPRECATED, _REQUEST, _RESPONSE, _CONNECTION, _TOTAL, _PROTOCOL, _PRINCIPAL,
    _LISTENER, _SOFTWARE, _MEMORY, _TRUE, _FALSE, _NULL,
) = range(17)  # fmt: skip
WORDS = Words(
    b',"requestApiVersion":',
    b',"correlationId":',
    b',"clientId":',
    b',"requestApiKeyName":"',
    b',"requestApiVersionDeprecated":',
    b'},"request":',
    b',"response":',
    b',"connection":"',
    b',"totalTimeMs":',
    b',"securityProtocol":"',
    b',"principal":"',
    b',"listener":"',
    b',"clientInformation":',
    b',"temporaryMemoryBytes":',
    b"true",
    b"false",
    b"null",
)


@intrinsic
def _zeros_below(context, number):
    """How many zero bits are below the lowest one bit of a uint64 that is not 0."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


@njit
def _is_hex(byte):
    return is_digit(byte) or 65 <= byte <= 70 or 97 <= byte <= 102


@njit
def _behind_escape(at):
    """`at`: of the backslash. Halves of surrogate pairs are not taken: parsers differ on them."""
    byte = byte_at(at + 1)
    if byte == 117:
        for i in range(2, 6):
            if not _is_hex(byte_at(at + i)):
                return np.int64(0)
        is_d = byte_at(at + 2) == 68 or byte_at(at + 2) == 100
        return np.int64(0) if is_d and byte_at(at + 3) > 55 else at + 6
    is_short = (
        byte == 34 or byte == 92 or byte == 47 or byte == 98
        or byte == 102 or byte == 110 or byte == 114 or byte == 116
    )  # fmt: skip
    return at + 2 if is_short else np.int64(0)


@njit
def _behind_string(at, with_escapes):
    """Behind the closing quote; `at`: behind the opening one."""
    while at:
        word = uint64_at(at)
        quote, backslash = word ^ _QUOTES, word ^ _BACKSLASHES
        special = (
            ((word - _BLANKS) & ~word) | ((quote - _ONES) & ~quote) | ((backslash - _ONES) & ~backslash)
        ) & _HIGH
        if special == 0:
            at += 8
            continue
        at += _zeros_below(special) >> 3
        byte = byte_at(at)
        if byte == 34:
            return at + 1
        if byte != 92 or not with_escapes:
            return np.int64(0)
        at = _behind_escape(at)
    return np.int64(0)


@njit
def _behind_digits(at):
    if not is_digit(byte_at(at)):
        return np.int64(0)
    while is_digit(byte_at(at)):
        at += 1
    return at


@njit
def _behind_number(at):
    if at == 0:
        return at
    if byte_at(at) == 45:
        at += 1
    at = at + 1 if byte_at(at) == 48 else _behind_digits(at)
    if at and byte_at(at) == 46:
        at = _behind_digits(at + 1)
    if at and (byte_at(at) == 101 or byte_at(at) == 69):
        at += 1
        if byte_at(at) == 43 or byte_at(at) == 45:
            at += 1
        at = _behind_digits(at)
    return at


@njit
def _behind_scalar(at, words):
    """Of a value that is neither an object nor an array."""
    byte = byte_at(at)
    if byte == 34:
        return _behind_string(at + 1, True)
    if byte == 116:
        return behind_word(at, words, _TRUE)
    if byte == 102:
        return behind_word(at, words, _FALSE)
    if byte == 110:
        return behind_word(at, words, _NULL)
    return _behind_number(at)


@njit
def _is_of_client(key_end):
    """Whether a key is groupId, transactionalId or replicaId; `key_end`: of its closing quote."""
    if byte_at(key_end - 1) != 100 or byte_at(key_end - 2) != 73:
        return False
    before = byte_at(key_end - 3)
    return before == 112 or before == 108 or before == 97


@njit
def _is_name(key_end):
    """Whether a key is name or topic; `key_end`: of its closing quote."""
    last = byte_at(key_end - 1)
    if last == 101:
        return byte_at(key_end - 2) == 109 and byte_at(key_end - 4) == 110 and byte_at(key_end - 5) == 34
    return (
        last == 99
        and byte_at(key_end - 2) == 105
        and byte_at(key_end - 5) == 116
        and byte_at(key_end - 6) == 34
    )


@njit
def _is_error_code(key_end):
    """Whether a key is errorCode; `key_end`: of its closing quote. Keys such as topErrorCode are not in Kafka's messages."""
    return byte_at(key_end - 1) == 101 and byte_at(key_end - 4) == 67 and byte_at(key_end - 9) == 101


@njit
def _behind_value(at, words, with_bodies, with_names, with_errors, value):  # noqa: C901
    """(next, value, shape, codes): `value` with the groups, transactional ids and replica ids hashed into it that are somewhere
    inside; `shape`: with names and topics, too, if `with_names`; `codes`: of each errorCode, if `with_errors`.
    """
    depth, kinds = 0, np.uint64(0)  # a bit of `kinds` for each that is open: 1 = object
    id_from, name_from, code_from, shape = np.int64(0), np.int64(0), np.int64(0), value
    codes = np.uint64(0), np.uint64(0), np.uint64(0)
    while at:
        byte = byte_at(at)
        if byte == 123 or byte == 91:
            is_object = byte == 123
            if byte_at(at + 1) == byte + 2:  # empty
                at += 2
            else:
                if depth == _DEEPEST:
                    break
                depth += 1
                kinds = (kinds << np.uint64(1)) | np.uint64(is_object)
                at += 1
                if not is_object:
                    continue
                if byte_at(at) != 34:
                    break
                key = at
                at = _behind_string(at + 1, False)
                if at == 0 or byte_at(at) != 58:
                    break
                id_from = key if with_bodies and _is_of_client(at - 1) else np.int64(0)
                name_from = key if with_names and _is_name(at - 1) else np.int64(0)
                at += 1
                code_from = at if with_errors and _is_error_code(at - 2) else np.int64(0)
                continue
        else:
            at = _behind_scalar(at, words)
            if at == 0:
                break
            if id_from:
                value = hashed(id_from, at, value)
                shape = hashed(id_from, at, shape)
            if name_from:
                shape = hashed(name_from, at, shape)
            if code_from:
                codes = with_code(code_from, at, depth == 1, codes)
        id_from = name_from = code_from = np.int64(0)
        # Behind a value: a comma, or the end of what it is in.
        while depth and byte_at(at) == (125 if kinds & np.uint64(1) else 93):
            depth -= 1
            kinds >>= np.uint64(1)
            at += 1
        if depth == 0:
            return at, value, shape, codes
        if byte_at(at) != 44:
            break
        at += 1
        if kinds & np.uint64(1):
            if byte_at(at) != 34:
                break
            key = at
            at = _behind_string(at + 1, False)
            if at == 0 or byte_at(at) != 58:
                break
            id_from = key if with_bodies and _is_of_client(at - 1) else np.int64(0)
            name_from = key if with_names and _is_name(at - 1) else np.int64(0)
            at += 1
            code_from = at if with_errors and _is_error_code(at - 2) else np.int64(0)
    return np.int64(0), value, shape, codes


@njit
def json_entry(at, words, with_bodies, with_names, seed):  # noqa: C901
    """(essence, connection, total_ns, key) as Scanned has them, shape (`with_names`), and the addresses at which correlation
    id, connection id, listener and security protocol begin and end; `at`: behind `"requestApiKey":`.
    """
    nothing = np.int64(0)
    nowhere = nothing, nothing, nothing, nothing, nothing, nothing, nothing, nothing
    slow = np.uint64(0), np.uint64(0), nothing, nothing, np.uint64(0), nowhere
    first = at
    key, at = small_number(at)
    _, at = small_number(behind_word(at, words, _VERSION))
    if at == 0:
        return slow
    value = hashed(first, at, seed)
    number = behind_word(at, words, _CORRELATION)
    behind_number = _behind_number(number)
    at = behind_word(behind_number, words, _CLIENT)
    if at == 0:
        return slow
    first = at
    at = behind_word(at, words, _NULL) if byte_at(at) == 110 else np.int64(0)
    if at == 0:
        if byte_at(first) != 34:
            return slow
        at = _behind_string(first + 1, True)
        if at == 0:
            return slow
    value = hashed(first, at, value)
    at = _behind_string(behind_word(at, words, _NAME), True)
    if at and byte_at(at) == 44:
        at = behind_word(at, words, _DEPRECATED)
        if at:
            at = _behind_scalar(at, words)
    bodies = at
    at, value, shape, _ = _behind_value(
        behind_word(at, words, _REQUEST), words, with_bodies, with_names, False, value
    )
    at, _, _, codes = _behind_value(
        behind_word(at, words, _RESPONSE), words, False, False, with_bodies, value
    )
    errors = errors_of(codes)
    if errors:
        value, shape = mixed(value, errors), mixed(shape, errors)
    if with_names and is_read_whole(key):
        shape = hashed(bodies, at, value)
    peer = behind_word(at, words, _CONNECTION)
    at = _behind_string(peer, False)
    if at == 0:
        return slow
    behind_peer = at - 1
    connection = hashed(peer, at, seed)
    total, at = duration_ns(behind_word(at, words, _TOTAL))
    if at == 0:
        return slow
    # Other times, in an order that releases differ in.
    first = behind_word(at, words, _PROTOCOL)
    while first == 0:
        if byte_at(at) != 44 or byte_at(at + 1) != 34:
            return slow
        at = _behind_string(at + 2, False)
        if at == 0 or byte_at(at - 2) != 115 or byte_at(at - 3) != 77 or byte_at(at) != 58:
            return slow
        at = _behind_number(at + 1)
        if at == 0:
            return slow
        first = behind_word(at, words, _PROTOCOL)
    behind_protocol = _behind_string(first, True)
    at = _behind_string(behind_word(behind_protocol, words, _PRINCIPAL), True)
    listener = behind_word(at, words, _LISTENER)
    at = _behind_string(listener, False)
    if at == 0:
        return slow
    behind_listener = at
    connection = hashed(listener, at, connection)
    at = behind_word(at, words, _SOFTWARE)
    if at == 0 or byte_at(at) != 123:
        return slow
    at, _, _, _ = _behind_value(at, words, False, False, False, value)
    if at == 0:
        return slow
    value, shape = mixed(hashed(first, at, value), connection), hashed(first, at, shape)
    if byte_at(at) == 44:
        at = _behind_number(behind_word(at, words, _MEMORY))
    if at == 0 or byte_at(at) != 125:
        return slow
    ids = number, behind_number, peer, behind_peer, listener, behind_listener - 1, first, behind_protocol - 1
    return value if value else np.uint64(1), connection, total, key, shape, ids
