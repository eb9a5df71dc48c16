"""The steps of a rehearsal with confluent-kafka, which carries librdkafka. CONFIGURATION: settings of consumers, such as
group.protocol=consumer."""

from confluent_kafka import OFFSET_BEGINNING, Consumer, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from steps import env, report, run, uses_tls

TOPIC, GROUP = env("TOPIC"), env("GROUP")
SETTINGS: dict[str, object] = {"bootstrap.servers": env("BOOTSTRAP"), "socket.timeout.ms": 8000}
if env("PROTOCOL"):
    SETTINGS["security.protocol"] = env("PROTOCOL")
if uses_tls():
    SETTINGS |= {
        "ssl.ca.location": env("CA"),
        "ssl.certificate.location": env("CERTIFICATE"),
        "ssl.key.location": env("KEY"),
    }
if env("MECHANISM") == "OAUTHBEARER":
    SETTINGS |= {
        "sasl.mechanisms": "OAUTHBEARER",
        "enable.sasl.oauthbearer.unsecure.jwt": True,
        "sasl.oauthbearer.config": f"principal={env('USERNAME')}",
    }
elif env("MECHANISM"):
    SETTINGS |= {
        "sasl.mechanisms": env("MECHANISM"),
        "sasl.username": env("USERNAME"),
        "sasl.password": env("PASSWORD"),
    }


def connect() -> None:
    AdminClient(SETTINGS).list_topics(timeout=10)


def send(producer: Producer) -> None:
    failed: list[object] = []
    producer.produce(TOPIC, b"record", partition=0, on_delivery=lambda error, _: failed.append(error))
    producer.flush(15)
    if not failed or failed[0] is not None:
        raise RuntimeError(failed[0] if failed else "no delivery report in 15 s")


def produce() -> None:
    send(Producer(SETTINGS | {"compression.type": "gzip", "message.timeout.ms": 10_000}))


def read(consumer: Consumer) -> Message:
    last: object = "no record in 20 s"
    for _ in range(20):
        message = consumer.poll(1)
        if message is not None and message.error() is None:
            return message
        last = message.error() if message is not None else last
    raise RuntimeError(last)


def consume() -> None:
    consumer = Consumer(SETTINGS | {"group.id": GROUP + "-assigned"})
    consumer.assign([TopicPartition(TOPIC, 0, OFFSET_BEGINNING)])
    read(consumer)
    consumer.close()


def group() -> None:
    given = dict(each.split("=", 1) for each in env("CONFIGURATION").split())
    reads = {"group.id": GROUP, "auto.offset.reset": "earliest", "enable.auto.commit": False}
    consumer = Consumer(SETTINGS | reads | given)
    consumer.subscribe([TOPIC])
    message = read(consumer)
    report("group")
    consumer.commit(message=message, asynchronous=False)
    (committed,) = consumer.committed([TopicPartition(TOPIC, message.partition())], timeout=10)
    consumer.close()
    assert committed.offset == message.offset() + 1, f"committed offset is {committed.offset}"


def transaction() -> None:
    producer = Producer(SETTINGS | {"transactional.id": GROUP + "-txn", "transaction.timeout.ms": 15_000})
    producer.init_transactions(15)
    for _ in range(2):
        producer.begin_transaction()
        send(producer)
        producer.commit_transaction(15)


def create() -> None:
    admin = AdminClient(SETTINGS)
    topic = f"{TOPIC}-created"
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(15)
    admin.list_groups(timeout=10)


if __name__ == "__main__":
    can = hasattr(Producer, "init_transactions")
    run(
        connect,
        produce=produce,
        consume=consume,
        commit=group,
        txn=transaction if can else None,
        create=create,
    )
