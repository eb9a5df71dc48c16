"""A package as a file names it: what readers of lock files, SBOMs and archives return."""

import re
from collections.abc import Callable
from dataclasses import dataclass

ReadOther = Callable[[str], str | None]
"""The text of another file by its path relative to the one that is read; None if it is not in the tree."""

NOT_LOCKED = "version not locked"
"""A range or nothing is written, and no lock file beside it says what is installed."""


UNREAD = "(not read)"
"""Type of what stands for a part of an archive or image that cannot be read: `why_unknown` is the reason."""


class Unreadable(ValueError):
    """A file cannot be read as what its name says; the message is the reason, without the file's name."""


@dataclass(frozen=True)
class Place:
    """Where something is written: `file` relative to what is scanned, `inside` the path in an archive or image."""

    file: str
    line: int | None = None
    """Counted from 1; None in binary files."""
    inside: str = ""

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        return f"{where} ({self.inside})" if self.inside else where


@dataclass(frozen=True)
class Package:
    """`type` and `name` as in a package URL, namespace included: maven org.apache.kafka/kafka-clients."""

    type: str
    name: str
    version: str | None
    line: int | None = None
    why_unknown: str = ""
    """Why there is no version; empty if there is one."""
    inside: str = ""
    """Path inside an archive or image; empty for a file by itself."""
    editable: bool = False
    """Whether people write this line by hand, with the version on it: a manifest, not a lock file."""
    declared_only: bool = False
    """Whether a lock file beside it, if there is one, says better what is installed."""
    by_itself: bool = False
    """Whether a script or notebook installs it for itself: other files say nothing of it, nor it of them, but its own lock file."""
    managed: bool = False
    """The version that the package has if another one brings it: it is no dependency by itself."""
    through: str = ""
    """Where the version is from if it is not written here: 'managed by spring-boot-starter-parent 2.7.18'."""
    development: str = ""
    """What says that only tests or development use it: 'scope test'; empty if the application does, or the file cannot tell."""
    doubt: str = ""
    """Why the application may run with another version, or without it: 'scope provided: the platform brings it …'."""
    left_out: str = ""
    """Why the library that it brings along is not there when the application runs; empty if that is not known."""
    without_librdkafka: str = ""
    """How it is known that it runs with the librdkafka of the system, not with that of its own release; empty if it has one."""


def declared(
    kind: str,
    name: str,
    version: str | None,
    wanted: object,
    line: int | None,
    development: str = "",
    *,
    declared_only: bool = True,
) -> Package:
    """What people write in a manifest: `wanted` as it stands, and `version` if that is exactly one."""
    why = "" if version else f"{NOT_LOCKED} ({wanted or 'no version'})"
    return Package(
        kind, name, version, line, why, editable=True, declared_only=declared_only, development=development
    )


def only_version(pattern: re.Pattern[str], wanted: str | None) -> str | None:
    """The version in the pattern's group, if what is wanted is exactly one."""
    match = pattern.fullmatch(wanted or "")
    return match[1] if match else None


def locked(kind: str, name: str, version: str | None, line: int | None, development: str = "") -> Package:
    why = "" if version else "the lock file has no version"
    return Package(kind, name, version, line, why, development=development)


def locked_to(repository: str) -> str:
    """Why there is no version where a lock file names a repository: what a fork or a commit sends is not known."""
    return f"locked to {repository}, not a release"
