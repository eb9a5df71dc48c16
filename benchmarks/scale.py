"""Days at the edge of what the pipeline promises, through the jobs of the daily run: one broker that has nearly all, 50,000
objects, an object of 1 GiB compressed.

Takes some minutes and 5 GB of disk, so it runs by name only: make bench ARGS=scale
"""

import importlib
import json
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from client_telemetry.decode import groups_that_may_overlap, share_out
from client_telemetry.raw_location import RawLocation
from client_telemetry.tables.client_metrics import CLIENT_METRICS
from client_telemetry.tables.lake import Lake, spark_settings_at_start
from client_telemetry.tables.raw_objects import RAW_OBJECTS
from pyspark.sql import SparkSession

from benchmarks.bench import Section
from benchmarks.corpus import CLUSTER, DAY, day_of_brokers, object_of
from benchmarks.measure import Cost, cost_of, peak_memory_mb

BROKERS, PUSHES, TIMES_THE_REST = 20, 200_000, 50
OBJECTS = 50_000
LARGE_BYTES = 2**30

_SKEW = f"""{PUSHES:,} small pushes of {BROKERS} brokers over a day, with manifests, through the jobs collect and decode: the same \
number from each, and {TIMES_THE_REST} times as many from one as from each other one. The job's time has the gate and the \
publishing in it; the least of two runs. *Memory* is the largest resident size of a Python worker."""
_OBJECTS = f"""{OBJECTS:,} objects of one push each, of 50 brokers. *Listing* is done by collect, once. *Planning* is all that decode \
does with the ledger before the first task starts: tasks get the names of their objects, and list nothing."""
_LARGE = """One object of small pushes, 20,000 different ones over and over as new records: too far apart for zstd to see that they \
repeat. A worker reads it as a stream, alone."""


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
        yield Section("A broker that has nearly all", _SKEW, _skew(folder))
        yield Section(f"{OBJECTS:,} objects", _OBJECTS, _objects(folder))
        yield Section("An object of 1 GiB", _LARGE, _large(folder))
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
        told = [
            f"--cluster={CLUSTER}",
            f"--lake={self._lake}",
            f"--raw={self.raw}",
            f"--result={self._result}",
        ]
        code = importlib.import_module(f"jobs.{job}").main([*told, *arguments])
        result = json.loads(self._result.read_text())
        if code or result["counts"].get("undecodable"):
            raise AssertionError(result["message"])
        return result["counts"]

    def ledger(self) -> list[dict]:
        return Lake(None, str(self._lake)).rows(RAW_OBJECTS, cluster_id=CLUSTER, dt=DAY.date())

    def points(self) -> int:
        return Lake(None, str(self._lake)).table(CLIENT_METRICS).scan().count()


def _skew(folder: Path) -> list[dict]:
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
        runs: list[Cost] = []
        memory = max(
            peak_memory_mb(lambda day=day, runs=runs: runs.append(cost_of(day.decode))) for _ in range(3)
        )
        sizes: dict[int, int] = {}
        for row in day.ledger():
            sizes[row["broker_id"]] = sizes.get(row["broker_id"], 0) + row["bytes"]
        rows.append(
            {
                "day": name,
                "stored, MB": round(sum(sizes.values()) / 2**20),
                "of the largest broker, MB": round(max(sizes.values()) / 2**20),
                "points": day.points(),
                "CPU s": min(run.cpu for run in runs[1:]),
                "wall s": min(run.wall for run in runs[1:]),
                "memory, MB": round(memory),
            }
        )
        shutil.rmtree(folder / name)
    return rows


def _objects(folder: Path) -> list[dict]:
    day = Day(folder / "objects")
    day_of_brokers(day.raw, [OBJECTS // 50] * 50, max_object_bytes=0)
    collecting = cost_of(day.collect)
    began = time.perf_counter()
    listed = sum(
        key.key.dataset == "client_pushes"
        for key in RawLocation(day.raw.as_uri()).objects(CLUSTER, DAY.date())
    )
    listing = time.perf_counter() - began
    began = time.perf_counter()
    rows = [row for row in day.ledger() if row["dataset"] != "manifests"]
    tasks = share_out(groups_that_may_overlap(rows))
    planning = time.perf_counter() - began
    if not listed == len(rows) == sum(map(len, tasks)) == OBJECTS:
        raise AssertionError(f"{listed} objects, {len(rows)} in the ledger, {sum(map(len, tasks))} in tasks")
    runs: list[Cost] = []
    memory = peak_memory_mb(lambda: runs.append(cost_of(day.decode)))
    shutil.rmtree(folder / "objects")
    steps = {
        "listing, alone": listing,
        "collect, whole": collecting.wall,
        "planning, alone": planning,
        "decode, whole": runs[0].wall,
    }
    return [
        {
            "step": step,
            "wall s": wall,
            "tasks": len(tasks) if step.startswith(("planning", "decode")) else None,
            "memory of a worker, MB": round(memory) if step.startswith("decode") else None,
        }
        for step, wall in steps.items()
    ]


def _large(folder: Path) -> list[dict]:
    day = Day(folder / "large")
    object_of(day.raw, LARGE_BYTES)
    day.collect()
    runs: list[Cost] = []
    memory = peak_memory_mb(lambda: runs.append(cost_of(day.decode)))
    (row,) = (row for row in day.ledger() if row["dataset"] == "client_pushes")
    points = day.points()
    shutil.rmtree(folder / "large")
    return [
        {
            "stored, MB": round(row["bytes"] / 2**20),
            "pushes": row["records"],
            "points": points,
            "CPU, ns a point": round(runs[0].cpu / points * 1e9),
            "wall s": runs[0].wall,
            "memory of a worker, MB": round(memory),
        }
    ]
