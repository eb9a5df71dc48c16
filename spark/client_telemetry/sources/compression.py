"""Compressed files: gzip, zstd, xz, bzip2, lz4, .Z (compress); also several times. The first bytes decide, whatever the name: rotated
files of one log may or may not be compressed.
"""

import bz2
import io
import lzma
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import lz4.frame
import zstandard

BLOCK_BYTES = 256 * 2**10
HEAD_BYTES = 64 * 2**10
_AT_ONCE = 4 * 2**20

_COMPRESSIONS: dict[bytes, Callable[[], object]] = {
    b"\x1f\x8b": lambda: zlib.decompressobj(wbits=31),
    # --long=31 is the largest window that the zstd tool writes.
    b"\x28\xb5\x2f\xfd": lambda: zstandard.ZstdDecompressor(max_window_size=2**31).decompressobj(),
    b"\xfd7zXZ\x00": lzma.LZMADecompressor,
    b"BZh": bz2.BZ2Decompressor,
    b"\x04\x22\x4d\x18": lz4.frame.LZ4FrameDecompressor,
}
_LZW = b"\x1f\x9d"
_MAGIC_BYTES = 8
MOST_LAYERS = 4
"""A log that was compressed when it was rotated, shipped and archived. There are files that decompress to themselves."""
_NOT_READ = {
    b"7z\xbc\xaf\x27\x1c": "a 7z archive: extract it first",
    b"Rar!": "a RAR archive: extract it first",
    b"\xff\x06\x00\x00sNaPpY": "a snappy file: decompress it first",
    b"PK": "an empty or damaged zip archive",
    b"PAR1": "a Parquet file: export the lines as text or JSON",
    b"Obj\x01": "an Avro file: export the lines as text or JSON",
    b"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00": "a segment of a Kafka topic, not a log of the broker",
}
"""What is recognised and not read, by its first bytes."""

_ERRORS = (
    zlib.error,
    zstandard.ZstdError,
    lzma.LZMAError,
    OSError,
    RuntimeError,
    EOFError,
)


@dataclass
class CutOff:
    """Why a compressed log ended early, None = it did not; and where that was: the stored bytes there."""

    reason: str | None = None
    stored: bytes = b""


class _Chained(io.RawIOBase):
    """Blocks, one after another, as a file."""

    def __init__(self, blocks: Iterator[bytes], rest: BinaryIO | None = None) -> None:
        self._blocks, self._rest = blocks, rest
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            block = next(self._blocks, None)
            if block is None:
                return self._rest.readinto(buffer) if self._rest is not None else 0  # type: ignore[attr-defined]
            self._ready = memoryview(block)
        count = min(len(self._ready), len(buffer))
        buffer[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count


def as_file(blocks: Iterable[bytes], rest: BinaryIO | None = None) -> io.BufferedReader:
    """Blocks, and then the rest of a file, as one."""
    return io.BufferedReader(_Chained(iter(blocks), rest), BLOCK_BYTES)


def peeked(file: BinaryIO, size: int = HEAD_BYTES) -> tuple[bytes, BinaryIO]:
    """The first bytes of a file, and the file as it was."""
    at = file.tell() if file.seekable() else None
    head = file.read(size)
    if at is None:
        return head, as_file((head,), file)
    file.seek(at)
    return head, file


def _decompressed(stored: BinaryIO, new: Callable[[], object], cut: CutOff) -> Iterator[bytes]:
    """What concatenated members or frames decompress to. At damage or an early end it stops, and says why."""
    current: Any = None
    block = last = stored.read(BLOCK_BYTES)
    while block:
        last = block
        while True:
            if current is None:
                block = block.lstrip(b"\0")  # padding between members
                if not block:
                    break
                current = new()
            is_bounded = hasattr(current, "needs_input")
            try:
                output = current.decompress(block, *[_AT_ONCE] * is_bounded)
            except _ERRORS as error:
                cut.reason, cut.stored = f"the compressed file is damaged ({error})", last
                return
            yield output
            if current.eof:
                block, current = current.unused_data or b"", None
            elif is_bounded and not current.needs_input:
                block = b""  # it has more to give
            else:
                break
        block = stored.read(BLOCK_BYTES)
    if current is not None:
        cut.reason, cut.stored = "the compressed file ends early", last


def _of_lzw(stored: BinaryIO, cut: CutOff) -> Iterator[bytes]:
    """A .Z file, by way of a temporary file: the library writes all at once. At damage it stops, and says why; the format
    does not show an early end.
    """
    import ncompress  # only .Z files need it

    with tempfile.TemporaryFile() as contents:
        try:
            ncompress.decompress(stored, contents)
        except ValueError as error:
            cut.reason = f"the compressed file is damaged ({error})"
        contents.seek(0)
        while block := contents.read(BLOCK_BYTES):
            yield block


def open_decompressed(stored: BinaryIO, cut: CutOff) -> BinaryIO:
    """The contents of a compressed stream, anything else as it is."""
    head = stored.read(_MAGIC_BYTES)
    stored.seek(0)
    return opened_as(head, stored, cut)


def opened_as(head: bytes, stored: BinaryIO, cut: CutOff, layers: int = MOST_LAYERS) -> BinaryIO:
    """The same for a stream of which the first bytes are known."""
    for magic, new in _COMPRESSIONS.items():
        if head.startswith(magic):
            return _within(as_file(_decompressed(stored, new, cut)), cut, layers - 1)
    if head.startswith(_LZW):
        return as_file(_of_lzw(stored, cut))
    return stored


def _within(contents: io.BufferedReader, cut: CutOff, layers: int) -> BinaryIO:
    """What was compressed may have been compressed before."""
    head = contents.peek(_MAGIC_BYTES)[:_MAGIC_BYTES]
    if not head.startswith((*_COMPRESSIONS, _LZW)):
        return contents
    if layers == 0:
        cut.reason = f"compressed more than {MOST_LAYERS} times"
        return io.BytesIO()
    return opened_as(head, contents, cut, layers)


def reason_not_read(head: bytes) -> str | None:
    """What a file is whose format is recognised and not read; `head`: its first bytes.

    >>> reason_not_read(b"PAR1")
    'a Parquet file: export the lines as text or JSON'
    """
    return next((reason for magic, reason in _NOT_READ.items() if head.startswith(magic)), None)
