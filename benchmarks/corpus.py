"""Pushes for benchmarks: what real clients sent, made anew for many clients and many intervals.

A client begins with the payload that a real client pushed (tests/data/payloads: Java 4.3.1, librdkafka 2.15.0) and
gets labels of its own; each of its pushes has new times and values. Small pushes carry 20 points, as a subscription
to KIP-714's required metrics gives; big ones some 430, as a consumer of 55 partitions gives under a subscription to
everything. Payloads are compressed with zstd in a frame without content size, as Kafka's clients send them.
"""

import datetime as dt
import math
import random
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path

import zstandard
from client_telemetry.formats.otlp.codecs import decompress
from client_telemetry.formats.raw.envelopes import parse_client_push
from client_telemetry.formats.raw.object_key import parse_object_key
from client_telemetry.formats.raw.raw_dump_v1_pb2 import ClientConnection, ClientPush
from client_telemetry.formats.raw.reader import RecordReader
from client_telemetry.formats.raw.writer import DumpWriter
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData, NumberDataPoint

CLUSTER = "benchmark"
DAY = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)
_CHECKOUT = Path(__file__).parents[1]
_CAPTURED = _CHECKOUT / "tests" / "data" / "payloads"
_SAMPLE = _CHECKOUT / "include" / "sample"
_TOPICS = ("orders.v1", "payments", "shipment-events", "clickstream", "inventory_updates", "sessions")
_PARTITION_METRICS = tuple(
    f"org.apache.kafka.consumer.fetch.manager.records.{name}"
    for name in ("lag", "lag.avg", "lag.max", "lead", "lead.avg", "lead.min")
)
_SMALL_POINTS, _BIG_PARTITIONS = 20, 55


def write_dump(folder: Path, size: str, pushes: int, brokers: int = 4) -> None:
    """A dump of one hour with so many pushes of `size` (small or big), shared out to the brokers."""
    for broker in range(brokers):
        share = pushes // brokers + (broker < pushes % brokers)
        with _dump(folder, broker) as dump:
            for push in made_pushes(size, share, seed=broker):
                dump.append_push(push)


def made_pushes(size: str, pushes: int, seed: int) -> Iterator[ClientPush]:
    """Every client pushes a few times: five small ones, or ten big ones."""
    random_ = random.Random(seed)
    rounds = 5 if size == "small" else 10
    clients = [_Client(random_, size, number) for number in range(max(1, pushes // rounds))]
    for i in range(pushes):
        at = DAY + dt.timedelta(minutes=5 * (i // len(clients)), milliseconds=random_.randrange(60_000))
        yield clients[i % len(clients)].push(min(at, DAY + dt.timedelta(minutes=59)))


def captured(name: str) -> MetricsData:
    codec = 4 if name.endswith("c4") else 0
    return MetricsData.FromString(decompress((_CAPTURED / f"{name}.bin").read_bytes(), codec))


class _Client:
    def __init__(self, random_: random.Random, size: str, number: int):
        self._random = random_
        self._instance = random_.randbytes(16)
        kind = random_.random()
        library = "java" if size == "big" or kind < 0.8 else "librdkafka"
        role = "consumer" if kind < (0.8 if size == "big" else 0.45) or kind > 0.9 else "producer"
        self._data = self._template(library, role, size)
        version = "4.3.1" if library == "java" else "2.15.0"
        self._connection = ClientConnection(
            client_id=f"{role}-service-{number % 300}-{number}",
            principal=f"User:service-{number % 300}",
            client_address=f"10.{number % 200}.{number // 200 % 200}.7",
            client_port=30_000 + number % 30_000,
            listener_name="CLIENTS",
            security_protocol="SASL_SSL",
            connection_id=f"10.0.0.9:9092-10.{number % 200}.{number // 200 % 200}.7:{30_000 + number % 30_000}-0-1",
            client_software_name=f"apache-kafka-{library}" if library == "java" else library,
            client_software_version=version,
            sent_software_name=f"apache-kafka-{library}" if library == "java" else library,
            sent_software_version=version,
        )
        self._points = [
            point
            for resource in self._data.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
            for point in (metric.sum if metric.HasField("sum") else metric.gauge).data_points
        ]

    def _template(self, library: str, role: str, size: str) -> MetricsData:
        labels = {"client_rack": f"eu-west-1{self._random.choice('abc')}"}
        if role == "consumer":
            group = f"service-{self._random.randrange(300)}"
            labels |= {"group_id": group, "group_member_id": f"{group}-{uuid.UUID(bytes=self._instance)}"}
        if library == "java":
            data = captured(f"java-4.3.1-{role}-all-delta.none")
            everything = list(data.resource_metrics)
            if size == "small":
                self._random.shuffle(everything)
                del everything[_SMALL_POINTS:]
            data = MetricsData(resource_metrics=everything)
            if size == "big" and role == "consumer":
                self._add_partitions(data)
            elif size == "big":
                self._add_topics(data)
        else:
            data = captured(f"librdkafka-2.15.0-{role}-c4.push1.c4")
        for resource in data.resource_metrics:
            del resource.resource.attributes[:]
            for name, value in labels.items():
                resource.resource.attributes.add(key=name).value.string_value = value
        return data

    def _add_partitions(self, data: MetricsData) -> None:
        for partition in range(_BIG_PARTITIONS):
            topic = _TOPICS[partition % 3]
            for name in _PARTITION_METRICS:
                self._add_gauge(data, name, topic=topic, partition=str(partition // 3))

    def _add_topics(self, data: MetricsData) -> None:
        for number in range(_BIG_PARTITIONS):
            for name in ("record.send.rate", "byte.rate", "compression.rate", "record.retry.rate"):
                topic = f"{self._random.choice(_TOPICS)}-{number}"
                self._add_gauge(data, f"org.apache.kafka.producer.topic.{name}", topic=topic)

    @staticmethod
    def _add_gauge(data: MetricsData, name: str, **labels: str) -> None:
        metric = data.resource_metrics.add().scope_metrics.add().metrics.add(name=name)
        point = metric.gauge.data_points.add(as_double=0.0, time_unix_nano=1)
        for key, value in labels.items():
            point.attributes.add(key=key).value.string_value = value

    def push(self, at: dt.datetime) -> ClientPush:
        nanos = _nanos(at)
        for point in self._points:
            point.time_unix_nano = nanos - 1_000_000
            if point.start_time_unix_nano:
                point.start_time_unix_nano = nanos - 300 * 10**9
            self._change(point)
        compressor = zstandard.ZstdCompressor(level=3, write_content_size=False).compressobj()
        payload = compressor.compress(self._data.SerializeToString()) + compressor.flush()
        return ClientPush(
            received_at_nanos=nanos,
            client=self._connection,
            client_instance_id=self._instance,
            content_type="OTLP",
            compression_type=4,
            payload=payload,
            push_interval_ms=300_000,
        )

    def _change(self, point: NumberDataPoint) -> None:
        """Idle clients' averages are NaN and their totals 0; the others have all digits or are whole."""
        if point.WhichOneof("value") == "as_int":
            point.as_int = self._random.randrange(500)
            return
        kind = self._random.random()
        if kind < 0.2:
            point.as_double = math.nan
        elif kind < 0.4:
            point.as_double = 0.0
        else:
            point.as_double = (
                float(self._random.randrange(10**5)) if kind < 0.55 else 1000 * self._random.random()
            )


def captured_dump(folder: Path, brokers: int = 4) -> None:
    """The pushes of both shipped captures, whatever their codec and client, as one hour of some brokers."""
    pushes = []
    for path in sorted(_SAMPLE.glob("*/raw/v1/dataset=client_pushes/**/*.zst")):
        key = parse_object_key(str(path))
        with path.open("rb") as source:
            pushes += [parse_client_push(record.data, key) for record in RecordReader(source, key.file_name)]
    for broker in range(brokers):
        with _dump(folder, broker) as dump:
            for number, push in enumerate(pushes[broker::brokers]):
                push.received_at_nanos = _nanos(DAY + dt.timedelta(milliseconds=number))
                dump.append_push(push)


def large_object(folder: Path, pushes: int) -> None:
    """One object of so many pushes: two thousand different ones over and over, each time as new records."""
    made = list(made_pushes("small", 2_000, seed=1))
    with _dump(folder, 1, max_object_bytes=2**40) as dump:
        for number in range(pushes):
            push = made[number % len(made)]
            push.received_at_nanos = _nanos(DAY + dt.timedelta(microseconds=10 * number))
            dump.append_push(push)


def day_of_brokers(folder: Path, pushes: Sequence[int], **options: int) -> None:
    """A dump of a whole day: so many small pushes of each broker, evenly over the day, five thousand different ones over
    and over."""
    made = list(made_pushes("small", 5_000, seed=2))
    begin = DAY.replace(hour=0)
    for broker, count in enumerate(pushes):
        with _dump(folder, broker, **options) as dump:
            for number in range(count):
                push = made[(number + 997 * broker) % len(made)]
                push.received_at_nanos = _nanos(begin) + 86_399 * 10**9 * number // count
                dump.append_push(push)


def object_of(folder: Path, stored_bytes: int) -> None:
    """One object of some so many compressed bytes: of twenty thousand small pushes, as new records over and over."""
    made = list(made_pushes("small", 20_000, seed=3))
    with _dump(folder, 1, max_object_bytes=2**40) as dump:
        number = stored = 0
        while stored < stored_bytes:
            push = made[number % len(made)]
            push.received_at_nanos = _nanos(DAY + dt.timedelta(microseconds=10 * number))
            dump.append_push(push)
            number += 1
            # What zstd makes of a record whose payload is compressed already.
            stored += len(push.payload) + 60


def _dump(folder: Path, broker: int, **options: int) -> DumpWriter:
    started = {"broker_started_at": DAY - dt.timedelta(days=1), "broker_software_version": "4.3.1"}
    return DumpWriter(folder, CLUSTER, broker, uuid.UUID(int=broker + 1).bytes, **started, **options)


def _nanos(at: dt.datetime) -> int:
    return (at - dt.datetime.fromtimestamp(0, dt.UTC)) // dt.timedelta(microseconds=1) * 1000
