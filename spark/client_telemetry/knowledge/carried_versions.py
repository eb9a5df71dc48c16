"""Which version of a library a release of a framework brings, or of a list of versions (BOM) manages.

Read from the POMs that are published (`client-telemetry knowledge build --frameworks`). What a framework brings is what its
own POM names: in a build, another dependency or a list may decide otherwise.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from client_telemetry.knowledge import (
    DamagedKnowledge,
    due,
    own_rows,
    rows,
    shipped_rows,
)

FILE = "carried_versions.csv"
COLUMNS = ("type", "name", "library", "library_version", "versions", "source")
"""`versions`: releases of the package, separated by spaces."""


class Carried(NamedTuple):
    type: str
    name: str
    library: str
    library_version: str
    versions: tuple[str, ...]
    """Releases of the package."""
    source: str


_REGARDLESS_OF_CASE = ("golang", "nuget", "composer", "github", "hex", "deb", "apk", "rpm")


def normal_name(kind: str, name: str) -> str:
    """The name of a package as its registry compares it.

    >>> names = ("pypi", "Confluent._kafka"), ("nuget", "Confluent.Kafka"), ("npm", "kafkaJS")
    >>> [normal_name(kind, name) for kind, name in names]
    ['confluent-kafka', 'confluent.kafka', 'kafkaJS']
    """
    if kind == "pypi":
        return re.sub(r"[-_.]+", "-", name).lower()  # PEP 503
    return name.lower() if kind in _REGARDLESS_OF_CASE else name


def every() -> Iterator[Carried]:
    """The rows. Raises DamagedKnowledge."""
    return (_row(line, cells) for line, cells in rows(FILE, COLUMNS))


def own() -> Iterator[tuple[int, Carried]]:
    """A user's rows with their lines. Raises DamagedKnowledge."""
    return ((line, _row(line, cells)) for line, cells in own_rows(FILE, COLUMNS))


def _row(line: int, cells: list[str]) -> Carried:
    due(FILE, line, **dict(zip(COLUMNS, cells, strict=True)))
    kind, name, library, version, versions, source = cells
    return Carried(kind, normal_name(kind, name), library, version, tuple(versions.split()), source)


@cache
def _by_release() -> dict[tuple[str, str, str], str]:
    """A user's row comes before the shipped one of the same release."""
    own_versions = _of(own())
    shipped = _of((line, _row(line, cells)) for line, cells in shipped_rows(FILE, COLUMNS))
    return shipped | own_versions


def _of(numbered: Iterable[tuple[int, Carried]]) -> dict[tuple[str, str, str], str]:
    found: dict[tuple[str, str, str], str] = {}
    for line, row in numbered:
        for version in row.versions:
            if found.setdefault((row.type, row.name, version), row.library_version) != row.library_version:
                reason = f"{row.name} {version} occurs with two versions of {row.library}"
                raise DamagedKnowledge(FILE, line, reason)
    return found


def library_version(kind: str, name: str, version: str) -> str | None:
    """None if it is not known. `kind`, `name` as in artefact_packages.csv.

    >>> library_version("maven", "org.springframework.boot/spring-boot-dependencies", "3.1.0")
    '3.4.0'
    """
    return _by_release().get((kind, name, version))


def check() -> None:
    """Raises DamagedKnowledge for a release with two versions."""
    _by_release()
