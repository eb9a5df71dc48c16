"""An object's stored bytes and what they decompress to, in small pieces and without losing what precedes damage.

Which records the decompressed stream holds is not here (reader.py).
"""

import hashlib
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO, Protocol

import zstandard

from client_telemetry.raw.errors import (
    CorruptStream,
    EmptyObject,
    ObjectTooLarge,
    TruncatedStream,
    UndecodableRecord,
    UnknownEnding,
    WrongCompression,
)

MAX_TAIL_BYTES = 64 * 2**10
# These two bound the work on a hostile object; the captured dumps compress 6 to 29 times.
MAX_RATIO = 1000
RATIO_FLOOR_BYTES = 64 * 2**20
# These bound the memory: 4 stored bytes of zstd can stand for a block of 128 KiB (RFC 8878, RLE_Block), so that
# 512 bytes give at most 16 MiB. Feeding 64 KiB at a time would be 7 times faster (1 ms instead of 9 for 8 MiB)
# and could give 2 GiB at once.
_PIECE_BYTES = 512
_READ_BYTES = 64 * 2**10


class _Decompressor(Protocol):
    eof: bool
    unused_data: bytes

    def decompress(self, data: bytes, /) -> bytes: ...


class _Plain:
    """`.bin`: nothing to decompress, and any byte may be the last."""

    eof = True
    unused_data = b""

    def decompress(self, data: bytes, /) -> bytes:
        return data


class _Frames:
    """Concatenated frames (zstd) or members (gzip) as one stream."""

    def __init__(self, new: Callable[[], _Decompressor]) -> None:
        self._new = new
        self._current: _Decompressor = _Plain()

    @property
    def at_end(self) -> bool:
        """Whether the stored bytes may end here: not inside a frame."""
        return self._current.eof

    def feed(self, data: bytes) -> bytes:
        given = []
        while data:
            if self._current.eof:
                self._current = self._new()
            given.append(self._current.decompress(data))
            data = self._current.unused_data if self._current.eof else b""
        return b"".join(given)


def _is_beginning(head: bytes, magic: bytes) -> bool:
    return magic.startswith(head[: len(magic)])


def _is_zstd(head: bytes) -> bool:
    # RFC 8878: a frame, or a skippable frame with magic 0x184D2A50 to 0x184D2A5F, little-endian.
    skippable = head[0] & 0xF0 == 0x50 and _is_beginning(head[1:], b"\x2a\x4d\x18")
    return skippable or _is_beginning(head, b"\x28\xb5\x2f\xfd")


_COMPRESSIONS: dict[str, tuple[Callable[[], _Decompressor], Callable[[bytes], bool]]] = {
    ".zst": (lambda: zstandard.ZstdDecompressor().decompressobj(), _is_zstd),
    ".gz": (lambda: zlib.decompressobj(wbits=31), lambda head: _is_beginning(head, b"\x1f\x8b")),
    ".bin": (_Plain, lambda head: True),
}
_FAILURES = (zstandard.ZstdError, zlib.error)


class StoredObject:
    """`source` is a binary file object at its start, `name` tells the compression by its ending.

    Only for a damaged stream `source` is asked to seek back: a decompressor that fails throws away what it had
    decompressed since it was last called, so the stream is read once more up to that call, and then byte by byte.
    Without seek those last bytes (of at most 512 stored ones) are lost.
    """

    def __init__(self, source: BinaryIO, name: str) -> None:
        self._source = source
        self._name = name
        self._digest = hashlib.sha256()
        self._given = 0
        self._fed = 0
        self.stored_bytes = 0
        self.error: UndecodableRecord | None = None
        # What was fed since the decompressor last gave anything, and where in the object that began.
        self._silent = bytearray()
        self.silent_from = 0
        self._last_piece = b""

    @property
    def sha256(self) -> str:
        """Hex digest of the stored bytes read so far; of the whole object after `drain`."""
        return self._digest.hexdigest()

    @property
    def silent_tail(self) -> bytes:
        """The stored bytes that gave nothing, from `silent_from` on, at most 64 KiB: the place of the damage. Of a
        stream that ends early, at least the last piece (of at most 512 bytes): where in it the cut block begins is
        not known."""
        return bytes(self._silent[:MAX_TAIL_BYTES])

    def drain(self) -> None:
        """Read to the end for size and digest."""
        while self._read():
            pass

    def pieces(self) -> Iterator[bytes]:
        """The decompressed bytes. Afterwards `error` says what is wrong with the compressed stream, if anything."""
        head = self._read()
        if not head:
            self.error = EmptyObject("the object has no bytes")
            return
        ending = next((ending for ending in _COMPRESSIONS if self._name.endswith(ending)), None)
        if ending is None:
            self._condemn(UnknownEnding(f"the name ends in none of {', '.join(_COMPRESSIONS)}"), head)
            return
        new, recognises = _COMPRESSIONS[ending]
        if not recognises(head[:4]):
            self._condemn(
                WrongCompression(f"not {ending}: it begins with the bytes {head[:8].hex(' ')}"), head
            )
            return
        yield from self._decompress(head, new)

    def _decompress(self, block: bytes, new: Callable[[], _Decompressor]) -> Iterator[bytes]:
        frames = _Frames(new)
        while block:
            for at in range(0, len(block), _PIECE_BYTES):
                piece = block[at : at + _PIECE_BYTES]
                try:
                    data = frames.feed(piece)
                except _FAILURES as failure:
                    yield from self._approach(failure, block[at:], _Frames(new))
                    return
                self._note(piece, data)
                yield data
                if self._given > max(RATIO_FLOOR_BYTES, MAX_RATIO * self._fed):
                    self.error = ObjectTooLarge(f"the first {self._fed} stored bytes gave {self._given}")
                    return
            block = self._read()
        if not frames.at_end:
            if not self._silent:  # the cut block lies in the piece that gave something last
                self._silent += self._last_piece
                self.silent_from = self._fed - len(self._last_piece)
            self.error = TruncatedStream(f"the compressed stream ends early, at byte {self._fed}")

    def _approach(self, failure: Exception, rest: bytes, frames: _Frames) -> Iterator[bytes]:
        """Go again to the failing piece, the beginning of `rest`, and byte by byte as far into it as possible."""
        if self._source.seekable():
            self._source.seek(0)
            for at in range(0, self._fed, _PIECE_BYTES):
                frames.feed(self._source.read(min(_PIECE_BYTES, self._fed - at)))
            self._source.seek(self.stored_bytes)
            for at in range(len(rest)):
                byte = rest[at : at + 1]
                try:
                    data = frames.feed(byte)
                except _FAILURES as nearer:
                    failure, rest = nearer, rest[at:]
                    break
                self._note(byte, data)
                yield data
        self._condemn(CorruptStream(f"{failure}, near byte {self._fed} of the object"), rest)

    def _note(self, piece: bytes, data: bytes) -> None:
        self._fed += len(piece)
        self._given += len(data)
        if data:
            self._silent.clear()
            self.silent_from = self._fed
            self._last_piece = piece
        elif len(self._silent) < MAX_TAIL_BYTES:
            self._silent += piece

    def _condemn(self, error: UndecodableRecord, rest: bytes) -> None:
        self.error = error
        self._silent += rest
        while len(self._silent) < MAX_TAIL_BYTES and (block := self._read()):
            self._silent += block

    def _read(self) -> bytes:
        block = self._source.read(_READ_BYTES)
        self._digest.update(block)
        self.stored_bytes += len(block)
        return block
