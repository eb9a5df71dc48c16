"""Log files as lines: plain, gzip or zstd, rotated, cut off at either end.

A line is bytes without its line feed; log_line.py reads it.
"""

import io
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

import zstandard

from client_telemetry.sources.stored_file import NoSuchLocation, StoredFile, find_files, without_secrets

MAX_LINE_BYTES = 16 * 2**20
"""The longest line that is kept: telemetry.max.bytes is 1 MiB by default, a request has at most 100 MiB and is never
logged whole (records are replaced by their sizes).
"""

UNKNOWN_BROKER = -1
"""Broker id in a dump for what belongs to no broker in particular."""

_ROTATED = re.compile(r"^(?P<stem>.*?\.(?:log|txt|out|json))(?:[.\-_].*)?$")
_COMPRESSED = (".gz", ".zst")
_COMPRESSIONS: dict[bytes, Callable[[], Any]] = {
    b"\x1f\x8b": lambda: zlib.decompressobj(wbits=31),
    # --long=31 is the largest window that the zstd tool writes.
    b"\x28\xb5\x2f\xfd": lambda: zstandard.ZstdDecompressor(max_window_size=2**31).decompressobj(),
}
_BLOCK_BYTES = 256 * 2**10
LINE_BLOCK_BYTES = 4 * 2**20


class NoLogs(ValueError):
    """Nothing was named, or what was named does not exist; the message says what to write."""


@dataclass(frozen=True, order=True)
class LogFile:
    """`family`: what the rotated files of one log have in common, its folder and the name up to `.log`. `broker_id`: as
    specified with the file's name, None = the log itself has to show it. `start`, `end`: the bytes of the
    decompressed file to read; `end` None = all. Earlier bytes were converted before; later ones may be half a line
    of a log that is still being written.
    """

    file: StoredFile
    family: str
    broker_id: int | None = None
    start: int = 0
    end: int | None = None

    @property
    def bytes(self) -> int:
        return self.file.state().bytes


def find_logs(named: Sequence[str]) -> list[LogFile]:
    """Files of `named`: files, folders (all files below that are not hidden) and patterns, each optionally prefixed
    with `<node id>=`. Sorted by location; each file counts once. Raises NoLogs.
    """
    if not named:
        raise NoLogs("name at least one request log, or a folder of them")
    logs: dict[str, LogFile] = {}
    for name in named:
        numbered = re.match(r"(\d{1,9})=(?=.)", name)
        location = name[numbered.end() :] if numbered else name
        try:
            files = find_files(location)
        except NoSuchLocation as error:
            raise NoLogs(str(error)) from None
        if not files:
            raise NoLogs(
                f"{without_secrets(location)}: no such file, and no folder or pattern with files in it"
            )
        for file in files:
            logs.setdefault(
                file.resolved(), LogFile(file, _family(file), int(numbered[1]) if numbered else None)
            )
    return sorted(logs.values())


def _family(file: StoredFile) -> str:
    name = file.name
    for ending in _COMPRESSED:
        name = name.removesuffix(ending)
    rotated = _ROTATED.match(name)
    return f"{file.folder}/{rotated['stem'] if rotated else name}"


@dataclass
class CutOff:
    """Why a compressed log ended early, None = it did not; and where that was: the stored bytes there."""

    reason: str | None = None
    stored: bytes = b""


class _Decompressed(io.RawIOBase):
    """What concatenated gzip members or zstd frames decompress to. At damage or an early end it stops, and says why."""

    def __init__(self, stored: BinaryIO, new: Callable[[], Any], cut: CutOff) -> None:
        self._stored, self._new, self._cut = stored, new, cut
        self._current: Any = None
        self._ready = memoryview(b"")
        self._last = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            block = self._stored.read(_BLOCK_BYTES)
            if not block:
                if self._current is not None:
                    self._cut.reason, self._cut.stored = "the compressed file ends early", self._last
                return 0
            self._last = block
            try:
                self._ready = memoryview(self._decompress(block))
            except (zlib.error, zstandard.ZstdError) as error:
                self._cut.reason, self._cut.stored = f"the compressed file is damaged ({error})", block
                return 0
        count = min(len(self._ready), len(buffer))
        buffer[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def _decompress(self, block: bytes) -> bytes:
        parts = []
        while block:
            if self._current is None:
                block = block.lstrip(b"\0")  # padding between members
                if not block:
                    break
                self._current = self._new()
            parts.append(self._current.decompress(block))
            block = self._current.unused_data if self._current.eof else b""
            if self._current.eof:
                self._current = None
        return b"".join(parts)


def open_decompressed(stored: BinaryIO, cut: CutOff) -> BinaryIO:
    """The contents of a gzip or zstd stream, anything else as it is. The first bytes decide: rotated files of one log
    may or may not be compressed, whatever the tool called them.
    """
    head = stored.read(4)
    stored.seek(0)
    for magic, new in _COMPRESSIONS.items():
        if head.startswith(magic):
            return io.BufferedReader(_Decompressed(stored, new, cut), _BLOCK_BYTES)
    return stored


class _UpTo(io.RawIOBase):
    """The next `count` bytes of a file."""

    def __init__(self, file: BinaryIO, count: int) -> None:
        self._file, self._left = file, count

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(min(len(buffer), self._left))
        buffer[: len(data)] = data
        self._left -= len(data)
        return len(data)


@contextmanager
def opened(log: LogFile, cut: CutOff) -> Iterator[BinaryIO]:
    """The part of a file to read, decompressed. If it ends early or is damaged it stops there, with the reason in
    `cut`.
    """
    with log.file.open() as stored:
        text = open_decompressed(stored, cut)
        _skip(text, log.start)
        yield text if log.end is None else io.BufferedReader(_UpTo(text, log.end - log.start), _BLOCK_BYTES)


def _skip(file: BinaryIO, count: int) -> None:
    """Skip that many bytes, or to the end if that is nearer."""
    if file.seekable():
        file.seek(count, io.SEEK_CUR)
        return
    while count and (block := file.read(min(count, _BLOCK_BYTES))):
        count -= len(block)


def lines(log: LogFile, cut: CutOff) -> Iterator[tuple[int, bytes]]:
    """(offset in the decompressed log, line) of each line to read; the last one may lack its line feed. A compressed
    file that ends early or is damaged yields what precedes that, with the reason in `cut`.
    """
    offset = log.start
    with opened(log, cut) as text:
        while line := text.readline(MAX_LINE_BYTES):
            yield offset, line.rstrip(b"\r\n")
            offset += len(line)


def line_blocks(log: LogFile, cut: CutOff) -> Iterator[tuple[int, bytearray]]:
    """The same lines in blocks, each with its line feed (the last one may lack it): offset of the first line, and the
    lines, in memory that the next block overwrites.
    """
    offset, block, rest = log.start, bytearray(), b""
    with opened(log, cut) as text:
        while True:
            block += bytes(max(0, len(rest) + LINE_BLOCK_BYTES - len(block)))
            block[: len(rest)] = rest
            with memoryview(block) as room:
                length = text.readinto(room[len(rest) : len(rest) + LINE_BLOCK_BYTES])  # type: ignore[attr-defined]
            if not length:
                break
            size = len(rest) + length
            end = block.rfind(b"\n", 0, size) + 1
            if not end and size >= MAX_LINE_BYTES:
                end = size
            rest = bytes(block[end:size])
            if end:
                del block[end:]
                yield offset, block
                offset += end
    if rest:
        yield offset, bytearray(rest)
