"""A data package of knowledge in memory: the texts of its files, when it was built, and where it was read.

package_files.py reads and writes packages; knowledge.use activates one.
"""

import datetime as dt
import zlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace


class UnusablePackage(ValueError):
    """A data package that is damaged, not trusted, or not for this version of the program; the message has one line."""


@dataclass(frozen=True)
class Package:
    """It is sent to workers, which need not see the file: 800 KB of CSV are 90 KB here."""

    origin: str
    """Where it was read: a path or URL."""
    built_at: dt.datetime
    """UTC."""
    compressed: Mapping[str, bytes]
    """File name -> its UTF-8 text, compressed by zlib."""
    extended_with: tuple[str, ...] = ()
    """Releases that were added in memory from their jars: only their request versions are known."""

    @classmethod
    def of_texts(cls, origin: str, built_at: dt.datetime, texts: Mapping[str, str]) -> "Package":
        return cls(origin, built_at, _compressed(texts))

    def text(self, file: str) -> str:
        """Raises KeyError for a file that it lacks."""
        return zlib.decompress(self.compressed[file]).decode()

    def names(self) -> Collection[str]:
        """The names of its files, sorted."""
        return sorted(self.compressed)

    def extended(self, release: str, texts: Mapping[str, str]) -> "Package":
        """The package with these files in place of its own, which add a release."""
        return replace(self.with_texts(texts), extended_with=(*self.extended_with, release))

    def with_texts(self, texts: Mapping[str, str]) -> "Package":
        """The package with these files in place of its own."""
        return replace(self, compressed={**self.compressed, **_compressed(texts)})


def _compressed(texts: Mapping[str, str]) -> dict[str, bytes]:
    return {file: zlib.compress(text.encode()) for file, text in texts.items()}
