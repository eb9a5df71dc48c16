"""Days at the edge of what the pipeline promises: one broker that has nearly all, 50,000 objects, an object of 1 GiB
compressed.

Takes some minutes and 5 GB of disk, so it runs by name only: make bench ARGS=scale
"""

import json
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from client_telemetry.decode.decoded_object import DecodedObject
from client_telemetry.decode.plan import (
    DECODED_TABLES,
    decode_objects,
    groups_by_task,
    groups_that_may_overlap,
)
from client_telemetry.formats.raw.location import RawLocation
from client_telemetry.jobs import main_of
from client_telemetry.lake.catalog import spark_settings_at_start
from client_telemetry.lake.lake import Lake
from client_telemetry.lake.writer import TablePlace
from client_telemetry.tables.raw_objects import RAW_OBJECTS
from pyspark.sql import SparkSession

from benchmarks.bench import Section
from benchmarks.corpus import CLUSTER, DAY, day_of_brokers, object_of
from benchmarks.measure import Cost, cost_with_workers, peak_memory_mb

BROKERS, PUSHES, TIMES_THE_REST = 20, 100_000, 50
OBJECTS = 50_000
LARGE_BYTES = 2**30

_SKEW = f"""{PUSHES:,} small pushes from {BROKERS} brokers over a day, decoded in Spark's workers as in the job: either the same \
number from each broker, or {TIMES_THE_REST} times as many from one as from any other. Minimum of three runs after a \
warm-up; *memory* is the largest resident size of a Python worker."""
_OBJECTS = f"""{OBJECTS:,} objects from 50 brokers, with one push each. *Listing* is done once, by collect. *Planning* is everything \
that decode does with the ledger before the first task starts: tasks get the names of their objects and list nothing."""
_LARGE = """One object of small pushes: 20,000 different ones, repeated as new records, too far apart for zstd to notice the \
repetition. A single worker reads it as a stream."""


def run() -> Iterator[Section]:
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "3g",
        **spark_settings_at_start(),
    }
    spark = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    folder = Path(tempfile.mkdtemp(prefix="benchmark_scale_"))
    try:
        yield Section("One broker with nearly all the data", _SKEW, _skew(spark, folder))
        yield Section(f"{OBJECTS:,} objects", _OBJECTS, _objects(folder))
        yield Section("An object of 1 GiB", _LARGE, _large(spark, folder))
    finally:
        shutil.rmtree(folder)
        spark.stop()


class Day:
    """A raw location and a lake, and the jobs between them."""

    def __init__(self, folder: Path) -> None:
        self.raw, self._lake, self._result = folder / "raw", folder / "lake", folder / "result.json"

    def collect(self) -> dict:
        return self._done("collect", f"--day={DAY.date()}")

    def decode(self) -> dict:
        return self._done("decode", f"--days={DAY.date()}")

    def _done(self, job: str, *arguments: str) -> dict:
        options = [
            f"--cluster={CLUSTER}",
            f"--lake={self._lake}",
            f"--raw={self.raw}",
            f"--result={self._result}",
        ]
        code = main_of(job)([*options, *arguments])
        result = json.loads(self._result.read_text())
        if code or result["counts"].get("undecodable"):
            raise AssertionError(result["message"])
        return result["counts"]

    def ledger(self) -> list[dict]:
        return Lake(None, str(self._lake)).rows(RAW_OBJECTS, cluster_id=CLUSTER, dt=DAY.date())

    def decode_alone(self, spark: SparkSession) -> tuple[Cost, float, list[DecodedObject]]:
        """Without the gate: what it cost, the memory of a worker in MB, the objects. A worker that idles is gone after a
        minute, and its figures with it."""
        done: list[DecodedObject] = []
        rows = [row for row in self.ledger() if row["dataset"] != "manifests"]
        locations = {
            table.name: TablePlace(f"{self._lake.as_uri()}/alone/{table.name}") for table in DECODED_TABLES
        }

        def decode() -> None:
            groups = groups_that_may_overlap(rows)
            results = decode_objects(spark, groups, RawLocation(self.raw.as_uri()).read, locations)
            done.extend(each for result in results for each in result.objects)

        costs: list[Cost] = []
        memory = peak_memory_mb(lambda: costs.append(cost_with_workers(decode)))
        if any(each.undecodable for each in done):
            raise AssertionError("not all was decoded")
        return costs[0], memory, done


def _skew(spark: SparkSession, folder: Path) -> list[dict]:
    rest = PUSHES // (BROKERS - 1 + TIMES_THE_REST)
    days = {
        "even": [PUSHES // BROKERS] * BROKERS,
        "skewed": [PUSHES - rest * (BROKERS - 1)] + [rest] * (BROKERS - 1),
    }
    rows = []
    for name, pushes in days.items():
        day = Day(folder / name)
        day_of_brokers(day.raw, pushes)
        day.collect()
        runs = [day.decode_alone(spark) for _ in range(4)]
        sizes: dict[int, int] = {}
        for row in day.ledger():
            sizes[row["broker_id"]] = sizes.get(row["broker_id"], 0) + row["bytes"]
        rows.append(
            {
                "day": name,
                "stored, MB": round(sum(sizes.values()) / 2**20),
                "of the largest broker, MB": round(max(sizes.values()) / 2**20),
                "points": sum(each.points for each in runs[0][2]),
                "CPU s": min(cost.cpu for cost, _, _ in runs[1:]),
                "wall s": min(cost.wall for cost, _, _ in runs[1:]),
                "memory, MB": round(max(memory for _, memory, _ in runs)),
            }
        )
        shutil.rmtree(folder / name)
    return rows


def _objects(folder: Path) -> list[dict]:
    day = Day(folder / "objects")
    day_of_brokers(day.raw, [OBJECTS // 50] * 50, max_object_bytes=0)
    collecting = cost_with_workers(day.collect)
    began = time.perf_counter()
    listed = sum(
        key.key.dataset == "client_pushes"
        for key in RawLocation(day.raw.as_uri()).objects(CLUSTER, DAY.date())
    )
    listing = time.perf_counter() - began
    began = time.perf_counter()
    rows = [row for row in day.ledger() if row["dataset"] != "manifests"]
    tasks = groups_by_task(groups_that_may_overlap(rows))
    planning = time.perf_counter() - began
    if not listed == len(rows) == sum(map(len, tasks)) == OBJECTS:
        raise AssertionError(f"{listed} objects, {len(rows)} in the ledger, {sum(map(len, tasks))} in tasks")
    decoding = cost_with_workers(day.decode)
    shutil.rmtree(folder / "objects")
    steps = {
        "listing, alone": listing,
        "collect, whole": collecting.wall,
        "planning, alone": planning,
        "decode, whole": decoding.wall,
    }
    return [
        {
            "step": step,
            "wall s": wall,
            "tasks": len(tasks) if step.startswith(("planning", "decode")) else None,
        }
        for step, wall in steps.items()
    ]


def _large(spark: SparkSession, folder: Path) -> list[dict]:
    day = Day(folder / "large")
    object_of(day.raw, LARGE_BYTES)
    day.collect()
    cost, memory, (done,) = day.decode_alone(spark)
    shutil.rmtree(folder / "large")
    return [
        {
            "stored, MB": round(done.bytes / 2**20),
            "pushes": done.records,
            "points": done.points,
            "CPU, ns per point": round(cost.cpu / done.points * 1e9),
            "wall s": cost.wall,
            "memory of a worker, MB": round(memory),
        }
    ]
