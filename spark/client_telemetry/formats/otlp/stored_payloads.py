"""Payloads as they were stored, many at once: their checksums, and what they decompress to, by compiled code.

A payload has some hundred bytes, and a call from Python costs as much as the third part of decompressing them. So the
compiled code calls libcrc32c and libzstd itself, those that google-crc32c and python-zstandard bring along. What it
does not take goes one by one through `decompress`: another codec, several frames, more bytes than one portion has, and
everything where these packages were built without functions for others to call.
"""

import ctypes
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import google_crc32c
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from client_telemetry.formats.otlp.codecs import DEFAULT_LIMITS, NONE, ZSTD, decompress
from client_telemetry.formats.otlp.parts import CROWDED_BYTES, check_parts, checked
from client_telemetry.formats.otlp.zstd_frames import room_for
from client_telemetry.formats.raw.errors import UndecodableRecord
from client_telemetry.formats.raw.reader import PADDING
from client_telemetry.formats.raw.wire import compiled

PORTION_BYTES = 8 * 2**20
"""Payloads to decode together, decompressed. A larger one goes alone."""
_memory = bytearray(PORTION_BYTES + PADDING)
"""Where they are decompressed to; used again and again."""
_memory_at = np.frombuffer(_memory, np.uint8).ctypes.data

_READY, _GIVEN_UP, _ODD = range(3)


def _library(module: str) -> ctypes.CDLL | None:
    """The file of a compiled Python module, with what it is linked with."""
    found = find_spec(module)
    try:
        return ctypes.CDLL(found.origin) if found and found.origin else None
    except OSError:
        return None


def _address(library: ctypes.CDLL | None, function: str) -> int:
    """0 where there is no such function for others to call."""
    found: Any = getattr(library, function, None)
    return ctypes.cast(found, ctypes.c_void_p).value or 0


def _zstd_context(library: ctypes.CDLL | None) -> int:
    if library is None or not _address(library, "ZSTD_createDCtx"):
        return 0
    library.ZSTD_createDCtx.restype = ctypes.c_void_p
    return library.ZSTD_createDCtx() or 0


def _functions() -> np.ndarray:
    """int64[3]: libcrc32c's function, libzstd's, and what libzstd needs to be called; 0 for what is not there."""
    crc32c, zstd = _library("google_crc32c._crc32c"), _library("zstandard._cffi")
    context = _zstd_context(zstd) if _address(zstd, "ZSTD_decompressDCtx") else 0
    return np.array([_address(crc32c, "crc32c_value"), _address(zstd, "ZSTD_decompressDCtx"), context])


_FUNCTIONS = _functions()


def _call(bits: int, arguments: int):
    """A call of the C function at an address, of so many 64-bit arguments; gives a number of so many bits."""

    def generate(context, builder, signature, given):
        kind = ir.FunctionType(ir.IntType(bits), [ir.IntType(64)] * arguments)
        value = builder.call(builder.inttoptr(given[0], kind.as_pointer()), given[1:])
        return builder.zext(value, ir.IntType(64)) if bits < 64 else value

    return types.int64(*[types.int64] * (arguments + 1)), generate


@intrinsic
def _crc32c_value(context, function, at, size):
    return _call(32, 2)


@intrinsic
def _zstd_decompress(context, function, decompressor, into, room, at, size):
    """Bytes written, or an error: those are the last numbers of size_t, so below 0 here."""
    return _call(64, 5)


@compiled(
    "UniTuple(int64, 2)(int64[:, ::1], int64[::1], int64, int64, int64, int64, int64[:, ::1], uint8[::1], int64[::1])"
)
def _unpack(payloads, rooms, payload, memory, used, capacity, ranges, status, functions):
    """Go on with payload number `payload`; returns (next payload, bytes used). The next one is odd, or finds no room."""
    crc32c, decompress_, context = functions[0], functions[1], functions[2]
    while payload < len(payloads):
        at, size, codec, checksum = (
            payloads[payload, 0],
            payloads[payload, 1],
            payloads[payload, 2],
            payloads[payload, 3],
        )
        room = size if codec == NONE else rooms[payload]
        can_decompress = codec == ZSTD and 0 < room <= capacity and context != 0
        can_check = checksum == 0 or crc32c != 0
        if not (can_check and (codec == NONE or can_decompress)):
            status[payload] = _ODD
            break
        if used > 0 and used + room > capacity:
            break
        status[payload] = _GIVEN_UP
        if checksum == 0 or _crc32c_value(crc32c, at, size) == checksum:
            if codec == ZSTD:
                size = _zstd_decompress(decompress_, context, memory + used, room, at, size)
                at = memory + used
            if 0 <= size <= room:
                status[payload] = _READY
                ranges[payload, 0] = at
                ranges[payload, 1] = at + size
                used += size
        payload += 1
    return payload, used


class StoredPayloads:
    """`payloads`: int64[n, 4], address, size, codec and checksum (0: none) of each. `given_up`: bool[n], those with a
    wrong checksum, or that do not decompress; known at the end of `portions`."""

    def __init__(self, payloads: np.ndarray):
        self._payloads = np.ascontiguousarray(payloads)
        self._status = np.full(len(payloads), _READY, np.uint8)

    @property
    def given_up(self) -> np.ndarray:
        return self._status == _GIVEN_UP

    def portions(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Payloads to decode together: int64[m], which they are, and int64[m, 2], from what to what address each lies
        decompressed, with PADDING bytes behind it, until the next portion is taken."""
        payloads, status = self._payloads, self._status
        ranges = np.zeros((len(payloads), 2), np.int64)
        at, size, codec = (np.ascontiguousarray(payloads[:, column]) for column in range(3))
        rooms = room_for(at, size, codec, DEFAULT_LIMITS)
        first = payload = used = 0
        while True:
            payload, used = _unpack(
                payloads, rooms, payload, _memory_at, used, PORTION_BYTES, ranges, status, _FUNCTIONS
            )
            alone = b""
            if payload < len(payloads) and status[payload] == _ODD:
                data = self._unpacked(payload)
                if len(data) <= PORTION_BYTES - used:
                    _memory[used : used + len(data)] = data
                    ranges[payload] = (_memory_at + used, _memory_at + used + len(data))
                    used += len(data)
                    payload += 1
                    continue
                alone = data + bytes(PADDING)
            self._refuse_crowded(ranges, first, payload)
            ready = first + np.flatnonzero(status[first:payload] == _READY)
            if len(ready):
                yield ready, ranges[ready]
            if alone:
                start = np.frombuffer(alone, np.uint8).ctypes.data
                yield np.array([payload]), np.array([[start, start + len(alone) - PADDING]])
                payload += 1
            if payload == len(payloads):
                return
            first, used = payload, 0

    def _unpacked(self, payload: int) -> bytes:
        """By Python; nothing of one that is given up."""
        at, size, codec, checksum = self._payloads[payload].tolist()
        data = ctypes.string_at(at, size)
        self._status[payload] = _GIVEN_UP
        if checksum and google_crc32c.value(data) != checksum:
            return b""
        try:
            data = checked(decompress(data, codec))
        except UndecodableRecord:
            return b""
        self._status[payload] = _READY
        return data

    def _refuse_crowded(self, ranges: np.ndarray, first: int, after: int) -> None:
        sizes = ranges[first:after, 1] - ranges[first:after, 0]
        for payload in (first + np.flatnonzero(sizes >= CROWDED_BYTES)).tolist():
            try:
                check_parts(*ranges[payload].tolist())
            except UndecodableRecord:
                self._status[payload] = _GIVEN_UP
