"""Files of a source where they lie: in a folder, or as objects of a store (s3://, gs://).

Finding and opening them is here; what is in them is not.
"""

import io
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO, NamedTuple
from urllib.parse import unquote, urlsplit

from pyarrow import fs

from client_telemetry.raw.file_system import UnusableLocation, without_userinfo

_READ_BYTES = 4 * 2**20
"""Of an object at once: each is a request."""


class NoSuchLocation(ValueError):
    """What was named cannot be a place of files; the message says what to write."""


class State(NamedTuple):
    """`identity`: tells a file from another one that took its name; 0 = the store has nothing of the kind."""

    bytes: int
    modified_ns: int
    identity: int


@dataclass(frozen=True, order=True)
class StoredFile:
    """`location`: a path, or a URL without the credentials of the store. `files`, `path`: how to reach an object;
    None = it is a file of a folder."""

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
        return self.location if self.files else str(Path(self.location).resolve())

    def open(self) -> BinaryIO:
        if self.files is None:
            return Path(self.location).open("rb")
        # pyarrow would decompress a stream by the ending of its name; a file it gives as it is.
        return io.BufferedReader(self.files.open_input_file(self.path), _READ_BYTES)

    def state(self) -> State:
        """Raises FileNotFoundError."""
        if self.files is None:
            stat = Path(self.location).stat()
            return State(stat.st_size, stat.st_mtime_ns, stat.st_ino)
        info = self.files.get_file_info(self.path)
        if info.type != fs.FileType.File:
            raise FileNotFoundError(f"{self.location} is gone")
        return State(info.size, info.mtime_ns, 0)

    def modified_at(self) -> datetime:
        return datetime.fromtimestamp(0, UTC) + timedelta(microseconds=self.state().modified_ns // 1000)


def find_files(location: str) -> list[StoredFile]:
    """Files of a file, folder or pattern (`*`, `**`, `[...]`; in folders also `?`), which may be a URL; of a folder all
    below that are not hidden. In order of location. Raises NoSuchLocation."""
    if location.startswith("file://"):
        location = unquote(urlsplit(location).path)
    return _objects(location) if "://" in location else [StoredFile(str(path)) for path in _paths(location)]


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
"""`s3://BUCKET/PATH`, maybe with how to reach the store: `s3://BUCKET/PATH?endpoint_override=...&region=...`."""


def _objects(url: str) -> list[StoredFile]:
    found = _URL.fullmatch(url)
    if found is None:
        raise NoSuchLocation(f"{without_secrets(url)}: write it as s3://bucket/path")
    scheme, authority, path, options = found.group("scheme", "authority", "path", "options")
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
        below = paths_below(files, f"{bucket}/{folder}".rstrip("/"))
        keys = [each.removeprefix(f"{bucket}/") for each in below]
        if fixed is None:
            keys = [key for key in keys if not _is_hidden(key.removeprefix(folder))]
        else:
            pattern = re.compile(_as_regex(path), re.DOTALL)
            keys = [key for key in keys if pattern.fullmatch(key)]
    return sorted(StoredFile(f"{scheme}://{authority}/{key}", files, f"{bucket}/{key}") for key in keys)


def paths_below(files: fs.FileSystem, folder: str) -> list[str]:
    """All files anywhere below, without those that some tools put for a folder."""
    listed = files.get_file_info(fs.FileSelector(folder, recursive=True, allow_not_found=True))
    folders = {each.path for each in listed if each.type == fs.FileType.Directory}
    return [each.path for each in listed if each.path not in folders]


def _is_hidden(path: str) -> bool:
    return any(part.startswith(".") for part in path.split("/"))


def _as_regex(pattern: str) -> str:
    """As pathlib takes it: `*` within a folder, `**/` any folders.

    >>> bool(re.fullmatch(_as_regex("a/**/*.log"), "a/b/c.log")), bool(re.fullmatch(_as_regex("a/*.log"), "a/b/c.log"))
    (True, False)
    """
    parts = re.split(r"(\*\*/|\*\*|\*|\[[^]]+\])", pattern)
    known = {"**/": r"(?:[^/]+/)*", "**": ".*", "*": "[^/]*"}
    return "".join(
        known.get(part)
        or (re.sub(r"^\[!", "[^", part) if part.startswith("[") and part.endswith("]") else re.escape(part))
        for part in parts
    )


def without_secrets(url: str) -> str:
    """A location as it can be shown."""
    return re.sub(r"//[^/?]*@", "//", url).partition("?")[0]
