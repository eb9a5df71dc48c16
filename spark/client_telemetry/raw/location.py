"""The raw location: listing and opening objects of a cluster, in a folder or an object store."""

import datetime as dt
import io
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple, cast

from pyarrow import fs

from client_telemetry.raw.errors import BadObjectKey
from client_telemetry.raw.file_system import file_system
from client_telemetry.raw.object_key import ObjectKey, parse_object_key

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

    def objects(self, cluster_id: str, day: dt.date) -> Iterator[Arrived]:
        """The objects of one day, ordered by key. Names that are not keys of the contract are skipped, as are files
        that start with a dot or underscore, which tools leave behind.
        """
        files, root = self._open()

        def listed(dataset: str) -> list[fs.FileInfo]:
            folder = f"{root}/v1/dataset={dataset}/cluster={cluster_id}/dt={day.isoformat()}"
            return files.get_file_info(fs.FileSelector(folder, recursive=True, allow_not_found=True))

        with ThreadPoolExecutor(len(DATASETS)) as pool:
            listings = list(pool.map(listed, DATASETS))
        for infos in listings:
            for info in sorted(infos, key=lambda info: info.path):
                if info.type != fs.FileType.File or info.base_name.startswith((".", "_")):
                    continue
                try:
                    key = parse_object_key(info.path[len(root) + 1 :])
                except BadObjectKey:
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
