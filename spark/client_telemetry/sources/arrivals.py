"""Which bytes of a source's files are new, and a dump that receives everything converted from them or nothing.

A file is identified by its decompressed content: since its conversion it may have been renamed, compressed or copied,
and what was appended to it is new. A file that is still being written is taken up to the end of its last whole message.
The record of what was converted enters the dump together with the results, and last (dump_root.py): after a crash the
next conversion completes the move or starts over.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO, NamedTuple

from client_telemetry import Unusable
from client_telemetry.sources.compression import CutOff
from client_telemetry.sources.dump_root import DumpRoot
from client_telemetry.sources.log_files import LogFile, opened
from client_telemetry.sources.message_ends import MessageEnds
from client_telemetry.sources.stored_file import State, StoredFile

SETTLED = timedelta(minutes=10)
"""A file modified within that time counts as still being written: it may end within a message."""

_RECORDS = "converted"
_BLOCK_BYTES = 2**20
_NOT_ALL = -1
"""Stands for the size of a file of which more remains to be read, even if nothing is appended."""

_MAX_TAIL_BYTES = 64 * 2**20


class StillWritten(Unusable):
    """A file changed during its conversion. Nothing was kept; another attempt takes all of it or leaves it out."""


Opened = Callable[[LogFile, CutOff], AbstractContextManager[BinaryIO]]


@dataclass(frozen=True)
class Form:
    """How the messages of a source's files follow each other. `ends`: creates a reader that finds their ends.
    `is_whole`: whether what follows the last end is a message after all if nothing more comes. `opened`: how the
    part of a file is read.
    """

    ends: Callable[[], MessageEnds]
    is_whole: Callable[[bytes], bool]
    opened: Opened = opened


class _Taken(NamedTuple):
    """A file as it was when it was converted: `stored_bytes` and `modified_ns` as stored, `bytes` and `sha256` of the
    part that was taken, decompressed. `whole`: how many of these bytes were whole messages; None = all. The rest,
    which is in the quarantine, is read again if more comes: it was the beginning of a message.
    """

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
        earlier = [_Taken(*fields) for record in records for fields in record]
        self.is_first = not earlier
        self._as_they_lay = {taken[:3] for taken in earlier}
        self._whole: dict[int, dict[str, int]] = {}
        """Length of a known beginning of a file -> its digest -> how many of its bytes were whole messages."""
        for taken in earlier:
            self._know(taken)
        self._taken: list[_Taken] = []
        self._files: list[tuple[StoredFile, State, bool]] = []
        self._has_new: list[bool] = []

    def _know(self, taken: _Taken) -> None:
        whole = taken.bytes if taken.whole is None else taken.whole
        self._whole.setdefault(taken.bytes, {})[taken.sha256] = whole

    def new_parts(
        self, files: Sequence[LogFile], form: Form, settled: timedelta
    ) -> tuple[list[LogFile], list[StoredFile]]:
        """The new part of each file that has one, and the files that are still being written and end within a message."""
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
        """Where the new part starts; where the file ends, None if no end of a message will be found in a growing one;
        what is to be taken; whether the file is cut off.
        """
        start = known_whole = known_size = size = whole = 0
        digest = hashlib.sha256()
        digest_of_whole = digest.copy()
        ends, cut = form.ends(), CutOff()
        with form.opened(file, cut) as text:
            for length in [*sorted(self._whole), None]:
                while (length is None or size < length) and (
                    block := text.read(_BLOCK_BYTES if length is None else min(_BLOCK_BYTES, length - size))
                ):
                    if end := ends.last_end(block):
                        digest.update(block[:end])
                        digest_of_whole, whole = digest.copy(), size + end
                    digest.update(block[end:])
                    size += len(block)
                if (
                    size == length
                    and (whole_bytes := self._whole[length].get(digest.hexdigest())) is not None
                ):
                    known_size, known_whole = size, whole_bytes
        start = size if known_size == size else known_whole
        if is_growing and not ends.is_lost:
            return start, size, _Taken(*lay, whole, digest_of_whole.hexdigest()), False
        if whole < size and not ends.is_lost and form.is_whole(self._tail(file, form, whole)):
            whole = size
        return start, None, _Taken(*lay, size, digest.hexdigest(), whole), cut.reason is not None

    def _tail(self, file: LogFile, form: Form, start: int) -> bytes:
        with form.opened(replace(file, start=start), CutOff()) as text:
            return text.read(_MAX_TAIL_BYTES)

    def keep(self, unconverted: Sequence[StoredFile] = ()) -> None:
        """Move what was staged into the dump, with the record of the files it came from. Raises StillWritten.
        `unconverted`: files of which nothing was staged. Files without new parts are then looked at again too: they
        may be copies of those.
        """
        if unconverted:
            self._taken = [
                taken
                for taken, (file, _, _), has_new in zip(self._taken, self._files, self._has_new, strict=True)
                if has_new and file not in unconverted
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
    """Whether what was read is what was measured: the file is the same, or the same but longer."""
    try:
        now = file.state()
    except FileNotFoundError:
        return False
    if may_grow and before.identity:
        return now.identity == before.identity and now.bytes >= before.bytes
    return now == before
