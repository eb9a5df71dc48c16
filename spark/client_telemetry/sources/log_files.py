"""Log files as lines: plain or compressed (compression.py), in whatever holds them (log_text.py), rotated, cut off at either end.

A line is bytes without its line feed; log_line.py reads it.
"""

import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO

from client_telemetry import Unusable
from client_telemetry.sources.archives import MEMBER
from client_telemetry.sources.compression import BLOCK_BYTES, CutOff, open_decompressed
from client_telemetry.sources.log_text import open_objects, open_text
from client_telemetry.sources.stored_file import NoSuchLocation, StoredFile, find_files, without_secrets

MAX_LINE_BYTES = 16 * 2**20
"""The longest line that is kept: telemetry.max.bytes is 1 MiB by default, a request has at most 100 MiB and is never
logged whole (records are replaced by their sizes).
"""

UNKNOWN_BROKER = -1
"""Broker id in a dump for what belongs to no broker in particular."""

_ROTATED = re.compile(r"^(?P<stem>.*?\.(?:log|txt|out|json))(?:[.\-_].*)?$")
_COMPRESSED = (".gz", ".zst", ".xz", ".bz2", ".lz4", ".Z")
LINE_BLOCK_BYTES = 4 * 2**20


class NoLogs(Unusable):
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


def stored_bytes(logs: Sequence[LogFile]) -> int:
    """Of all files as they are stored: an archive counts once, however many of its files are among them."""
    return sum(state.bytes for _, state in {log.file.as_it_is() for log in logs})


def _family(file: StoredFile) -> str:
    """An archive that is named like the log in it is one of its rotated files: `a.log.1.tgz!/a.log.1` is of `a.log`."""
    stem = _stem(file.name)
    *archives, inside = file.location.split(MEMBER)
    folders = [_folder(part) if _stem(part.rpartition("/")[2]) == stem else part for part in archives]
    return MEMBER.join([*folders, f"{_folder(inside)}/{stem}"])


def _folder(location: str) -> str:
    return location.rpartition("/")[0]


def _stem(name: str) -> str:
    for ending in _COMPRESSED:
        name = name.removesuffix(ending)
    rotated = _ROTATED.match(name)
    return rotated["stem"] if rotated else name


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
def opened(
    log: LogFile, cut: CutOff, contents: Callable[[BinaryIO], BinaryIO] = lambda file: file
) -> Iterator[BinaryIO]:
    """The part to read of what `contents` makes of a file, decompressed: `start` and `end` count its bytes. If the file ends early or is
    damaged it stops there, with the reason in `cut`.
    """
    with log.file.open() as stored:
        file = contents(open_decompressed(stored, cut))
        _skip(file, log.start)
        yield (file if log.end is None else io.BufferedReader(_UpTo(file, log.end - log.start), BLOCK_BYTES))


opened_text = partial(opened, contents=open_text)
"""The lines in a file."""
opened_objects = partial(opened, contents=open_objects)
"""The JSON objects in a file, one a line."""


def _skip(file: BinaryIO, count: int) -> None:
    """Skip that many bytes, or to the end if that is nearer."""
    if file.seekable():
        file.seek(count, io.SEEK_CUR)
        return
    while count and (block := file.read(min(count, BLOCK_BYTES))):
        count -= len(block)


def lines(log: LogFile, cut: CutOff) -> Iterator[tuple[int, bytes]]:
    """(offset in the text of the log, line) of each line to read; the last one may lack its line feed. A compressed
    file that ends early or is damaged yields what precedes that, with the reason in `cut`.
    """
    offset = log.start
    with opened_text(log, cut) as text:
        while line := text.readline(MAX_LINE_BYTES):
            yield offset, line.rstrip(b"\r\n")
            offset += len(line)


def line_blocks(log: LogFile, cut: CutOff) -> Iterator[tuple[int, bytearray]]:
    """The same lines in blocks, each with its line feed (the last one may lack it): offset of the first line, and the
    lines, in memory that the next block overwrites.
    """
    offset, block, rest = log.start, bytearray(), b""
    with opened_text(log, cut) as text:
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
