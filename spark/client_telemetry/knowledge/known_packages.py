"""Packages that are Kafka clients or bring one along: the table from package URLs to libraries.

`contains` says how a package stands to the library: it `is` the library (or a binding with the library inside), it brings
the library in the `same_version`, or it `brings` some version of it (carried_versions.py), and what a build takes is decided
by all that is in it. Lists of versions (BOMs) and parents either `manages` it or `manages_nothing` of Kafka. A user's row comes before the
shipped one of the same name.
"""

import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from client_telemetry.knowledge import (
    DamagedKnowledge,
    Line,
    carried_versions,
    due,
    one_of,
    rows,
)

FILE = "artefact_packages.csv"
COLUMNS = ("type", "name", "library", "binding", "contains", "note", "source")
_KAFKA = "org.apache.kafka"
IS, SAME_VERSION, BRINGS = "is", "same_version", "brings"
MANAGES, MANAGES_NOTHING = "manages", "manages_nothing"
TYPES = (
    "apk",
    "cargo",
    "composer",
    "conan",
    "conda",
    "cpan",
    "deb",
    "gem",
    "generic",
    "github",
    "golang",
    "hackage",
    "hex",
    "maven",
    "npm",
    "nuget",
    "pecl",
    "pypi",
    "rpm",
    "swift",
    "vcpkg",
)
"""Of package URLs, and pecl and vcpkg for what those have no type for."""
_CONTAINS = (IS, SAME_VERSION, BRINGS, MANAGES, MANAGES_NOTHING)


class KnownPackage(NamedTuple):
    type: str
    name: str
    library: str
    """Empty for a Kafka client about whose requests nothing is known."""
    binding: str
    contains: str
    note: str


@cache
def _by_name() -> dict[tuple[str, str], KnownPackage]:
    known: dict[tuple[str, str], KnownPackage] = {}
    first: dict[tuple[str, str], int] = {}
    for line, cells in rows(FILE, COLUMNS):
        row = _row(line, cells)
        key = row.type, row.name
        earlier = first.setdefault(key, line)
        if earlier is line:
            known[key] = row
        elif isinstance(line, Line) or not isinstance(earlier, Line):
            raise DamagedKnowledge(FILE, line, f"{row.type} {row.name} occurs twice, first in line {earlier}")
    return known


def _row(line: int, cells: list[str]) -> KnownPackage:
    kind, name, library, binding, contains, note, source = cells
    due(FILE, line, type=kind, name=name, source=source)
    one_of(FILE, line, "type", kind, TYPES)
    one_of(FILE, line, "contains", contains, _CONTAINS)
    if kind == "maven" and not re.fullmatch(r"[^\s/:]+/[^\s/:]+", name):
        raise DamagedKnowledge(
            FILE, line, f"name {name!r} is not group/artifact, as in org.apache.kafka/kafka-clients"
        )
    return KnownPackage(kind, carried_versions.normal_name(kind, name), library, binding, contains, note)


def find(kind: str, name: str) -> KnownPackage | None:
    """The row for a package URL's type and name; None if it is not known to have to do with Kafka.

    >>> find("golang", "github.com/shopify/sarama").library
    'sarama'
    """
    return _by_name().get((kind, normal_name(kind, name)))


def managed_version(kind: str, name: str, version: str | None) -> tuple[bool, str | None]:
    """Of a list of versions or a parent: whether it is known what it manages of Kafka, and the version of the library if it does.

    >>> managed_version("maven", "org.springframework.boot/spring-boot-starter-parent", "2.7.18")
    (True, '3.1.2')
    >>> managed_version("maven", "com.acme/parent", "7"), managed_version("maven", "org.junit/junit-bom", "5.9.1")
    ((False, None), (True, None))
    """
    known = _by_name().get((kind, name))
    if known is None or known.contains not in (MANAGES, MANAGES_NOTHING):
        return False, None
    if known.contains == MANAGES_NOTHING:
        return True, None
    carried = carried_versions.library_version(kind, name, version or "")
    return carried is not None, carried


def normal_name(kind: str, name: str) -> str:
    """Names as their registries compare them: PyPI takes `_`, `.` and `-` for the same, Go's hosts and NuGet take no
    notice of case.

    >>> normal_name("pypi", "Confluent._kafka"), normal_name("npm", "kafkaJS")
    ('confluent-kafka', 'kafkaJS')
    """
    if kind == "maven":
        # Syft takes the artifact for the group of a jar without pom.properties, as all of Kafka's are (built by Gradle).
        group, _, artifact = name.partition("/")
        kafkas = f"{_KAFKA}/{artifact}"
        return kafkas if group == artifact and (kind, kafkas) in _by_name() else name
    return carried_versions.normal_name(kind, name)


def every() -> Iterable[KnownPackage]:
    """The rows of the table."""
    return _by_name().values()
