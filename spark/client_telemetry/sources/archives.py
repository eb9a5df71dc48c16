"""Files in archives: zip, and tar, plain or compressed (compression.py). The first bytes tell, whatever the name.

A compressed tar can only be read from its beginning, while a log is looked at several times: its files are kept, compressed
again, in a temporary file without a name, of which nothing is left however the process ends.
"""

import atexit
import io
import os
import tarfile
import tempfile
import threading
import zipfile
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO, Any, BinaryIO

import zstandard

from client_telemetry.sources.compression import BLOCK_BYTES, CutOff, open_decompressed

MEMBER = "!/"
"""Between the location of an archive and the name of a file in it."""
ENDINGS = (".zip", ".tar", ".tgz", ".tbz2", ".txz", ".tzst", ".tar.gz", ".tar.zst", ".tar.xz", ".tar.bz2", ".tar.lz4", ".tar.Z")  # fmt: skip
DAMAGED = "Completed request:<the rest is missing> a damaged archive: "
"""Begins like an entry, so that it is counted among those that cannot be used."""
NOTHING_READ = "nothing that can be read"
"""Name of the one file of an archive that is damaged before its first."""

_ZIP = b"PK\x03\x04"
_TAR, _TAR_AT = b"ustar", 257
"""Magic of a tar archive, and its place (pax(1))."""
_HEADER_BYTES = 512
_DAMAGES = (tarfile.TarError, OSError, EOFError)


class UnusableArchive(ValueError):
    """No file can be taken out of it; the message says why, and what to do."""


def is_tar(head: bytes) -> bool:
    """`head`: the first bytes of what is decompressed."""
    return head[_TAR_AT:].startswith(_TAR)


def is_zip(stored: BinaryIO) -> bool:
    """Looks at the first bytes of a file, which is then as it was."""
    head = stored.read(len(_ZIP))
    stored.seek(0)
    return head == _ZIP


def members(stored: BinaryIO, archive: Hashable) -> list[str] | None:
    """Names of the files in an archive, sorted; None: it is none. `archive`: tells it, as it is now, from all others. Raises
    UnusableArchive.
    """
    if is_zip(stored):
        return _names_in_zip(stored)
    head = open_decompressed(stored, CutOff()).read(_HEADER_BYTES)
    stored.seek(0)
    return sorted(_unpacked(stored, archive)) if is_tar(head) else None


def open_tar_member(stored: BinaryIO, archive: Hashable, name: str) -> BinaryIO:
    """A file in a tar archive, compressed in one way or another. `archive`: as for `members`."""
    return _opened(_unpacked(stored, archive)[name])


def kept_member(archive: Hashable, name: str) -> BinaryIO | None:
    """The same without the archive; None if this process has not unpacked it. `archive`: as for `members`."""
    spans = _spool().spans.get(archive)
    return _opened(spans[name]) if spans is not None else None


def _names_in_zip(stored: BinaryIO) -> list[str]:
    try:
        inside = zipfile.ZipFile(stored).infolist()
    except zipfile.BadZipFile as error:
        raise UnusableArchive(f"a damaged zip archive ({error})") from None
    if any(member.flag_bits & 1 for member in inside):
        raise UnusableArchive("an encrypted zip archive: extract it first")
    return sorted(member.filename for member in inside if not member.is_dir())


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
    """Files of one name (a tar may be appended to) are one, one after another. Where the archive is damaged, the reason stands
    behind what could be read.
    """
    spans: dict[str, list[range]] = {}
    compressed, read = CutOff(), CutOff()
    name = NOTHING_READ
    try:
        with tarfile.open(
            fileobj=open_decompressed(stored, compressed), mode="r|", errors="replace"
        ) as archive:
            for member in archive:
                content = archive.extractfile(member) if member.isreg() else None
                if content is not None:
                    name = "/".join(part for part in member.name.split("/") if part not in ("", ".", ".."))
                    spans.setdefault(name, []).append(_written(_blocks(content, read), spool))
    except _DAMAGES as error:
        read.reason = read.reason or str(error)
    if reason := compressed.reason or read.reason:
        spans.setdefault(name, []).append(_written(iter([f"\n{DAMAGED}{reason}\n".encode()]), spool))
    return spans


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


def _written(content: Iterator[bytes], spool: BinaryIO) -> range:
    begin = spool.seek(0, io.SEEK_END)
    compressed = zstandard.ZstdCompressor(level=1).compressobj()
    try:
        for block in content:
            spool.write(compressed.compress(block))
        spool.write(compressed.flush())
        spool.flush()
    except OSError as error:
        place = tempfile.gettempdir()
        raise UnusableArchive(
            f"no room for its files in {place} ({error.strerror}): set TMPDIR, or extract it"
        ) from None
    return range(begin, spool.tell())


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
