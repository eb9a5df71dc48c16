"""Clients for the end-to-end tests: python_client.py confluent|kafka-python BOOTSTRAP NAME SECONDS.

Prints one JSON object a line; librdkafka's own log goes to standard error.
"""

import json
import sys
import time


def tell(event: str, **more: str) -> None:
    print(json.dumps({"event": event, **more}), flush=True)


def confluent(bootstrap: str, name: str, seconds: float) -> None:
    from confluent_kafka import Consumer, Producer

    producer = Producer({"bootstrap.servers": bootstrap, "client.id": f"{name}-producer"})
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "client.id": f"{name}-consumer",
            "group.id": f"{name}-group",
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe([f"e2e-{name}"])
    end = time.monotonic() + seconds
    tell("started")
    while time.monotonic() < end:
        producer.produce(f"e2e-{name}", b"value")
        producer.poll(0)
        consumer.poll(0.2)
    producer.flush(10)
    consumer.close()


def kafka_python(bootstrap: str, name: str, seconds: float) -> None:
    from kafka import KafkaProducer

    producer = KafkaProducer(bootstrap_servers=bootstrap, client_id=f"{name}-producer")
    end = time.monotonic() + seconds
    tell("started")
    while time.monotonic() < end:
        try:
            producer.send(f"e2e-{name}", b"value").get(30)
        except Exception as error:  # a broker restarts meanwhile
            tell("error", value=str(error))
        time.sleep(0.2)
    producer.close()


if __name__ == "__main__":
    kind, bootstrap, name, seconds = sys.argv[1:]
    {"confluent": confluent, "kafka-python": kafka_python}[kind](bootstrap, name, float(seconds))
    tell("closed")
