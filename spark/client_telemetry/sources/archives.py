"""Files in archives: zip, and tar, plain or compressed (compression.py), also archives in them. The first bytes tell, whatever the
name.

A compressed tar can only be read from its beginning, while a log is looked at several times: the files are kept, compressed
again, in a temporary file without a name, of which nothing is left however the process ends.
"""

import atexit
import io
import lzma
import os
import tarfile
import tempfile
import threading
import zipfile
import zlib
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import IO, Any, BinaryIO

import zstandard

from client_telemetry import Unusable
from client_telemetry.sources.compression import (
    BLOCK_BYTES,
    CutOff,
    as_file,
    open_decompressed,
    opened_as,
    peeked,
)

MEMBER = "!/"
"""Between the location of an archive and the name of a file in it."""
ENDINGS = (".zip", ".tar", ".tgz", ".tbz2", ".txz", ".tzst", ".tar.gz", ".tar.zst", ".tar.xz", ".tar.bz2", ".tar.lz4", ".tar.Z")  # fmt: skip
UNREAD = "Completed request:<the rest is missing> "
"""Begins like an entry, so that it is counted among those that cannot be used; the reason follows."""
NOTHING_READ = "nothing that can be read"
"""Name of the one file of an archive that is damaged before its first."""
MOST_NESTED = 4
"""Archives in archives in an archive. There are files that contain themselves."""

_ZIP = b"PK\x03\x04"
_TAR, _TAR_AT = b"ustar", 257
"""Magic of a tar archive, and its place (pax(1))."""
_HEADER_BYTES = 512
_LOOKED_AT_BYTES = 2**20
"""Of each file, to tell whether it is an archive: a block of bzip2 takes up to 900 kB before it gives anything."""
_DAMAGES = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError, EOFError, RuntimeError)
"""zlib and lzma: of members of zip. RuntimeError: of zipfile, also for a method of compression that it does not know."""


class UnusableArchive(Unusable):
    """No file can be taken out of it; the message says why, and what to do."""


class NoRoom(UnusableArchive):
    """The temporary folder is full."""


def is_tar(head: bytes) -> bool:
    """`head`: the first bytes of what is decompressed."""
    return head[_TAR_AT:].startswith(_TAR)


def members(stored: BinaryIO, archive: Hashable) -> list[str] | None:
    """Names of the files in an archive, sorted; None: it is none. `archive`: tells it, as it is now, from all others. Raises
    UnusableArchive.
    """
    head = open_decompressed(stored, CutOff()).read(_HEADER_BYTES)
    stored.seek(0)
    return sorted(_unpacked(stored, archive)) if _is_archive(head) else None


def open_member(stored: BinaryIO, archive: Hashable, name: str) -> BinaryIO:
    """A file in an archive. `archive`: as for `members`."""
    return _opened(_unpacked(stored, archive)[name])


def kept_member(archive: Hashable, name: str) -> BinaryIO | None:
    """The same without the archive; None if this process has not unpacked it. `archive`: as for `members`."""
    spans = _spool().spans.get(archive)
    return _opened(spans[name]) if spans is not None else None


def _is_archive(head: bytes) -> bool:
    return head.startswith(_ZIP) or is_tar(head)


@dataclass
class _Spool:
    """Of one process: a fork has its own, as both would write at the same place. `spans`: of each archive, for each file
    where its bytes are.
    """

    file: BinaryIO = field(default_factory=tempfile.TemporaryFile)
    spans: dict[Hashable, dict[str, list[range]]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)


_SPOOLS: dict[int, _Spool] = {}
"""By process. No functools.cache: what clears those (another knowledge base) would drop files that are being read."""


def _spool() -> _Spool:
    process = os.getpid()
    if process not in _SPOOLS:
        _SPOOLS[process] = _Spool()
        atexit.register(_SPOOLS[process].file.close)
    return _SPOOLS[process]


def _unpacked(stored: BinaryIO, archive: Hashable) -> dict[str, list[range]]:
    spool = _spool()
    with spool.lock:
        if archive not in spool.spans:
            spool.spans[archive] = _added(stored, spool.file)
        return spool.spans[archive]


def _opened(spans: Sequence[range]) -> BinaryIO:
    return io.BufferedReader(_Kept(_spool().file, spans), BLOCK_BYTES)


def _added(stored: BinaryIO, spool: BinaryIO) -> dict[str, list[range]]:
    unpacking = _Unpacking(spool)
    unpacking.archive(stored, "", 0)
    return unpacking.spans


@dataclass
class _Unpacking:
    """Into `spool`. Files of one name (a tar may be appended to) are one, one after another. What cannot be read is said behind
    what could be.
    """

    spool: BinaryIO
    spans: dict[str, list[range]] = field(default_factory=dict)

    def archive(self, stored: BinaryIO, within: str, depth: int) -> None:
        """`stored`: from its beginning, perhaps compressed; `within`: what its files' names begin with. Raises UnusableArchive."""
        cut = CutOff()
        head, contents = peeked(opened_as(*peeked(stored, _LOOKED_AT_BYTES), cut), _LOOKED_AT_BYTES)
        if head.startswith(_ZIP):
            self._zip(contents, within, depth)
        else:
            self._tar(contents, cut, within, depth)

    def _tar(self, contents: BinaryIO, cut: CutOff, within: str, depth: int) -> None:
        name, reason = NOTHING_READ, None
        try:
            with tarfile.open(fileobj=contents, mode="r|", errors="replace") as archive:
                for member in archive:
                    content = archive.extractfile(member) if member.isreg() else None
                    if content is not None:
                        name = _inside(member.name)
                        reason = self._file(content, within + name, depth) or reason
        except _DAMAGES as error:
            reason = reason or str(error)
        if reason := cut.reason or reason:
            self._say(within + name, f"a damaged archive: {reason}")

    def _zip(self, stored: BinaryIO, within: str, depth: int) -> None:
        """Its list of files stands at its end."""
        with _seekable(stored) as whole:
            try:
                archive = zipfile.ZipFile(whole)
            except zipfile.BadZipFile as error:
                raise UnusableArchive(f"a damaged zip archive ({error})") from None
            inside = [member for member in archive.infolist() if not member.is_dir()]
            if any(member.flag_bits & 1 for member in inside):
                raise UnusableArchive("an encrypted zip archive: extract it first")
            for member in inside:
                name = within + _inside(member.filename)
                try:
                    with archive.open(member) as content:
                        reason = self._file(content, name, depth)
                except _DAMAGES as error:
                    reason = str(error)
                if reason:
                    self._say(name, f"a damaged archive: {reason}")

    def _file(self, content: IO[bytes], name: str, depth: int) -> str | None:
        """Why it ends early, if it does."""
        cut = CutOff()
        head, file = peeked(as_file(_blocks(content, cut)), _LOOKED_AT_BYTES)
        if not _is_archive(opened_as(head, io.BytesIO(head), CutOff()).read(_HEADER_BYTES)):
            self.spans.setdefault(name, []).append(_written(file, self.spool))
        elif depth == MOST_NESTED:
            self._say(name, f"an archive in an archive, {MOST_NESTED + 1} times: extract it")
        else:
            try:
                self.archive(file, name + MEMBER, depth + 1)
            except NoRoom:
                raise
            except UnusableArchive as error:
                self._say(name, str(error))
        return cut.reason

    def _say(self, name: str, reason: str) -> None:
        self.spans.setdefault(name, []).append(
            _written(io.BytesIO(f"\n{UNREAD}{reason}\n".encode()), self.spool)
        )


@contextmanager
def _seekable(stored: BinaryIO) -> Iterator[BinaryIO]:
    if stored.seekable():
        yield stored
        return
    with tempfile.TemporaryFile() as whole:
        _put(_blocks(stored, CutOff()), whole)
        yield whole


def _inside(name: str) -> str:
    """The name of a file, which leads nowhere else."""
    return "/".join(part for part in name.split("/") if part not in ("", ".", ".."))


def _blocks(content: IO[bytes], cut: CutOff) -> Iterator[bytes]:
    """Small ones: at damage, what is in the one that cannot be read is lost."""
    while True:
        try:
            block = content.read(io.DEFAULT_BUFFER_SIZE)
        except _DAMAGES as error:
            cut.reason = str(error)
            return
        if not block:
            return
        yield block


def _written(content: BinaryIO, spool: BinaryIO) -> range:
    begin = spool.seek(0, io.SEEK_END)
    compressed = zstandard.ZstdCompressor(level=1).compressobj()
    blocks = iter(partial(content.read, BLOCK_BYTES), b"")
    _put((compressed.compress(block) for block in blocks), spool)
    _put((compressed.flush(),), spool)
    return range(begin, spool.tell())


def _put(blocks: Iterable[bytes], file: BinaryIO) -> None:
    try:
        for block in blocks:
            file.write(block)
        file.flush()
    except OSError as error:
        place = tempfile.gettempdir()
        raise NoRoom(
            f"no room for its files in {place} ({error.strerror}): set TMPDIR, or extract it"
        ) from None


class _Kept(io.RawIOBase):
    """What is kept of a file, as its bytes are in the spool."""

    def __init__(self, spool: BinaryIO, spans: Sequence[range]) -> None:
        self._spool, self._spans, self._at = spool, spans, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        size = sum(map(len, self._spans))
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: size}[whence]
        return self._at

    def readinto(self, buffer: Any) -> int:
        at = self._at
        for span in self._spans:
            if at < len(span):
                # With its own place, as other readers of the spool have theirs.
                data = os.pread(self._spool.fileno(), min(len(buffer), len(span) - at), span.start + at)
                buffer[: len(data)] = data
                self._at += len(data)
                return len(data)
            at -= len(span)
        return 0
