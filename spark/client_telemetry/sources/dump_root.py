"""Where the dump of a source grows: a folder, or a location in an object store. The result of a conversion enters it
whole or not at all.
"""

import contextlib
import datetime as dt
import re
import shutil
import tempfile
import uuid
from pathlib import Path

from pyarrow import fs

from client_telemetry.formats.locations import absolute_url
from client_telemetry.formats.raw.file_system import file_system
from client_telemetry.sources.staged import Staging, upload
from client_telemetry.sources.stored_file import files_below

_STAGING = ".converting"
_ABANDONED_AFTER = dt.timedelta(days=1)
"""A conversion that has staged nothing for so long was killed: longer than any takes."""


class DumpRoot:
    """`location`: what holds `v1/`, as a path or URL. Creating an instance completes a move that a crash interrupted.

    What is to be moved into the dump is written to a local folder (`staged`); `move` copies it to a folder within the
    root and from there into the dump, its last file last: that file proves that everything was there.
    """

    def __init__(self, location: str | Path, last_folder: str) -> None:
        self._location = absolute_url(str(location))
        self._files, path = file_system(self._location)
        self._path = path.rstrip("/")
        self._is_local = isinstance(self._files, fs.LocalFileSystem)
        self._last_folder = last_folder
        self._staged: Path | None = None
        self._batch = f"{_STAGING}/{uuid.uuid4().hex}"
        self._end_what_was_begun()

    def read(self, name: str) -> bytes | None:
        """A file below the root; None if it does not exist."""
        if self._files.get_file_info(f"{self._path}/{name}").type != fs.FileType.File:
            return None
        with self._files.open_input_file(f"{self._path}/{name}") as file:
            return file.read()

    def names(self, folder: str) -> list[str]:
        """Files anywhere below a folder of the root, relative to the root, sorted."""
        below = files_below(self._files, f"{self._path}/{folder}")
        return sorted(info.path[len(self._path) + 1 :] for info in below)

    def staged(self) -> Path:
        """The local folder for what is to be moved, empty at first."""
        if self._staged is None:
            if self._is_local:
                self._staged = Path(self._path) / self._batch
                self._staged.mkdir(parents=True)
            else:
                self._staged = Path(tempfile.mkdtemp(prefix="converting_"))
        return self._staged

    def staging(self) -> Staging:
        """For parts that run elsewhere and write what is to be moved with it."""
        return Staging(self._location, self._batch)

    def discard(self) -> None:
        """Delete everything that was staged."""
        if self._staged is not None:
            shutil.rmtree(self._staged, ignore_errors=True)
        self._staged = None

    def move(self, last: str, data: bytes) -> None:
        """Move everything that was staged, and then a file `last` (.json) in the last folder."""
        staged = self.staged()
        if not self._is_local:
            upload(self._files, staged, f"{self._path}/{self._batch}")
        self._write(f"{self._batch}/{self._last_folder}/{last}", data)
        if self._is_local:
            self._staged = None  # from here on it is part of the dump
        self._end_what_was_begun()
        self.discard()

    def _end_what_was_begun(self) -> None:
        """Move what is staged whole, and delete what a killed conversion left. Another one may be staging right now: its
        files stay."""
        batches: dict[str, list[fs.FileInfo]] = {}
        for info in files_below(self._files, f"{self._path}/{_STAGING}"):
            batch = info.path[len(self._path) + len(_STAGING) + 2 :].partition("/")[0]
            batches.setdefault(f"{_STAGING}/{batch}", []).append(info)
        for batch, infos in batches.items():
            names = sorted(info.path[len(self._path) + len(batch) + 2 :] for info in infos)
            last = [name for name in names if re.fullmatch(rf"{self._last_folder}/[^/]+\.json", name)]
            if last:
                for name in [*(name for name in names if name not in last), *last]:
                    put(self._files, f"{self._path}/{batch}/{name}", f"{self._path}/{name}")
            elif max(info.mtime for info in infos) > dt.datetime.now(dt.UTC) - _ABANDONED_AFTER:
                continue
            self._delete(batch, [*last, *names])  # without the last one, the others are leftovers

    def _delete(self, batch: str, names: list[str]) -> None:
        if self._is_local:
            shutil.rmtree(Path(self._path) / batch, ignore_errors=True)
            with contextlib.suppress(OSError):  # others are at work
                (Path(self._path) / _STAGING).rmdir()
            return
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                self._files.delete_file(f"{self._path}/{batch}/{name}")

    def _write(self, name: str, data: bytes) -> None:
        path = f"{self._path}/{name}"
        if self._is_local:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(f"{path}.part").write_bytes(data)
            Path(f"{path}.part").replace(path)
            return
        with self._files.open_output_stream(path, compression=None) as file:
            file.write(data)


def put(files: fs.FileSystem, source: str, to: str) -> None:
    """Stores cannot rename: there the file is copied, and the source is deleted with the others."""
    if isinstance(files, fs.LocalFileSystem):
        files.create_dir(to.rpartition("/")[0], recursive=True)
        files.move(source, to)
    else:
        files.copy_file(source, to)
