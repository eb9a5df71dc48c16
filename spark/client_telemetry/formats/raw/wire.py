"""The protobuf wire format for compiled readers: bytes by address, varints, lengths, distinct byte ranges.

Everything here is compiled by numba into the function that uses it. Positions are addresses; the bytes they point
into belong to the caller and have PADDING bytes (reader.py) behind them, because ranges are read eight bytes at a time.

These readers take what real writers send. For anything else (a group, an overlong tag or length, a number that
does not fit) they give up, and the caller hands the message to protobuf's own classes: what is right is decided
there. `0` as the next position means "give up".

Where compiled code is kept: machine_code.py.
"""

import numpy as np
import pyarrow as pa
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from client_telemetry.formats.raw.machine_code import keep_machine_code

TABLE_FULL, NOT_ASCII = -1, -2
DONE, GIVEN_UP, FULL = range(3)
"""How a compiled reader ends: well, because the message is not for it, or because a table or an array is full."""

_MIX = np.uint64(0x9E3779B97F4A7C15)
_FOLD = np.uint64(32)
_HIGH_BITS = np.uint64(0x8080808080808080)


def compiled(signature: object):
    """Compile a function for these types when its module is imported, or load what was compiled before."""

    def compile_(function):
        dispatcher = njit(nogil=True, error_model="numpy")(function)
        keep_machine_code(dispatcher, function)
        dispatcher.compile(signature)
        dispatcher.disable_compile()
        return dispatcher

    return compile_


def _load(bits: int, kind: types.Type):
    """A function that loads a little-endian number of so many bits, zeros before it, from an address."""

    @intrinsic
    def load(context, address):
        def generate(context, builder, signature, arguments):
            pointer = builder.inttoptr(arguments[0], ir.IntType(bits).as_pointer())
            value = builder.load(pointer, align=1)
            return builder.zext(value, ir.IntType(64)) if bits < 64 else value

        return kind(types.int64), generate

    return load


byte_at, uint32_at = _load(8, types.int64), _load(32, types.int64)
uint64_at, int64_at = _load(64, types.uint64), _load(64, types.int64)


@intrinsic
def put(context, address, value):
    """Store an int64 at an address."""

    def generate(context, builder, signature, arguments):
        pointer = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        builder.store(arguments[1], pointer, align=1)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate


@njit
def put_column(row, column, value):
    """Store into a row of int64 columns, known by its address."""
    put(row + 8 * column, value)


@njit
def varint(at, end):
    """(value, next) of a varint. Values above 2^63 - 1 are negative, as int64 has them."""
    value, shift = np.int64(0), 0
    while at < end and shift < 63:
        byte = byte_at(at)
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
    if shift == 63 and at < end and byte_at(at) == 1:
        return value | (np.int64(1) << np.int64(63)), at + 1
    return np.int64(0), np.int64(0)


@njit
def length(at, end):
    """(length, next) of what follows, which ends at `end` or before; lengths of up to 2^28 - 1."""
    if at < end:
        size = byte_at(at)
        at += 1
        shift = 0
        if size >= 128:
            size &= 127
            while True:
                shift += 7
                if at >= end or shift > 21:
                    return np.int64(0), np.int64(0)
                byte = byte_at(at)
                at += 1
                size |= (byte & 127) << shift
                if byte < 128:
                    break
        if size <= end - at:
            return size, at
    return np.int64(0), np.int64(0)


@njit
def skip_unknown(tag, at, end):
    """Next position after a field that is in no version of the message: its number is above 15, so that its tag,
    of which `tag` is the first byte and `at` the address of the second, has several bytes."""
    if tag < 128:
        return np.int64(0)
    start = at - 1
    tag, at = varint(start, end)
    if at == 0 or at - start > 5 or tag < 128 or tag > 0xFFFFFFFF:
        return np.int64(0)
    kind = tag & 7
    if kind == 0:
        _, at = varint(at, end)
        return at
    if kind == 2:
        size, at = length(at, end)
        return at + size if at else at
    if kind == 1:
        at += 8
    elif kind == 5:
        at += 4
    else:
        return np.int64(0)
    return at if at <= end else np.int64(0)


@njit
def _tail(at, size):
    """The last 1 to 7 bytes of a range as a number."""
    return uint64_at(at) & ((np.uint64(1) << np.uint64(8 * size)) - np.uint64(1))


@njit
def same(a, b, size):
    while size >= 8:
        if uint64_at(a) != uint64_at(b):
            return False
        a += 8
        b += 8
        size -= 8
    return size == 0 or _tail(a, size) == _tail(b, size)


@njit
def is_ascii(at, size):
    while size >= 8:
        if uint64_at(at) & _HIGH_BITS:
            return False
        at += 8
        size -= 8
    return size == 0 or (_tail(at, size) & _HIGH_BITS) == 0


@njit
def _hash(kind, at, size):
    value = np.uint64(size * 64 + kind) * _MIX
    while size >= 8:
        value = (value ^ uint64_at(at)) * _MIX
        value ^= value >> np.uint64(29)
        at += 8
        size -= 8
    if size:
        value = (value ^ _tail(at, size)) * _MIX
        value ^= value >> np.uint64(29)
    value *= _MIX
    return np.int64((value ^ (value >> _FOLD)) >> np.uint64(1))


# A table of distinct ranges, int64 each, is known by the address of its head: address of the slots, slots - 1, address
# of the entries, room for entries, entries, and the number of ranges of each kind. A slot holds an entry's number + 1
# and above it 32 bits of its hash; an entry holds address, size, kind and number within the kind.
_SLOTS, _MASK, _ENTRIES, _ROOM, _USED, _COUNTS = range(0, 48, 8)
_ENTRY_BYTES = 32


@njit
def distinct(table, kind, at, size, ascii_only):
    """Number of this range among the distinct ones of its kind, from 0 in order of appearance; TABLE_FULL, or
    NOT_ASCII for a new one that is not."""
    slots, mask, entries = int64_at(table + _SLOTS), int64_at(table + _MASK), int64_at(table + _ENTRIES)
    value = _hash(kind, at, size)
    place = value & mask
    mark = value >> 31
    while True:
        slot = int64_at(slots + 8 * place)
        if slot == 0:
            break
        if uint32_at(slots + 8 * place + 4) == mark:
            entry = entries + _ENTRY_BYTES * ((slot & 0xFFFFFFFF) - 1)
            if (
                int64_at(entry + 8) == size
                and int64_at(entry + 16) == kind
                and same(int64_at(entry), at, size)
            ):
                return int64_at(entry + 24)
        place = (place + 1) & mask
    if ascii_only and not is_ascii(at, size):
        return np.int64(NOT_ASCII)
    used = int64_at(table + _USED)
    if used >= int64_at(table + _ROOM):
        return np.int64(TABLE_FULL)
    number = int64_at(table + _COUNTS + 8 * kind)
    entry = entries + _ENTRY_BYTES * used
    put(entry, at)
    put(entry + 8, size)
    put(entry + 16, kind)
    put(entry + 24, number)
    put(slots + 8 * place, (used + 1) | (mark << 32))
    put(table + _COUNTS + 8 * kind, number + 1)
    put(table + _USED, used + 1)
    return number


@compiled("void(int64[::1], int64[:, ::1], int64)")
def _fill(slots, entries, used):
    mask = np.int64(len(slots) - 1)
    for entry in range(used):
        value = _hash(entries[entry, 2], entries[entry, 0], entries[entry, 1])
        place = value & mask
        while slots[place]:
            place = (place + 1) & mask
        slots[place] = (entry + 1) | ((value >> 31) << 32)


@compiled("int64(int64[:, ::1], int64, int64)")
def _bytes_of(entries, used, kind):
    size = np.int64(0)
    for entry in range(used):
        if entries[entry, 2] == kind:
            size += entries[entry, 1]
    return size


@compiled("void(int64[:, ::1], int64, int64, int32[::1], uint8[::1])")
def _copy(entries, used, kind, offsets, into):
    at, number = np.int64(0), 0
    for entry in range(used):
        if entries[entry, 2] != kind:
            continue
        source, size = entries[entry, 0], entries[entry, 1]
        for i in range(size):
            into[at + i] = byte_at(source + i)
        at += size
        number += 1
        offsets[number] = at


class DistinctRanges:
    """Distinct byte ranges of several kinds, numbered within their kind from 0 in order of appearance.

    Compiled functions know it by `address`. The ranges stay where they are: whoever fills the table keeps those
    bytes alive as long as it is used.
    """

    def __init__(self, kinds: int, expected: int = 1024):
        self._head = np.zeros(_COUNTS // 8 + kinds, np.int64)
        self.address = self._head.ctypes.data
        size = 1 << max(expected, 16).bit_length()
        self._entries = np.empty((size, 4), np.int64)
        self._make_slots()

    def _make_slots(self) -> None:
        self._slots = np.zeros(2 * len(self._entries), np.int64)
        _fill(self._slots, self._entries, self._used)
        self._head[:4] = (
            self._slots.ctypes.data,
            len(self._slots) - 1,
            self._entries.ctypes.data,
            len(self._entries),
        )

    @property
    def _used(self) -> int:
        return int(self._head[_USED // 8])

    def count(self, kind: int) -> int:
        return int(self._head[_COUNTS // 8 + kind])

    @property
    def is_full(self) -> bool:
        return self._used >= len(self._entries)

    def grow(self) -> None:
        """Make room for four times as many."""
        self._entries = np.concatenate([self._entries, np.empty((3 * len(self._entries), 4), np.int64)])
        self._make_slots()

    def ranges(self, kind: int) -> np.ndarray:
        """int64[n, 2]: address and size of each range of the kind."""
        entries = self._entries[: self._used]
        return np.ascontiguousarray(entries[entries[:, 2] == kind, :2])

    def strings(self, kind: int) -> pa.StringArray:
        """The ranges of the kind; whether they are UTF-8 is not looked at."""
        return pa.StringArray.from_buffers(*self._arrow(kind))

    def binaries(self, kind: int) -> pa.BinaryArray:
        n, offsets, data = self._arrow(kind)
        return pa.Array.from_buffers(pa.binary(), n, [None, offsets, data])

    def _arrow(self, kind: int) -> tuple[int, pa.Buffer, pa.Buffer]:
        offsets = np.zeros(self.count(kind) + 1, np.int32)
        into = np.empty(_bytes_of(self._entries, self._used, kind), np.uint8)
        _copy(self._entries, self._used, kind, offsets, into)
        return len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(into)
