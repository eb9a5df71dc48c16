"""What a conversion makes, on its way into the dump, and the parts of a conversion that need nothing of each other.

Parts run one after the other here, or where whoever started the conversion has them run: the daily run has tasks of Spark. Each writes
to where the conversion itself does, so that all of it gets into the dump at once (dump_root.py).
"""

import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from pyarrow import fs

from client_telemetry.raw.file_system import file_system

Part = TypeVar("Part")
Result = TypeVar("Result")


class Spread(Protocol):
    """Runs work on each part, wherever; gives the results in the order of the parts."""

    def __call__(self, work: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]: ...


def one_after_another(work: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
    return [work(part) for part in parts]


@dataclass(frozen=True)
class Failed:
    """What a part ended with, in one line. `may_pass`: a file or a store could not be read or written, which another attempt
    may."""

    error: str
    may_pass: bool


class PartFailed(OSError):
    """A part could not read or write what it had to. Nothing was kept; another attempt may end otherwise."""


@dataclass(frozen=True)
class Staging:
    """The way to a folder within a dump's root, from any machine that reaches the root. `location`: the root, as a URL."""

    location: str
    folder: str

    @contextmanager
    def opened(self) -> Iterator[Path]:
        """A local folder; what is in it at the end gets to the folder within the root, unless there was an exception."""
        files, root = file_system(self.location)
        is_local = isinstance(files, fs.LocalFileSystem)
        beside = Path(root, self.folder).parent if is_local else None
        with tempfile.TemporaryDirectory(prefix="converting_", dir=beside) as folder:
            yield Path(folder)
            if is_local:
                for path in _files_below(Path(folder)):
                    to = Path(root, self.folder, path.relative_to(folder))
                    to.parent.mkdir(parents=True, exist_ok=True)
                    path.replace(to)
            else:
                upload(files, Path(folder), f"{root.rstrip('/')}/{self.folder}")


def upload(files: fs.FileSystem, folder: Path, to: str) -> None:
    """All files anywhere below a local folder, to the same names below `to` in a store."""
    for path in _files_below(folder):
        with files.open_output_stream(f"{to}/{path.relative_to(folder)}", compression=None) as file:
            file.write(path.read_bytes())


def _files_below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


@dataclass(frozen=True)
class Staged:
    """`folder`: for what the conversion writes itself."""

    folder: Path
    _staging: Staging
    _spread: Spread

    def look(self, work: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result | Failed]:
        """Of parts that only read. Raises PartFailed."""
        return _raised(self._spread(_Guarded(work), parts))

    def write(self, work: Callable[[Part, Path], Result], parts: Sequence[Part]) -> list[Result | Failed]:
        """Of parts that write to the folder they are given. The same part writes the same files, however often. Raises PartFailed."""
        return _raised(self._spread(_Guarded(_Writing(work, self._staging)), parts))


@dataclass(frozen=True)
class _Writing(Generic[Part, Result]):
    work: Callable[[Part, Path], Result]
    staging: Staging

    def __call__(self, part: Part) -> Result:
        with self.staging.opened() as folder:
            return self.work(part, folder)


@dataclass(frozen=True)
class _Guarded(Generic[Part, Result]):
    """An error of one part must not end the others."""

    work: Callable[[Part], Result]

    def __call__(self, part: Part) -> Result | Failed:
        try:
            return self.work(part)
        except Exception as error:
            traceback.print_exc()
            line = str(error).partition("\n")[0]
            return Failed(f"{type(error).__name__}: {line}", isinstance(error, OSError))


def _raised(results: list[Result | Failed]) -> list[Result | Failed]:
    passing = [each.error for each in results if isinstance(each, Failed) and each.may_pass]
    if passing:
        raise PartFailed(passing[0])
    return results
