"""The configuration of a release: what cannot be read is not known, and what changed is said in sentences."""

import json
import os
import time
from pathlib import Path

import pytest
from client_telemetry import knowledge
from client_telemetry.knowledge import broker_classes, broker_configuration
from client_telemetry.knowledge.broker_configuration import BROKER, NULL, REQUIRED, TOPIC, Key
from client_telemetry.knowledge_package import brokers, configuration, release_differences
from client_telemetry.knowledge_package.artefacts import MAVEN, MavenRepository
from client_telemetry.knowledge_package.configuration import Configuration, UnreadableConfiguration

NEWEST = "4.4.0"
PRINTED = [
    {"scope": "broker", "jar": "kafka_2.13-4.5.0.jar", "class": "kafka.server.KafkaConfig"},
    {"key": "a", "type": "int", "default": "1", "kind": "value", "valid": "[1,...]", "internal": False},
    {"key": "b", "type": "list", "default": "", "kind": "null", "valid": "[x, y]", "internal": True},
    {"scope": "topic", "jar": "kafka-storage-4.5.0.jar", "class": "org.apache.LogConfig"},
    {"key": "c", "type": "string", "default": "", "kind": "required", "valid": "", "internal": False},
    {"implementation": "kafka.Own$Reporter", "jar": "kafka_2.13-4.5.0.jar"},
]


@pytest.fixture(autouse=True)
def _shipped_again():
    yield
    knowledge.use(None)


def lines(rows):
    return "\n".join(map(json.dumps, rows))


def test_what_the_program_prints():
    found = configuration._parsed("4.5.0", lines(PRINTED))
    assert found.keys == {
        BROKER: {"a": Key("int", "1", "[1,...]", False), "b": Key("list", NULL, "", True)},
        TOPIC: {"c": Key("string", REQUIRED, "", False)},
    }
    assert found.source == (
        "org.apache.kafka:kafka_2.13:4.5.0:kafka.server.KafkaConfig org.apache.kafka:kafka-storage:4.5.0:org.apache.LogConfig"
    )
    assert found.classes == {"kafka.Own$Reporter": "org.apache.kafka:kafka_2.13:4.5.0"}


@pytest.mark.parametrize("printed", ["", "x", lines(PRINTED[:2]), lines(PRINTED[1:]), lines(PRINTED[:-1])])
def test_what_cannot_be_read_is_said(printed):
    with pytest.raises(UnreadableConfiguration):
        configuration._parsed("4.5.0", printed)


def test_without_java_or_jars_it_is_not_known_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setenv(MAVEN, (tmp_path / "none").as_uri())
    said = brokers.add_configuration(MavenRepository(tmp_path / "cache"), NEWEST)
    assert said.startswith("broker configuration not known: ") and "\n" not in said
    monkeypatch.setenv("PATH", str(tmp_path))
    said = brokers.add_configuration(MavenRepository(tmp_path / "cache"), NEWEST)
    assert said == "broker configuration not known: Java is not installed"


def test_what_classes_say_while_they_are_initialised_is_no_key():
    said = f"SLF4J: no binding\n{lines(PRINTED)}\nWARN\n"
    assert configuration._parsed("4.5.0", said) == configuration._parsed("4.5.0", lines(PRINTED))
    with pytest.raises(UnreadableConfiguration):
        configuration._parsed("4.5.0", lines(PRINTED).replace('{"key": "b"', 'WARN{"key": "b"'))


def test_what_java_leaves_running_is_ended_with_it(tmp_path, monkeypatch):
    java = tmp_path / "java"
    java.write_text(f"#!/bin/sh\nsleep 300 & echo $! >{tmp_path}/pid\necho Error: nothing here\nexit 1\n")
    java.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(UnreadableConfiguration, match="Error: nothing here"):
        configuration._printed([], [])
    pid = int((tmp_path / "pid").read_text())
    until = time.monotonic() + 10
    while is_running(pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert not is_running(pid)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def of(release: str) -> Configuration:
    keys = {scope: broker_configuration.of(scope, release) for scope in broker_configuration.SCOPES}
    return Configuration(keys, broker_configuration.sources()[release], broker_classes.of(release))


def use(texts):
    knowledge.use_package(brokers.base().with_texts(texts))


def test_a_release_that_is_read_again_changes_nothing():
    assert configuration.rewritten({"4.0.1": of("4.0.1")}) == {
        name: knowledge.shipped_texts()[name]
        for name in (broker_configuration.FILE, broker_configuration.RELEASES_FILE, broker_classes.FILE)
    }


def changed(release: str) -> Configuration:
    found = of(release)
    keys = {**found.keys[BROKER], "new.key": Key("int", "1", "", False)}
    del keys["num.io.threads"]
    keys["log.dir"] = keys["log.dir"]._replace(default="/x")
    return found._replace(keys={**found.keys, BROKER: keys})


def test_recheck_says_where_jars_differ():
    said = configuration.differences("4.0.1", changed("4.0.1"))
    assert [line.split(":")[0] for line in said] == [
        "4.0.1 broker key log.dir",
        "4.0.1 broker key new.key",
        "4.0.1 broker key num.io.threads",
    ]
    assert configuration.differences("4.0.1", of("4.0.1")) == []
    classes = {**of("4.0.1").classes, "kafka.New": "x"}
    assert configuration.differences("4.0.1", of("4.0.1")._replace(classes=classes)) == [
        "4.0.1 class kafka.New: not here"
    ]


def test_differences_are_sentences():
    old = knowledge.shipped_texts()
    use(configuration.rewritten({"4.0.1": changed("4.0.1")}))
    (said,) = release_differences.sentences(old, knowledge.texts())
    assert said == (
        "The broker configuration of Kafka 4.0.1 is known differently: 1 new (broker new.key); 1 gone (broker num.io.threads); "
        "1 changed (broker log.dir string /x (was string /tmp/kafka-logs))."
    )
    assert release_differences.sentences(old, old) == []


def test_a_release_that_is_new_is_compared_with_the_one_before():
    new = knowledge.shipped_texts()
    old = dict(new)
    header, *rows = new[broker_configuration.RELEASES_FILE].splitlines(keepends=True)
    old[broker_configuration.RELEASES_FILE] = "".join(
        [header, *(row for row in rows if not row.startswith("4.0.0,"))]
    )
    (said,) = release_differences.sentences(old, new)
    assert said.startswith("The broker configuration of Kafka 4.0.0 is new: ")
    assert "against 3.9.2: " in said and "gone (" in said
    (gone,) = release_differences.sentences(new, old)
    assert gone == "The broker configuration of Kafka 4.0.0 is no longer known."
