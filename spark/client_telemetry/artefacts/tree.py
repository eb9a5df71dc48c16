"""Files below the paths that are scanned: bounded, in a fixed order, and never outside of them.

Links are not followed, devices and pipes not opened; what is left out of a scan is said.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from client_telemetry.artefacts.packages import Unreadable
from client_telemetry.formats.texts import NotText, decoded

LARGEST_BYTES = 64 * 2**20
MOST_FILES = 500_000
SKIPPED = frozenset(
    (
        ".git",
        ".hg",
        ".svn",
        "node_modules",
        "__pycache__",
        ".venv",
        "venv",
        ".tox",
        ".nox",
        ".gradle",
        ".ipynb_checkpoints",
        ".terraform",
    )
)
"""Folders that hold what others wrote (installed packages) or no sources; they are read if they are named themselves."""


@dataclass(frozen=True)
class File:
    """`path`: relative to `root`, with slashes. `shown`: as people name it, with the path that was given."""

    root: Path
    path: str
    shown: str
    size: int
    given: bool = False
    """Whether the user named this very file."""

    def content(self) -> bytes:
        """Raises Unreadable, for one that is too large, too."""
        if self.size > LARGEST_BYTES:
            raise Unreadable(
                f"{self.size / 2**20:,.0f} MiB: larger than {LARGEST_BYTES // 2**20} MiB, not read"
            )
        with self.open() as opened:
            return opened.read(LARGEST_BYTES + 1)

    def open(self) -> BinaryIO:
        """Raises Unreadable, also for a file that has become a link meanwhile."""
        try:
            descriptor = os.open(self.root / self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError as error:
            raise Unreadable(error.strerror or "cannot be read") from None
        return os.fdopen(descriptor, "rb")

    def beginning(self, length: int = 4096) -> bytes:
        with self.open() as opened:
            return opened.read(length)

    def text(self) -> str:
        return as_text(self.content())

    def source(self) -> str:
        """Of source code, whose names are ASCII, while its comments may be in the encoding of whoever wrote them."""
        content = self.content()
        try:
            return as_text(content)
        except Unreadable:
            return content.decode("utf-8", "replace")


def as_text(content: bytes) -> str:
    """Raises Unreadable for what is no text (formats/texts.py)."""
    try:
        return decoded(content)
    except NotText as error:
        raise Unreadable(str(error)) from None


def files(given: Path, exclude: Sequence[str] = ()) -> Iterator[File]:
    """The regular files of a folder, or the file itself. `exclude`: globs for paths below the folder; one that names a folder
    leaves out all in it. Raises OSError for a path that cannot be read.
    """
    status = given.stat()
    if stat.S_ISDIR(status.st_mode):
        yield from (file for file in _below(given) if not _is_excluded(file.path, exclude))
    elif stat.S_ISREG(status.st_mode):
        resolved = given.resolve()
        yield File(resolved.parent, resolved.name, str(given), status.st_size, given=True)
    else:
        raise OSError(0, "is neither a file nor a folder", str(given))


def _is_excluded(path: str, exclude: Sequence[str]) -> bool:
    return any(
        fnmatchcase(path, pattern) or fnmatchcase(path, f"{pattern.rstrip('/')}/*") for pattern in exclude
    )


def _below(root: Path) -> Iterator[File]:
    count = 0
    shown_root = "" if str(root) == "." else f"{root}/"
    for folder, names, file_names in os.walk(root, followlinks=False):
        names[:] = sorted(name for name in names if name not in SKIPPED)
        for name in sorted(file_names):
            count += 1
            if count > MOST_FILES:
                raise OSError(0, f"has more than {MOST_FILES:,} files", str(root))
            whole = Path(folder) / name
            try:
                status = whole.lstat()
            except OSError:
                continue
            if stat.S_ISREG(status.st_mode):
                path = whole.relative_to(root).as_posix()
                yield File(root, path, f"{shown_root}{path}", status.st_size)


def beside(file: File, path: str) -> str | None:
    """The text of another file by its path relative to this one; None if it is not in the tree, or leads out of it by `..`
    or by a link.
    """
    other = _other(file, path)
    try:
        return other.text() if other else None
    except Unreadable:
        return None


def open_beside(file: File, path: str) -> BinaryIO | None:
    """Like `beside`, opened."""
    other = _other(file, path)
    try:
        return other.open() if other else None
    except Unreadable:
        return None


def _other(file: File, path: str) -> File | None:
    parts: list[str] = []
    for part in (*PurePosixPath(file.path).parent.parts, *PurePosixPath(path.replace("\\", "/")).parts):
        if part == "/" or (part == ".." and not parts):
            return None
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    whole = file.root.joinpath(*parts)
    try:
        status = whole.lstat()
        is_inside = whole.resolve().is_relative_to(file.root.resolve())
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode) or not is_inside:
        return None
    return File(file.root, "/".join(parts), "", status.st_size)
