"""An object's stored bytes and what they decompress to, in small pieces, without losing what precedes damage.

reader.py finds the records in the decompressed stream.
"""

import hashlib
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple, Protocol

import zstandard

from client_telemetry.formats.raw.errors import (
    CorruptStream,
    EmptyObject,
    ObjectTooLarge,
    TruncatedStream,
    UndecodableRecord,
    UnknownEnding,
    WrongCompression,
)

MAX_TAIL_BYTES = 64 * 2**10
# These two bound the work on a hostile object; the captured dumps compress by a factor of 6 to 29.
MAX_RATIO = 1000
RATIO_FLOOR_BYTES = 64 * 2**20
_READ_BYTES = 64 * 2**10
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
# These bound the memory to what 16 MiB of output take: 4 stored bytes of zstd can expand to a block of 128 KiB (RFC
# 8878, RLE_Block), 1 byte of deflate to 1032.
_ZSTD_PIECE_BYTES = 512
_GZIP_PIECE_BYTES = 16 * 2**10


class Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, /) -> bytes: ...


class _Plain:
    """`.bin`: nothing to decompress, and any byte may be the last."""

    eof = True
    unused_data = b""

    def decompress(self, data: bytes, /) -> bytes:
        return data


class _Frames:
    """Concatenated frames (zstd) or members (gzip) as one stream."""

    def __init__(self, new: Callable[[], Decompressor]) -> None:
        self._new = new
        self._current: Decompressor = _Plain()

    @property
    def at_end(self) -> bool:
        """Whether the stored bytes may end here: not inside a frame."""
        return self._current.eof

    def feed(self, data: bytes) -> bytes:
        pieces = []
        while data:
            if self._current.eof:
                self._current = self._new()
            pieces.append(self._current.decompress(data))
            data = self._current.unused_data if self._current.eof else b""
        return b"".join(pieces)


_Ends = Callable[[bytes], list[int]]
"""Where stored bytes are cut into pieces."""


def _equal_pieces(size: int) -> _Ends:
    return lambda data: [*range(size, len(data), size), len(data)]


class _ZstdPieces:
    """Cuts stored bytes into zstd blocks: 128 KiB of output reuses the same memory, much more is new memory each time.
    Where it cannot follow the format (a skippable frame, damage) it cuts small pieces of equal size.

    RFC 8878: a frame is its header, blocks and optionally 4 bytes of checksum; a block begins with 3 bytes with a
    last-block flag, its type and its size.
    """

    _LONGEST_HEADER = 18

    def __init__(self) -> None:
        self._to_header = 0
        self._in_frame = False
        self._checksum_bytes = 0
        self._lost = False

    def ends(self, data: bytes) -> list[int]:
        """Where the pieces end. The few bytes after the last end must be passed again, followed by the next ones."""
        if self._lost:
            return _equal_pieces(_ZSTD_PIECE_BYTES)(data)
        ends, at = [], self._to_header
        while at + self._LONGEST_HEADER <= len(data):
            if self._in_frame:
                header = int.from_bytes(data[at : at + 3], "little")
                at += 3 + (1 if header >> 1 & 3 == 1 else header >> 3)
                if header & 1:
                    at += self._checksum_bytes
                    self._in_frame = False
                if at < len(data):
                    ends.append(at)
            elif data.startswith(_ZSTD_MAGIC, at):
                self._in_frame = True
                self._checksum_bytes = 4 if data[at + 4] & 4 else 0
                at += _frame_header_bytes(data[at + 4])
            else:
                self._lost = True
                return [*ends, *([at] if at else []), *(at + end for end in self.ends(data[at:]))]
        self._to_header = max(0, at - len(data))
        whole = min(at, len(data))
        return [*ends, whole] if whole > (ends[-1] if ends else 0) else ends


def _frame_header_bytes(descriptor: int) -> int:
    """Magic number, descriptor, window, dictionary id and content size (RFC 8878, 3.1.1.1)."""
    single_segment = descriptor >> 5 & 1
    size_bytes = (single_segment, 2, 4, 8)[descriptor >> 6]
    return 5 + (1 - single_segment) + (0, 1, 2, 4)[descriptor & 3] + size_bytes


def _is_beginning(head: bytes, magic: bytes) -> bool:
    return magic.startswith(head[: len(magic)])


def _is_zstd(head: bytes) -> bool:
    # RFC 8878: a frame, or a skippable frame with magic 0x184D2A50 to 0x184D2A5F, little-endian.
    skippable = head[0] & 0xF0 == 0x50 and _is_beginning(head[1:], b"\x2a\x4d\x18")
    return skippable or _is_beginning(head, _ZSTD_MAGIC)


class _Compression(NamedTuple):
    new: Callable[[], Decompressor]
    recognises: Callable[[bytes], bool]
    piece_ends: Callable[[], _Ends]


_COMPRESSIONS = {
    ".zst": _Compression(
        lambda: zstandard.ZstdDecompressor().decompressobj(), _is_zstd, lambda: _ZstdPieces().ends
    ),
    ".gz": _Compression(
        lambda: zlib.decompressobj(wbits=31),
        lambda head: _is_beginning(head, b"\x1f\x8b"),
        lambda: _equal_pieces(_GZIP_PIECE_BYTES),
    ),
    ".bin": _Compression(_Plain, lambda head: True, lambda: _equal_pieces(_READ_BYTES)),
}
_FAILURES = (zstandard.ZstdError, zlib.error)


class StoredObject:
    """`source` is a binary file object at its start; the extension of `name` determines the compression.

    `source` is only asked to seek back for a damaged stream: a decompressor that fails discards what it had
    decompressed in that call, so the stream is read again up to that call, and then byte by byte. Without seek those
    last bytes (from at most 64 KiB of stored ones) are lost.
    """

    def __init__(self, source: BinaryIO, name: str) -> None:
        self._source = source
        self._name = name
        self._digest = hashlib.sha256()
        self._given = 0
        self._fed = 0
        self.stored_bytes = 0
        self.error: UndecodableRecord | None = None
        # What was fed since the decompressor last returned anything, and where in the object that began.
        self._silent = bytearray()
        self.silent_from = 0
        self._last_piece = b""

    @property
    def sha256(self) -> str:
        """Hex digest of the stored bytes read so far; of the whole object after `drain`."""
        return self._digest.hexdigest()

    @property
    def silent_tail(self) -> bytes:
        """The stored bytes that decompressed to nothing, from `silent_from` on, at most 64 KiB: the place of the
        damage. For a stream that ends early, at least the last piece (of at most 64 KiB): where in it the cut block
        begins is unknown.
        """
        return bytes(self._silent[:MAX_TAIL_BYTES])

    def drain(self) -> None:
        """Read to the end to complete size and digest."""
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
        compression = _COMPRESSIONS[ending]
        if not compression.recognises(head[:4]):
            self._condemn(
                WrongCompression(f"not {ending}: it begins with the bytes {head[:8].hex(' ')}"), head
            )
            return
        yield from self._decompress(head, compression)

    def _decompress(self, block: bytes, compression: _Compression) -> Iterator[bytes]:
        frames, ends = _Frames(compression.new), compression.piece_ends()
        while block:
            at = 0
            for end in ends(block):
                piece = block[at:end]
                try:
                    data = frames.feed(piece)
                except _FAILURES as failure:
                    yield from self._approach(failure, block[at:], _Frames(compression.new))
                    return
                at = end
                self._note(piece, data)
                yield data
                if self._given > max(RATIO_FLOOR_BYTES, MAX_RATIO * self._fed):
                    self.error = ObjectTooLarge(f"the first {self._fed} stored bytes gave {self._given}")
                    return
            waiting, more = block[at:], self._read()
            if waiting and not more:
                ends = _equal_pieces(len(waiting))
            block = waiting + more
        if not frames.at_end:
            if not self._silent:  # the cut block lies in the piece that last produced output
                self._silent += self._last_piece
                self.silent_from = self._fed - len(self._last_piece)
            self.error = TruncatedStream(f"the compressed stream ends early, at byte {self._fed}")

    def _approach(self, failure: Exception, rest: bytes, frames: _Frames) -> Iterator[bytes]:
        """Read again up to the failing piece, the beginning of `rest`, and byte by byte as far into it as possible."""
        if self._source.seekable():
            self._source.seek(0)
            for at in range(0, self._fed, _ZSTD_PIECE_BYTES):
                frames.feed(self._source.read(min(_ZSTD_PIECE_BYTES, self._fed - at)))
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
