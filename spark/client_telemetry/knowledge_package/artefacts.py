"""Artefacts of Kafka from a Maven repository, in a cache: what was fetched once is not fetched again, so a build goes on
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
MAVEN_TIMEOUT_S = 300
_GROUP, _CLIENTS = "org.apache.kafka", "kafka-clients"

_POM = f"""<project><modelVersion>4.0.0</modelVersion>
<groupId>client-telemetry</groupId><artifactId>versions</artifactId><version>1</version><packaging>pom</packaging>
<dependencies><dependency><groupId>{_GROUP}</groupId><artifactId>{_CLIENTS}</artifactId><version>[0.10.0.0,)</version>
<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions></dependency></dependencies>
</project>
"""
"""A project that needs any release: to choose one, Maven fetches the list of them."""


@dataclass(frozen=True)
class MavenRepository:
    cache: Path
    """Folder of what was fetched; made if it is not there."""

    @property
    def base(self) -> str:
        """The address of the folder with Kafka's artefacts; empty: Maven knows it."""
        address = os.environ.get(MAVEN, "").rstrip("/")
        return address and f"{address}/{_GROUP.replace('.', '/')}"

    def kafka_releases(self) -> list[str]:
        """Releases of kafka-clients that are published, oldest first; without candidates. Raises NotFetched."""
        where = f"{self.base}/{_CLIENTS}/maven-metadata.xml" if self.base else "Maven"
        text = fetching.content(where).decode(errors="replace") if self.base else self._metadata_of_maven()
        found = re.findall(r"<version>(\d+(?:\.\d+)+)</version>", text)
        if not found:
            raise NotFetched(f"{where}: lists no release of {_CLIENTS}")
        return sorted(set(found), key=releases.parse)

    def _metadata_of_maven(self) -> str:
        """What Maven keeps of the list of versions when it resolves a range of them."""
        self.cache.mkdir(parents=True, exist_ok=True)
        pom = self.cache / "pom.xml"
        pom.write_text(_POM, encoding="utf-8")
        self._maven(f"the list of versions of {_CLIENTS}", "-U", "-f", str(pom), "dependency:resolve")
        folder = self.cache / "m2" / _GROUP.replace(".", "/") / _CLIENTS
        return "".join(file.read_text("utf-8", "replace") for file in folder.glob("maven-metadata-*.xml"))

    def kafka_jar(self, artefact: str, release: str) -> Path:
        """A jar of Kafka in the cache, with the SHA-1 that the repository says. Raises NotFetched."""
        file = self.cache / f"{artefact}-{release}.jar"
        if file.is_file():
            return file
        if self.base:
            url = f"{self.base}/{artefact}/{release}/{file.name}"
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
