"""Which POMs of frameworks `knowledge build --frameworks` reads."""

import re
from typing import ClassVar

import pytest
from client_telemetry import knowledge
from client_telemetry.cli.knowledge_frameworks import add_carried
from client_telemetry.console.progress import Progress
from client_telemetry.knowledge import carried_versions
from client_telemetry.knowledge_package.brokers import Step
from client_telemetry.knowledge_package.fetching import NotFetched

POM = "<project><dependencies><dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-clients</artifactId><version>{}</version></dependency></dependencies></project>"
NOTHING = "<project></project>"
FLINK = "org.apache.flink:flink-sql-connector-kafka"
BOOT = "org.springframework.boot:spring-boot-dependencies"
SPRING = "org.springframework.kafka:spring-kafka"


class Repository:
    """`fetched`: what was asked for at once, in order; `poms` are published."""

    kept_before: ClassVar[dict[str, str]] = {}

    def __init__(self, poms: dict[str, str]) -> None:
        self.poms, self.kept = poms, dict(self.kept_before)
        self.listed, self.fetched = list[str](), list[list[str]]()

    def fetch_lists(self, names: list[str]) -> None:
        self.listed += names

    def versions(self, group: str, artefact: str) -> list[str]:
        name = f"{group}:{artefact}:"
        if not (found := [each.removeprefix(name) for each in self.poms if each.startswith(name)]):
            raise NotFetched("404")
        return found

    def fetch_poms(self, coordinates: set[str]) -> None:
        self.fetched.append(sorted(coordinates))
        self.kept |= {each: self.poms[each] for each in coordinates if each in self.poms}

    def pom(self, coordinates: str) -> str:
        try:
            return self.kept[coordinates]
        except KeyError:
            raise NotFetched(f"the POM of {coordinates}: 404") from None


@pytest.fixture(autouse=True)
def _knowledge_as_before():
    before = knowledge.in_use()
    yield
    knowledge.use(before)


def build(poms: dict[str, str]) -> tuple[Repository, list[Step]]:
    repository = Repository(poms)
    with Progress("reading") as progress:
        steps = add_carried(repository, progress)  # type: ignore[arg-type]
    return repository, [step for step in steps if step.said != "404"]


def test_releases_that_are_older_than_known_ones_are_not_read_again():
    known = [row.versions for row in carried_versions.every() if row.name == SPRING.replace(":", "/")]
    assert known
    newest = max(
        (each for versions in known for each in versions),
        key=lambda each: [*map(int, re.findall(r"\d+", each))],
    )
    poms = {f"{SPRING}:{each}": POM.format("4.1.1") for each in ("0.0.9", newest, "99.0.0", "99.0.1")}
    assert build(poms)[0].fetched == [[f"{SPRING}:99.0.0", f"{SPRING}:99.0.1"]]


def test_nothing_older_is_read_where_nothing_is_known_and_the_newest_release_says_nothing():
    said = {f"{FLINK}:1.0.0": POM.format("3.9.1"), f"{FLINK}:2.0.0": NOTHING}
    assert build(said)[0].fetched == [[f"{FLINK}:2.0.0"]]
    said = {f"{FLINK}:1.0.0": NOTHING, f"{FLINK}:2.0.0": POM.format("4.0.0")}
    assert build(said)[0].fetched == [[f"{FLINK}:2.0.0"], [f"{FLINK}:1.0.0"]]


def test_what_all_lack_is_fetched_at_once_parents_after_those_that_name_them():
    child = "<project><parent><groupId>a</groupId><artifactId>{}</artifactId><version>1</version></parent>"
    child += (
        "<dependencies><dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-clients</artifactId>"
    )
    child += "<version>${{kafka}}</version></dependency></dependencies></project>"
    parent = "<project><properties><kafka>{}</kafka></properties></project>"
    poms = {f"{FLINK}:99.0.0": child.format("x"), f"{SPRING}:99.0.0": child.format("y")}
    poms |= {"a:x:1": parent.format("4.0.1"), "a:y:1": parent.format("4.1.0")}
    repository, steps = build(poms)
    assert repository.fetched == [[f"{FLINK}:99.0.0", f"{SPRING}:99.0.0"], ["a:x:1", "a:y:1"]]
    assert [step.release for step in steps] == [SPRING, FLINK] and all(step.is_done for step in steps)
    assert carried_versions.library_version("maven", FLINK.replace(":", "/"), "99.0.0") == "4.0.1"
    assert carried_versions.library_version("maven", SPRING.replace(":", "/"), "99.0.0") == "4.1.0"


def test_a_parent_that_cannot_be_fetched_is_asked_for_once_and_said():
    child = "<project><parent><groupId>a</groupId><artifactId>x</artifactId><version>1</version></parent></project>"
    repository, steps = build({f"{BOOT}:99.0.0": child})
    assert repository.fetched == [[f"{BOOT}:99.0.0"], ["a:x:1"]]
    assert [(step.release, step.said, step.is_done) for step in steps] == [
        (f"{BOOT}:99.0.0", "the POM of a:x:1: 404", False)
    ]
    assert BOOT in repository.listed and FLINK in repository.listed


def test_a_build_that_goes_on_fetches_what_the_cache_lacks(monkeypatch):
    poms = {f"{FLINK}:99.0.0": POM.format("4.0.1"), f"{SPRING}:99.0.0": POM.format("4.1.0")}
    monkeypatch.setattr(Repository, "kept_before", {f"{FLINK}:99.0.0": POM.format("4.0.1")})
    assert build(poms)[0].fetched == [[f"{SPRING}:99.0.0"]]
