"""Output files of commands: written whole or not at all, and CSV that every reader can read back."""

import csv
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


@contextmanager
def whole_file(path: Path) -> Iterator[TextIO]:
    """A file that replaces `path` when the block ends: a failed write leaves the previous file in place. Anything but a
    regular file (a pipe, a link such as `/dev/stdout`) is written to directly.
    """
    if path.is_symlink() or (path.exists() and not path.is_file()):
        with path.open("w", encoding="utf-8", newline="") as opened:
            yield opened
        return
    partial = path.with_name(path.name + ".partial")
    try:
        opened = partial.open("w", encoding="utf-8", newline="")
    except OSError as error:
        error.filename = str(path)
        raise
    with opened:
        yield opened
    partial.replace(path)


def replace_file(file: Path, content: bytes) -> None:
    """A reader sees the old file or the new one, whatever happens meanwhile."""
    descriptor, partial = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(content)
            opened.flush()
            os.fsync(opened.fileno())
        Path(partial).chmod(0o644)
        Path(partial).replace(file)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise


def write_csv(opened: TextIO, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Before Python 3.13 a lone carriage return is not quoted, and readers take it for the end of the line: rows that
    contain one are quoted whole.
    """
    plain = csv.writer(opened, lineterminator="\n")
    quoted = csv.writer(opened, lineterminator="\n", quoting=csv.QUOTE_ALL)
    plain.writerow(columns)
    for row in rows:
        (quoted if any("\r" in cell for cell in row) else plain).writerow(row)
