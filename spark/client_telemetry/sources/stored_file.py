"""Files of a source at their location: in a folder, or as objects of a store (s3://, gs://).

Finds and opens files, without interpreting their contents.
"""

import io
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple
from urllib.parse import unquote, urlsplit

from pyarrow import fs

from client_telemetry import Unusable
from client_telemetry.formats.raw.file_system import UnusableLocation, without_userinfo
from client_telemetry.sources.archives import (
    ENDINGS,
    MEMBER,
    UnusableArchive,
    kept_member,
    members,
    open_member,
)

_READ_BYTES = 4 * 2**20
"""Bytes of an object to read at once: each read is a request."""


class NoSuchLocation(Unusable):
    """The named location cannot hold files; the message says what to write."""


class State(NamedTuple):
    """`identity`: distinguishes a file from another one that took its name; 0 = the store has no such thing."""

    bytes: int
    modified_ns: int
    identity: int


@dataclass(frozen=True, order=True)
class StoredFile:
    """`location`: a path, or a URL without the credentials of the store; for a file in an archive, the archive's,
    `!/` and the name of the file. `files`, `path`: how to reach an object; None = a file of a folder.
    """

    location: str
    files: fs.FileSystem | None = field(default=None, compare=False, repr=False)
    path: str = field(default="", compare=False, repr=False)

    def __str__(self) -> str:
        return self.location

    @property
    def name(self) -> str:
        return self.location.rpartition("/")[2]

    @property
    def folder(self) -> str:
        return self.location.rpartition("/")[0]

    def resolved(self) -> str:
        """The same for all names of a file."""
        archive, mark, member = self.location.partition(MEMBER)
        return self.location if self.files else f"{Path(archive).resolve()}{mark}{member}"

    def open(self) -> BinaryIO:
        _, _, member = self.location.partition(MEMBER)
        if not member:
            return self._open_stored()
        if (kept := kept_member(self.as_it_is(), member)) is not None:
            return kept
        with self._open_stored() as stored:
            return open_member(stored, self.as_it_is(), member)

    def _open_stored(self) -> BinaryIO:
        if self.files is None:
            return Path(self.location.partition(MEMBER)[0]).open("rb")
        # pyarrow would decompress a stream by its file extension; a file is returned as it is.
        return io.BufferedReader(self.files.open_input_file(self.path), _READ_BYTES)

    def state(self) -> State:
        """Raises FileNotFoundError."""
        if self.files is None:
            stat = Path(self.location.partition(MEMBER)[0]).stat()
            return State(stat.st_size, stat.st_mtime_ns, stat.st_ino)
        info = self.files.get_file_info(self.path)
        if info.type != fs.FileType.File:
            raise FileNotFoundError(f"{self.location} is gone")
        return State(info.size, info.mtime_ns, 0)

    def as_it_is(self) -> tuple[str, State]:
        """Of the file, or of the archive that it is in: the same until that is written again. Raises FileNotFoundError."""
        return self.resolved().partition(MEMBER)[0], self.state()

    def modified_at(self) -> datetime:
        return datetime.fromtimestamp(0, UTC) + timedelta(microseconds=self.state().modified_ns // 1000)


def find_files(location: str) -> list[StoredFile]:
    """Files for a file, folder or pattern (`*`, `**`, `[...]`; in folders also `?`), which may be a URL; for a folder
    all files below that are not hidden. Sorted by location. Raises NoSuchLocation.
    """
    if location.startswith("file://"):
        location = unquote(urlsplit(location).path)
    if "://" in location:
        found = (_members(file) if file.name.endswith(ENDINGS) else [file] for file in _objects(location))
        return list(chain.from_iterable(found))
    return [member for path in _paths(location) for member in _members(StoredFile(str(path)))]


def _members(file: StoredFile) -> list[StoredFile]:
    """The files in an archive, which its first bytes tell; any other file itself. In a store, looking at the first bytes of
    each object would take a request: there, the name tells. Raises NoSuchLocation.
    """
    try:
        with file.open() as stored:
            names = members(stored, file.as_it_is())
    except UnusableArchive as error:
        raise NoSuchLocation(f"{file}: {error}") from None
    if names is None:
        return [file]
    visible = [name for name in names if not _is_hidden(name) and not name.startswith("__MACOSX/")]
    return [StoredFile(f"{file.location}{MEMBER}{name}", file.files, file.path) for name in visible]


def _paths(location: str) -> list[Path]:
    path = Path(location).expanduser()
    if path.is_file():
        return [path]
    if path.is_dir():
        inside = (p for p in path.rglob("*") if p.is_file())
        return sorted(p for p in inside if not _is_hidden(str(p.relative_to(path))))
    if path.is_absolute():
        base, pattern = Path(path.anchor), str(path.relative_to(path.anchor))
    else:
        base, pattern = Path(), str(path)
    return sorted(p for p in base.glob(pattern) if p.is_file()) if pattern and pattern != "." else []


_URL = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<authority>[^/?]+)/?(?P<path>[^?]*)(?P<options>\?.*)?")
"""`s3://BUCKET/PATH`, optionally with how to reach the store: `s3://BUCKET/PATH?endpoint_override=...&region=...`."""


def _objects(url: str) -> list[StoredFile]:
    match = _URL.fullmatch(url)
    if match is None:
        raise NoSuchLocation(f"{without_secrets(url)}: write it as s3://bucket/path")
    scheme, authority, path, options = match.group("scheme", "authority", "path", "options")
    try:
        without_userinfo(url)
        files, bucket = fs.FileSystem.from_uri(f"{scheme}://{authority}/{options or ''}")
    except UnusableLocation as error:
        raise NoSuchLocation(str(error)) from None
    except (ValueError, NotImplementedError) as error:
        raise NoSuchLocation(f"{without_secrets(url)}: {error}") from None
    bucket, path = bucket.strip("/"), path.strip("/")
    if path and files.get_file_info(f"{bucket}/{path}").type == fs.FileType.File:
        keys = [path]
    else:
        fixed = re.match(r"(?:[^*\[]*/)?(?=[^/]*[*\[])", path)  # up to the folder of the first wildcard
        folder = path if fixed is None else fixed[0].strip("/")
        below = files_below(files, f"{bucket}/{folder}".rstrip("/"))
        keys = [info.path.removeprefix(f"{bucket}/") for info in below]
        if fixed is None:
            keys = [key for key in keys if not _is_hidden(key.removeprefix(folder))]
        else:
            pattern = re.compile(_as_regex(path), re.DOTALL)
            keys = [key for key in keys if pattern.fullmatch(key)]
    return sorted(StoredFile(f"{scheme}://{authority}/{key}", files, f"{bucket}/{key}") for key in keys)


def files_below(files: fs.FileSystem, folder: str) -> list[fs.FileInfo]:
    """All files anywhere below, without the placeholders that some tools create for folders."""
    listed = files.get_file_info(fs.FileSelector(folder, recursive=True, allow_not_found=True))
    folders = {info.path for info in listed if info.type == fs.FileType.Directory}
    return [info for info in listed if info.path not in folders]


def _is_hidden(path: str) -> bool:
    return any(part.startswith(".") for part in path.split("/"))


def _as_regex(pattern: str) -> str:
    """The regular expression of a pattern as pathlib reads it: `*` within a folder, `**/` any folders.

    >>> bool(re.fullmatch(_as_regex("a/**/*.log"), "a/b/c.log")), bool(re.fullmatch(_as_regex("a/*.log"), "a/b/c.log"))
    (True, False)
    """
    parts = re.split(r"(\*\*/|\*\*|\*|\[[^]]+\])", pattern)
    wildcards = {"**/": r"(?:[^/]+/)*", "**": ".*", "*": "[^/]*"}
    return "".join(
        wildcards.get(part)
        or (re.sub(r"^\[!", "[^", part) if part.startswith("[") and part.endswith("]") else re.escape(part))
        for part in parts
    )


def without_secrets(url: str) -> str:
    """A location without credentials, to show to people."""
    return re.sub(r"//[^/?]*@", "//", url).partition("?")[0]
