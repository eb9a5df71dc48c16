"""The output of a conversion on its way into the dump, and the parts of a conversion that are independent of each
other.

Parts run one after another here, or wherever the caller has them run: the daily run uses Spark tasks. Each writes to
the conversion's own staging folder, so that everything enters the dump at once (dump_root.py).
"""

import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

from pyarrow import fs

from client_telemetry.formats.raw.file_system import file_system

Part = TypeVar("Part")
Result = TypeVar("Result")


class Spread(Protocol):
    """Runs `work` on each part, anywhere; returns the results in the order of the parts."""

    def __call__(self, work: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]: ...


def one_after_another(work: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
    return [work(part) for part in parts]


@dataclass(frozen=True)
class Failed:
    """The error of a part, in one line. `may_pass`: a file or a store could not be read or written, which may succeed
    in another attempt.
    """

    error: str
    may_pass: bool


class PartFailed(OSError):
    """A part could not read or write what it had to. Nothing was kept; another attempt may succeed."""


@dataclass(frozen=True)
class Staging:
    """Access to a folder within a dump's root from any machine that reaches the root. `location`: the root, as a URL."""

    location: str
    folder: str

    @contextmanager
    def opened(self) -> Iterator[Path]:
        """A local folder; its contents are copied to the folder within the root at the end, unless there was an
        exception.
        """
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
    """Upload all files anywhere below a local folder, under the same names below `to` in a store."""
    for path in _files_below(folder):
        with files.open_output_stream(f"{to}/{path.relative_to(folder)}", compression=None) as file:
            file.write(path.read_bytes())


def _files_below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


@dataclass(frozen=True)
class Staged:
    """`folder`: for what the conversion itself writes."""

    folder: Path
    _staging: Staging
    _spread: Spread

    def look(self, work: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result | Failed]:
        """Run parts that only read. Raises PartFailed."""
        return _raised(self._spread(partial(_guarded, work), parts))

    def write(self, work: Callable[[Part, Path], Result], parts: Sequence[Part]) -> list[Result | Failed]:
        """Run parts that write to the folder they are given. The same part writes the same files, however often. Raises
        PartFailed.
        """
        return _raised(self._spread(partial(_guarded, partial(_in_folder, work, self._staging)), parts))


def _in_folder(work: Callable[[Part, Path], Result], staging: Staging, part: Part) -> Result:
    with staging.opened() as folder:
        return work(part, folder)


def _guarded(work: Callable[[Part], Result], part: Part) -> Result | Failed:
    """Turns an error of one part into a result, so that it does not end the others."""
    try:
        return work(part)
    except Exception as error:
        traceback.print_exc()
        line = str(error).partition("\n")[0]
        return Failed(f"{type(error).__name__}: {line}", isinstance(error, OSError))


def _raised(results: list[Result | Failed]) -> list[Result | Failed]:
    passing = [result.error for result in results if isinstance(result, Failed) and result.may_pass]
    if passing:
        raise PartFailed(passing[0])
    return results
