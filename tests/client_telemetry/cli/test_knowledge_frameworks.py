"""Which POMs of frameworks `knowledge build --frameworks` reads."""

import re

import pytest
from client_telemetry import knowledge
from client_telemetry.cli.knowledge_frameworks import add_carried
from client_telemetry.console.progress import Progress
from client_telemetry.knowledge import carried_versions
from client_telemetry.knowledge_package.fetching import NotFetched

POM = "<project><dependencies><dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-clients</artifactId><version>{}</version></dependency></dependencies></project>"
NOTHING = "<project></project>"
FLINK = "org.apache.flink:flink-sql-connector-kafka"
SPRING = "org.springframework.kafka:spring-kafka"


class Repository:
    def __init__(self, poms: dict[str, str]) -> None:
        self.poms, self.asked = poms, list[str]()

    def versions(self, group: str, artefact: str) -> list[str]:
        name = f"{group}:{artefact}:"
        if not (found := [each.removeprefix(name) for each in self.poms if each.startswith(name)]):
            raise NotFetched("404")
        return found

    def pom(self, coordinates: str) -> str:
        self.asked.append(coordinates)
        return self.poms[coordinates]


@pytest.fixture(autouse=True)
def _knowledge_as_before():
    before = knowledge.in_use()
    yield
    knowledge.use(before)


def asked(poms: dict[str, str]) -> list[str]:
    repository = Repository(poms)
    with Progress("reading") as progress:
        add_carried(repository, progress)  # type: ignore[arg-type]
    return repository.asked


def test_releases_that_are_older_than_known_ones_are_not_read_again():
    known = [row.versions for row in carried_versions.every() if row.name == SPRING.replace(":", "/")]
    assert known
    newest = max(
        (each for versions in known for each in versions),
        key=lambda each: [*map(int, re.findall(r"\d+", each))],
    )
    poms = {f"{SPRING}:{each}": POM.format("4.1.1") for each in ("0.0.9", newest, "99.0.0", "99.0.1")}
    assert asked(poms) == [f"{SPRING}:99.0.1", f"{SPRING}:99.0.0"]


def test_nothing_older_is_read_where_nothing_is_known_and_the_newest_release_says_nothing():
    assert asked({f"{FLINK}:1.0.0": POM.format("3.9.1"), f"{FLINK}:2.0.0": NOTHING}) == [f"{FLINK}:2.0.0"]
    said = {f"{FLINK}:1.0.0": NOTHING, f"{FLINK}:2.0.0": POM.format("4.0.0")}
    assert asked(said) == [f"{FLINK}:2.0.0", f"{FLINK}:1.0.0"]
