"""Where pages and reports are published: a local folder, or an object store, to which they are uploaded file by file."""

import json
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pyarrow import fs

from client_telemetry.formats.locations import absolute_url, is_local, local_path
from client_telemetry.formats.raw.file_system import file_system

_LATEST = "latest.json"
_LAST = ("index.html", _LATEST)
"""Files that lead to the others are uploaded last."""
_PIECE = 8 * 2**20
LINKED = ("summary.json", "review.md", "campaign.json")
"""What a report takes from the review of its upgrade (which reviews exist, and messages to owners), and a campaign's page from
the one before."""


@dataclass(frozen=True)
class Place:
    """`root`: the folder to write below. Its contents are published when the context ends."""

    root: Path
    location: str

    def shown(self, path: Path) -> str:
        """Where people find a file that was written below `root`."""
        if is_local(self.location):
            return str(path)
        return f"{self.location.partition('?')[0].rstrip('/')}/{path.relative_to(self.root).as_posix()}"


@contextmanager
def published_place(
    location: str, cluster: str, linked: str | None = None, also: Iterable[str] = ()
) -> Iterator[Place]:
    """A folder or URL to publish to. `cluster`: the folder of the cluster below it, such as `fleet/orders`, whose
    latest day is available while something is published. `linked`: another one, of which the files LINKED are. `also`:
    single files that are available if they are there.
    """
    url = absolute_url(location)
    if is_local(location):
        yield Place(local_path(url), location)
        return
    files, root = file_system(url)
    with tempfile.TemporaryDirectory() as folder:
        _fetch_latest(files, root, cluster, Path(folder))
        if linked is not None:
            fetch_linked(files, root, linked, Path(folder))
        fetch_files(files, root, also, Path(folder))
        before = {path: path.stat().st_mtime_ns for path in Path(folder).rglob("*") if path.is_file()}
        yield Place(Path(folder), location)
        _upload(files, root, Path(folder), before)


def _fetch_latest(files: fs.FileSystem, root: str, cluster: str, folder: Path) -> None:
    try:
        with files.open_input_file(f"{root}/{cluster}/{_LATEST}") as source:
            latest = json.loads(source.read())
        name = f"{cluster}/{latest['path'].partition('/')[0]}/day.json"
        with files.open_input_file(f"{root}/{name}") as source:
            text = source.read()
    except (OSError, ValueError, KeyError):
        return  # nothing is published yet, or nothing that says which day it is
    (folder / name).parent.mkdir(parents=True)
    (folder / name).write_bytes(text)


def fetch_files(files: fs.FileSystem, root: str, names: Iterable[str], folder: Path) -> None:
    """Copies those of these published files that are there to the same place below `folder`."""
    for name in names:
        if files.get_file_info(f"{root}/{name}").type == fs.FileType.File:
            _copy(files, f"{root}/{name}", folder / name)


def fetch_linked(files: fs.FileSystem, root: str, linked: str, folder: Path) -> None:
    """Copies the files LINKED of a published folder to the same place below `folder`."""
    selector = fs.FileSelector(f"{root}/{linked}", allow_not_found=True, recursive=True)
    for info in files.get_file_info(selector):
        if info.type == fs.FileType.File and info.base_name in LINKED:
            _copy(files, info.path, folder / linked / info.path.partition(f"/{linked}/")[2])


def _copy(files: fs.FileSystem, stored: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with files.open_input_file(stored) as source:
        path.write_bytes(source.read())


def _upload(files: fs.FileSystem, root: str, folder: Path, before: dict[Path, int]) -> None:
    changed = [
        path for path in folder.rglob("*") if path.is_file() and before.get(path) != path.stat().st_mtime_ns
    ]
    for path in sorted(changed, key=lambda path: (path.name in _LAST, path.name == _LATEST, str(path))):
        target = f"{root}/{path.relative_to(folder).as_posix()}"
        with path.open("rb") as source, files.open_output_stream(target, compression=None) as out:
            while piece := source.read(_PIECE):
                out.write(piece)
    # Extra files of an earlier page of the same name.
    pages = {path.parent for path in changed if path.name == "index.html"}
    for page in pages:
        current = {path.relative_to(folder).as_posix() for path in changed if page in path.parents}
        there = fs.FileSelector(f"{root}/{page.relative_to(folder).as_posix()}", recursive=True)
        for info in files.get_file_info(there):
            if info.type == fs.FileType.File and info.path[len(root) :].strip("/") not in current:
                files.delete_file(info.path)
