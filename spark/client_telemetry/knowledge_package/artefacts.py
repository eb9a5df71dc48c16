"""Artefacts of a Maven repository, in a cache: what was fetched once is not fetched again, so a build goes on
where it stopped.

CLIENT_TELEMETRY_REGISTRY_MAVEN is the base address of the repository, such as a company's mirror. Without it, Maven itself
fetches, from where its settings say.
"""

import hashlib
import os
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from client_telemetry.console.output_file import replace_file
from client_telemetry.knowledge import releases
from client_telemetry.knowledge_package import fetching, maven_runs
from client_telemetry.knowledge_package.fetching import NotFetched

MAVEN = maven_runs.BASE_ADDRESS
MOST_BYTES = 256 * 2**20
"""Of an artefact: kafka-clients has 10 MB."""
MOST_POM_BYTES = 8 * 2**20
_POM, _JAR = "pom", "jar"
_IN_WORDS = {_POM: "POM", _JAR: "jar"}
_GROUP, _CLIENTS, _LATEST = "org.apache.kafka", "kafka-clients", "LATEST"
_FIRST_RELEASE = (0, 10)
"""Of Kafka, whose clients are in a jar of their own since 0.8.2 and are known since this one."""


@dataclass(frozen=True)
class MavenRepository:
    cache: Path
    """Folder of what was fetched; made if it is not there."""
    _lists: dict[str, str] = field(default_factory=dict)
    """`group:artefact` whose list of versions Maven was asked for -> why it has none; empty: it has one."""
    _not_fetched: dict[tuple[str, str], str] = field(default_factory=dict)
    """Coordinates and kind (POM or jar) -> why it could not be fetched."""

    @property
    def base(self) -> str:
        """The address of the repository; empty: Maven knows it."""
        return os.environ.get(MAVEN, "").rstrip("/")

    def kafka_releases(self) -> list[str]:
        """Releases of kafka-clients that are published, oldest first; without candidates. Raises NotFetched."""
        published = [each for each in self.versions(_GROUP, _CLIENTS) if re.fullmatch(r"\d+(?:\.\d+)+", each)]
        found = {each for each in published if releases.parse(each) >= _FIRST_RELEASE}
        if not found:
            raise NotFetched(f"{self.base or 'Maven'}: lists no release of {_CLIENTS}")
        return sorted(found, key=releases.parse)

    def versions(self, group: str, artefact: str) -> list[str]:
        """All that the repository lists, in its order. Raises NotFetched."""
        if self.base:
            where = _path(group, artefact, "maven-metadata.xml")
            text = fetching.content(f"{self.base}/{where}").decode(errors="replace")
        else:
            text = self._listed_by_maven(group, artefact)
        found = re.findall(r"<version>([^<\s]+)</version>", text)
        if not found:
            raise NotFetched(f"{self.base or 'Maven'}: lists no version of {group}:{artefact}")
        return list(dict.fromkeys(found))

    def fetch_lists(self, names: Collection[str]) -> None:
        """Have Maven fetch the lists of versions of these `group:artefact`, for `versions`, in one process. With the address of a
        repository there is nothing to do.
        """
        if not self.base:
            said = maven_runs.fetch(self.cache, {f"{name}:{_LATEST}" for name in names}, _POM)
            self._lists.update({name: said.get(f"{name}:{_LATEST}", "") for name in names})

    def _listed_by_maven(self, group: str, artefact: str) -> str:
        """What Maven keeps of the list of versions when it looks the latest one up. A range of versions would have it read the POM
        of each, and fail at one that is broken.
        """
        name = f"{group}:{artefact}"
        if name not in self._lists:
            self.fetch_lists([name])
        if reason := self._lists[name]:
            raise NotFetched(f"the list of versions of {artefact}: {reason}")
        folder = maven_runs.local(self.cache) / group.replace(".", "/") / artefact
        return "".join(file.read_text("utf-8", "replace") for file in folder.glob("maven-metadata-*.xml"))

    def pom(self, coordinates: str) -> str:
        """The POM of `group:artefact:version` in the cache. Raises NotFetched, also where `fetch_poms` has not been asked for it."""
        try:
            return self._fetched(coordinates, _POM).read_text("utf-8", "replace")
        except OSError as error:
            raise NotFetched(f"the POM of {coordinates}: {error.strerror}") from None

    def jar(self, coordinates: str) -> Path:
        """Likewise, the jar, which `fetch_jars` was asked for."""
        return self._fetched(coordinates, _JAR)

    def fetch_poms(self, coordinates: Collection[str]) -> None:
        """Fetch these POMs into the cache, in as few processes as possible; what could not be fetched, `pom` says."""
        self._fetch_all(coordinates, _POM)

    def fetch_jars(self, coordinates: Collection[str]) -> None:
        """Likewise, the jars."""
        self._fetch_all(coordinates, _JAR)

    def _fetched(self, coordinates: str, kind: str) -> Path:
        if not maven_runs.COORDINATES.fullmatch(coordinates):
            raise NotFetched(f"{coordinates!r} is not group:artefact:version")
        file = self._file(coordinates, kind)
        if not file.is_file():
            reason = self._not_fetched.get((coordinates, kind), "not in the cache")
            raise NotFetched(f"the {_IN_WORDS[kind]} of {coordinates}: {reason}")
        return file

    def _fetch_all(self, coordinates: Collection[str], kind: str) -> None:
        wanted = [each for each in coordinates if maven_runs.COORDINATES.fullmatch(each)]
        missing = [each for each in wanted if not self._file(each, kind).is_file()]
        if self.base:
            failed = {}
            for each in missing:
                try:
                    self._fetch_from_base(each, kind)
                except NotFetched as error:
                    failed[each] = str(error)
        else:
            failed = maven_runs.fetch(self.cache, missing, kind)
        self._not_fetched.update({(each, kind): reason for each, reason in failed.items()})

    def _fetch_from_base(self, coordinates: str, kind: str) -> None:
        file = self._file(coordinates, kind)
        url = f"{self.base}/{file.relative_to(maven_runs.local(self.cache)).as_posix()}"
        content = fetching.content(url, MOST_POM_BYTES) if kind == _POM else _checked_jar(url)
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, content)

    def _file(self, coordinates: str, kind: str) -> Path:
        group, artefact, version = coordinates.split(":")
        return maven_runs.local(self.cache) / _path(group, artefact, version, f"{artefact}-{version}.{kind}")

    def kafka_jar(self, artefact: str, release: str) -> Path:
        """A jar of Kafka in the cache, with the SHA-1 that the repository says. Raises NotFetched."""
        file = self.cache / f"{artefact}-{release}.jar"
        if file.is_file():
            return file
        if self.base:
            url = f"{self.base}/{_path(_GROUP, artefact, release, file.name)}"
            content = _checked_jar(url)
            self.cache.mkdir(parents=True, exist_ok=True)
            replace_file(file, content)
        else:
            jar = f"-Dartifact={_GROUP}:{artefact}:{release}:jar"
            try:
                maven_runs.run(self.cache, "dependency:copy", jar, f"-DoutputDirectory={self.cache}")
            except NotFetched as error:
                raise NotFetched(f"{file.name}: {error}") from None
        return file


def _path(group: str, *parts: str) -> str:
    return "/".join((group.replace(".", "/"), *parts))


def _checked_jar(url: str) -> bytes:
    """With the SHA-1 that the repository says. Raises NotFetched."""
    content = fetching.content(url, MOST_BYTES)
    digest = fetching.content(f"{url}.sha1").decode(errors="replace").split()[:1]
    if digest != [hashlib.sha1(content, usedforsecurity=False).hexdigest()]:
        raise NotFetched(f"{url}: its SHA-1 is not the one that the repository says")
    return content
