"""What is asked of Maven where no address of a repository is given."""

from pathlib import Path

import pytest
from client_telemetry.knowledge_package import artefacts
from client_telemetry.knowledge_package.artefacts import MavenRepository
from client_telemetry.knowledge_package.fetching import NotFetched

MAVEN = """#!/usr/bin/env bash
echo "$*" >> "{asked}"
for each in "$@"; do case "$each" in -Dmaven.repo.local=*) local="${{each#*=}}";; esac; done
[ -z "{list}" ] && {{ echo "[ERROR] Could not find artifact"; exit 1; }}
mkdir -p "$local/org/example/thing"
echo "{list}" > "$local/org/example/thing/maven-metadata-central.xml"
"""
LIST = "<versions><version>1.0</version><version>2.0-M1</version><version>2.0</version></versions>"


@pytest.fixture
def maven(tmp_path, monkeypatch):
    """A program `mvn` that notes how it is called and keeps a list of versions, or fails without one."""

    def made(listed: str) -> Path:
        asked, program = tmp_path / "asked", tmp_path / "bin" / "mvn"
        program.parent.mkdir()
        program.write_text(MAVEN.format(asked=asked, list=listed))
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
        monkeypatch.delenv(artefacts.MAVEN, raising=False)
        return asked

    return made


def test_a_list_of_versions_takes_one_maven_and_the_pom_of_the_latest(maven, tmp_path):
    """A range would have Maven read the POM of each version: 247 of spring-kafka, and a broken one of Flink's ends it."""
    asked = maven(LIST)
    assert MavenRepository(tmp_path / "cache").versions("org.example", "thing") == ["1.0", "2.0-M1", "2.0"]
    (call,) = asked.read_text().splitlines()
    assert "dependency:get" in call and "-Dartifact=org.example:thing:LATEST:pom" in call
    assert "-Dtransitive=false" in call and " -U " in call


def test_what_maven_does_not_find_is_said(maven, tmp_path):
    maven("")
    with pytest.raises(NotFetched, match="the list of versions of thing: Maven: "):
        MavenRepository(tmp_path / "cache").versions("org.example", "thing")
