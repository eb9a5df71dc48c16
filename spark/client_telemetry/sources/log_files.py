"""Log files as lines: plain, gzip or zstd, rotated, cut off at either end.

A line is bytes without its line feed. What a line says is not here (log_line.py).
"""

import io
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import zstandard

MAX_LINE_BYTES = 16 * 2**20
"""The longest line that is kept: telemetry.max.bytes is 1 MiB by default, a request at most 100 MiB and never logged
whole (records are replaced by their sizes)."""

_ROTATED = re.compile(r"^(?P<stem>.*?\.(?:log|txt|out|json))(?:[.\-_].*)?$")
_COMPRESSED = (".gz", ".zst")
_COMPRESSIONS: dict[bytes, Callable[[], Any]] = {
    b"\x1f\x8b": lambda: zlib.decompressobj(wbits=31),
    # --long=31 is the largest window that the tool writes.
    b"\x28\xb5\x2f\xfd": lambda: zstandard.ZstdDecompressor(max_window_size=2**31).decompressobj(),
}
_BLOCK_BYTES = 256 * 2**10


class NoLogs(ValueError):
    """Nothing was named, or what was named is not there; the message says what to write."""


@dataclass(frozen=True, order=True)
class LogFile:
    """`family`: what the rotated files of one log have in common, its folder and the name up to `.log`.
    `broker_id`: as told by whoever named the file, None = the log itself has to tell. `start`: bytes of the decompressed
    file that are not to be read: they were converted before."""

    path: Path
    family: str
    broker_id: int | None = None
    start: int = 0

    @property
    def bytes(self) -> int:
        return self.path.stat().st_size


def find_logs(named: Sequence[str]) -> list[LogFile]:
    """Files of `named`: files, folders (all files below that are not hidden) and patterns, each optionally after
    `<node id>=`. Order of path; the same file counts once. Raises NoLogs."""
    if not named:
        raise NoLogs("name at least one request log, or a folder of them")
    found: dict[Path, LogFile] = {}
    for name in named:
        told = re.match(r"(\d{1,9})=(?=.)", name)
        location = name[told.end() :] if told else name
        files = _files(location)
        if not files:
            raise NoLogs(f"{location}: there is no such file, and no folder or pattern with files in it")
        for path in files:
            found.setdefault(path.resolve(), LogFile(path, _family(path), int(told[1]) if told else None))
    return sorted(found.values())


def _files(location: str) -> list[Path]:
    path = Path(location).expanduser()
    if path.is_file():
        return [path]
    if path.is_dir():
        inside = (p for p in path.rglob("*") if p.is_file())
        return sorted(
            p for p in inside if not any(part.startswith(".") for part in p.relative_to(path).parts)
        )
    if path.is_absolute():
        base, pattern = Path(path.anchor), str(path.relative_to(path.anchor))
    else:
        base, pattern = Path(), str(path)
    return sorted(p for p in base.glob(pattern) if p.is_file()) if pattern and pattern != "." else []


def _family(path: Path) -> str:
    name = path.name
    for ending in _COMPRESSED:
        name = name.removesuffix(ending)
    rotated = _ROTATED.match(name)
    return str(path.parent / (rotated["stem"] if rotated else name))


@dataclass
class CutOff:
    """Why a compressed log ended before its end, None = it did not."""

    reason: str | None = None


class _Decompressed(io.RawIOBase):
    """What concatenated gzip members or zstd frames decompress to. At damage or an early end it ends, and says why."""

    def __init__(self, stored: BinaryIO, new: Callable[[], Any], cut: CutOff) -> None:
        self._stored, self._new, self._cut = stored, new, cut
        self._current: Any = None
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            block = self._stored.read(_BLOCK_BYTES)
            if not block:
                if self._current is not None:
                    self._cut.reason = "the compressed file ends early"
                return 0
            try:
                self._ready = memoryview(self._decompress(block))
            except (zlib.error, zstandard.ZstdError) as error:
                self._cut.reason = f"the compressed file is damaged ({error})"
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


def skip(file: BinaryIO, count: int) -> None:
    """Go on so many bytes, or to the end if that is nearer."""
    if file.seekable():
        file.seek(count, io.SEEK_CUR)
        return
    while count and (block := file.read(min(count, _BLOCK_BYTES))):
        count -= len(block)


def lines(path: Path, cut: CutOff, start: int = 0) -> Iterator[tuple[int, bytes]]:
    """(offset in the decompressed log, line) of each line from `start` on; the last one may lack its line feed. A
    compressed file that ends early or is damaged gives what comes before that, and the reason in `cut`."""
    offset = start
    with path.open("rb") as stored:
        text = open_decompressed(stored, cut)
        skip(text, start)
        while line := text.readline(MAX_LINE_BYTES):
            yield offset, line.rstrip(b"\r\n")
            offset += len(line)
