"""Log files as lines: plain, gzip or zstd, rotated, cut off at either end.

A line is bytes without its line feed. What a line says is not here (log_line.py).
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
"""The longest line that is kept: telemetry.max.bytes is 1 MiB by default, a request at most 100 MiB and never logged
whole (records are replaced by their sizes)."""

UNKNOWN_BROKER = -1
"""Broker id in a dump of what tells of no broker."""

_ROTATED = re.compile(r"^(?P<stem>.*?\.(?:log|txt|out|json))(?:[.\-_].*)?$")
_COMPRESSED = (".gz", ".zst")
_COMPRESSIONS: dict[bytes, Callable[[], Any]] = {
    b"\x1f\x8b": lambda: zlib.decompressobj(wbits=31),
    # --long=31 is the largest window that the tool writes.
    b"\x28\xb5\x2f\xfd": lambda: zstandard.ZstdDecompressor(max_window_size=2**31).decompressobj(),
}
_BLOCK_BYTES = 256 * 2**10
LINE_BLOCK_BYTES = 4 * 2**20


class NoLogs(ValueError):
    """Nothing was named, or what was named is not there; the message says what to write."""


@dataclass(frozen=True, order=True)
class LogFile:
    """`family`: what the rotated files of one log have in common, its folder and the name up to `.log`.
    `broker_id`: as specified with the file's name, None = the log itself has to show it. `start`, `end`: the bytes of the
    decompressed file that are to be read; `end` is None = all. Those before were converted before, those behind may be half
    a line of a log that is still written to."""

    file: StoredFile
    family: str
    broker_id: int | None = None
    start: int = 0
    end: int | None = None

    @property
    def bytes(self) -> int:
        return self.file.state().bytes


def find_logs(named: Sequence[str]) -> list[LogFile]:
    """Files of `named`: files, folders (all files below that are not hidden) and patterns, each optionally after
    `<node id>=`. Order of location; the same file counts once. Raises NoLogs."""
    if not named:
        raise NoLogs("name at least one request log, or a folder of them")
    found: dict[str, LogFile] = {}
    for name in named:
        numbered = re.match(r"(\d{1,9})=(?=.)", name)
        location = name[numbered.end() :] if numbered else name
        try:
            files = find_files(location)
        except NoSuchLocation as error:
            raise NoLogs(str(error)) from None
        if not files:
            raise NoLogs(
                f"{without_secrets(location)}: there is no such file, and no folder or pattern with files in it"
            )
        for file in files:
            found.setdefault(
                file.resolved(), LogFile(file, _family(file), int(numbered[1]) if numbered else None)
            )
    return sorted(found.values())


def _family(file: StoredFile) -> str:
    name = file.name
    for ending in _COMPRESSED:
        name = name.removesuffix(ending)
    rotated = _ROTATED.match(name)
    return f"{file.folder}/{rotated['stem'] if rotated else name}"


@dataclass
class CutOff:
    """Why a compressed log ended before its end, None = it did not; and where that was: the bytes as they are stored."""

    reason: str | None = None
    stored: bytes = b""


class _Decompressed(io.RawIOBase):
    """What concatenated gzip members or zstd frames decompress to. At damage or an early end it ends, and says why."""

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
    """A gzip or zstd stream as what is in it, anything else as it is. The first bytes tell: rotated files of one log are
    compressed or not, whatever the tool called them."""
    head = stored.read(4)
    stored.seek(0)
    for magic, new in _COMPRESSIONS.items():
        if head.startswith(magic):
            return io.BufferedReader(_Decompressed(stored, new, cut), _BLOCK_BYTES)
    return stored


class _UpTo(io.RawIOBase):
    """The next so many bytes of a file."""

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
    """What is to be read of a file, decompressed. Where it ends early or is damaged it ends, with the reason in `cut`."""
    with log.file.open() as stored:
        text = open_decompressed(stored, cut)
        _skip(text, log.start)
        yield text if log.end is None else io.BufferedReader(_UpTo(text, log.end - log.start), _BLOCK_BYTES)


def _skip(file: BinaryIO, count: int) -> None:
    """Go on so many bytes, or to the end if that is nearer."""
    if file.seekable():
        file.seek(count, io.SEEK_CUR)
        return
    while count and (block := file.read(min(count, _BLOCK_BYTES))):
        count -= len(block)


def lines(log: LogFile, cut: CutOff) -> Iterator[tuple[int, bytes]]:
    """(offset in the decompressed log, line) of each line that is to be read; the last one may lack its line feed. A
    compressed file that ends early or is damaged gives what comes before that, and the reason in `cut`."""
    offset = log.start
    with opened(log, cut) as text:
        while line := text.readline(MAX_LINE_BYTES):
            yield offset, line.rstrip(b"\r\n")
            offset += len(line)


def line_blocks(log: LogFile, cut: CutOff) -> Iterator[tuple[int, bytearray]]:
    """The same lines, many at a time, each with its line feed (the last one may lack it): offset of the first, and they, in memory
    that the next ones take too."""
    offset, block, rest = log.start, bytearray(), b""
    with opened(log, cut) as text:
        while True:
            block += bytes(max(0, len(rest) + LINE_BLOCK_BYTES - len(block)))
            block[: len(rest)] = rest
            with memoryview(block) as room:
                read = text.readinto(room[len(rest) : len(rest) + LINE_BLOCK_BYTES])  # type: ignore[attr-defined]
            if not read:
                break
            size = len(rest) + read
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
