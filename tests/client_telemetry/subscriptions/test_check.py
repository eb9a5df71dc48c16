"""What a change does to clients of the evidence: whom it matches, hurts, leaves silent, and what is expected of them."""

from typing import Any

import pytest
from client_telemetry.subscriptions import check as checks
from client_telemetry.subscriptions.check import CheckResult, InstanceResult, Situation, check, clients_of
from client_telemetry.subscriptions.configured_file import resource_of
from client_telemetry.subscriptions.instances import ClientInstance
from client_telemetry.subscriptions.java_runtime import JavaRuntime
from client_telemetry.subscriptions.observed import ABORTS, DISCONNECTS, MetricShare, ObservedInstance
from client_telemetry.subscriptions.proposal import operations_of

JAVA_ALL = {
    "name": "java-all",
    "interval_ms": 10_000,
    "metrics": ["*"],
    "match": {"client_software_name": "apache-kafka-java"},
}
ASKED, OTHER = frozenset((0, 3, 71)), frozenset((0, 3))


def client(
    client_id: str, name: str = "apache-kafka-java", version: str = "4.3.1", **fields: Any
) -> ObservedInstance:
    """A producer that is connected and asks for subscriptions."""
    number = fields.pop("number", 1)
    known = fields.pop("known", True)
    instance = ClientInstance(
        number.to_bytes(16) if known else None, client_id, name, version, "10.0.0.1", 40_000
    )
    values = {"principal": "User:a", "roles": ("producer",), "api_keys": ASKED, "seconds": 3600.0, **fields}
    return ObservedInstance(instance, **values)


def pushing(client_id: str, number: int = 1, **fields: Any) -> ObservedInstance:
    """A Java producer with 360 pushes of two metrics in an hour, 10 s apart."""
    metrics = {
        "org.apache.kafka.producer.record.queue.time.max": MetricShare(360, 36_000),
        "org.apache.kafka.producer.connection.creation.rate": MetricShare(1080, 108_000),
    }
    values = {
        "seconds": 3590.0,
        "pushes": 360,
        "push_interval_ms": 10_000,
        "points": 1440,
        "payload_bytes": 144_000,
        "largest_payload_bytes": 500,
        "metrics": metrics,
        **fields,
    }
    return client(client_id, number=number, **values)


def answer(
    java: JavaRuntime,
    observed: list[ObservedInstance],
    *changes: dict[str, Any],
    configured: tuple[dict[str, Any], ...] = (JAVA_ALL,),
    **situation: Any,
) -> CheckResult:
    where = Situation(**{"release": (4, 3, 1), "plugin": True, **situation})
    return check(
        [resource_of(each) for each in configured], operations_of(list(changes)), observed, where, java
    )


def only(result: CheckResult) -> InstanceResult:
    (found,) = result.instances
    return found


def test_half_the_interval_is_twice_the_pushes(java: JavaRuntime) -> None:
    change = {"action": "alter", "name": "java-all", "interval_ms": 5000}
    found = only(answer(java, [pushing("a")], change))
    assert found.change == checks.CHANGES and found.before.subscription_id != found.after.subscription_id
    assert found.expected_before.pushes_per_day == 360
    assert found.expected_after.pushes_per_day == pytest.approx(720, rel=0.02)
    assert found.expected_after.points_per_push == pytest.approx(4)
    assert found.expected_after.bytes_per_push == pytest.approx(400)
    assert found.expected_after.basis == "own pushes"
    assert checks.LOSES_INTERVAL in found.harms and checks.THROTTLED not in found.harms


def test_before_4_0_1_the_client_is_throttled_too(java: JavaRuntime) -> None:
    change = {"action": "alter", "name": "java-all", "interval_ms": 5000}
    found = only(answer(java, [pushing("a")], change, release=(4, 0, 0)))
    assert checks.THROTTLED in found.harms


def test_fewer_metrics_are_fewer_points_and_bytes(java: JavaRuntime) -> None:
    change = {"action": "alter", "name": "java-all", "metrics": ["org.apache.kafka.producer.record."]}
    found = only(answer(java, [pushing("a")], change))
    assert found.expected_after.points_per_push == pytest.approx(1)
    assert found.expected_after.bytes_per_push == pytest.approx(100)


def test_what_a_client_was_not_asked_for_comes_from_others(java: JavaRuntime) -> None:
    narrow = {**JAVA_ALL, "metrics": ["org.apache.kafka.producer.record."], "match": {"client_id": "narrow"}}
    few = {"org.apache.kafka.producer.record.queue.time.max": MetricShare(360, 36_000)}
    many = {f"org.apache.kafka.producer.m{n}": MetricShare(360, 36_000) for n in range(100)} | few
    observed = [
        pushing("narrow", metrics=few, points=360, payload_bytes=36_000),
        pushing("wide", 2, metrics=many, points=36_360, payload_bytes=3_636_000),
    ]
    wide = {"name": "wide", "metrics": ["*"], "interval_ms": 10_000, "match": {"client_id": "wide"}}
    change = {"action": "alter", "name": "java-all", "metrics": ["*"]}
    found = answer(java, observed, change, configured=(narrow, wide)).instances[0]
    assert found.expected_after.basis == "same version"
    assert found.expected_after.points_per_push == pytest.approx(101)


def test_a_client_that_never_pushed_is_expected_like_others(java: JavaRuntime) -> None:
    change = {"action": "add", "name": "all", "metrics": ["*"], "interval_ms": 60_000}
    found = answer(java, [client("new", known=False), pushing("a", 2)], change, configured=()).instances[0]
    assert found.silent is None and found.expected_after.pushes_per_day == pytest.approx(59.5)
    assert found.expected_after.basis == "known sizes", "the other one was not asked for everything"
    assert found.expected_after.points_per_push == 130
    assert found.after.subscription_id is None


@pytest.mark.parametrize(
    ("observed", "situation", "reason"),
    [
        (client("a"), {"release": (3, 6, 2)}, checks.OLD_BROKER),
        (client("a"), {"plugin": False}, checks.NO_PLUGIN),
        (client("a", "apache-kafka-java", "3.6.2", api_keys=OTHER), {}, checks.CANNOT_PUSH),
        (client("a", "librdkafka", "2.4.0", api_keys=OTHER), {}, checks.CANNOT_PUSH),
        (client("a", "sarama", "1.43.0", api_keys=OTHER), {}, checks.CANNOT_PUSH),
        (client("a", "unknown", "unknown", api_keys=OTHER), {}, checks.UNKNOWN_LIBRARY),
        (client("a", api_keys=OTHER), {}, checks.OPTED_OUT),
        (client("a", api_keys=frozenset((3, 32)), roles=("admin",)), {}, checks.ADMIN_DEFAULT),
        (pushing("a", rejected_pushes=360), {}, checks.REFUSED),
        (pushing("a"), {}, None),
        (client("a"), {}, None),
    ],
)
def test_why_a_client_stays_silent(
    java: JavaRuntime, observed: ObservedInstance, situation: dict[str, Any], reason: str | None
) -> None:
    change = {"action": "add", "name": "all", "metrics": ["*"], "interval_ms": 10_000}
    found = only(answer(java, [observed], change, configured=(), **situation))
    assert found.silent == reason
    assert (found.expected_after.pushes_per_day > 0) == (reason is None)


def test_who_was_asked_already_and_pushed_nothing(java: JavaRuntime) -> None:
    change = {"action": "add", "name": "more", "metrics": ["*"]}
    assert only(answer(java, [client("a")], change)).silent == checks.NEVER_PUSHED
    assert (
        only(answer(java, [client("a")], {"action": "delete", "name": "java-all"})).silent == checks.NO_MATCH
    )


@pytest.mark.parametrize(
    ("version", "roles", "metrics", "harm"),
    [
        ("2.5.0", ("producer",), "org.apache.kafka.consumer.", ABORTS),
        ("2.5.2", ("group_consumer",), "org.apache.kafka.producer.", ABORTS),
        ("2.5.3", ("producer",), "org.apache.kafka.consumer.", DISCONNECTS),
        ("2.10.0", ("producer",), "org.apache.kafka.consumer.", DISCONNECTS),
        ("2.10.1", ("producer",), "org.apache.kafka.consumer.", None),
        ("2.5.0", ("producer",), "*", None),
        ("2.5.0", ("producer",), "org.apache.kafka.producer.connection.", None),
    ],
)
def test_librdkafka_that_is_asked_for_nothing_it_has(
    java: JavaRuntime, version: str, roles: tuple[str, ...], metrics: str, harm: str | None
) -> None:
    change = {"action": "add", "name": "some", "metrics": [metrics], "interval_ms": 1000}
    found = only(answer(java, [client("a", "librdkafka", version, roles=roles)], change, configured=()))
    assert set(found.harms) & {ABORTS, DISCONNECTS} == ({harm} if harm else set())


def test_telemetry_max_bytes(java: JavaRuntime) -> None:
    streams = pushing("streams", largest_payload_bytes=1_500_000)
    change = {"action": "alter", "name": "java-all", "interval_ms": 5000}
    assert checks.LOSES_FOR_GOOD in only(answer(java, [streams], change)).harms
    assert checks.LOSES_FOR_GOOD not in only(answer(java, [streams], change, release=(4, 3, 0))).harms
    assert checks.TOO_LARGE in only(answer(java, [streams], change, telemetry_max_bytes=100_000)).harms


def test_which_selector_lets_a_client_out(java: JavaRuntime) -> None:
    change = {
        "action": "add",
        "name": "orders",
        "metrics": ["*"],
        "match": {
            "client_id": "orders-.*",
            "client_software_version": "4\\..*",
            "client_source_port": "40000",
        },
    }
    found = only(answer(java, [pushing("billing-1")], change))
    assert found.let_out == {"orders": ("client_id",)}
    assert found.change == checks.SAME


def test_what_kafka_refuses_changes_nothing(java: JavaRuntime) -> None:
    change = {"action": "alter", "name": "java-all", "match": {"client_id": "a{2,3}"}}
    result = answer(java, [pushing("a")], change)
    assert result.refusals[0].message == "Illegal client matching pattern: client_id=a{2"
    assert "a{2}a?" in result.refusals[0].instead
    assert only(result).change == checks.SAME


def test_standard_metrics_that_will_come(java: JavaRuntime) -> None:
    observed = [
        pushing("a"),
        client("b", "librdkafka", "2.11.0", number=2),
        client("c", "kgo", "v1.22.2", number=3),
    ]
    change = {"action": "add", "name": "producers", "metrics": ["org.apache.kafka.producer."]}
    result = answer(java, observed, change, configured=())
    states = {(each.library, each.metric): each.state for each in result.deliveries}
    assert states["kafka-clients", "org.apache.kafka.producer.record.queue.time.max"] == "delivered"
    assert states["librdkafka", "org.apache.kafka.producer.record.queue.time.max"] == "delivered"
    assert states["franz-go", "org.apache.kafka.producer.record.queue.time.max"] == "not known"
    assert {each.client_type for each in result.deliveries} == {"producer"}


def test_clients_are_summed_up(java: JavaRuntime) -> None:
    change = {"action": "alter", "name": "java-all", "interval_ms": 5000}
    (row,) = clients_of(answer(java, [pushing("a", 1), pushing("a", 2)], change))
    assert row["instances"] == 2 and row["subscriptions"] == ["java-all"]
    assert row["pushes_per_day"] == pytest.approx(1440, rel=0.02)
