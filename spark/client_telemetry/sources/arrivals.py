"""Which bytes of a source's files are new, and a dump that gets all that came of them or nothing.

A file is known by what is in it, decompressed: since it was converted it may have been renamed, compressed or copied, and
what was written behind its end is new. Of a file that is still written to, what stands up to the end of its last whole
message is taken, and the rest is left. The record of what was converted gets into the dump with what came of it, and
last (dump_root.py): after a crash the next conversion ends the move or begins again.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from client_telemetry.sources.dump_root import DumpRoot
from client_telemetry.sources.log_files import CutOff, LogFile, opened
from client_telemetry.sources.message_ends import MessageEnds
from client_telemetry.sources.stored_file import State, StoredFile

SETTLED = timedelta(minutes=10)
"""A file that was written to within that time is still written to: it may end within a message."""

_RECORDS = "converted"
_BLOCK_BYTES = 2**20
_NOT_ALL = -1
"""For the size of a file of which more is to be read, even if nothing comes to it."""

_MAX_TAIL_BYTES = 64 * 2**20


class StillWritten(ValueError):
    """A file changed while it was converted. Nothing was kept; another attempt leaves it out or takes all of it."""


@dataclass(frozen=True)
class Form:
    """How the messages of a source's files follow each other. `ends`: a new reader of where they end. `is_whole`: whether
    what stands behind the last end is a message all the same, when nothing more comes."""

    ends: Callable[[], MessageEnds]
    is_whole: Callable[[bytes], bool]


class _Taken(NamedTuple):
    """A file as it was when it was converted: `stored_bytes` and `modified_ns` as it lay there, `bytes` and `sha256` of what
    was taken of it, decompressed. `whole`: how much of that were whole messages; None = all. What was behind, which is
    in the quarantine, is read again if more came: it was the beginning of a message."""

    path: str
    stored_bytes: int
    modified_ns: int
    bytes: int
    sha256: str
    whole: int | None = None


class Arrivals:
    """New parts of files, and what was converted into the dump `root` before."""

    def __init__(self, root: str | Path) -> None:
        self.root = DumpRoot(root, _RECORDS)
        records = (json.loads(self.root.read(name) or b"[]") for name in self.root.names(_RECORDS))
        known = [_Taken(*each) for record in records for each in record]
        self.is_first = not known
        self._as_they_lay = {each[:3] for each in known}
        self._whole: dict[int, dict[str, int]] = {}
        """Bytes of a known beginning of a file -> its digest -> how many of these were whole messages."""
        for each in known:
            self._know(each)
        self._taken: list[_Taken] = []
        self._files: list[tuple[StoredFile, State, bool]] = []
        self._has_new: list[bool] = []

    def _know(self, taken: _Taken) -> None:
        whole = taken.bytes if taken.whole is None else taken.whole
        self._whole.setdefault(taken.bytes, {})[taken.sha256] = whole

    def new_parts(
        self, files: Sequence[LogFile], form: Form, settled: timedelta
    ) -> tuple[list[LogFile], list[StoredFile]]:
        """The part of each file that is new, where there is any; and the files that are still written to and end within
        a message."""
        parts, unfinished = [], []
        before = datetime.now(UTC) - settled
        for file in files:
            state = file.file.state()
            lay = (file.file.resolved(), state.bytes, state.modified_ns)
            if lay in self._as_they_lay or not state.bytes:
                continue
            is_growing = state.modified_ns / 10**9 > before.timestamp()
            start, end, taken, is_cut = self._measure(file, form, lay, is_growing)
            if is_growing and end is not None:
                unfinished += [file.file] * (taken.bytes < end)
                if taken.bytes <= start:
                    continue
                if taken.bytes < end:
                    taken = taken._replace(stored_bytes=_NOT_ALL)
                end = taken.bytes
            self._taken.append(taken)
            self._files.append((file.file, state, end is not None))
            self._know(taken)
            self._has_new.append(taken.bytes > start or (is_cut and not taken.bytes))
            if self._has_new[-1]:
                parts.append(replace(file, start=start, end=end))
        return parts, unfinished

    def _measure(
        self, file: LogFile, form: Form, lay: tuple[str, int, int], is_growing: bool
    ) -> tuple[int, int | None, _Taken, bool]:
        """Where the new part starts; where the file ends, None = no end of a message will be found in a growing one; what is
        to be taken; whether the file is cut off."""
        start = known_whole = known = size = whole = 0
        digest = hashlib.sha256()
        digest_of_whole = digest.copy()
        ends, cut = form.ends(), CutOff()
        with opened(file, cut) as text:
            for length in [*sorted(self._whole), None]:
                while (length is None or size < length) and (
                    block := text.read(_BLOCK_BYTES if length is None else min(_BLOCK_BYTES, length - size))
                ):
                    if end := ends.last_end(block):
                        digest.update(block[:end])
                        digest_of_whole, whole = digest.copy(), size + end
                    digest.update(block[end:])
                    size += len(block)
                if size == length and (found := self._whole[length].get(digest.hexdigest())) is not None:
                    known, known_whole = size, found
        start = size if known == size else known_whole
        if is_growing and not ends.is_lost:
            return start, size, _Taken(*lay, whole, digest_of_whole.hexdigest()), False
        if whole < size and not ends.is_lost and form.is_whole(self._tail(file, whole)):
            whole = size
        return start, None, _Taken(*lay, size, digest.hexdigest(), whole), cut.reason is not None

    def _tail(self, file: LogFile, start: int) -> bytes:
        with opened(replace(file, start=start), CutOff()) as text:
            return text.read(_MAX_TAIL_BYTES)

    def keep(self, left: Sequence[StoredFile] = ()) -> None:
        """Move into the dump what was staged, with the record of what it came of. Raises StillWritten. `left`: files of which
        nothing was staged; those that have nothing new beside them are looked at again too: they may be their copies."""
        if left:
            self._taken = [
                taken
                for taken, (file, _, _), has_new in zip(self._taken, self._files, self._has_new, strict=True)
                if has_new and file not in left
            ]
        if not self._taken:
            self.root.discard()
            return
        for file, state, may_grow in self._files:
            if not _is_as_before(file, state, may_grow):
                self.root.discard()
                raise StillWritten(f"{file} was written to while it was converted: convert again")
        record = json.dumps(self._taken, indent=1).encode()
        self.root.move(f"{hashlib.sha256(record).hexdigest()}.json", record)


def _is_as_before(file: StoredFile, before: State, may_grow: bool) -> bool:
    """Whether what was read is what was measured: the file is the same, or the same and longer."""
    try:
        now = file.state()
    except FileNotFoundError:
        return False
    if may_grow and before.identity:
        return now.identity == before.identity and now.bytes >= before.bytes
    return now == before
