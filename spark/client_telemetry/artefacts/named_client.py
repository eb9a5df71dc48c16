"""A client library as people name it in a list: by its own name, that of its binding or of a package, or by a package URL."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, lru_cache

from client_telemetry.artefacts import libraries
from client_telemetry.artefacts.libraries import Client
from client_telemetry.artefacts.packages import Package
from client_telemetry.compatibility import release_lines
from client_telemetry.knowledge import client_ranges, known_packages
from client_telemetry.knowledge.known_packages import MANAGES, MANAGES_NOTHING, KnownPackage
from client_telemetry.knowledge.software import SECOND_VERSION, WrittenLibrary

_ONE_VERSION = re.compile(r"v?\d+(?:\.\d+){2,}(?:[-+.~][0-9A-Za-z.+~-]+)?")
_LINE = re.compile(r"v?\d+(?:\.\d+)?(?:\.[xX*])?")
_OF_A_LIST = "list"
"""Type of a package that a list names by something else than a package's name."""


@lru_cache(maxsize=4096)
def named(text: str, version: str) -> Client:
    """The client that a list names so, with the version written beside it. `written` is None, with the reason, if the name is
    not known or stands for several, or the version is not that of one release.

    >>> named("franz-go", "v1.20.7").text, named("pkg:npm/kafkajs@2.2.4", "").text
    ('franz-go 1.20.7', 'kafkajs 2.2.4')
    >>> named("kafkajs", "2.x").why_unknown
    "'2.x' names a line of releases, not one"
    """
    text, version = text.strip(), version.strip()
    if text.startswith("pkg:"):
        return _by_url(text, version)
    if library := _library(text):
        return _checked(text, version, lambda package: _of_library(library, package))
    rows = _rows(text)
    if len({(row.library, row.binding, row.contains) for row in rows}) == 1:
        return _checked(rows[0].name, version, lambda package: _of_row(rows[0], package))
    package = Package(_OF_A_LIST, text, version or None)
    if not rows:
        return Client(package, "", None, f"no library, binding or package named {text!r} is known here")
    shared = {row.library for row in rows}
    urls = ", ".join(sorted(f"pkg:{row.type}/{row.name}" for row in rows)[:5])
    why = f"{text!r} names several packages: write which one it is ({urls})"
    return Client(package, shared.pop() if len(shared) == 1 else "", None, why)


def releases_of(text: str, version: str) -> list[Client]:
    """The client as each release of the line that the version names, if it does and the name is that of a library itself: what
    a binding or a framework carries is not known by a line.
    """
    library = _library(text.strip())
    if not library:
        return []
    return [named(library, release) for release in release_lines.releases_of(library, version.strip())]


def _by_url(text: str, version: str) -> Client:
    from client_telemetry.artefacts.readers import package_urls

    url = package_urls.parse(text)
    if url is None:
        return Client(Package(_OF_A_LIST, text, version or None), "", None, f"{text!r} is not a package URL")
    row = known_packages.find(url.type, url.name)
    if row is None:
        why = f"no package {url.type}/{url.name} is known here"
        return Client(Package(url.type, url.name, url.version or version or None), "", None, why)
    return _checked(row.name, url.version or version, lambda package: _of_row(row, package))


def _checked(name: str, version: str, of: Callable[[Package], Client]) -> Client:
    why = ""
    if not version:
        why = "its version is not written"
    elif _LINE.fullmatch(version):
        why = f"{version!r} names a line of releases, not one"
    elif not _ONE_VERSION.fullmatch(version) or SECOND_VERSION.match(version):
        why = f"{version!r} is not the version of one release"
    return of(Package(_OF_A_LIST, name, None if why else version, why_unknown=why))


def _of_library(library: str, package: Package) -> Client:
    written = WrittenLibrary(library, package.version.removeprefix("v")) if package.version else None
    return Client(replace(package, name=library), library, written, package.why_unknown)


def _of_row(row: KnownPackage, package: Package) -> Client:
    client = libraries.of(replace(package, type=row.type, name=row.name))
    if client is None:
        return Client(package, "", None, f"{row.name} is a list of versions, not a client")
    return client


@cache
def _library(text: str) -> str:
    """The library of this name, as the knowledge base writes it; empty if there is none."""
    files = (client_ranges.FILE, client_ranges.UNNAMED_FILE)
    names = {row.library for file in files for row in client_ranges.read(file)}
    names |= {row.library for row in known_packages.every() if row.library}
    by_name = {_plain(name): name for name in names}
    return by_name.get(_plain(text), "")


def _rows(text: str) -> list[KnownPackage]:
    """The packages and bindings of this name: those that are written just so, or else those that differ in separators only."""
    wanted = [text.casefold(), text.casefold().replace(":", "/")]
    just_so = [row for row in _packages() if any(name.casefold() in wanted for name in _names(row))]
    return just_so or [
        row for row in _packages() if any(_plain(name) == _plain(text) for name in _names(row))
    ]


def _packages() -> Iterator[KnownPackage]:
    return (row for row in known_packages.every() if row.contains not in (MANAGES, MANAGES_NOTHING))


def _names(row: KnownPackage) -> Iterator[str]:
    """What people call it: kafka-clients, org.apache.kafka/kafka-clients, IBM/sarama."""
    yield row.name
    path = re.sub(r"/v\d+$|\.v\d+$", "", row.name).split("/")
    yield path[-1]
    yield "/".join(path[-2:])
    if row.binding:
        yield row.binding


def _plain(name: str) -> str:
    return re.sub(r"[-_. ]+", "-", name.strip()).casefold()
