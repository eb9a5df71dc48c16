"""decode against its peers: raw objects to stored points, in Spark, from the same dump.

Peers read the same objects with the same reader. They walk through protobuf's own classes in Python (upb_peer.py), or let ptars
make Arrow of the messages (ptars_peer.py), or protobuf's classes for Java in the JVM (peers/java), or they are
Rust alone, without Spark (peers/rust). `make bench` installs and builds these three. They write the points only, after the
same two checks (SHA-256 of objects, CRC-32C of payloads); this project writes the pushes too, quarantines, and counts what it reads.
"""

import datetime as dt
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import mean

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import zstandard
from client_telemetry.decode.decoded_object import DecodedObject
from client_telemetry.decode.plan import DECODED_TABLES, decode_objects
from client_telemetry.decode.worker import Worker
from client_telemetry.formats.otlp.codecs import ZSTD, decompress
from client_telemetry.formats.raw.envelopes import parse_client_push
from client_telemetry.formats.raw.object_key import parse_object_key
from client_telemetry.formats.raw.raw_dump_v1_pb2 import ClientPush
from client_telemetry.formats.raw.reader import RecordReader
from client_telemetry.lake.writer import TablePlace
from client_telemetry.tables.client_metrics import CLIENT_METRICS
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData
from pyspark.sql import DataFrame, SparkSession

from benchmarks import ptars_peer, upb_peer
from benchmarks.bench import Section
from benchmarks.corpus import DAY, captured_dump, large_object, write_dump
from benchmarks.measure import Cost, cost_of, peak_memory_mb, take_turns
from benchmarks.stages import stage_costs

CORPORA = {
    "small": ("small pushes of 10 to 20 points", lambda folder: write_dump(folder, "small", 10_000)),
    "big": ("big pushes of about 430 points", lambda folder: write_dump(folder, "big", 1_000)),
    "captured": ("all pushes in the two bundled captures", captured_dump),
}
MANY_POINTS, FEW_POINTS = 8_000_000, 1_500_000
"""Points that one job reads, the same objects over and over: of the quick ways, and of all ways."""
LARGE_OBJECT_PUSHES = 1_250_000
OURS, SPARK_WRITER, SAME_SINK, SUM = "this project", "upb, Spark's writer", "upb, same sink", "sum of three"
PTARS, JAVA = "ptars and pyarrow, same sink", "protobuf-java, Spark's writer"
RUST = {"prost": "Rust with prost, no Spark", "interned": "Rust with interned label runs, no Spark"}
JAVA_PEER = Path(__file__).parents[1] / "var" / "bench" / "java"
"""What `make bench` builds of peers/java, where there is Maven."""
RUST_PEER = JAVA_PEER.parent / "rust-build" / "release" / "rust-peers"
"""The same of peers/rust, where there is Cargo."""
_TEXT = f"""CPU from raw objects to stored points. *{SPARK_WRITER}*: protobuf's classes, traversed in Python inside \
mapInArrow and written by Spark as Parquet. *{SAME_SINK}*: the same, but written in the worker, as in this project. *{PTARS}*: \
Arrow arrays built from the messages in Rust, flattened by pyarrow, and written in the worker, as in this project. *{JAVA}*: \
protobuf's Java classes in mapPartitions, written by Spark; no Python. *{RUST["prost"]}*: a single-threaded process that turns \
prost's messages into Arrow arrays, with arrow-rs's Parquet writer set up like this project's. *{RUST["interned"]}*: the same, but \
messages are read in place, and a run of labels that occurred before is recognised by its bytes. *{SUM}*: zstd, \
`ParseFromString` and pyarrow's Parquet writer with its defaults, each alone and on data in memory. \
Each way reads the objects over and over in one job: the quick ones until they have read {MANY_POINTS:,} points, the others until \
{FEW_POINTS:,}. Each is compared with this project on as many points, because the ways in Spark pay for a job: of one second or so, \
which is much of what this project needs for the fewer points. All but *{SUM}* compute SHA-256 of each object and check CRC-32C of each payload, as this project does. None of them \
stores pushes, which is less work than this project does: what pushes cost is in *Where the time goes*. \
It is checked first that all store equal points."""
_GROWTH = """The same objects 32, 128 and 512 times in one job, and one object of more than a million pushes, whose records take \
more than 1 GiB. Each was measured twice, the second time in the opposite order, so that changes on the machine in between do not \
look like growth; CPU is the mean, memory the larger value. *Records* are the decompressed objects; *memory* is the largest \
resident size of a Python worker."""
_STAGES = f"""CPU of one worker alone, without Spark, in ns per point: what each stage of this project takes, and what each part of \
*{SUM}* takes. In the captures, the brokers had decompressed the payloads, so the zstd work there is that of whole objects, which \
*{SUM}* does not read. The stages objects, records and pushes are not part of the three, and neither is, in the tables above, the \
cost of Spark and its tasks."""


def run() -> Iterator[Section]:
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.extraClassPath": f"{JAVA_PEER}/*:{JAVA_PEER.parents[1]}/jars/*",
        # The peers in the JVM need the optimising compiler; the settings of small jobs switch it off.
        "spark.driver.extraJavaOptions": "-XX:+UseSerialGC",
    }
    spark = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    folder = Path(tempfile.mkdtemp(prefix="benchmark_decode_"))
    try:
        dumps = {}
        for name, (what, write) in CORPORA.items():
            write(folder / name)
            dumps[name] = Dump(spark, folder / name)
            yield Section(f"Decoding {what}", _TEXT, _ratios(name, dumps[name]))
        yield Section("Where the time goes", _STAGES, _stage_table(dumps))
        growth = _growth("small pushes", Dump(spark, folder / "small"), (32, 128, 512))
        large_object(folder / "large", LARGE_OBJECT_PUSHES)
        one = f"one object of {LARGE_OBJECT_PUSHES:,} small pushes"
        growth += _growth(one, Dump(spark, folder / "large"), (1,))
        yield Section("Growth and memory", _GROWTH, growth)
    finally:
        shutil.rmtree(folder)
        spark.stop()


class Dump:
    """A dump in a folder, and ways to decode it. Each gives the files of points that it wrote."""

    def __init__(self, spark: SparkSession, folder: Path):
        self._spark, self._folder = spark, folder
        self.keys = sorted(
            str(path.relative_to(folder)) for path in folder.glob("v1/dataset=client_pushes/**/*.zst")
        )
        self.bytes = sum((folder / key).stat().st_size for key in self.keys)

    @property
    def record_bytes(self) -> int:
        """What the objects decompress to."""
        found = 0
        for key in self.keys:
            with _Opener(self._folder)(key) as source:
                found += sum(len(block.data) for block in RecordReader(source, key).blocks())
        return found

    def _emptied(self, name: str) -> Path:
        out = self._folder / name
        shutil.rmtree(out, ignore_errors=True)
        return out

    def ours(self, times: int = 1) -> list[str]:
        out = self._emptied("ours")
        locations = {table.name: TablePlace(f"file://{out}/{table.name}") for table in DECODED_TABLES}
        groups = [[(key, (self._folder / key).stat().st_size)] for key in self.keys] * times
        results = decode_objects(self._spark, groups, _Opener(self._folder), locations)
        return [url for result in results for url in result.files[CLIENT_METRICS.name]]

    def spark_writer(self, times: int = 1) -> list[str]:
        out, opener = self._emptied("spark"), _Opener(self._folder)
        points = self._in_workers(
            lambda keys: upb_peer.point_batches(opener, keys), CLIENT_METRICS.schema, times
        )
        points.write.option("compression", "zstd").parquet(f"file://{out}")
        return [str(path) for path in out.glob("*.parquet")]

    def same_sink(self, times: int = 1) -> list[str]:
        return self._written_by(upb_peer.write_points, times)

    def ptars(self, times: int = 1) -> list[str]:
        return self._written_by(ptars_peer.write_points, times)

    def protobuf_java(self, times: int = 1) -> list[str]:
        out = self._emptied("java")
        files, schema = [str(self._folder / key) for key in self.keys] * times, CLIENT_METRICS.schema.json()
        self._spark._jvm.peers.ProtobufJava.write(
            self._spark._jsparkSession, files, min(8, len(files)), schema, str(DAY.date()), f"file://{out}"
        )
        return [str(path) for path in out.glob("*.parquet")]

    def rust(self, way: str, times: int = 1) -> list[str]:
        out = self._emptied("rust")
        out.mkdir()
        day = (DAY.date() - dt.date(1970, 1, 1)).days
        files = [str(self._folder / key) for key in self.keys]
        command = [RUST_PEER, way, str(out), str(day), str(times), *files]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return [str(path) for path in out.glob("*.parquet")]

    def _written_by(self, write: Callable[..., Iterator[pa.RecordBatch]], times: int) -> list[str]:
        location, opener = f"file://{self._emptied('sink')}", _Opener(self._folder)
        written = self._in_workers(lambda keys: write(opener, keys, location), "url string", times)
        return [row["url"] for row in written.collect()]

    def _in_workers(
        self, work: Callable[[list[str]], Iterator[pa.RecordBatch]], schema: object, times: int
    ) -> DataFrame:
        keys = self.keys * times
        count = min(8, len(keys))
        tasks = [keys[i::count] for i in range(count)]

        def batches(given: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in given:
                for task in batch.column("id").to_pylist():
                    yield from work(tasks[task])

        return self._spark.range(0, count, 1, count).mapInArrow(batches, schema)

    def in_this_process(self) -> list[DecodedObject]:
        """The objects one after the other, without Spark."""
        out = self._emptied("alone")
        locations = {table.name: TablePlace(f"file://{out}/{table.name}") for table in DECODED_TABLES}
        return Worker(_Opener(self._folder), locations).decode([[key] for key in self.keys]).objects

    def sum_of_three(self, points: pa.Table, times: int) -> Callable[[], None]:
        pushes = self._pushes()

        def work() -> None:
            for _ in range(times):
                for push in pushes:
                    MetricsData.FromString(_decompressed(push))
                self._write(points)

        return work

    def each_of_three(self, points: pa.Table) -> Callable[[], dict[str, float]]:
        """The same one after the other; gives the CPU seconds of each."""
        pushes = self._pushes()

        def work() -> dict[str, float]:
            times = [time.process_time()]
            payloads = [_decompressed(push) for push in pushes]
            times.append(time.process_time())
            for payload in payloads:
                MetricsData.FromString(payload)
            times.append(time.process_time())
            self._write(points)
            times.append(time.process_time())
            spent = (after - before for before, after in pairwise(times))
            return dict(zip(("zstd", "ParseFromString", "Parquet write"), spent, strict=True))

        return work

    def _pushes(self) -> list[ClientPush]:
        opener = _Opener(self._folder)
        return [
            parse_client_push(record.data, parse_object_key(key))
            for key in self.keys
            for record in RecordReader(opener(key), key)
        ]

    def _write(self, points: pa.Table) -> None:
        pq.write_table(points, self._folder / "sum.parquet", compression="zstd", row_group_size=100_000)


_zstd = zstandard.ZstdDecompressor()


def _decompressed(push: ClientPush) -> bytes:
    if push.compression_type == ZSTD:
        return _zstd.decompress(push.payload, max_output_size=2**20)
    return decompress(push.payload, push.compression_type)


class _Opener:
    """Opens objects of a folder; travels to the workers."""

    def __init__(self, folder: Path):
        self._folder = str(folder)

    def __call__(self, key: str):
        return Path(self._folder, key).open("rb")


def _ratios(name: str, dump: Dump) -> list[dict[str, str | float]]:
    written = dump.ours()
    points, coded = _points(written), _with_dictionaries(written)
    peers = {SPARK_WRITER: dump.spark_writer, SAME_SINK: dump.same_sink, PTARS: dump.ptars}
    if JAVA_PEER.exists():
        peers[JAVA] = dump.protobuf_java
    else:
        print(f"  left out: {JAVA}, which needs Maven to be built")
    if RUST_PEER.exists():
        peers |= {name: partial(dump.rust, way) for way, name in RUST.items()}
    else:
        print(f"  left out: {' and '.join(RUST.values())}, which need Cargo to be built")
    for way, peer in peers.items():
        if not _points(peer()).equals(points):
            raise AssertionError(f"{name}: {way} stores other points")
    quick = {OURS: dump.ours, **{way: work for way, work in peers.items() if way in RUST.values()}}
    slow = {OURS: dump.ours, **{way: work for way, work in peers.items() if way not in quick}}
    many, few = (-(-enough // len(points)) for enough in (MANY_POINTS, FEW_POINTS))
    cases = {(way, many): partial(work, times=many) for way, work in quick.items()}
    cases[SUM, many] = dump.sum_of_three(coded, many)
    cases |= {(way, few): partial(work, times=few) for way, work in slow.items()}
    costs = take_turns(cases)
    return [
        {
            "way": way,
            "points": times * len(points),
            "CPU, ns per point": round(cost.cpu / times / len(points) * 1e9),
            "relative to this project": cost.cpu / costs[OURS, times].cpu,
        }
        for (way, times), cost in costs.items()
    ]


def _stage_table(dumps: dict[str, Dump]) -> list[dict[str, str | int]]:
    rows: dict[tuple[str, str], dict[str, int]] = {}
    for name, dump in dumps.items():
        points = sum(done.points for done in dump.in_this_process())
        three = dump.each_of_three(_with_dictionaries(dump.ours()))
        ours = _least([stage_costs(dump.in_this_process) for _ in range(4)])
        for way, costs in ((OURS, ours), (SUM, _least([three() for _ in range(4)]))):
            for stage, seconds in {**costs, "all": sum(costs.values())}.items():
                rows.setdefault((way, stage), {})[name] = round(seconds / points * 1e9)
    return [{"way": way, "stage": stage, **costs} for (way, stage), costs in rows.items()]


def _least(runs: list[dict[str, float]]) -> dict[str, float]:
    """Of each stage the quickest run."""
    return {stage: min(run[stage] for run in runs) for stage in runs[0]}


def _growth(name: str, dump: Dump, all_times: tuple[int, ...]) -> list[dict[str, str | int | float]]:
    spent: dict[int, list[float]] = {times: [] for times in all_times}
    memory: dict[int, list[float]] = {times: [] for times in all_times}
    points: dict[int, int] = {}
    for times in (*all_times, *all_times[::-1]):
        written: list[str] = []
        cost: list[Cost] = []

        def work(times: int = times, written: list = written, cost: list = cost) -> None:
            cost.append(cost_of(lambda: written.extend(dump.ours(times))))

        memory[times].append(peak_memory_mb(work))
        points[times] = sum(pq.read_metadata(_path(url)).num_rows for url in written)
        spent[times].append(cost[0].cpu)
    return [
        {
            "objects": name if times == 1 else f"{name}, {times} times",
            "stored, MB": round(dump.bytes * times / 2**20),
            "records, MB": round(dump.record_bytes * times / 2**20),
            "points": points[times],
            "CPU, ns per point": round(mean(spent[times]) / points[times] * 1e9),
            "memory of a worker, MB": round(max(memory[times])),
        }
        for times in all_times
    ]


def _path(url: str) -> str:
    return url.removeprefix("file://")


def _points(urls: list[str]) -> pa.Table:
    """Points in order of their key, with the bits of doubles; of all NaN the same ones, which Spark makes of them."""
    table = pa.concat_tables(
        pq.read_table(_path(url), partitioning=None).cast(CLIENT_METRICS.arrow_schema) for url in urls
    )
    table = table.sort_by([(name, "ascending") for name in ("broker_id", "sequence", "point_index")])
    value = table["value"].combine_chunks()
    bits = pc.if_else(pc.is_nan(value), pa.scalar(float("nan")), value).view(pa.int64())
    return table.set_column(table.schema.get_field_index("value"), "value", bits)


def _with_dictionaries(urls: list[str]) -> pa.Table:
    """Points as a decoder has them before it writes: texts as dictionaries."""
    texts = [
        *("cluster_id", "broker_incarnation", "client_instance_id", "metric", "kind", "temporality"),
        *("attributes.key_value.key", "attributes.key_value.value"),
    ]
    tables = [pq.read_table(_path(url), partitioning=None, read_dictionary=texts) for url in urls]
    return pa.concat_tables(tables).unify_dictionaries()
