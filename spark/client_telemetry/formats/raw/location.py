"""The raw location: listing and opening objects of a cluster, in a folder or an object store."""

import datetime as dt
import io
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from pyarrow import fs

from client_telemetry.formats.raw.errors import BadObjectKey
from client_telemetry.formats.raw.file_system import file_system
from client_telemetry.formats.raw.object_key import ObjectKey, parse_object_key

_DAYS_AT_ONCE = 8
_READ_BYTES = 8 * 2**20
DATASETS = ("client_pushes", "connections", "manifests")


@dataclass(frozen=True, slots=True)
class Arrived:
    """One object as the store lists it; the key is relative to the raw location."""

    key: ObjectKey
    bytes: int
    modified_at: dt.datetime


class Size(NamedTuple):
    objects: int
    newest: dt.datetime


class _Links:
    """Which paths below a folder lead through a symbolic link: a dump has none, and what one points to may be any file
    of this machine. Each folder is looked at once.
    """

    def __init__(self, root: str) -> None:
        self._is_link = {Path(root): False}

    def __contains__(self, path: str) -> bool:
        file = Path(path)
        return file.is_symlink() or self._leads_through(file.parent)

    def _leads_through(self, folder: Path) -> bool:
        if folder not in self._is_link:
            self._is_link[folder] = folder.is_symlink() or self._leads_through(folder.parent)
        return self._is_link[folder]


@dataclass(frozen=True)
class RawLocation:
    """`url`: folder or URL that holds `v1/`. Sent to the workers: each process creates its own file system, on first
    use.
    """

    url: str

    def _open(self) -> tuple[fs.FileSystem, str]:
        return file_system(self.url)

    def clusters(self) -> list[str]:
        """Ids of the clusters that have any objects here."""
        files, root = self._open()
        ids = set()
        for dataset in DATASETS:
            folder = fs.FileSelector(f"{root}/v1/dataset={dataset}", allow_not_found=True)
            for info in files.get_file_info(folder):
                name, _, value = info.base_name.partition("=")
                if name == "cluster":
                    ids.add(value)
        return sorted(ids)

    def objects(self, cluster_id: str, day: dt.date, skipped: list[str] | None = None) -> Iterator[Arrived]:
        """The objects of one day, ordered by key. Names that are not keys of the contract and symbolic links are
        skipped, and added to `skipped`; files that start with a dot or underscore, which tools leave behind, are not.
        """
        files, root = self._open()
        skipped = [] if skipped is None else skipped
        links = _Links(root) if isinstance(files, fs.LocalFileSystem) else ()

        def listed(dataset: str) -> list[fs.FileInfo]:
            folder = f"{root}/v1/dataset={dataset}/cluster={cluster_id}/dt={day.isoformat()}"
            return files.get_file_info(fs.FileSelector(folder, recursive=True, allow_not_found=True))

        with ThreadPoolExecutor(len(DATASETS)) as pool:
            listings = list(pool.map(listed, DATASETS))
        for infos in listings:
            for info in sorted(infos, key=lambda info: info.path):
                if info.type != fs.FileType.File or info.base_name.startswith((".", "_")):
                    continue
                name = info.path[len(root) + 1 :]
                if info.path in links:
                    skipped.append(f"{name}: a symbolic link")
                    continue
                try:
                    key = parse_object_key(name)
                except BadObjectKey as error:
                    skipped.append(str(error))
                    continue
                yield Arrived(key, info.size, info.mtime.astimezone(dt.UTC))

    def sizes(self, cluster_id: str, days: Sequence[dt.date]) -> dict[dt.date, Size]:
        """How many objects several days have, and when the newest was modified; only of days that have any. Listed in
        parallel, without keeping the objects.
        """

        def size(day: dt.date) -> Size | None:
            times = [arrived.modified_at for arrived in self.objects(cluster_id, day)]
            return Size(len(times), max(times)) if times else None

        with ThreadPoolExecutor(_DAYS_AT_ONCE) as pool:
            found = zip(days, pool.map(size, days), strict=True)
            return {day: of_day for day, of_day in found if of_day is not None}

    def read(self, key: str) -> BinaryIO:
        """The object as a binary stream, to be closed by the caller. pyarrow would decompress by file extension; that
        is disabled.
        """
        files, root = self._open()
        opened = files.open_input_file(f"{root}/{key}")
        # What reads it takes 64 KiB at a time, each of which would be a request to a store.
        is_local = isinstance(files, fs.LocalFileSystem)
        return cast("BinaryIO", opened if is_local else io.BufferedReader(opened, _READ_BYTES))

    def beginning(self, key: str, limit: int) -> bytes:
        """At most the first `limit` bytes of an object."""
        with self.read(key) as source:
            return source.read(limit)
