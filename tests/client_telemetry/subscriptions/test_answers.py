"""Answers against those that real brokers gave (tests/data/subscriptions)."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from client_telemetry.subscriptions.answers import ConfiguredSubscriptions, checksum, subscription_id
from client_telemetry.subscriptions.configuration import parse
from client_telemetry.subscriptions.configured_file import resource_of
from client_telemetry.subscriptions.instances import ClientInstance, instance_id_of
from client_telemetry.subscriptions.java_runtime import JavaRuntime

DATA = Path(__file__).parents[2] / "data" / "subscriptions"
CONFIGURED = json.loads((DATA / "configured.json").read_text(encoding="utf-8"))
BROKERS = {"broker1": (4, 3, 1), "broker2": (4, 0, 1)}


def configured(cluster: str, time: str) -> list[dict[str, Any]]:
    """As it was at a time that is not within a change."""
    if cluster == "fleet":
        return [
            {
                "name": each["name"],
                "interval_ms": each["interval.ms"],
                "metrics": each["metrics"],
                "match": each["match"],
            }
            for each in CONFIGURED["fleet"]
        ]
    hours = CONFIGURED["capture"]["subscriptions_by_hour"]
    if time < "2026-11-21 05:02:18":
        return hours["2026-11-21T04"]
    fast = [
        each for each in hours["2026-11-21T04"] if each["name"] == "fast" and time < "2026-11-21 05:05:08"
    ]
    return [*hours["2026-11-21T05"], *fast]


def answers() -> list[dict[str, str]]:
    with (DATA / "answers.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_real_answer_is_reproduced(java: JavaRuntime) -> None:
    rows = answers()
    for row in rows:
        release = BROKERS.get(row["broker"]) or tuple(map(int, row["broker"].partition("-")[2].split(".")))
        subscriptions = [
            parse(each.name, each.properties, release, java)
            for each in map(resource_of, configured(row["cluster"], row["time"]))
        ]
        instance = ClientInstance(
            instance_id_of(row["client_instance_id"]),
            row["client_id"],
            row["software_name"],
            row["software_version"],
            row["source_address"],
            int(row["source_port"]),
        )
        (answer,) = ConfiguredSubscriptions(subscriptions, release, java).answers([instance])
        assert str(answer.subscription_id) == row["subscription_id"], row
        assert str(answer.push_interval_ms) == row["push_interval_ms"]
        assert " ".join(answer.metrics) == row["requested_metrics"]
    assert len(rows) == 50


M1_L2 = (1).to_bytes(8) + (2).to_bytes(8)


@pytest.mark.parametrize(
    ("metrics", "interval_ms", "instance_id", "expected"),
    [
        (["*"], 5000, M1_L2, 1235845961),
        (
            [
                "org.apache.kafka.producer.",
                "org.apache.kafka.consumer.coordinator.rebalance.latency.max",
            ],
            60000,
            M1_L2,
            -1685610463,
        ),
        ([], 300000, M1_L2, -725132323),
        ([], 300000, bytes.fromhex("F234567890ABCDEF8123456789ABCDEF"), -1093646143),
        ([f"m{number}" for number in range(20)], 1000, M1_L2, -637315070),
    ],
)
def test_subscription_ids_of_a_broker(
    java: JavaRuntime, metrics: list[str], interval_ms: int, instance_id: bytes, expected: int
) -> None:
    ordered = java.union([java.hash_set(metrics)])
    assert set(ordered) == set(metrics)
    assert subscription_id(checksum(ordered, interval_ms), instance_id) == expected


def one(java: JavaRuntime, release: tuple[int, ...], match: str, instance: ClientInstance) -> bool:
    subscription = parse("s", {"metrics": "*", "match": match}, release, java)
    (answer,) = ConfiguredSubscriptions([subscription], release, java).answers([instance])
    return answer.metrics == ("*",)


def test_an_attribute_that_is_not_there_never_matches(java: JavaRuntime) -> None:
    nobody = ClientInstance(bytes(16), None, None, None, None, None)
    for attribute in ("client_id", "client_source_address", "client_source_port"):
        assert not one(java, (4, 3, 1), f"{attribute}=.*", nobody)
    assert one(java, (4, 3, 1), "client_software_name=unknown", nobody)
    assert one(java, (4, 3, 1), "client_instance_id=A{22}", nobody)


def test_a_port_is_the_address_before_3_8(java: JavaRuntime) -> None:
    instance = ClientInstance(bytes(16), "a", "b", "1", "::1", 4711)
    assert one(java, (3, 8, 0), "client_source_port=4711", instance)
    assert not one(java, (3, 7, 2), "client_source_port=4711", instance)
    assert one(java, (3, 7, 2), "client_source_port=(0:){7}1", instance)
    assert one(java, (4, 3, 1), "client_source_address=(0:){7}1", instance)


def test_union_interval_and_everything(java: JavaRuntime) -> None:
    release = (4, 3, 1)
    instance = ClientInstance(bytes(16), "orders-1", "b", "1", "10.0.0.1", 4711)
    resources = {
        "a": {"metrics": "org.apache.kafka.producer.", "interval.ms": "60000", "match": "client_id=orders.*"},
        "b": {"metrics": "org.apache.kafka.consumer.", "interval.ms": "3600000"},
        "c": {"metrics": "*", "interval.ms": "1000", "match": "client_id=other"},
    }
    subscriptions = [parse(name, each, release, java) for name, each in resources.items()]
    (answer,) = ConfiguredSubscriptions(subscriptions, release, java).answers([instance])
    assert answer.subscriptions == (0, 1)
    assert answer.push_interval_ms == 60000
    assert set(answer.metrics) == {"org.apache.kafka.producer.", "org.apache.kafka.consumer."}
    (alone,) = ConfiguredSubscriptions(subscriptions[1:2], release, java).answers([instance])
    assert alone.push_interval_ms == 300_000, "a longer interval than 5 minutes has no effect"
    (nothing,) = ConfiguredSubscriptions([], release, java).answers([instance])
    assert nothing.metrics == () and nothing.push_interval_ms == 300_000
    assert list(ConfiguredSubscriptions(subscriptions, release, java).answers([])) == []
