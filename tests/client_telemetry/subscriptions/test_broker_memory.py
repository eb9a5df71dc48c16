"""The sequence that was run on a real broker (4.3.1), and what differs by release. The comparison with Kafka's classes
is in tests/end_to_end/subscriptions."""

from client_telemetry.subscriptions.answers import Answer
from client_telemetry.subscriptions.instances import ClientInstance

from tests.broker_memory import BrokerMemory, Push

INSTANCE = ClientInstance(b"1" * 16, "a", "apache-kafka-java", "4.3.1", "127.0.0.1", 1)
ANSWER = Answer((0,), 1000, ("*",), 7)


def memory(release: tuple[int, ...]) -> BrokerMemory:
    return BrokerMemory(release, 1 << 20, lambda _: ANSWER)


def push(subscription_id: int = 7, **changes: object) -> Push:
    fields = {
        "terminating": False,
        "compression_type": 0,
        "payload_bytes": 9,
        "decompressed_bytes": 9,
        **changes,
    }
    return Push(INSTANCE.instance_id, subscription_id, **fields)  # type: ignore[arg-type]


def test_the_order_of_a_brokers_checks() -> None:
    broker, now = memory((4, 3, 1)), 10_000
    assert broker.get_subscriptions(INSTANCE, "c", now) == (0, ANSWER)
    assert broker.get_subscriptions(INSTANCE, "c", now) == (89, None)
    assert broker.push(INSTANCE, push(), "c", now) == 0, "the first push after a GET is in time"
    now += 1000
    assert broker.push(INSTANCE, push(), "c", now) == 0
    assert broker.push(INSTANCE, push(), "c", now + 1) == 89
    assert broker.push(INSTANCE, push(terminating=True), "c", now + 2) == 0
    assert broker.push(INSTANCE, push(), "c", now + 3) == 42
    assert broker.push(INSTANCE, push(), "c", now + 4) == 89, "the refused push cleared the terminating flag"
    assert broker.push(INSTANCE, push(subscription_id=8), "c", now + 1000) == 117
    assert broker.push(INSTANCE, push(compression_type=9), "c", now + 2000) == 76
    assert broker.push(INSTANCE, push(compression_type=4, decompressed_bytes=None), "c", now + 3000) == 87
    assert broker.push(INSTANCE, push(payload_bytes=(1 << 20) + 1), "c", now + 4000) == 118
    assert broker.push(INSTANCE, push(payload_bytes=0), "c", now + 5000) == 0


def test_after_an_unknown_id_the_next_get_is_answered_from_4_0_1_on() -> None:
    for release, expected in (((3, 9, 2), 89), ((4, 0, 0), 89), ((4, 0, 1), 0), ((4, 4, 0), 0)):
        broker = memory(release)
        broker.get_subscriptions(INSTANCE, "c", 10_000)
        assert broker.push(INSTANCE, push(subscription_id=8), "c", 10_500) == 117
        assert broker.get_subscriptions(INSTANCE, "c", 10_501)[0] == expected, release


def test_the_decompressed_limit_came_with_4_3_1_and_late_patches() -> None:
    large = push(compression_type=4, decompressed_bytes=(1 << 20) + 1)
    releases = {
        (3, 9, 2): 0,
        (4, 2, 1): 0,
        (4, 2, 2): 87,
        (4, 3, 0): 0,
        (4, 3, 1): 87,
        (4, 4, 0): 87,
        (3, 7, 2): 0,
    }
    for release, expected in releases.items():
        broker = memory(release)
        broker.get_subscriptions(INSTANCE, "c", 10_000)
        assert broker.push(INSTANCE, large, "c", 10_500) == expected, release


def test_a_disconnect_is_noticed_from_4_0_on() -> None:
    for release, error in (((3, 9, 1), 89), ((4, 0, 1), 0)):
        broker = memory(release)
        broker.get_subscriptions(INSTANCE, "c", 10_000)
        broker.disconnect("c")
        assert broker.get_subscriptions(INSTANCE, "d", 10_001)[0] == error
