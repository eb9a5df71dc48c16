"""rpm's database in SQLite (rpm 4.16 and later): name, version and release of each installed package.

A row of the table `Packages` has a header as rpm's library stores it (rpm.org: "RPM file format", Header structure):
the number of index entries and the length of the data, 4 bytes each, big-endian; then the index, 16 bytes an entry (tag,
type, offset, count); then the data. Tags: 1000 NAME, 1001 VERSION, 1002 RELEASE. Type 6 is text that ends with a zero byte.
"""

import sqlite3
import struct
from collections.abc import Iterator
from typing import Final

from client_telemetry.artefacts.packages import Package, Unreadable

LARGEST_BYTES: Final = 512 * 2**20
_MOST_ENTRIES: Final = 0xFFFF
"""As rpm's own library bounds it (hdrchkTags)."""
_LARGEST_HEADER_BYTES: Final = 64 * 2**20
_MOST_PACKAGES: Final = 100_000
_MOST_STEPS: Final = 10_000
"""Of SQLite, in thousands of instructions: a database may hold a question that never ends."""
_NAME, _VERSION, _RELEASE = 1000, 1001, 1002
_STRING: Final = 6
_LONGEST: Final = 1024
_WRITE_AHEAD, _ROLLBACK = b"\x02\x02", b"\x01\x01"
"""Bytes 18 and 19 of a database: a copy in memory has no write-ahead log beside it (sqlite.org/fileformat.html)."""


def read(content: bytes) -> Iterator[Package]:
    """Raises Unreadable, also for one damaged header among others: none of its packages is to be missed."""
    if content[18:20] == _WRITE_AHEAD:
        content = content[:18] + _ROLLBACK + content[20:]
    connection = sqlite3.connect(":memory:")
    try:
        connection.deserialize(content)
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST_HEADER_BYTES)
        yield from _packages(connection)
    except (sqlite3.Error, UnicodeDecodeError, OverflowError, MemoryError) as error:
        raise Unreadable(f"not a database of rpm: {error}") from None
    finally:
        connection.close()


def _packages(connection: sqlite3.Connection) -> Iterator[Package]:
    left = iter(range(_MOST_STEPS))
    connection.set_progress_handler(lambda: next(left, None) is None, 1000)
    table = connection.execute("SELECT type FROM sqlite_master WHERE name = 'Packages'").fetchone()
    if table != ("table",):
        raise Unreadable("not a database of rpm: it has no table Packages")
    for number, (header,) in enumerate(connection.execute("SELECT blob FROM main.Packages")):
        if number >= _MOST_PACKAGES:
            raise Unreadable(f"more than {_MOST_PACKAGES:,} packages")
        yield _package(header)


def _package(header: object) -> Package:
    if not isinstance(header, bytes):
        raise Unreadable("a package's header is no binary")
    texts = _texts(header)
    name, version, release = (texts.get(tag, "") for tag in (_NAME, _VERSION, _RELEASE))
    if not name or not version:
        raise Unreadable("a package's header has no name and version")
    return Package("rpm", name, f"{version}-{release}" if release else version)


def _texts(header: bytes) -> dict[int, str]:
    """Tag to text, of those that are asked for."""
    if len(header) < 8:
        raise Unreadable("a package's header is cut off")
    entries, length = struct.unpack_from(">II", header)
    begin = 8 + 16 * entries
    if entries > _MOST_ENTRIES or begin + length > len(header):
        raise Unreadable("a package's header is longer than it is")
    texts = {}
    for tag, kind, offset, _ in struct.iter_unpack(">IIII", header[8:begin]):
        if tag in (_NAME, _VERSION, _RELEASE) and kind == _STRING:
            texts[tag] = _text(header, begin + offset, begin + length)
    return texts


def _text(header: bytes, start: int, end: int) -> str:
    stop = header.find(b"\0", start, min(end, start + _LONGEST))
    if stop < 0:
        raise Unreadable("a text in a package's header does not end")
    return header[start:stop].decode("utf-8", "replace")
