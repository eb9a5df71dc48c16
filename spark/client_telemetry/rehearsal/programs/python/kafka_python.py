"""The steps of a rehearsal with kafka-python."""

import importlib

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from steps import env, login_of_kafka_python, report, run, settings_of, uses_tls


def token_provider() -> object:
    """Before 1.4.7 the library has no OAUTHBEARER: this fails there, in its words."""
    for name in ("kafka.net.sasl.oauth", "kafka.sasl.oauth", "kafka.oauth"):
        try:
            base = importlib.import_module(name).AbstractTokenProvider
        except (ImportError, AttributeError):
            continue
        return type("Token", (base,), {"token": lambda _: env("TOKEN"), "extensions": lambda _: {}})()
    raise ImportError("no AbstractTokenProvider")


TLS = {"ssl_cafile": env("CA"), "ssl_certfile": env("CERTIFICATE"), "ssl_keyfile": env("KEY")}
SETTINGS: dict[str, object] = {
    "bootstrap_servers": env("BOOTSTRAP"),
    **settings_of("api_version"),
    **login_of_kafka_python(token_provider() if env("MECHANISM") == "OAUTHBEARER" else None),
    **(TLS if uses_tls() else {}),
}
READS = {"auto_offset_reset": "earliest", "enable_auto_commit": False, "consumer_timeout_ms": 20_000}
TOPIC, GROUP = env("TOPIC"), env("GROUP")


def connect() -> None:
    consumer = KafkaConsumer(**SETTINGS)
    assert consumer.topics() is not None
    consumer.close()


def produce() -> None:
    producer = KafkaProducer(**SETTINGS, compression_type="gzip")
    producer.send(TOPIC, b"record", partition=0).get(timeout=12)
    producer.close(timeout=5)


def consume() -> None:
    consumer = KafkaConsumer(**SETTINGS, **READS)
    consumer.assign([TopicPartition(TOPIC, 0)])
    consumer.seek_to_beginning()
    next(iter(consumer))
    consumer.close()


def group() -> None:
    consumer = KafkaConsumer(TOPIC, group_id=GROUP, **SETTINGS, **READS)
    next(iter(consumer))
    report("group")
    consumer.commit()
    committed = consumer.committed(TopicPartition(TOPIC, 0))
    consumer.close()
    assert committed, f"committed offset is {committed}"


def transaction() -> None:
    producer = KafkaProducer(**SETTINGS, transactional_id=GROUP + "-txn")
    producer.init_transactions()
    for _ in range(2):
        producer.begin_transaction()
        producer.send(TOPIC, b"record", partition=0).get(timeout=12)
        producer.commit_transaction()
    producer.close(timeout=5)


if __name__ == "__main__":
    can = hasattr(KafkaProducer, "init_transactions")
    run(connect, produce=produce, consume=consume, commit=group, txn=transaction if can else None)
