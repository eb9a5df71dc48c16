"""The steps of a rehearsal with aiokafka."""

import asyncio
import os
from collections.abc import Coroutine

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.helpers import create_ssl_context
from steps import env, login_of_kafka_python, report, uses_tls


def token_provider() -> object:
    """Up to 0.6 the library has no OAUTHBEARER: this fails there, in its words."""
    from aiokafka.abc import AbstractTokenProvider

    class Token(AbstractTokenProvider):
        async def token(self) -> str:
            return env("TOKEN")

    return Token()


SETTINGS: dict[str, object] = {
    "bootstrap_servers": env("BOOTSTRAP"),
    **login_of_kafka_python(token_provider() if env("MECHANISM") == "OAUTHBEARER" else None),
}
if uses_tls():
    SETTINGS["ssl_context"] = create_ssl_context(
        cafile=env("CA"), certfile=env("CERTIFICATE"), keyfile=env("KEY")
    )
if env("CONFIGURATION"):
    SETTINGS["api_version"] = env("CONFIGURATION").removeprefix("api_version=")
READS = {"auto_offset_reset": "earliest", "enable_auto_commit": False}
TOPIC, GROUP = env("TOPIC"), env("GROUP")


def run(work: Coroutine[object, object, None]) -> None:
    asyncio.run(asyncio.wait_for(work, 30))


async def connect() -> None:
    consumer = AIOKafkaConsumer(**SETTINGS)
    await consumer.start()
    await consumer.topics()
    await consumer.stop()


async def produce() -> None:
    producer = AIOKafkaProducer(**SETTINGS, compression_type="gzip")
    await producer.start()
    await producer.send_and_wait(TOPIC, b"record", partition=0)
    await producer.stop()


async def consume() -> None:
    consumer = AIOKafkaConsumer(**SETTINGS, **READS)
    await consumer.start()
    consumer.assign([TopicPartition(TOPIC, 0)])
    await consumer.seek_to_beginning()
    await asyncio.wait_for(consumer.getone(), 15)
    await consumer.stop()


async def group() -> None:
    consumer = AIOKafkaConsumer(TOPIC, group_id=GROUP, **SETTINGS, **READS)
    await consumer.start()
    await asyncio.wait_for(consumer.getone(), 20)
    report("group")
    await consumer.commit()
    committed = await consumer.committed(TopicPartition(TOPIC, 0))
    await consumer.stop()
    assert committed, f"committed offset is {committed}"


async def transaction() -> None:
    producer = AIOKafkaProducer(**SETTINGS, transactional_id=GROUP + "-txn")
    await producer.start()
    for _ in range(2):
        async with producer.transaction():
            await producer.send_and_wait(TOPIC, b"record", partition=0)
    await producer.stop()


if __name__ == "__main__":
    if report("connect", lambda: run(connect())):
        report("produce", lambda: run(produce()))
        report("consume", lambda: run(consume()))
        report("commit", lambda: run(group()))
        report("txn", lambda: run(transaction()))
    os._exit(0)
