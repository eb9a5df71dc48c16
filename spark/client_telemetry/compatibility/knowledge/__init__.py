"""The knowledge base: CSV files with a source in every row, and the one way to read them.

Every file is described column by column in docs/knowledge-base.md. What a file means is checked by the
module that owns it (releases, apis, served, libraries, roles, known_issues); here only its form is.
"""

import csv
import hashlib
from importlib.resources import files


class DamagedKnowledge(ValueError):
    """A knowledge file says something that cannot be; names file, line and reason."""

    def __init__(self, file: str, line: int, reason: str) -> None:
        super().__init__(f"{file} line {line}: {reason}")
        self.file, self.line, self.reason = file, line, reason


def rows(file: str, columns: tuple[str, ...]) -> list[tuple[int, list[str]]]:
    """(line number, cells) of each row, cells in the order of `columns`, which must be the file's own."""
    with (files(__name__) / file).open(encoding="utf-8", newline="") as opened:
        reader = csv.reader(opened)
        header = next(reader, [])
        if tuple(header) != columns:
            raise DamagedKnowledge(file, 1, f"columns are {','.join(header)}, expected {','.join(columns)}")
        found = []
        for cells in reader:
            if len(cells) != len(columns):
                raise DamagedKnowledge(file, reader.line_num, f"{len(cells)} cells, expected {len(columns)}")
            found.append((reader.line_num, cells))
    return found


def whole(file: str, line: int, column: str, text: str) -> int:
    """A cell as a whole number from 0."""
    if not text.isdecimal():
        raise DamagedKnowledge(file, line, f"{column} {text!r} is not a whole number")
    return int(text)


def version() -> str:
    """Digest of the files, 12 hex digits: two reports with the same digest used the same rules."""
    digest = hashlib.sha256()
    for file in sorted(files(__name__).iterdir(), key=lambda file: file.name):
        if file.name.endswith(".csv"):
            digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:12]
