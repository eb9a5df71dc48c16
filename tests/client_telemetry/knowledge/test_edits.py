"""Fixes as lines of a file, on every fix that the knowledge base can recommend."""

import re

import pytest
from client_telemetry.knowledge import advice, edits, known_issues, products, rows, software


@pytest.mark.parametrize(
    ("fix", "lines"),
    [
        ("upgrade sarama to 1.41.0 or later", ["go.mod: github.com/IBM/sarama v1.41.0"]),
        (
            "upgrade sarama to 1.41.0 or later, raise config.Version to 2.1.0 or later",
            [
                "go.mod: github.com/IBM/sarama v1.41.0",
                "Go code: config.Version = sarama.V2_1_0_0",
            ],
        ),
        (
            "upgrade confluent-kafka-python to 1.8.2 or later (librdkafka 1.8.2)",
            ["requirements.txt: confluent-kafka>=1.8.2"],
        ),
        (
            "upgrade confluent-kafka-go to 2.1.0 or later",
            ["go.mod: github.com/confluentinc/confluent-kafka-go/v2 v2.1.0"],
        ),
        ("upgrade brod to 4.4.2 or later", ['rebar.config: {brod, "4.4.2"}']),
        (
            "upgrade kafka-clients to 0.11.0 or later",  # Maven Central has 0.11.0.0
            [
                "pom.xml: <artifactId>kafka-clients</artifactId> <version>0.11.0.0</version>",
                'build.gradle: implementation("org.apache.kafka:kafka-clients:0.11.0.0")',
            ],
        ),
        ("upgrade some-sarama to 1.41.0 or later", []),
        ("replace pykafka: it is no longer maintained", []),
    ],
)
def test_a_fix_as_lines_of_a_file(fix, lines):
    assert [f"{each.file}: {each.line}" for each in edits.of(fix)] == lines


def _recommended() -> list[str]:
    by_advice = [cells[3] for _, cells in rows(advice.FILE, advice.COLUMNS)]
    by_issue = [f"upgrade {name.replace(' ', ' to ')} or later" for name in _cures()]
    by_binding = [f"upgrade {binding} to 1.8.2 or later" for binding in sorted(software.bindings())]
    return [*by_advice, *by_issue, *by_binding]


def _cures() -> set[str]:
    where = known_issues.COLUMNS.index("fixed_in")
    return {cells[where] for _, cells in rows(known_issues.FILE, known_issues.COLUMNS)} - {""}


def test_every_recommended_version_can_be_typed():
    """Of each library that some fix says to upgrade to a version."""
    recommended = [fix for fix in _recommended() if re.search(r"upgrade [\w/-]+ to \d", fix)]
    assert len(recommended) > 20
    assert [
        fix for fix in recommended if not any("{" not in e.line or "brod" in e.line for e in edits.of(fix))
    ] == []


def test_addresses_of_release_notes_have_the_version():
    notes = edits.of("upgrade kafka-clients to 2.1.0 or later")[0].release_notes
    assert notes == "https://archive.apache.org/dist/kafka/2.1.0/RELEASE_NOTES.html"


SETTINGS_OF_PRODUCTS = {
    "Telegraf": 'version = "2.1.0"',
    "Burrow": 'kafka-version="2.1.0"',
    "kafka_exporter (danielqsj)": "kafka_exporter --kafka.version=2.1.0",
    "Jaeger collector (v1, kafka storage)": "jaeger-collector --kafka.producer.protocol-version=2.1.0",
    "Filebeat and other Beats (output.kafka)": 'output.kafka.version: "2.1.0"',
    "KEDA": "version: 2.1.0",
    "Spring Boot": "<kafka.version>2.1.0</kafka.version>",
    "Spring for Apache Kafka": "<artifactId>spring-kafka</artifactId> <version>2.3.0</version>",
    "Vert.x Kafka client": "<artifactId>vertx-kafka-client</artifactId> <version>3.7.0</version>",
    "goka": "github.com/lovoo/goka v1.1.14",
    "racecar": 'gem "racecar", ">= 2.12.0"',
    "Quix Streams": "quixstreams>=3.12.0",
    "Sentry arroyo": "sentry-arroyo>=2.19.10",
    "broadway_kafka": '{:broadway_kafka, "~> 0.4.4"}',
    "erlkaf": '{erlkaf, "2.2.0"}',
}


@pytest.mark.parametrize(("product", "line"), SETTINGS_OF_PRODUCTS.items())
def test_the_advice_on_a_product_has_its_setting_or_dependency(product, line):
    advices = [cells[3] for _, cells in rows(products.FILE, products.COLUMNS) if cells[0] == product]
    assert line in [edit.line for advice_ in advices for edit in edits.of(advice_)]
