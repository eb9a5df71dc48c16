"""One object of a raw dump as a stream of whole records.

An object is `{ uint32 big-endian length, protobuf message }*`, compressed according to its file extension: `.zst` and
`.gz` (one or several concatenated frames or members) or `.bin` (plain). The meaning of the messages (envelopes.py) and
the location of objects (object_key.py) are handled elsewhere.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Literal, NamedTuple

from client_telemetry.formats.raw.errors import (
    AbsurdLength,
    CorruptStream,
    EmptyObject,
    EmptyRecord,
    ObjectTooLarge,
    TruncatedRecord,
    TruncatedStream,
    UndecodableRecord,
    UnknownEnding,
    WrongCompression,
)
from client_telemetry.formats.raw.stored_object import MAX_TAIL_BYTES, StoredObject

MAX_RECORD_BYTES = 16 * 2**20
BLOCK_BYTES = 8 * 2**20
PADDING = 8
"""Bytes of any value after a block's data in memory, for readers that load eight bytes at a time."""
_MEMORY_BYTES = BLOCK_BYTES + 2**20
_spare_memory: list[bytearray] = []
"""Buffers that finished readers leave to the next: allocating memory costs as much as decompressing into it."""
_LENGTH = struct.Struct(">I")

Status = Literal["complete", "torn", "damaged", "unreadable", "empty"]

_STATUS: dict[type[UndecodableRecord], Status] = {
    EmptyObject: "empty",
    TruncatedRecord: "torn",
    TruncatedStream: "torn",
    AbsurdLength: "damaged",
    EmptyRecord: "damaged",
    CorruptStream: "damaged",
    ObjectTooLarge: "damaged",
    UnknownEnding: "unreadable",
    WrongCompression: "unreadable",
}
_STREAM_AT_FAULT = (CorruptStream, TruncatedStream, UnknownEnding, WrongCompression)


class RawRecord(NamedTuple):
    """`offset` of the record's length field in the decompressed stream, and the message's bytes."""

    offset: int
    data: bytes


@dataclass(frozen=True)
class RecordBlock:
    """Consecutive whole records: `data` begins at `offset` in the decompressed stream; record i lies between bounds[i]
    and bounds[i + 1], its message begins 4 bytes later. `data` is released before the next block is read.
    """

    offset: int
    data: memoryview
    bounds: list[int]

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def record(self, i: int) -> RawRecord:
        at = self.bounds[i]
        return RawRecord(self.offset + at, bytes(self.data[at + 4 : self.bounds[i + 1]]))

    def __iter__(self) -> Iterator[RawRecord]:
        return map(self.record, range(len(self)))


@dataclass(frozen=True)
class ReadResult:
    """How an object ended.

    `complete`: nothing is missing. `torn`: it ends early, as after a killed broker. `damaged`: reading stopped before
    the end. `unreadable`: not a byte could be read. `empty`: no bytes, or no records. Whatever the status, the records
    that were returned count; `error` is None only for `complete`.

    `tail` holds what follows the last whole record in the decompressed stream, from `tail_offset` on. If the
    *compressed* stream is at fault, `stored_tail` holds the object's own bytes from `stored_tail_offset` on, those that
    decompressed to nothing. Both are cut at 64 KiB; `tail_bytes` is the size of the tail as far as it was read.
    `stored_bytes` and `sha256` (hex) are of the whole object as stored, damaged or not, for comparison with the
    manifest.
    """

    status: Status
    records: int
    stored_bytes: int
    sha256: str
    tail_offset: int
    tail: bytes = b""
    tail_bytes: int = 0
    stored_tail_offset: int | None = None
    stored_tail: bytes = b""
    error: UndecodableRecord | None = None

    @property
    def evidence(self) -> bytes:
        """The bytes to keep with the error: the tail, or the stored bytes if they decompressed to nothing."""
        return self.tail or self.stored_tail

    @property
    def evidence_bytes(self) -> int:
        """Size of `evidence` before it was cut."""
        if self.tail or self.stored_tail_offset is None:
            return self.tail_bytes
        return self.stored_bytes - self.stored_tail_offset


class RecordReader:
    """Iterate once for the records; then `result` says how the object ended.

    `source` is a binary file object at its start, preferably seekable: otherwise damage loses some bytes (see
    `StoredObject`). `name` is the object's key or file name. Memory: at most a block (8 MiB) with one record (16 MiB),
    twice what one piece decompresses to (1 to 16 MiB), and zstd's window (libzstd refuses more than 128 MiB; real
    writers use 2 to 8), whatever the object claims about itself. Errors of `source` itself are passed on: they are not
    the object's fault.

    A length of 0 is damage (`EmptyRecord`): no message of the contract is empty, and crashes leave zeros.
    """

    def __init__(self, source: BinaryIO, name: str) -> None:
        self._object = StoredObject(source, name)
        self._memory = _spare_memory.pop() if _spare_memory else bytearray(_MEMORY_BYTES)
        self._filled = 0
        self._offset = 0  # where the buffer begins in the decompressed stream
        self._records = 0
        self._error: UndecodableRecord | None = None
        self._result: ReadResult | None = None

    @property
    def result(self) -> ReadResult:
        if self._result is None:
            raise RuntimeError("take all records first")
        return self._result

    def __iter__(self) -> Iterator[RawRecord]:
        for block in self.blocks():
            yield from block

    def blocks(self) -> Iterator["RecordBlock"]:
        """The records in blocks of about 8 MiB, for readers that process many at once."""
        for piece in self._object.pieces():
            self._append(piece)
            if self._filled >= BLOCK_BYTES:
                yield from self._whole_records()
                if self._error:
                    break
        if not self._error:
            yield from self._whole_records()
        self._finish()

    def _append(self, piece: bytes) -> None:
        end = self._filled + len(piece)
        missing = end + PADDING - len(self._memory)
        if missing > 0:
            self._memory += bytes(missing)
        self._memory[self._filled : end] = piece
        self._filled = end

    def _whole_records(self) -> Iterator["RecordBlock"]:
        memory, filled, unpack = self._memory, self._filled, _LENGTH.unpack_from
        at, bounds = 0, [0]
        while at + 4 <= filled:
            (length,) = unpack(memory, at)
            if not 0 < length <= MAX_RECORD_BYTES:
                where = f"a record of {length} bytes at offset {self._offset + at}"
                limit = f"{where}; the limit is {MAX_RECORD_BYTES}"
                self._error = AbsurdLength(limit) if length else EmptyRecord(where)
                break
            end = at + 4 + length
            if end > filled:
                break
            at = end
            bounds.append(at)
        if at:
            self._records += len(bounds) - 1
            with memoryview(memory)[:at] as data:
                yield RecordBlock(self._offset, data, bounds)
            memory[: filled - at] = memory[at:filled]
            self._filled -= at
            self._offset += at

    def _finish(self) -> None:
        stored = self._object
        stored.drain()
        error = self._error or stored.error
        if error is None and self._filled:
            error = TruncatedRecord(
                f"the last record ends early: {self._filled} bytes from {self._offset} on"
            )
        elif error is None and self._records == 0:
            error = EmptyObject("the object has no records")
        at_fault = isinstance(error, _STREAM_AT_FAULT)
        self._result = ReadResult(
            status=_STATUS[type(error)] if error else "complete",
            records=self._records,
            stored_bytes=stored.stored_bytes,
            sha256=stored.sha256,
            tail_offset=self._offset,
            tail=bytes(self._memory[: min(self._filled, MAX_TAIL_BYTES)]),
            tail_bytes=self._filled,
            stored_tail_offset=stored.silent_from if at_fault else None,
            stored_tail=stored.silent_tail if at_fault else b"",
            error=error,
        )
        if len(self._memory) == _MEMORY_BYTES:
            _spare_memory.append(self._memory)
