"""A client of any release of librdkafka: librdkafka_client.py LIBRARY BOOTSTRAP NAME produce|consume TOPIC [SETTING=VALUE ...].

LIBRARY: the shared library out of a wheel of confluent-kafka, which is bound to one release of Python; the library is not.
It works until its input ends; librdkafka's own log goes to standard error.
"""

import ctypes
import os
import sys
import threading
import time

PAUSE_SECONDS = 0.5
PRODUCER, CONSUMER = 0, 1
ANY_PARTITION, COPY = -1, 2


def settings_of(library: ctypes.CDLL, settings: dict[str, str]) -> int:
    library.rd_kafka_conf_new.restype = ctypes.c_void_p
    configuration = library.rd_kafka_conf_new()
    error = ctypes.create_string_buffer(512)
    for name, value in settings.items():
        told = ctypes.c_void_p(configuration), name.encode(), value.encode(), error, 512
        if library.rd_kafka_conf_set(*told):
            raise ValueError(error.value.decode())
    return configuration


def client(library: ctypes.CDLL, kind: int, settings: dict[str, str]) -> ctypes.c_void_p:
    error = ctypes.create_string_buffer(512)
    library.rd_kafka_new.restype = ctypes.c_void_p
    made = library.rd_kafka_new(kind, ctypes.c_void_p(settings_of(library, settings)), error, 512)
    if not made:
        raise ValueError(error.value.decode())
    return ctypes.c_void_p(made)


def produce(library: ctypes.CDLL, topic: str, settings: dict[str, str], over: threading.Event) -> None:
    producer = client(library, PRODUCER, settings)
    library.rd_kafka_topic_new.restype = ctypes.c_void_p
    into = ctypes.c_void_p(library.rd_kafka_topic_new(producer, topic.encode(), None))
    while not over.wait(PAUSE_SECONDS):
        library.rd_kafka_produce(
            into, ANY_PARTITION, COPY, b"value", ctypes.c_size_t(5), None, ctypes.c_size_t(0), None
        )
        library.rd_kafka_poll(producer, 0)


def consume(library: ctypes.CDLL, topic: str, settings: dict[str, str], over: threading.Event) -> None:
    consumer = client(library, CONSUMER, {"auto.commit.interval.ms": "2000", **settings})
    library.rd_kafka_poll_set_consumer(consumer)
    library.rd_kafka_topic_partition_list_new.restype = ctypes.c_void_p
    topics = ctypes.c_void_p(library.rd_kafka_topic_partition_list_new(1))
    library.rd_kafka_topic_partition_list_add(topics, topic.encode(), ANY_PARTITION)
    library.rd_kafka_subscribe(consumer, topics)
    library.rd_kafka_consumer_poll.restype = ctypes.c_void_p
    while not over.is_set():
        message = library.rd_kafka_consumer_poll(consumer, 200)
        if message:
            library.rd_kafka_message_destroy(ctypes.c_void_p(message))
    library.rd_kafka_consumer_close(consumer)


def main() -> None:
    path, bootstrap, name, what, topic, *more = sys.argv[1:]
    over = threading.Event()

    def wait_for_the_end_of_input() -> None:
        while os.read(0, 4096):  # not sys.stdin, which this thread would hold when the interpreter ends
            pass
        over.set()
        time.sleep(20)

    threading.Thread(target=wait_for_the_end_of_input, daemon=True).start()
    settings = {"bootstrap.servers": bootstrap, "client.id": name}
    settings |= dict(each.split("=", 1) for each in more)
    {"produce": produce, "consume": consume}[what](ctypes.CDLL(path), topic, settings, over)


if __name__ == "__main__":
    main()
