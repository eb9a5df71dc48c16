"""Which bytes of a source's files are new, and a dump that gets all that came of them or nothing.

A file is known by what is in it, decompressed: since it was converted it may have been renamed, compressed or copied, and
what was written behind its end is new. What is converted goes to a folder beside the dump first, and from there into
it, the record of what was converted last: after a crash the next conversion ends the move or begins again.
"""

import hashlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from client_telemetry.sources.log_files import CutOff, LogFile, open_decompressed

SETTLED = timedelta(minutes=10)
"""A file that was written to within that time is left for the next conversion: it may end within a line."""

_RECORDS = "converted"
_BLOCK_BYTES = 2**20


class StillWritten(ValueError):
    """A file changed while it was converted. Nothing was kept; another attempt leaves it out or takes all of it."""


class _Taken(NamedTuple):
    """A file as it was when it was converted: `stored_bytes` and `modified_ns` as it lay there, `bytes` and `sha256` of what
    it decompresses to."""

    path: str
    stored_bytes: int
    modified_ns: int
    bytes: int
    sha256: str


class Arrivals:
    """New parts of files, and what was converted into the dump `root` before."""

    def __init__(self, root: Path) -> None:
        self._root, self._staged = root, root / ".converting"
        self._end_what_was_begun()
        records = sorted((root / _RECORDS).glob("*.json"))
        known = [_Taken(*each) for path in records for each in json.loads(path.read_text(encoding="utf-8"))]
        self.is_first = not known
        self._as_they_lay = {each[:3] for each in known}
        self._digests: dict[int, set[str]] = {}
        for each in known:
            self._digests.setdefault(each.bytes, set()).add(each.sha256)
        self._taken: list[_Taken] = []

    def _end_what_was_begun(self) -> None:
        if (self._staged / _RECORDS).exists():
            self._move()
        shutil.rmtree(self._staged, ignore_errors=True)

    def new_parts(self, files: Sequence[LogFile], settled: timedelta) -> tuple[list[LogFile], list[Path]]:
        """Files with anything new, each with where that starts; and the files that are still written to."""
        parts, waiting = [], []
        before = (datetime.now(UTC) - settled).timestamp()
        for file in files:
            stat = file.path.stat()
            lay = (str(file.path.resolve()), stat.st_size, stat.st_mtime_ns)
            if lay in self._as_they_lay or not stat.st_size:
                continue
            if stat.st_mtime > before:
                waiting.append(file.path)
                continue
            start, taken = self._measure(file, lay)
            self._taken.append(taken)
            self._digests.setdefault(taken.bytes, set()).add(taken.sha256)
            if taken.bytes > start:
                parts.append(replace(file, start=start))
        return parts, waiting

    def _measure(self, file: LogFile, lay: tuple[str, int, int]) -> tuple[int, _Taken]:
        """How many bytes of the file are known, and the file as it is."""
        known = size = 0
        digest = hashlib.sha256()
        with file.path.open("rb") as stored:
            text = open_decompressed(stored, CutOff())
            for length in [*sorted(self._digests), None]:
                while (length is None or size < length) and (
                    block := text.read(_BLOCK_BYTES if length is None else min(_BLOCK_BYTES, length - size))
                ):
                    digest.update(block)
                    size += len(block)
                if size == length and digest.hexdigest() in self._digests[length]:
                    known = size
        return known, _Taken(*lay, size, digest.hexdigest())

    def staged(self) -> Path:
        """An empty folder for what comes of the new parts; `keep` moves it into the dump."""
        self._staged.mkdir(parents=True)
        return self._staged

    def keep(self) -> None:
        """Move into the dump what was staged, with the record of what it came of. Raises StillWritten."""
        if not self._taken:
            return
        for each in self._taken:
            stat = Path(each.path).stat()
            if (stat.st_size, stat.st_mtime_ns) != each[1:3]:
                shutil.rmtree(self._staged, ignore_errors=True)
                raise StillWritten(f"{each.path} was written to while it was converted: convert again")
        text = json.dumps(self._taken, indent=1)
        record = self._staged / f"{hashlib.sha256(text.encode()).hexdigest()}.json"
        record.parent.mkdir(parents=True, exist_ok=True)
        record.write_text(text, encoding="utf-8")
        (self._staged / _RECORDS).mkdir()
        record.rename(self._staged / _RECORDS / record.name)
        self._end_what_was_begun()

    def _move(self) -> None:
        """Objects first, the record last."""
        files = [path for path in self._staged.rglob("*") if path.is_file()]
        for path in sorted(files, key=lambda p: (p.parent.name == _RECORDS, p)):
            to = self._root / path.relative_to(self._staged)
            to.parent.mkdir(parents=True, exist_ok=True)
            path.replace(to)
