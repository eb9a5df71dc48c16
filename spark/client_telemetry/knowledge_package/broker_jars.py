"""The jars from which classes of a broker release can be initialised: its core jar, and those that its POM and the POMs of Kafka's other
jars name. A broker needs more to run (rehearsal/sandbox_broker.py).
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from client_telemetry.knowledge import releases
from client_telemetry.knowledge_package.artefacts import MavenRepository
from client_telemetry.knowledge_package.fetching import NotFetched

_KAFKA = "org.apache.kafka"
_DEEPEST = 6
"""Of Kafka's jars: from the core jar over others to the last one that it needs."""
_LOG_BINDINGS = frozenset(("slf4j-log4j12", "slf4j-reload4j"))
"""Left out: they do not load without a logging library, which only their own POMs name."""
_SCALA_213 = (2, 4)
"""The first release with a core jar for Scala 2.13."""
_DEPENDENCY = re.compile(
    r"<dependency>\s*<groupId>([^<]+)</groupId>\s*<artifactId>([^<]+)</artifactId>\s*<version>([^<]+)</version>(.*?)</dependency>",
    re.DOTALL,
)


def core(release: str) -> str:
    """Coordinates of the jar that has the broker's classes."""
    scala = "2.13" if releases.parse(release) >= _SCALA_213 else "2.11"
    return f"{_KAFKA}:kafka_{scala}:{release}"


def fetch(repository: MavenRepository, of_releases: Sequence[str]) -> None:
    """Have the POMs and jars of these releases in the cache, each round of them in one run of Maven."""
    wanted = {core(release) for release in of_releases}
    names: set[str] = set()
    for _ in range(_DEEPEST if wanted else 0):
        repository.fetch_poms(sorted(each for each in wanted if each.startswith(f"{_KAFKA}:")))
        names |= wanted
        wanted = {each for name in wanted for each in _needed(repository, name)} - names
        if not wanted:
            break
    repository.fetch_jars(sorted(names))


def class_path(repository: MavenRepository, release: str) -> list[Path]:
    """The jars of a release that were fetched; a library that was not published may not be needed. Raises NotFetched for Kafka's own."""
    names = [core(release)]
    for name in names:  # grows
        if name.startswith(f"{_KAFKA}:"):
            repository.pom(name)
        names += [each for each in _needed(repository, name) if each not in names]
    return [repository.jar(names[0]), *_found(repository, names[1:])]


def _found(repository: MavenRepository, names: Iterable[str]) -> Iterable[Path]:
    for name in names:
        try:
            yield repository.jar(name)
        except NotFetched:
            if name.startswith(f"{_KAFKA}:"):
                raise


def _needed(repository: MavenRepository, coordinates: str) -> list[str]:
    """What a POM of Kafka names. What the libraries of others need themselves is not fetched."""
    if not coordinates.startswith(f"{_KAFKA}:"):
        return []
    try:
        pom = repository.pom(coordinates)
    except NotFetched:
        return []
    return [
        f"{group}:{artefact}:{version}"
        for group, artefact, version, rest in _DEPENDENCY.findall(pom)
        if "<scope>test</scope>" not in rest and artefact not in _LOG_BINDINGS
    ]
