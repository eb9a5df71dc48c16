"""What a source is, and what turns its files into a dump: one Adapter for each kind of source (adapters.py lists them).

An adapter says how messages follow each other in its files, and writes a contract v1 dump of those that are new. Which
bytes are new, and that a dump gets all that came of them or nothing, is not its business (arrivals.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from typing import Protocol

from client_telemetry.sources.arrivals import Form
from client_telemetry.sources.dump_root import DumpRoot
from client_telemetry.sources.log_files import LogFile
from client_telemetry.sources.staged import Staged
from client_telemetry.sources.stored_file import StoredFile


class Refused(ValueError):
    """The source cannot be converted as it was declared, or as it is: another attempt would end the same way. The message
    says what to do instead."""


class WrongCluster(Refused):
    """The files are of another cluster than was specified."""


@dataclass(frozen=True)
class Source:
    """`format`: one of those that an adapter has. `files`: files, folders and patterns, each optionally after
    `<node id>=`. `release`, `zone`: of adapters that take them: what the brokers run where the files do not prove it
    (request_log/broker_releases.py), and the zone of times without one."""

    format: str
    files: tuple[str, ...]
    release: str | None = None
    zone: tzinfo = UTC


@dataclass
class Conversion:
    """What came of the new files; `warnings` are sentences. `left`: files of which nothing was converted, so that the next
    conversion tries again."""

    message: str
    counts: dict[str, int]
    warnings: list[str] = field(default_factory=list)
    left: list[StoredFile] = field(default_factory=list)


class Adapter(Protocol):
    """`formats`: what `format` of a source may be. `options`: which of `release` and `zone` it takes."""

    @property
    def formats(self) -> tuple[str, ...]: ...

    @property
    def options(self) -> frozenset[str]: ...

    def form(self, source: Source) -> Form:
        """How messages follow each other in the files."""

    def convert(
        self, source: Source, parts: Sequence[LogFile], cluster_id: str, before: DumpRoot, staged: Staged
    ) -> Conversion:
        """Write the dump of these parts of files, of one cluster, below `staged.folder`, with what the next conversion
        has to know beside it; `before` is the dump so far, to read that from. The same parts give the same dump.
        Raises Refused."""


def cut_files(reasons: Sequence[str]) -> list[str]:
    """The warning about files that end early, if there are any."""
    return [f"Truncated files: {len(reasons)}, such as {reasons[0]}"] if reasons else []
