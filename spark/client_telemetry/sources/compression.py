"""Compressed files: gzip, zstd, xz, bzip2, lz4, and members of zip archives. The first bytes decide, whatever the name:
rotated files of one log may or may not be compressed.
"""

import bz2
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO

import lz4.frame
import zstandard

BLOCK_BYTES = 256 * 2**10
_AT_ONCE = 4 * 2**20

_COMPRESSIONS: dict[bytes, Callable[[], Any]] = {
    b"\x1f\x8b": lambda: zlib.decompressobj(wbits=31),
    # --long=31 is the largest window that the zstd tool writes.
    b"\x28\xb5\x2f\xfd": lambda: zstandard.ZstdDecompressor(max_window_size=2**31).decompressobj(),
    b"\xfd7zXZ\x00": lzma.LZMADecompressor,
    b"BZh": bz2.BZ2Decompressor,
    b"\x04\x22\x4d\x18": lz4.frame.LZ4FrameDecompressor,
}
_NOT_READ = {
    b"\x1f\x9d": "a .Z file of compress: decompress it first (uncompress)",
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
    zipfile.BadZipFile,
    OSError,
    RuntimeError,
    EOFError,
)


@dataclass
class CutOff:
    """Why a compressed log ended early, None = it did not; and where that was: the stored bytes there."""

    reason: str | None = None
    stored: bytes = b""


class _Decompressed(io.RawIOBase):
    """What concatenated gzip members or frames decompress to. At damage or an early end it stops, and says why."""

    def __init__(self, stored: BinaryIO, new: Callable[[], Any], cut: CutOff) -> None:
        self._stored, self._new, self._cut = stored, new, cut
        self._current: Any = None
        self._ready = memoryview(b"")
        self._unused = self._last = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready and self._cut.reason is None:
            has_output = self._current is not None and not getattr(self._current, "needs_input", True)
            block = b"" if has_output else self._unused or self._stored.read(BLOCK_BYTES)
            self._unused = b""
            if not block and not has_output:
                if self._current is not None:
                    self._cut.reason, self._cut.stored = "the compressed file ends early", self._last
                return 0
            self._last = block or self._last
            try:
                self._ready = memoryview(self._decompress(block))
            except _ERRORS as error:
                self._cut.reason = f"the compressed file is damaged ({error})"
                self._cut.stored = self._last
                return 0
        count = min(len(self._ready), len(buffer))
        buffer[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def _decompress(self, block: bytes) -> bytes:
        parts = []
        while True:
            if self._current is None:
                block = block.lstrip(b"\0")  # padding between members
                if not block:
                    break
                self._current = self._new()
            is_bounded = hasattr(self._current, "needs_input")
            parts.append(self._current.decompress(block, *[_AT_ONCE] * is_bounded))
            if not self._current.eof:
                break
            block = self._current.unused_data or b""
            self._current = None
        return b"".join(parts)


class _Member(io.RawIOBase):
    """A member of a zip archive. At damage it stops, and says why."""

    def __init__(self, stored: zipfile.ZipExtFile, cut: CutOff) -> None:
        self._stored, self._cut = stored, cut

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            block = self._stored.read(len(buffer))
        except _ERRORS as error:
            self._cut.reason, self._cut.stored = f"the member of the archive is damaged ({error})", b""
            return 0
        buffer[: len(block)] = block
        return len(block)


def open_decompressed(stored: BinaryIO, cut: CutOff) -> BinaryIO:
    """The contents of a compressed stream, anything else as it is."""
    try:
        head = stored.read(8)
        stored.seek(0)
    except (zipfile.BadZipFile, zlib.error, RuntimeError, EOFError) as error:
        cut.reason = f"the member of the archive is damaged ({error})"
        return io.BytesIO()
    for magic, new in _COMPRESSIONS.items():
        if head.startswith(magic):
            return io.BufferedReader(_Decompressed(stored, new, cut), BLOCK_BYTES)
    if isinstance(stored, zipfile.ZipExtFile):
        return io.BufferedReader(_Member(stored, cut), BLOCK_BYTES)
    return stored


def reason_not_read(head: bytes) -> str | None:
    """What a file is whose format is recognised and not read; `head`: its first bytes.

    >>> reason_not_read(b"PAR1")
    'a Parquet file: export the lines as text or JSON'
    """
    return next((reason for magic, reason in _NOT_READ.items() if head.startswith(magic)), None)
