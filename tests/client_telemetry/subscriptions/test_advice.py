"""Broken spellings: Kafka's answer, and what to write instead."""

import csv
from pathlib import Path

import pytest
from client_telemetry.subscriptions.advice import doubts, instead
from client_telemetry.subscriptions.configuration import RefusedByKafka, parse
from client_telemetry.subscriptions.configured_file import Resource
from client_telemetry.subscriptions.java_runtime import JavaRuntime

SPELLINGS = Path(__file__).parents[2] / "data" / "subscriptions" / "broken_spellings.csv"
KNOWN = (
    "org.apache.kafka.producer.record.queue.time.max",
    "org.apache.kafka.consumer.coordinator.commit.latency.avg",
)


def spellings() -> list[dict[str, str]]:
    with SPELLINGS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("row", spellings(), ids=lambda row: row["case"])
def test_a_broken_spelling(java: JavaRuntime, row: dict[str, str]) -> None:
    key, _, value = row["properties"].partition("=")
    resource = Resource("s", {key: value})
    with pytest.raises(RefusedByKafka) as refused:
        parse("s", resource.properties, (4, 3, 1), java)
    assert row["kafka"] in refused.value.message
    assert row["instead"] in instead(refused.value, resource)


@pytest.mark.parametrize(
    ("properties", "release", "expected"),
    [
        ({"interval.ms": "600000", "metrics": "*"}, (4, 3, 1), "has no effect"),
        ({"match": "client_id=a"}, (4, 3, 1), "It names no metrics"),
        ({"metrics": "*,org.apache.kafka.producer."}, (4, 3, 1), "its other metrics are not needed"),
        ({"metrics": "org.apache.kafka.producer.*"}, (4, 3, 1), "write org.apache.kafka.producer.."),
        (
            {"metrics": "producer-metrics/record-queue-time-max"},
            (4, 3, 1),
            "write org.apache.kafka.producer.record.queue.time.max",
        ),
        ({"metrics": "producer."}, (4, 3, 1), "write org.apache.kafka.producer."),
        ({"metrics": "org.apache.kafka.producer.record.queue.tme"}, (4, 3, 1), "did you mean"),
        ({"metrics": "com.acme."}, (4, 3, 1), "applications may have others"),
        ({"metrics": "*", "match": "client_id=orders*"}, (4, 3, 1), "Write client_id=orders.*"),
        ({"metrics": "*", "match": "client_id=a,client_id=b"}, (4, 3, 1), "the last one wins"),
        (
            {"metrics": "*", "match": "client_instance_id=bdb2303d-8f0c-4c3a-a054-3da99852d443"},
            (4, 3, 1),
            "write client_instance_id=vbIwPY8MTDqgVD2pmFLUQw",
        ),
        ({"metrics": "*", "match": "client_source_address=::1"}, (4, 3, 1), "0:0:0:0:0:0:0:1"),
        (
            {"metrics": "*", "match": "client_source_address=10.0.0.0/8"},
            (4, 3, 1),
            "CIDR notation is not a regex",
        ),
        ({"metrics": "*", "match": "client_source_port=4711"}, (3, 7, 2), "no port ever matches"),
    ],
)
def test_what_kafka_accepts_and_hardly_anybody_means(
    java: JavaRuntime, properties: dict[str, str], release: tuple[int, ...], expected: str
) -> None:
    resource = Resource("s", properties)
    found = list(doubts(parse("s", properties, release, java), resource, release, KNOWN))
    assert any(expected in each for each in found), found


def test_a_good_subscription_raises_no_doubt(java: JavaRuntime) -> None:
    resource = Resource(
        "s", {"metrics": "org.apache.kafka.producer.", "interval.ms": "60000", "match": "client_id=orders.*"}
    )
    assert list(doubts(parse("s", resource.properties, (4, 3, 1), java), resource, (4, 3, 1), KNOWN)) == []
