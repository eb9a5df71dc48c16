"""The steps of a rehearsal with pykafka."""

import time

from pykafka import KafkaClient, SslConfig
from pykafka.common import CompressionType, OffsetType
from pykafka.exceptions import UnknownTopicOrPartition
from pykafka.topic import Topic
from steps import env, report, run, uses_tls

TOPIC, GROUP = env("TOPIC").encode(), env("GROUP").encode()


def client() -> KafkaClient:
    settings: dict[str, object] = {
        "hosts": env("BOOTSTRAP"),
        "socket_timeout_ms": 8000,
        "offsets_channel_socket_timeout_ms": 8000,
    }
    if uses_tls():
        settings["ssl_config"] = SslConfig(env("CA"), certfile=env("CERTIFICATE"), keyfile=env("KEY"))
    try:
        return KafkaClient(**settings, broker_version="2.3.0")
    except TypeError:  # before 2.6.0 it speaks one version of the protocol
        return KafkaClient(**settings)


def connect() -> None:
    assert client().brokers


def topic(of: KafkaClient) -> Topic:
    """The broker makes the topic when it is first asked for. A topic does not keep its client: the step does."""
    for _ in range(10):
        try:
            return of.topics[TOPIC]
        except UnknownTopicOrPartition:
            time.sleep(0.5)
    return of.topics[TOPIC]


def produce() -> None:
    kept = client()
    with topic(kept).get_sync_producer(compression=CompressionType.GZIP) as producer:
        producer.produce(b"record")


def consume() -> None:
    kept = client()
    consumer = topic(kept).get_simple_consumer(
        auto_offset_reset=OffsetType.EARLIEST, reset_offset_on_start=True, consumer_timeout_ms=12_000
    )
    assert consumer.consume() is not None, "no record in 12 s"


def group() -> None:
    kept = client()
    consumer = topic(kept).get_balanced_consumer(
        GROUP, managed=True, auto_offset_reset=OffsetType.EARLIEST, consumer_timeout_ms=20_000
    )
    assert consumer.consume() is not None, "no record in 20 s"
    report("group")
    consumer.commit_offsets()


if __name__ == "__main__":
    run(connect, produce=produce, consume=consume, commit=group, txn=None)
