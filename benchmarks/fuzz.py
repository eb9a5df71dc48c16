"""Hold the fast decoder against the slow one on pushes that were damaged at random.

    python -m benchmarks.fuzz [SECONDS] [SEED]

Payloads of real clients and records around them are changed in their bytes and in their structure, compressed,
and decoded by two workers, one with compiled code and one without. Rows, quarantined bytes and counts have to be
the same. Prints what it did; exit code 1 at the first difference, whose object is left in the folder that the message names.
"""

import io
import random
import signal
import struct
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

import google_crc32c
import lz4.frame
import psutil
import pyarrow.parquet as pq
import snappy
import zstandard
from client_telemetry.decode.decoded_object import TaskResult
from client_telemetry.decode.plan import DECODED_TABLES
from client_telemetry.decode.worker import Worker
from client_telemetry.formats.otlp.codecs import NOT_KNOWN, decompress
from client_telemetry.formats.raw.raw_dump_v1_pb2 import ClientConnection, ClientPush
from client_telemetry.lake.writer import TablePlace
from google.protobuf.message import DecodeError
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric, MetricsData

PAYLOADS = Path(__file__).parents[1] / "tests" / "data" / "payloads"
KEY = "v1/dataset=client_pushes/cluster=fuzz/dt=2026-03-01/hour=12/broker=7/pushes.bin"
INCARNATION = bytes(range(16))
RECEIVED_AT = 1_772_366_400_000_000_000
SECONDS_PER_OBJECT = 60
PUSHES_PER_OBJECT = 60
NUMBERS = (0, 1, 127, 128, 2**31 - 1, 2**31, 2**63 - 1, 2**63, 2**64 - 1)
TEXTS = ("", "a", "client_id", "node.id", "topic", "\x00", "\u00e9", "\u4e2d", "\U0001f600", "x" * 200)


class Difference(AssertionError):
    """The decoders do not agree."""


class Fuzzer:
    def __init__(self, seed: int):
        self._random = random.Random(seed)
        self._payloads = [decompress(path.read_bytes(), NOT_KNOWN) for path in sorted(PAYLOADS.glob("*.bin"))]
        self.counts: Counter[str] = Counter()

    def check_object(self) -> None:
        """Make an object of damaged pushes and decode it both ways. Raises `Difference`."""
        records = [self._record(number) for number in range(PUSHES_PER_OBJECT)]
        data = b"".join(struct.pack(">I", len(record)) + record for record in records if record)
        if self._random.random() < 0.1:
            data = self._damaged(data)
        self.check(data)

    def check(self, data: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            (fast, taken), (slow, _) = (
                decoded(lambda _: io.BytesIO(data), [[KEY]], Path(folder) / str(compiled), compiled)
                for compiled in (True, False)
            )
        self.counts["pushes that compiled code took"] += taken
        self.counts["objects"] += 1
        for table, rows in slow.items():
            self.counts[table] += len(rows)
        for table in slow | fast:
            one, other = (Counter(map(repr, rows.get(table, []))) for rows in (fast, slow))
            if one != other:
                file = Path(tempfile.mkdtemp()) / "pushes.bin"
                file.write_bytes(data)
                first = (next(iter(rows), "none") for rows in (one - other, other - one))
                raise Difference("{}: fast {} but slow {}, in {}".format(table, *first, file))

    def _record(self, number: int) -> bytes:
        chance = self._random.random
        payload = self._random.choice(self._payloads)
        if chance() < 0.1:
            payload = payload[: self._random.choice((600, 1200, 5000))]
        if chance() < 0.4:
            payload = self._restructured(payload)
        if chance() < 0.3:
            payload = self._damaged(payload)
        codec, stored = self._compressed(payload)
        if chance() < 0.05:
            stored = self._damaged(stored)
        push = ClientPush(
            cluster_id="fuzz",
            broker_id=7,
            incarnation=INCARNATION,
            sequence=number if chance() < 0.998 else self._random.choice((number // 2, *NUMBERS)),
            received_at_nanos=RECEIVED_AT + number * 10**9,
            client=ClientConnection(client_id=f"client-{number % 5}", principal="User:a", client_port=1024),
            client_instance_id=bytes([number % 7] * 16),
            content_type="OTLP",
            compression_type=codec,
            payload=stored,
            payload_crc32c=google_crc32c.value(stored),
        )
        if chance() < 0.2:
            self._change_fields(push)
        record = push.SerializeToString()
        return self._damaged(record) if chance() < 0.1 else record

    def _change_fields(self, push: ClientPush) -> None:
        pick = self._random.choice
        change = pick(
            [
                lambda: setattr(push.client, pick(("client_id", "principal", "connection_id")), pick(TEXTS)),
                lambda: setattr(push.client, "client_port", pick((0, -1, 65535))),
                lambda: push.ClearField("client"),
                lambda: setattr(push, "client_instance_id", pick((b"", bytes(16), b"short"))),
                lambda: setattr(push, "error_code", pick((0, 89, -1))),
                lambda: setattr(push, "compression_type", pick((-1, 0, 2, 5))),
                lambda: setattr(push, "received_at_nanos", pick(NUMBERS)),
                lambda: setattr(push, "push_interval_ms", pick((0, -1, 5000))),
                lambda: setattr(push, "incarnation", pick((b"", bytes(16)))),
                lambda: setattr(push, "payload_crc32c", pick((0, 1))),
                lambda: setattr(push, "terminating", True),
            ]
        )
        change()

    def _compressed(self, payload: bytes) -> tuple[int, bytes]:
        def zstd(data: bytes) -> bytes:
            compressor = zstandard.ZstdCompressor(level=1).compressobj()
            return compressor.compress(data) + compressor.flush()

        codecs: dict[int, Callable[[bytes], bytes]] = {
            0: bytes,
            2: snappy.compress,
            3: lz4.frame.compress,
            4: zstd if self._random.random() < 0.8 else zstandard.ZstdCompressor().compress,
        }
        codec = self._random.choice((0, 0, 4, 4, 2, 3))
        return codec, codecs[codec](payload)

    def _damaged(self, data: bytes) -> bytes:
        """A few bytes changed, taken out, put in, repeated or cut off."""
        pick, number = self._random.choice, self._random.randrange
        changed = bytearray(data)
        for _ in range(pick((1, 1, 1, 2, 3, 8))):
            if not changed:
                break
            kind, at = self._random.random(), number(len(changed))
            if kind < 0.4:
                changed[at] = pick((number(256), changed[at] ^ 1 << number(8), 0, 127, 128, 255))
            elif kind < 0.55:
                del changed[at : at + number(1, 20)]
            elif kind < 0.7:
                changed[at:at] = self._random.randbytes(number(1, 12))
            elif kind < 0.8:
                del changed[at:]
            else:
                source = number(len(changed))
                piece = changed[source : source + number(1, 100)]
                changed[at : at + (len(piece) if kind < 0.9 else 0)] = piece
        return bytes(changed)

    def _restructured(self, payload: bytes) -> bytes:
        """What protobuf allows and clients do not send, or not often."""
        try:
            data = MetricsData.FromString(payload)
        except DecodeError:
            return payload
        for _ in range(self._random.randrange(1, 4)):
            if data.resource_metrics:
                self._change_structure(data)
        return data.SerializeToString()

    def _change_structure(self, data: MetricsData) -> None:
        pick, number = self._random.choice, self._random.randrange
        resource = pick(data.resource_metrics)
        scope = pick(resource.scope_metrics) if resource.scope_metrics else resource.scope_metrics.add()
        metric: Metric = pick(scope.metrics) if scope.metrics else scope.metrics.add(name="made")
        label = KeyValue(key=pick(TEXTS), value=self._value())
        change = pick(
            [
                lambda: resource.resource.attributes.append(label),
                lambda: [each.resource.attributes.append(label) for each in data.resource_metrics],
                lambda: resource.ClearField("resource"),
                lambda: setattr(resource.resource, "dropped_attributes_count", number(300)),
                lambda: setattr(scope.scope, pick(("name", "version")), pick(TEXTS)),
                lambda: setattr(scope, "schema_url", pick(TEXTS)),
                lambda: setattr(metric, pick(("name", "unit", "description")), pick(TEXTS)),
                lambda: metric.gauge.data_points.add(as_int=-5, flags=number(300)),
                lambda: metric.gauge.data_points.add(as_double=float("nan"), time_unix_nano=pick(NUMBERS)),
                lambda: metric.sum.data_points.add(
                    start_time_unix_nano=pick(NUMBERS), attributes=[label, label]
                ),
                lambda: setattr(metric.sum, "aggregation_temporality", pick((0, 1, 2, 7))),
                lambda: setattr(metric.sum, "is_monotonic", pick((False, True))),
                lambda: metric.sum.data_points.add(attributes=[label], exemplars=[{"as_double": 1.0}]),
                lambda: metric.histogram.data_points.add(count=pick(NUMBERS), bucket_counts=[1], sum=0.5),
                lambda: metric.exponential_histogram.data_points.add(count=3, scale=-1),
                lambda: metric.summary.data_points.add(quantile_values=[{"quantile": 0.5, "value": 1.0}]),
                lambda: metric.ClearField("data") if metric.WhichOneof("data") else None,
                lambda: metric.metadata.append(label),
            ]
        )
        change()

    def _value(self) -> AnyValue:
        pick = self._random.choice
        return pick(
            [
                AnyValue(string_value=pick(TEXTS)),
                AnyValue(int_value=pick((0, -1, 2**63 - 1, -(2**63)))),
                AnyValue(double_value=pick((0.5, float("nan"), float("inf")))),
                AnyValue(bool_value=True),
                AnyValue(bytes_value=b"\x00\xff"),
                AnyValue(array_value={"values": [AnyValue(string_value="z"), AnyValue(int_value=3)]}),
                AnyValue(),
            ]
        )


def decoded(
    read: Callable[[str], object], groups: list[list[str]], folder: Path, compiled: bool
) -> tuple[dict[str, list], int]:
    """The rows that a worker writes, by table and sorted, and what it tells of the objects; and how many pushes
    compiled code took. Compare their `repr`: NaN is not equal to itself."""
    locations = {table.name: TablePlace(f"file://{folder}/{table.name}") for table in DECODED_TABLES}
    result: TaskResult = Worker(read, locations, compiled=compiled).decode(groups)
    for each in result.objects:
        each.sequences = dict(sorted(each.sequences.items()))
    rows: dict[str, list] = {"objects": result.objects}
    for table, urls in sorted(result.files.items()):
        files = [pq.read_table(unquote(urlsplit(url).path), partitioning=None) for url in urls]
        rows[table] = sorted((row for file in files for row in file.to_pylist()), key=repr)
    return rows, sum(each.records - each.slow_pushes for each in result.objects)


def main(arguments: list[str]) -> int:
    seconds = float(arguments[0]) if arguments else 600
    seed = int(arguments[1]) if len(arguments) > 1 else random.randrange(10**9)
    print(f"fuzzing for {seconds:.0f} s with seed {seed}", flush=True)
    fuzzer, process = Fuzzer(seed), psutil.Process()
    end, report = time.monotonic() + seconds, 0.0
    memory_at_first = 0
    while time.monotonic() < end:
        signal.alarm(SECONDS_PER_OBJECT)  # a hang kills the process
        try:
            fuzzer.check_object()
        except Difference as difference:
            print(f"DIFFERENCE: {difference}")
            return 1
        if fuzzer.counts["objects"] == 20:
            memory_at_first = process.memory_info().rss
        if time.monotonic() > report:
            report = time.monotonic() + 30
            print(dict(fuzzer.counts), f"{process.memory_info().rss >> 20} MB", flush=True)
    signal.alarm(0)
    grown = (process.memory_info().rss - memory_at_first) >> 20 if memory_at_first else 0
    print(f"no difference: {dict(fuzzer.counts)}; memory grew by {grown} MB after the first 20 objects")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
