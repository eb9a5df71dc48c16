"""Verdicts on libraries that are written down, and the tables behind them."""

import pytest
from client_telemetry.artefacts import libraries
from client_telemetry.artefacts.code import CodeSeen
from client_telemetry.artefacts.judged import configurations, of
from client_telemetry.artefacts.packages import Package
from client_telemetry.compatibility import ClientEvidence, judge
from client_telemetry.knowledge import client_ranges, known_packages, software
from client_telemetry.knowledge.software import WrittenLibrary

READ = CodeSeen(libraries=frozenset(("sarama", "kafka-python", "aiokafka")))
"""The code was read, and pins nothing."""


def verdict(kind: str, name: str, version: str, target: str) -> str:
    client = libraries.of(Package(kind, name, version))
    assert client is not None
    return of(client, "3.9.2", target, READ).verdict


@pytest.mark.parametrize(
    ("case", "kind", "name", "version", "target", "expected"),
    [
        ("JoinGroup 0 and 1 are not in 4.0.0", "npm", "kafkajs", "1.7.0", "4.0.0", "breaks"),
        ("and back in 4.0.1", "npm", "kafkajs", "1.7.0", "4.3.1", "safe"),
        ("kafka-go reads with JoinGroup 1 before 0.4.48", "golang", "github.com/segmentio/kafka-go", "v0.4.47", "4.0.0", "breaks"),
        ("and with 2 from then on", "golang", "github.com/segmentio/kafka-go", "v0.4.48", "4.0.0", "safe"),
        ("sarama commits with OffsetCommit 1 before 1.41", "golang", "github.com/IBM/sarama", "v1.40.1", "4.3.1", "breaks"),
        ("and as of 2.1 from then on", "golang", "github.com/IBM/sarama", "v1.41.0", "4.3.1", "safe"),
        ("sarama newer than all known ones", "golang", "github.com/IBM/sarama", "v1.99.0", "4.3.1", "safe"),
        ("kafka-python produces with 2 before 1.4", "pypi", "kafka-python", "1.3.5", "4.3.1", "breaks"),
        ("and with 3 from then on", "pypi", "kafka-python", "1.4.7", "4.3.1", "safe"),
        ("older than what is known", "pypi", "kafka-python", "0.9.5", "4.3.1", "insufficient_evidence"),
        ("a fork numbered differently", "pypi", "kafka-python-ng", "2.2.3", "4.3.1", "insufficient_evidence"),
        ("librdkafka inside a binding", "pypi", "confluent-kafka", "1.7.0", "4.3.1", "breaks"),
        ("a binding that is not known", "pypi", "confluent-kafka", "99.0", "4.3.1", "insufficient_evidence"),
        ("it may use SCRAM", "pypi", "confluent-kafka", "2.3.0", "4.3.1", "insufficient_evidence"),
        ("the distribution's version", "deb", "librdkafka1", "0.11.6-1.1", "4.3.1", "breaks"),
        ("an epoch and a repacking", "deb", "librdkafka1", "1:2.12.1+dfsg-1", "4.3.1", "safe"),
        ("the crate carries librdkafka's version", "cargo", "rdkafka-sys", "4.9.0+2.10.0", "4.3.1", "safe"),
        ("Kafka 0.10", "maven", "org.apache.kafka/kafka-clients", "0.10.2.2", "4.3.1", "breaks"),
        ("a vendor's build of 3.5", "maven", "org.apache.kafka/kafka-clients", "3.5.0.redhat-00012", "4.3.1", "safe"),
        ("Confluent Platform 7.6", "maven", "org.apache.kafka/kafka-clients", "7.6.1-ccs", "4.3.1", "safe"),
        ("clients before 2.1", "maven", "org.apache.kafka/kafka-clients", "2.0.1", "4.3.1", "unsupported"),
        ("the broker's jar brings its clients", "maven", "org.apache.kafka/kafka_2.11", "0.10.0.1", "4.3.1", "breaks"),
        ("Scala clients of 0.8", "maven", "org.apache.kafka/kafka_2.11", "0.8.2.2", "4.3.1", "insufficient_evidence"),
        ("syft's name for a jar without a POM", "maven", "kafka-clients/kafka-clients", "0.10.0.1", "4.3.1", "breaks"),
        ("nothing of it works", "npm", "kafka-node", "5.0.0", "4.3.1", "breaks"),
        ("nothing is known about it", "hex", "kafka_ex", "0.13.0", "4.3.1", "insufficient_evidence"),
    ],
)  # fmt: skip
def test_verdicts(case, kind, name, version, target, expected):
    assert verdict(kind, name, version, target) == expected, case


@pytest.mark.parametrize(
    ("name", "expected"), [("kafka-node", "breaks"), ("kafkajs", "insufficient_evidence")]
)
def test_a_version_that_is_not_known_breaks_only_where_all_do(name, expected):
    client = libraries.of(Package("npm", name, None, why_unknown="version not locked (^1)"))
    judged = of(client, "3.9.2", "4.3.1", READ)
    assert judged.verdict == expected and judged.explanation.startswith("Version not locked (^1).")


def test_a_declared_library_gets_the_same_verdict_written_down():
    for name, library, version in (
        ("librdkafka", "librdkafka", "1.7.0"),
        ("librdkafka", "librdkafka", "2.12.1"),
        ("kgo", "franz-go", "1.10.0"),
        ("apache-kafka-java", "kafka-clients", "2.0.1"),
        ("rskafka", "rskafka", "0.5.0"),
    ):
        declared = judge(ClientEvidence(name, version), "3.9.2", "4.3.1")
        written = judge(ClientEvidence(written=WrittenLibrary(library, version)), "3.9.2", "4.3.1")
        assert (written.verdict, written.fix, written.confidence) == (
            declared.verdict,
            declared.fix,
            declared.confidence,
        )


def test_every_package_names_a_library_and_a_binding_that_are_known():
    packages = list(known_packages.every())
    assert len(packages) > 150
    for package in packages:
        assert not package.library or client_ranges.named(package.library), package
        assert not package.binding or package.binding in software.bindings(), package
        assert package.library or package.note or package.contains == known_packages.IS, package
        assert known_packages.normal_name(package.type, package.name) == package.name


def test_every_configuration_has_rows():
    for row in configurations():
        assert client_ranges.named(row.library)
        configured = {
            known.configuration
            for known in client_ranges.read(client_ranges.UNNAMED_FILE)
            if known.library == row.library
        }
        assert row.configuration in configured | {""}, row
