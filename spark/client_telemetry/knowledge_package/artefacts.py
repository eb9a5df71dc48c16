"""Artefacts of a Maven repository, in a cache: what was fetched once is not fetched again, so a build goes on
where it stopped.

CLIENT_TELEMETRY_REGISTRY_MAVEN is the base address of the repository, such as a company's mirror. Without it, Maven itself
fetches, from where its settings say.
"""

import hashlib
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from client_telemetry.console.output_file import replace_file
from client_telemetry.knowledge import releases
from client_telemetry.knowledge_package import fetching
from client_telemetry.knowledge_package.fetching import NotFetched

MAVEN = "CLIENT_TELEMETRY_REGISTRY_MAVEN"
MOST_BYTES = 256 * 2**20
"""Of an artefact: kafka-clients has 10 MB."""
MOST_POM_BYTES = 8 * 2**20
MAVEN_TIMEOUT_S = 300
_GROUP, _CLIENTS = "org.apache.kafka", "kafka-clients"
_COORDINATES = re.compile(r"\w[\w.-]*:\w[\w.-]*:\w[\w.+-]*")

_FIRST_RELEASE = (0, 10)
"""Of Kafka, whose clients are in a jar of their own since 0.8.2 and are known since this one."""


@dataclass(frozen=True)
class MavenRepository:
    cache: Path
    """Folder of what was fetched; made if it is not there."""

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
        where = _path(group, artefact, "maven-metadata.xml")
        text = (
            fetching.content(f"{self.base}/{where}").decode(errors="replace")
            if self.base
            else self._metadata_of_maven(group, artefact)
        )
        found = re.findall(r"<version>([^<\s]+)</version>", text)
        if not found:
            raise NotFetched(f"{self.base or 'Maven'}: lists no version of {group}:{artefact}")
        return list(dict.fromkeys(found))

    def _metadata_of_maven(self, group: str, artefact: str) -> str:
        """What Maven keeps of the list of versions when it looks the latest one up. A range of versions would have it read the POM
        of each, and fail at one that is broken.
        """
        latest = f"-Dartifact={group}:{artefact}:LATEST:pom"
        what = f"the list of versions of {artefact}"
        self._maven(what, "-U", "dependency:get", latest, "-Dtransitive=false")
        folder = self.cache / "m2" / group.replace(".", "/") / artefact
        return "".join(file.read_text("utf-8", "replace") for file in folder.glob("maven-metadata-*.xml"))

    def pom(self, coordinates: str) -> str:
        """The POM of `group:artefact:version`. Raises NotFetched."""
        if not _COORDINATES.fullmatch(coordinates):
            raise NotFetched(f"{coordinates!r} is not group:artefact:version")
        group, artefact, version = coordinates.split(":")
        path = _path(group, artefact, version, f"{artefact}-{version}.pom")
        file = self.cache / "m2" / path
        if not file.is_file():
            if self.base:
                content = fetching.content(f"{self.base}/{path}", MOST_POM_BYTES)
                file.parent.mkdir(parents=True, exist_ok=True)
                replace_file(file, content)
            else:
                self._maven(
                    f"the POM of {coordinates}",
                    "dependency:get",
                    f"-Dartifact={coordinates}:pom",
                    "-Dtransitive=false",
                )
        try:
            return file.read_text("utf-8", "replace")
        except OSError:
            raise NotFetched(f"Maven kept no POM of {coordinates}") from None

    def kafka_jar(self, artefact: str, release: str) -> Path:
        """A jar of Kafka in the cache, with the SHA-1 that the repository says. Raises NotFetched."""
        file = self.cache / f"{artefact}-{release}.jar"
        if file.is_file():
            return file
        if self.base:
            url = f"{self.base}/{_path(_GROUP, artefact, release, file.name)}"
            content = fetching.content(url, MOST_BYTES)
            digest = fetching.content(f"{url}.sha1").decode(errors="replace").split()[:1]
            if digest != [hashlib.sha1(content, usedforsecurity=False).hexdigest()]:
                raise NotFetched(f"{url}: its SHA-1 is not the one that the repository says")
            self.cache.mkdir(parents=True, exist_ok=True)
            replace_file(file, content)
        else:
            jar = f"-Dartifact={_GROUP}:{artefact}:{release}:jar"
            self._maven(file.name, "dependency:copy", jar, f"-DoutputDirectory={self.cache}")
        return file

    def _maven(self, what: str, *arguments: str) -> None:
        """Maven checks digests itself, and fetches what its cache does not have."""
        program = shutil.which("mvn")
        if program is None:
            raise NotFetched(f"no Maven repository: set {MAVEN} to the address of one, or install Maven")
        self.cache.mkdir(parents=True, exist_ok=True)
        command = [program, "-q", "-B", f"-Dmaven.repo.local={self.cache / 'm2'}", *arguments]
        try:
            done = subprocess.run(
                command, cwd=self.cache, capture_output=True, text=True, timeout=MAVEN_TIMEOUT_S
            )
        except subprocess.TimeoutExpired:
            raise NotFetched(f"{what}: Maven did not end within {MAVEN_TIMEOUT_S} s") from None
        if done.returncode:
            said = re.search(r"\[.*?ERROR.*?\] (.{1,300})", done.stdout)
            raise NotFetched(f"{what}: Maven: {said[1].strip() if said else done.returncode}")


def _path(group: str, *parts: str) -> str:
    return "/".join((group.replace(".", "/"), *parts))
