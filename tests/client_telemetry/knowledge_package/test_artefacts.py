"""What is asked of Maven where no address of a repository is given."""

import sys
from pathlib import Path

import pytest
from client_telemetry.knowledge_package import artefacts, maven_runs
from client_telemetry.knowledge_package.artefacts import MavenRepository
from client_telemetry.knowledge_package.fetching import NotFetched

MAVEN = f"""#!{sys.executable}
import os, re, sys
from pathlib import Path
program = Path(__file__).parent
with open(program / "asked", "a") as asked:
    print(*sys.argv[1:], file=asked)
local = Path(next(each.partition("=")[2] for each in sys.argv if each.startswith("-Dmaven.repo.local=")))
item = r"<artifactItem>\\s*<groupId>(.*?)</groupId>\\s*<artifactId>(.*?)</artifactId>\\s*<version>(.*?)</version>"
published, failed = (program / "published").read_text().split(), 0
for pom in Path().glob("*/pom.xml"):
    group, artefact, version = re.search(item, pom.read_text()).groups()
    folder = local / group.replace(".", "/") / artefact
    versions = [each.split(":")[2] for each in published if each.startswith(f"{{group}}:{{artefact}}:")]
    if version not in [*versions, *["LATEST"][: len(versions)]]:
        failed = 1
        print(f"[ERROR] Failed to execute goal copy (default) on project {{pom.parent.name}}: Could not find {{artefact}}:pom:{{version}}")
        continue
    if version == "LATEST":
        version = versions[-1]
        folder.mkdir(parents=True, exist_ok=True)
        listed = "".join(f"<version>{{each}}</version>" for each in versions)
        (folder / "maven-metadata-central.xml").write_text(listed)
    (folder / version).mkdir(parents=True, exist_ok=True)
    (folder / version / f"{{artefact}}-{{version}}.pom").write_text(f"<project>{{version}}</project>")
sys.exit(failed)
"""


@pytest.fixture
def maven(tmp_path, monkeypatch):
    """A program `mvn` that knows what is published, notes how it is called, and keeps what it is asked for as Maven does."""

    def made(*published: str) -> Path:
        program = tmp_path / "bin" / "mvn"
        program.parent.mkdir()
        program.write_text(MAVEN)
        program.chmod(0o755)
        program.with_name("published").write_text(" ".join(published))
        monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
        monkeypatch.delenv(artefacts.MAVEN, raising=False)
        return program.with_name("asked")

    return made


def runs(asked: Path) -> list[str]:
    return asked.read_text().splitlines() if asked.exists() else []


def test_lists_of_versions_take_one_maven_and_the_pom_of_the_latest(maven, tmp_path):
    """A range would have Maven read the POM of each version: 247 of spring-kafka, and a broken one of Flink's ends it."""
    asked = maven("org.example:thing:1.0", "org.example:thing:2.0-M1", "org.example:thing:2.0", "org:other:7")
    repository = MavenRepository(tmp_path / "cache")
    repository.fetch_lists(["org.example:thing", "org:other", "org:none"])
    assert repository.versions("org.example", "thing") == ["1.0", "2.0-M1", "2.0"]
    assert repository.versions("org", "other") == ["7"]
    with pytest.raises(
        NotFetched, match="the list of versions of none: Maven: Could not find none:pom:LATEST"
    ):
        repository.versions("org", "none")
    (call,) = runs(asked)
    assert " -U " in call and " -fae " in call


def test_a_list_is_asked_for_anew_by_the_next_build(maven, tmp_path):
    asked = maven("org.example:thing:1.0")
    assert MavenRepository(tmp_path / "cache").versions("org.example", "thing") == ["1.0"]
    asked.with_name("published").write_text("org.example:thing:1.0 org.example:thing:1.1")
    assert MavenRepository(tmp_path / "cache").versions("org.example", "thing") == ["1.0", "1.1"]


def test_many_poms_take_one_maven_and_one_that_is_missing_stops_no_other(maven, tmp_path):
    asked = maven("org:a:1", "org:b:2")
    repository = MavenRepository(tmp_path / "cache")
    repository.fetch_poms({"org:a:1", "org:b:2", "org:c:3", "not a coordinate"})
    assert repository.pom("org:a:1") == "<project>1</project>" and repository.pom("org:b:2")
    with pytest.raises(NotFetched, match="the POM of org:c:3: Maven: Could not find c:pom:3"):
        repository.pom("org:c:3")
    with pytest.raises(NotFetched, match="'not a coordinate' is not group:artefact:version"):
        repository.pom("not a coordinate")
    assert len(runs(asked)) == 1
    MavenRepository(tmp_path / "cache").fetch_poms({"org:a:1", "org:b:2"})
    assert len(runs(asked)) == 1, "what was fetched once is in the cache"


def test_a_build_that_is_stopped_has_what_was_fetched_before(maven, tmp_path, monkeypatch):
    """By as many POMs as one process fetches."""
    monkeypatch.setattr(maven_runs, "MOST_AT_ONCE", 2)
    asked = maven("org:a:1", "org:b:2", "org:c:3")
    MavenRepository(tmp_path / "cache").fetch_poms({"org:a:1", "org:b:2", "org:c:3"})
    assert len(runs(asked)) == 2


def test_without_maven_it_is_said_how_to_do_without_it(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(artefacts.MAVEN, raising=False)
    repository = MavenRepository(tmp_path / "cache")
    repository.fetch_poms({"org:a:1"})
    with pytest.raises(NotFetched, match=f"no Maven repository: set {artefacts.MAVEN} to the address of one"):
        repository.pom("org:a:1")
    with pytest.raises(NotFetched, match="no Maven repository: set"):
        repository.versions("org", "a")


def test_what_maven_does_not_say_has_its_exit_code(maven, tmp_path):
    asked = maven("org:a:1")
    asked.with_name("mvn").write_text("#!/bin/sh\nexit 3\n")
    repository = MavenRepository(tmp_path / "cache")
    repository.fetch_poms({"org:a:1"})
    with pytest.raises(NotFetched, match="the POM of org:a:1: Maven: 3"):
        repository.pom("org:a:1")
