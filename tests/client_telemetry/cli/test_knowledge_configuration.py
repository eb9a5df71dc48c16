"""`client-telemetry knowledge configuration`: its formats, exit codes and refusals."""

import csv
import io
import json
from functools import partial

import pytest
from client_telemetry import knowledge
from client_telemetry.knowledge import broker_configuration
from client_telemetry.knowledge_package import brokers, store

ASK = ("--from", "3.9.1", "--to", "4.0.0")
SETTINGS = "process.roles=broker\nbroker.id=1\nzookeeper.connect : zk\nx.y=@SUM(1)\n"


@pytest.fixture
def run(knowledge_command):
    return partial(knowledge_command, "configuration")


@pytest.fixture
def properties(tmp_path):
    file = tmp_path / "server.properties"
    file.write_text(SETTINGS)
    return file


def test_without_a_file_it_says_what_differs(run):
    code, printed, error = run(*ASK)
    assert (code, error) == (0, "")
    assert "zookeeper.connect" in printed
    assert "default changes: num.recovery.threads.per.data.dir 1 -> 2" in printed
    assert "valid range changes: log.segment.bytes [14,...] -> [1048576,...]" in printed
    assert "new: 14 keys (--all lists them)" in printed and "share.coordinator.threads" not in printed
    assert "share.coordinator.threads" in run(*ASK, "--all")[1]


def test_a_key_that_is_ignored_is_a_no_go_only_if_the_broker_loses_something(run, properties):
    code, printed, error = run(*ASK, "--properties", properties)
    assert (code, error) == (0, "")
    assert (
        "line 3: zookeeper.connect: does not exist in 4.0.0, which ignores it: the broker loses nothing; instead: "
        "process.roles"
    ) in printed
    assert "not judged: x.y" in printed
    properties.write_text(SETTINGS + "log.message.timestamp.difference.max.ms=1\n")
    code, printed, _ = run(*ASK, "--properties", properties)
    assert (
        code == 3 and "ignores it: the broker loses the limit on timestamps of records; instead: " in printed
    )
    properties.write_text("process.roles=broker\nnode.id=1\ngroup.share.max.groups=5\n")
    code, printed, _ = run("--from", "4.0.0", "--to", "4.4.0", "--properties", properties)
    assert code == 3 and "ignores it: what the broker loses is not known" in printed


def test_what_stops_the_upgrade_comes_first(run, properties):
    properties.write_text("broker.id=1\nzookeeper.connect=zk\n")
    printed = run("--from", "3.7.0", "--to", "4.1.0", "--properties", properties)[1].splitlines()
    assert printed[1].startswith("  ZooKeeper mode: stops the upgrade: Two steps: upgrade to 3.9 first")
    _, text, _ = run("--from", "3.7.0", "--to", "4.1.0", "--properties", properties, "--format", "csv")
    found = [row for row in csv.DictReader(io.StringIO(text)) if row["change"] == "set_blocker"]
    assert {row["key"] for row in found} == {"ZooKeeper mode"} and "Two steps" in found[0]["after"]


def test_a_class_that_the_target_does_not_have_is_a_no_go(run, properties):
    properties.write_text(
        "process.roles=broker\nnode.id=1\nauthorizer.class.name=kafka.security.authorizer.AclAuthorizer\nsasl.login.class=a.B\n"
    )
    code, printed, _ = run(*ASK, "--properties", properties)
    assert (
        code == 3
        and (
            "line 3: authorizer.class.name: names the class kafka.security.authorizer.AclAuthorizer, which 4.0.0 does not have, "
            "so the broker does not start"
        )
        in printed
    )
    assert "not judged: a.B (sasl.login.class)" in printed
    _, text, _ = run(*ASK, "--properties", properties, "--format", "csv")
    found = {row["change"]: row for row in csv.DictReader(io.StringIO(text)) if "class" in row["change"]}
    assert found["set_class_gone"]["before"] == "kafka.security.authorizer.AclAuthorizer"
    assert found["set_class_not_judged"]["before"] == "a.B"


def test_jmx_that_a_broker_loses_is_a_no_go(run, properties):
    properties.write_text("process.roles=broker\nnode.id=1\nmetric.reporters=a.B\n")
    code, printed, _ = run(*ASK, "--properties", properties)
    assert (
        code == 3
        and "line 3: metric.reporters: without org.apache.kafka.common.metrics.JmxReporter" in printed
    )
    assert (
        "set_loses_jmx,a.B,org.apache.kafka.common.metrics.JmxReporter"
        in run(*ASK, "--properties", properties, "--format", "csv")[1]
    )


def test_brokers_on_zookeeper_keep_their_protocol_first(run, properties):
    def printed(settings, *pair):
        properties.write_text(f"broker.id=1\n{settings}\n")
        return run("--from", pair[0], "--to", pair[1], "--properties", properties)[1]

    advice = "set it to 2.8 on all brokers before the rolling upgrade"
    zookeeper = "zookeeper.connect=zk"
    assert advice in printed(zookeeper, "2.8.2", "3.9.1")
    assert advice not in printed(f"{zookeeper}\ninter.broker.protocol.version=2.8", "2.8.2", "3.9.1")
    assert advice not in printed("process.roles=broker", "2.8.2", "3.9.1")
    assert "before the rolling upgrade" not in printed(zookeeper, "3.9.1", "2.8.2")


def test_of_a_part_the_protocol_may_be_set_elsewhere(run, tmp_path):
    file = tmp_path / "map.yaml"
    file.write_text("data:\n  server.properties: |\n    broker.id=1\n    zookeeper.connect=zk\n")
    printed = run("--from", "2.8.2", "--to", "3.9.1", "--properties", file)[1]
    assert "not set here; unless something else sets it, an upgraded broker speaks as 3.9.1" in printed


def test_a_part_of_the_settings_is_said_to_be_one(run, properties):
    properties.write_text("min.insync.replicas=2\n")
    code, printed, _ = run(*ASK, "--properties", properties)
    assert code == 0 and "sets neither process.roles nor zookeeper.connect" in printed


YAML = """
services:
  one:
    environment:
      KAFKA_PROCESS_ROLES: broker
      KAFKA_NODE_ID: 1
      KAFKA_LOG_SEGMENT_BYTES: 7
  two:
    command: start
    environment:
      KAFKA_PROCESS_ROLES: broker
      KAFKA_LOG_SEGMENT_BYTES: ${BYTES}
"""


def test_each_broker_in_a_yaml_file_is_judged_for_itself(run, tmp_path):
    file = tmp_path / "compose.yml"
    file.write_text(YAML)
    code, printed, _ = run(*ASK, "--properties", file)
    one, two, *_ = printed.split("\n\n")
    assert code == 3 and one.startswith(f"{file}: services one environment, from 3.9.1 to 4.0.0:")
    assert "line 7: log.segment.bytes=7: refused" in one
    assert "something beside it may set more" in two and "required by" not in two
    assert "not judged: log.segment.bytes" in two
    unnamed = tmp_path / "pipe"
    unnamed.write_text(YAML)
    assert run(*ASK, "--properties", unnamed)[1].count("environment, from") == 2


def test_of_two_brokers_with_one_name_neither_is_lost(run, tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("config: {log.segment.bytes: 7}\n---\nconfig: {log.segment.bytes: 2000000}\n")
    code, printed, _ = run(*ASK, "--properties", file)
    assert code == 3 and "line 1: log.segment.bytes=7: refused" in printed
    assert f"{file}: config (no. 2, line 3), from 3.9.1 to 4.0.0:" in printed


def test_a_rollback_below_the_protocol_is_a_no_go(run, properties):
    properties.write_text("broker.id=1\nzookeeper.connect=zk\ninter.broker.protocol.version=3.9\n")
    code, printed, _ = run("--from", "3.9.1", "--to", "3.5.1", "--properties", properties)
    says = "line 3: inter.broker.protocol.version=3.9: refused, so the broker does not start: valid is up to 3.5-IV2"
    assert code == 3 and says in printed


@pytest.mark.parametrize(
    ("text", "says"),
    [("a: b\n", "has no settings of a Kafka broker: "), ("a: [\n", "line 2: not valid YAML: ")],
)
def test_yaml_that_cannot_be_used_is_one_line(run, tmp_path, text, says):
    file = tmp_path / "values.yaml"
    file.write_text(text)
    code, printed, error = run(*ASK, "--properties", file)
    assert (code, printed) == (2, "") and says in error and error.count("\n") == 1


def test_csv_and_json_have_the_same_rows(run, properties):
    _, text, _ = run(*ASK, "--properties", properties, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(text)))
    document = json.loads(run(*ASK, "--properties", properties, "--format", "json")[1])
    assert (document["from_release"], document["to_release"]) == ("3.9.1", "4.0.0")
    assert document["changes"] == rows
    assert {
        "file": str(properties),
        "line": "3",
        "scope": "broker",
        "key": "zookeeper.connect",
        "change": "set_gone",
        "before": "",
        "after": "process.roles, node.id, controller.listener.names and controller.quorum.voters, after the migration to KRaft",
    } in rows


def test_a_release_whose_configuration_was_not_read_is_not_known(run, monkeypatch):
    texts = {
        name: "\n".join(
            line
            for line in knowledge.shipped_texts()[name].splitlines()
            if ",4.0.0," not in line and not line.startswith("4.0.0,")
        )
        for name in (broker_configuration.FILE, broker_configuration.RELEASES_FILE)
    }
    package = brokers.base().with_texts(texts)
    monkeypatch.setattr(store, "activate", lambda: knowledge.use_package(package))
    code, printed, error = run(*ASK)
    assert (code, printed) == (4, "") and "the configuration of 4.0.0 is not known" in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "cannot be read: No such file"),
        (b"a\0b", "it has NUL bytes"),
        (b"# nothing\n", "sets nothing"),
        (b"log4j.rootLogger=INFO, stdout\n", "sets no key of a Kafka broker"),
        (
            b"FROM apache/kafka\nENV KAFKA_NODE_ID=1\n",
            "or a file with a line KAFKA_…=value for each variable",
        ),
        (
            b"All configs for broker 1 are:\n  log.dirs=/a sensitive=false synonyms={STATIC_BROKER_CONFIG:log.dirs=/a}\n",
            "is what kafka-configs --describe prints, with defaults among what is set: specify the server.properties of a broker",
        ),
        (
            b"[2026-12-01] INFO KafkaConfig values: \n\tlog.dirs = /a\n",
            "is the log of a broker, with defaults among",
        ),
        (b"node.id=1\nb=\\users\n", "line 2: "),
    ],
)
def test_files_that_cannot_be_used_are_one_line(run, tmp_path, content, says):
    file = tmp_path / "a.properties"
    if content is not None:
        file.write_bytes(content)
    code, printed, error = run(*ASK, "--properties", file)
    assert (code, printed) == (2, "") and says in error and error.count("\n") == 1


def test_releases_that_cannot_be_asked_about_are_one_line(run):
    for pair in (("3.9.1", "3.9.1"), ("3.9", "4.0.0"), ("3.9.1", "9.9.9")):
        code, printed, error = run("--from", pair[0], "--to", pair[1])
        assert (code, printed) == (2, "") and error.count("\n") == 1


def test_a_release_of_confluent_platform_is_told_from_one_of_kafka(run):
    code, _, error = run("--from", "7.7.0", "--to", "4.0.0")
    assert code == 2 and "Confluent Platform, which has Kafka 3.7: use one of 3.7.0, 3.7.1, 3.7.2" in error


def test_a_byte_order_mark_is_said(run, properties):
    properties.write_bytes(b"\xef\xbb\xbf" + properties.read_bytes())
    code, printed, error = run(*ASK, "--properties", properties)
    assert code == 0 and "byte order mark" in error and "required by" not in printed
