"""Clients for the end-to-end tests: python_client.py confluent|kafka-python|unserved BOOTSTRAP NAME [SETTING=VALUE ...].

They work until their input ends, and print one JSON object a line; librdkafka's own log goes to standard error.
"""

import json
import os
import socket
import struct
import sys
import threading
import time

PAUSE_SECONDS = 0.1

over = threading.Event()


def tell(event: str, **more: str) -> None:
    print(json.dumps({"event": event, **more}), flush=True)


def confluent(bootstrap: str, name: str, settings: dict[str, str]) -> None:
    from confluent_kafka import Consumer, Producer

    transactional_id = settings.pop("transactional.id", None)
    settings = {"bootstrap.servers": bootstrap, **settings}
    of_producer = {"transactional.id": transactional_id} if transactional_id else {}
    producer = Producer({**settings, **of_producer, "client.id": f"{name}-producer"})
    if transactional_id:
        producer.init_transactions()
    of_consumer = {"group.id": f"{name}-group", "auto.offset.reset": "earliest"}
    consumer = Consumer({**settings, **of_consumer, "client.id": f"{name}-consumer"})
    consumer.subscribe([f"e2e-{name}"])
    tell("started")
    while not over.is_set():
        if transactional_id:
            producer.begin_transaction()
        producer.produce(f"e2e-{name}", b"value")
        producer.poll(0)
        if transactional_id:
            producer.commit_transaction()
        consumer.poll(0.2)
        time.sleep(PAUSE_SECONDS)
    producer.flush(10)
    consumer.close()


def kafka_python(bootstrap: str, name: str, settings: dict[str, str]) -> None:
    """`api_version`: as a client of that release of Kafka asks, such as 0.10.2."""
    from kafka import KafkaProducer

    declared = settings.pop("api_version", None)
    version = tuple(map(int, declared.split("."))) if declared else None
    producer = KafkaProducer(
        bootstrap_servers=bootstrap.split(","), client_id=f"{name}-producer", api_version=version, **settings
    )
    while not over.is_set():
        try:
            producer.send(f"e2e-{name}", b"value").get(30)
            tell("started")
        except Exception as error:  # a broker restarts meanwhile
            tell("error", value=str(error))
        time.sleep(PAUSE_SECONDS)
    producer.close()


def unserved(bootstrap: str, name: str, settings: dict[str, str]) -> None:
    """One request of a version that no broker serves; the broker closes the connection."""
    host, _, port = bootstrap.rpartition(":")
    api_key, api_version, correlation_id = 1, 99, 1
    client_id = name.encode()
    request = struct.pack(
        f">hhih{len(client_id)}sb", api_key, api_version, correlation_id, len(client_id), client_id, 0
    )
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(struct.pack(">i", len(request)) + request)
        if connection.recv(1):
            raise RuntimeError("the broker answered")


KINDS = {"confluent": confluent, "kafka-python": kafka_python, "unserved": unserved}


def wait_for_the_end_of_input() -> None:
    """Without sys.stdin: an interpreter that ends while a thread reads a buffered stream aborts."""
    while os.read(0, 4096):
        pass
    over.set()


if __name__ == "__main__":
    kind, bootstrap, name, *settings = sys.argv[1:]
    threading.Thread(target=wait_for_the_end_of_input, daemon=True).start()
    KINDS[kind](bootstrap, name, dict(each.split("=", 1) for each in settings))
    tell("closed")
