"""librdkafka's mock cluster, in a producer of confluent-kafka, until it is ended. Prints its address."""

import time

from confluent_kafka import Producer

producer = Producer({"bootstrap.servers": "mock", "test.mock.num.brokers": 1})
(broker,) = producer.list_topics(timeout=30).brokers.values()
print(f"{broker.host}:{broker.port}", flush=True)
while True:
    time.sleep(60)
