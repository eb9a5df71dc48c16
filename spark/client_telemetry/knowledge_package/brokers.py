"""Releases of Kafka that a registry has and the knowledge base has not, read from their jars and added to it."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from client_telemetry import knowledge
from client_telemetry.knowledge import Package, broker_configuration, broker_release, features, releases
from client_telemetry.knowledge.broker_release import UnusableJar
from client_telemetry.knowledge.features import Levels
from client_telemetry.knowledge_package import broker_jars, configuration, feature_levels
from client_telemetry.knowledge_package.artefacts import MavenRepository
from client_telemetry.knowledge_package.configuration import UnreadableConfiguration
from client_telemetry.knowledge_package.feature_levels import UnusableServerJar
from client_telemetry.knowledge_package.fetching import NotFetched

FEATURES_SINCE = (4, 0)
"""Releases whose `Feature` enum feature_levels.py reads."""
NOT_COMPARED = "broker configuration not compared"


class Step(NamedTuple):
    release: str
    said: str
    """What was done, or why not."""
    is_done: bool


def missing(published: list[str]) -> list[str]:
    """Published releases that are not known, of those since the oldest known one."""
    oldest = releases.parse(releases.known()[0])
    return [each for each in published if each not in releases.known() and releases.parse(each) >= oldest]


def add(repository: MavenRepository, release: str) -> Step:
    """Add a release to the package in use of this process. A jar that cannot be fetched or read leaves it as it is."""
    try:
        of_jar = broker_release.read_jar(repository.kafka_jar("kafka-clients", release))
        levels, why = _levels(repository, release)
        texts = broker_release.rewritten(of_jar, levels)
    except (NotFetched, UnusableJar, releases.UnusableRelease) as error:
        return Step(release, str(error), False)
    knowledge.use_package(base().extended(release, texts))
    lacks = releases.what_is_not_known(release)
    keys = add_configuration(repository, release)
    return Step(release, "; ".join(filter(None, (f"{len(of_jar.rows)} APIs", keys, lacks, why))), True)


def add_configuration(repository: MavenRepository, release: str) -> str:
    """Add the configuration keys of a known release, and say how many or why they are not known."""
    try:
        of_jars = configuration.read(repository, release)
    except (NotFetched, UnreadableConfiguration) as error:
        return f"broker configuration not known: {error}"
    knowledge.use_package(base().with_texts(configuration.rewritten({release: of_jars})))
    return f"{sum(map(len, of_jars.keys.values()))} configuration keys"


def compare(repository: MavenRepository, release: str) -> Step:
    """Whether the rows of a known release equal its jars. Not done if they differ."""
    try:
        of_jar = broker_release.read_jar(repository.kafka_jar("kafka-clients", release))
        found = broker_release.differences(of_jar)
        levels, _ = _levels(repository, release)
        if levels and features.supported().get(release) != levels:
            found += [
                f"{release}: feature levels {features.supported().get(release)} here, {levels} in the jar"
            ]
    except (NotFetched, UnusableJar, releases.UnusableRelease) as error:
        return Step(release, str(error), False)
    try:
        differing = configuration.differences(release, configuration.read(repository, release))
        found, said = [*found, *differing], ""
    except (NotFetched, UnreadableConfiguration) as error:
        said = f"; {NOT_COMPARED}: {error}"
    return Step(release, "; ".join(found) or f"{len(of_jar.rows)} APIs, as here{said}", not found)


def _levels(repository: MavenRepository, release: str) -> tuple[Mapping[str, Levels] | None, str]:
    """The feature levels, and why there are none."""
    if releases.parse(release) < FEATURES_SINCE:
        return None, ""
    try:
        return feature_levels.read(repository.kafka_jar("kafka-server-common", release)), ""
    except (NotFetched, UnusableServerJar) as error:
        return None, str(error)


def base() -> Package:
    """The package in use, or what ships with the program as one."""
    return knowledge.in_use().package or Package.of_texts(
        "shipped", knowledge.shipped_built_at(), knowledge.shipped_texts()
    )


def add_all(repository: MavenRepository) -> Iterator[Step]:
    """Add every release that is published and not known, oldest first, and then the configuration of known ones that lack it."""
    without = broker_configuration.not_known_for(*releases.known())
    try:
        published = repository.kafka_releases()
    except NotFetched as error:
        yield Step("", str(error), False)
        return
    for release in missing(published):
        yield add(repository, release)
    broker_jars.fetch(repository, without)
    for release in without:
        yield Step(release, add_configuration(repository, release), True)
