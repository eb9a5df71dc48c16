"""The files that commands write: whole or not at all, and CSV that every reader reads back."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


@contextmanager
def whole_file(path: Path) -> Iterator[TextIO]:
    """Takes its place when the block is left: a failed write leaves what was there before. What is no file of its own
    (a pipe, a link as `/dev/stdout` is one) is written to as it is."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        with path.open("w", encoding="utf-8", newline="") as opened:
            yield opened
        return
    partial = path.with_name(path.name + ".partial")
    with partial.open("w", encoding="utf-8", newline="") as opened:
        yield opened
    partial.replace(path)


def write_csv(opened: TextIO, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Before Python 3.13 a lone carriage return is not quoted, and readers take it for the end of the line: rows with one
    are quoted whole."""
    plain = csv.writer(opened, lineterminator="\n")
    quoted = csv.writer(opened, lineterminator="\n", quoting=csv.QUOTE_ALL)
    plain.writerow(columns)
    for row in rows:
        (quoted if any("\r" in cell for cell in row) else plain).writerow(row)
