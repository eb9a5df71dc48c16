"""Artefacts of registries, in a cache: what was fetched once is not fetched again, so a build goes on where it stopped."""

import hashlib
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from client_telemetry.knowledge import releases
from client_telemetry.knowledge_package import fetching
from client_telemetry.knowledge_package.fetching import NotFetched

MOST_BYTES = 256 * 2**20
"""Of an artefact: kafka-clients has 10 MB, a wheel of confluent-kafka 4 MB."""
REGISTRIES: Mapping[str, str] = {
    "maven": "",
    "pypi": "",
    "npm": "",
    "crates": "",
    "go": "",
}
"""Kind -> base address; CLIENT_TELEMETRY_REGISTRY_MAVEN and the like name a mirror."""
_KAFKA = "org/apache/kafka"


@dataclass(frozen=True)
class Registries:
    cache: Path
    """Folder of what was fetched; made if it is not there."""

    def base(self, kind: str) -> str:
        return (os.environ.get(f"CLIENT_TELEMETRY_REGISTRY_{kind.upper()}") or REGISTRIES[kind]).rstrip("/")

    def kafka_releases(self) -> list[str]:
        """Releases of kafka-clients that are published, oldest first; without candidates. Raises NotFetched."""
        url = f"{self.base('maven')}/{_KAFKA}/kafka-clients/maven-metadata.xml"
        text = fetching.content(url).decode(errors="replace")
        found = re.findall(r"<version>(\d+(?:\.\d+)+)</version>", text)
        if not found:
            raise NotFetched(f"{url}: lists no release")
        return sorted(set(found), key=releases.parse)

    def kafka_jar(self, artefact: str, release: str) -> Path:
        """A jar of Kafka in the cache, with the SHA-1 that the registry says. Raises NotFetched."""
        name = f"{artefact}-{release}.jar"
        file = self.cache / name
        if not file.is_file():
            url = f"{self.base('maven')}/{_KAFKA}/{artefact}/{release}/{name}"
            content = fetching.content(url, MOST_BYTES)
            digest = fetching.content(f"{url}.sha1").decode(errors="replace").split()[:1]
            if digest != [hashlib.sha1(content, usedforsecurity=False).hexdigest()]:
                raise NotFetched(f"{url}: its SHA-1 is not the one that the registry says")
            self._keep(file, content)
        return file

    def text(self, kind: str, path: str) -> str:
        """What a registry answers today, never from the cache. Raises NotFetched."""
        return fetching.content(f"{self.base(kind)}/{quote(path, safe='/@!')}").decode(errors="replace")

    def _keep(self, file: Path, content: bytes) -> None:
        self.cache.mkdir(parents=True, exist_ok=True)
        descriptor, partial = tempfile.mkstemp(dir=self.cache, prefix=".")
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(content)
        Path(partial).replace(file)
