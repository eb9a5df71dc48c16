"""Which version of kafka-clients a release of a framework brings, or of a list of versions (BOM) manages, by the POMs that are published.

A POM inherits from its parents and imports lists, which are fetched too. What a POM brings is a dependency of the scopes
compile or runtime on kafka-clients, or on something of which that is known.
"""

import csv
import io
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import cache

from client_telemetry.artefacts.readers import maven
from client_telemetry.artefacts.readers.maven import KAFKA_CLIENTS, Project, Version
from client_telemetry.artefacts.readers.xml_text import Element, parse
from client_telemetry.knowledge import carried_versions, client_versions, software

_DEEPEST = 12
_STEPS = 3
"""From a framework over others to kafka-clients: spring-cloud-stream's binder brings spring-kafka."""
_PLAIN = re.compile(r"\d+(?:\.\d+)+")

ReadPom = Callable[[str], str]
"""The POM of `group:artifact:version`. Raises NotFetched."""


class Frameworks:
    """Of POMs that are read once. `brings`: names `group:artifact` that bring kafka-clients along."""

    def __init__(self, read: ReadPom, brings: Iterable[str]) -> None:
        self._read = cache(read)
        self._brings = frozenset(brings)
        self._whole = cache(self._of_pom)

    def managed(self, coordinates: str) -> str | None:
        """The version of kafka-clients that a list of versions manages; None: none. Raises NotFetched, Unreadable."""
        return self._managed(coordinates, KAFKA_CLIENTS)

    def brought(self, coordinates: str, steps: int = _STEPS) -> str | None:
        """The version of kafka-clients that a release brings; None if its POM does not say. Raises NotFetched, Unreadable."""
        wanted = {KAFKA_CLIENTS} | (self._brings if steps else frozenset())
        versions = {}
        for dependencies in parse(self._read(coordinates), "project").all("dependencies"):
            for dependency in dependencies.all("dependency"):
                name = f"{dependency.value('groupId')}:{dependency.value('artifactId')}"
                if name in wanted and _is_brought(dependency):
                    versions[name] = self._version(dependency, name, coordinates)
        if KAFKA_CLIENTS in versions:
            return versions[KAFKA_CLIENTS]
        found = {
            self.brought(f"{name}:{version}", steps - 1) for name, version in versions.items() if version
        }
        return found.pop() if len(found) == 1 else None

    def _version(self, dependency: Element, name: str, coordinates: str) -> str | None:
        written = dependency.value("version")
        if not written:
            return self._managed(coordinates, name)
        version = self._whole(coordinates).resolve(Version(written, None))
        return version.text if version else None

    def _managed(self, coordinates: str, key: str, depth: int = 0) -> str | None:
        """By the POM and its parents, or else by the first list that they import and that has the key."""
        project = self._whole(coordinates)
        if key in project.managed:
            version = project.resolve(project.managed[key])
            return version.text if version and _PLAIN.fullmatch(version.text) else None
        for name, wanted in project.imported if depth < _DEEPEST else ():
            named, version = project.resolve(Version(name, None)), project.resolve(wanted)
            if named and version and (found := self._managed(f"{named.text}:{version.text}", key, depth + 1)):
                return found
        return None

    def _of_pom(self, coordinates: str) -> Project:
        """With what its parents say."""
        own, above = maven.project_of(self._read(coordinates)), Project()
        if own.missing_parent:
            above = self._whole(own.missing_parent)
        return Project(
            above.properties | own.properties, above.managed | own.managed, [*own.imported, *above.imported]
        )


def _is_brought(dependency: Element) -> bool:
    return dependency.value("scope") in ("", "compile", "runtime") and dependency.value("optional") != "true"


def stable(versions: Iterable[str]) -> list[str]:
    """Without candidates, milestones and snapshots: those have no place in production.

    >>> stable(["2.2.0.RELEASE", "3.0.0-M1", "3.0.0.Final", "3.0.1", "4.0.0-RC1", "3.0.1-1.18"])
    ['2.2.0.RELEASE', '3.0.0.Final', '3.0.1', '3.0.1-1.18']
    """
    return [
        version
        for version in versions
        if re.fullmatch(r"v?\d+(\.\d+)*([.-](RELEASE|Final|GA|\d[\d.]*))?", version)
    ]


def rewritten(found: Mapping[str, Mapping[str, str]], checked_on: str) -> str:
    """carried_versions.csv with what was found: names as in artefact_packages.csv -> release -> version of kafka-clients."""
    releases: dict[tuple[str, str], list[str]] = defaultdict(list)
    sources: dict[tuple[str, str], str] = {}
    for row in carried_versions.every():
        releases[row.name, row.library_version] += row.versions
        sources[row.name, row.library_version] = row.source
    for name, carried in found.items():
        for release, version in carried.items():
            releases[name, version].append(release)
            sources[name, version] = f"Maven Central: POMs, {checked_on}"
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(carried_versions.COLUMNS)
    for name, version in sorted(releases, key=lambda key: (key[0], client_versions.parse(key[1]))):
        of_version = sorted(releases[name, version], key=client_versions.parse)
        table.writerow(
            ("maven", name, software.JAVA_LIBRARY, version, " ".join(of_version), sources[name, version])
        )
    return out.getvalue()
