"""What a source is, and what converts its files into a dump: one Adapter per kind of source (listed in adapters.py).

An adapter says how messages follow each other in its files, and writes a contract v1 dump of the new ones. arrivals.py
decides which bytes are new and makes the conversion atomic.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from typing import Protocol

from client_telemetry import Unusable
from client_telemetry.sources.arrivals import Form
from client_telemetry.sources.dump_root import DumpRoot
from client_telemetry.sources.log_files import LogFile
from client_telemetry.sources.staged import Staged
from client_telemetry.sources.stored_file import StoredFile


class Refused(Unusable):
    """The source cannot be converted as declared, or as it is: another attempt would fail the same way. The message
    says what to do instead.
    """


class WrongCluster(Refused):
    """The files belong to another cluster than specified."""


@dataclass(frozen=True)
class Source:
    """`format`: one that an adapter supports. `files`: files, folders and patterns, each optionally prefixed with
    `<node id>=`. `release`, `zone`: for adapters that take them: the brokers' release if the files do not prove it
    (request_log/broker_releases.py), and the time zone of times without one. `year`: of times without one; None = that of
    the file's time.
    """

    format: str
    files: tuple[str, ...]
    release: str | None = None
    zone: tzinfo = UTC
    year: int | None = None


@dataclass
class Conversion:
    """The result of converting the new files; `warnings` are sentences. `left`: files of which nothing was converted,
    so that the next conversion tries them again. `nothing_read`: why not a single message could be read; empty = some
    could.
    """

    message: str
    counts: dict[str, int]
    warnings: list[str] = field(default_factory=list)
    left: list[StoredFile] = field(default_factory=list)
    nothing_read: str = ""


class Adapter(Protocol):
    """`formats`: accepted values of a source's `format`. `options`: which of `release`, `zone` and `year` it takes."""

    @property
    def formats(self) -> tuple[str, ...]: ...

    @property
    def options(self) -> frozenset[str]: ...

    def form(self, source: Source) -> Form:
        """How messages follow each other in the files."""

    def convert(
        self, source: Source, parts: Sequence[LogFile], cluster_id: str, before: DumpRoot, staged: Staged
    ) -> Conversion:
        """Write the dump of these parts of files, all of one cluster, below `staged.folder`, together with what the
        next conversion needs to know, which is read from `before`, the dump so far. The same parts always give the
        same dump. Raises Refused.
        """


def cut_files(reasons: Sequence[str]) -> list[str]:
    """The warning about files that end early, if any."""
    return [f"Truncated files: {len(reasons)}, such as {reasons[0]}"] if reasons else []
