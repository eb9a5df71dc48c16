"""Files of a folder or bucket as files of this machine, for readers that open paths: in place, or copied for as long as they are
read.
"""

import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pyarrow import fs

from client_telemetry.formats.locations import absolute_url
from client_telemetry.formats.raw.file_system import file_system
from client_telemetry.pipeline.stage import BadArguments

MOST_OBJECTS = 500_000
MOST_BYTES = 32 * 2**30
_AT_ONCE = 16
_LONGEST_NAME = 255


@dataclass(frozen=True)
class LeftOut:
    """An object that was not copied, and why."""

    name: str
    reason: str


class NoFolder(BadArguments):
    """There is nothing at a location."""


@contextmanager
def fetched(
    location: str, contents: str, is_wanted: Callable[[str], bool], largest: int
) -> Iterator[tuple[Path, list[LeftOut]]]:
    """The folder, and what of it could not be had. `contents` says in messages what is there; of an object store, the objects are
    copied whose name is wanted, up to `largest` bytes each. Raises BadArguments, or NoFolder.
    """
    files, root = file_system(absolute_url(location))
    if files.get_file_info(root).type != fs.FileType.Directory:
        raise NoFolder(f"there is no folder of {contents} at {location}")
    if isinstance(files, fs.LocalFileSystem):
        yield Path(root), []
        return
    with tempfile.TemporaryDirectory(prefix="client-telemetry-") as folder:
        left_out = _copy(files, root, Path(folder), is_wanted, largest)
        yield Path(folder), left_out


def _copy(
    files: fs.FileSystem, root: str, folder: Path, is_wanted: Callable[[str], bool], largest: int
) -> list[LeftOut]:
    chosen: list[tuple[str, str]] = []
    left_out = []
    total = 0
    infos = files.get_file_info(fs.FileSelector(root, recursive=True))
    for info in sorted(infos, key=lambda info: info.path):
        name = info.path.removeprefix(root).lstrip("/")
        if info.type != fs.FileType.File or not is_wanted(name):
            continue
        total += min(info.size, largest)
        if reason := _refusal(name, info.size, largest):
            left_out.append(LeftOut(name, reason))
        elif len(chosen) >= MOST_OBJECTS or total > MOST_BYTES:
            raise BadArguments(
                f"more than {MOST_OBJECTS:,} objects or {MOST_BYTES // 2**30} GiB: name a folder with less in it"
            )
        else:
            chosen.append((info.path, name))

    def copy(pair: tuple[str, str]) -> None:
        target = folder / pair[1]
        target.parent.mkdir(parents=True, exist_ok=True)
        with files.open_input_stream(pair[0], compression=None) as source, target.open("wb") as out:
            while piece := source.read(2**20):
                out.write(piece)

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(copy, chosen))
    return left_out


def _refusal(name: str, size: int, largest: int) -> str:
    """Why an object cannot be a file below the folder; empty if it can."""
    parts = PurePosixPath(name).parts
    if ".." in parts or name.startswith("/") or "\0" in name or "//" in name:
        return "its name leads elsewhere"
    if any(len(part.encode()) > _LONGEST_NAME for part in parts):
        return "its name is too long for a file"
    return f"larger than {largest // 2**20} MiB" if size > largest else ""
