"""How the tables grow: equal days of several clusters one after another, with the upkeep of lake_maintenance each week.

    make bench ARGS=lake_growth
    make bench ARGS=lake_servers                # several writers at once, on PostgreSQL and S3
    include/airflow.sh python -m benchmarks.lake_growth --clusters 30 --writers 4 --lake s3://lake/warehouse

A day of a cluster is what the stages do to the lake: what they read of tables, the files of the tables that they write (the
rows of the sample's day in the lake of `make run`, at most ROWS of each table), the branches, the publication. What Spark
computes between is left out: it is the same each day. Maintenance is the real one, in a Spark of its own. Days last less than a
minute: snapshots and files have the age in such days at which they are removed.
"""

import argparse
import datetime as dt
import json
import multiprocessing as mp
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
from client_telemetry.formats.locations import absolute_url
from client_telemetry.formats.raw.file_system import file_system
from client_telemetry.jobs.collect import LATE_DAYS, TOO_LATE_DAYS
from client_telemetry.lake.branch import Branch
from client_telemetry.lake.catalog import CATALOG, NAMESPACE, is_local
from client_telemetry.lake.lake import SNAPSHOT_DAYS, Lake
from client_telemetry.lake.local_catalog import LOCAL_CATALOG
from client_telemetry.lake.maintenance import maintain, retention
from client_telemetry.lake.writer import DataFile, TablePlace
from client_telemetry.tables.broker_hours import BROKER_HOURS
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.client_metrics import CLIENT_METRICS
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.client_sessions import CLIENT_SESSIONS, HISTORY_DAYS
from client_telemetry.tables.clients import CLIENTS
from client_telemetry.tables.connection_events import CONNECTION_EVENTS
from client_telemetry.tables.publications import PUBLICATIONS
from client_telemetry.tables.quality_results import QUALITY_RESULTS
from client_telemetry.tables.raw_objects import RAW_OBJECTS
from client_telemetry.tables.table import Table
from pyarrow import fs

from benchmarks.bench import Section

SAMPLE, SAMPLE_CLUSTER = Path("var/lake"), "fL33tG0ldTruth000000-w"
ROWS = 10_000
CHECKS = 40
"""Rows of quality_results that a stage writes."""
FIRST = dt.date(2026, 9, 1)
WEEK = 7
FIXED_WORK = 5
"""Rounds; some 50 ms on an idle machine."""

Columns = Mapping[str, pa.Array]


@dataclass(frozen=True)
class StageWrites:
    """What a stage writes, and what it reads of the lake before."""

    tables: tuple[Table, ...]
    read: Callable[[Lake, str, dt.date], object]


def _collect_reads(lake: Lake, cluster: str, day: dt.date) -> None:
    days = [day - dt.timedelta(days=n) for n in range(LATE_DAYS + 1 + TOO_LATE_DAYS)]
    lake.rows(RAW_OBJECTS, cluster_id=cluster, dt=days[: LATE_DAYS + 1])
    lake.newest(RAW_OBJECTS, "modified_at", cluster_id=cluster, dt=days[LATE_DAYS + 1 :])
    lake.published_days(cluster, "sessionize")


def _sessionize_reads(lake: Lake, cluster: str, day: dt.date) -> None:
    heads = lake.published(cluster)
    days = [day - dt.timedelta(days=n) for n in range(HISTORY_DAYS + 1)]
    for table in (CLIENT_PUSHES, CONNECTION_EVENTS):
        if table.name in heads:
            lake.files(table, heads[table.name], cluster_id=cluster, dt=days)


STAGES = {
    "collect": StageWrites((RAW_OBJECTS, BROKERS, BROKER_HOURS), _collect_reads),
    "decode": StageWrites(
        (CLIENT_PUSHES, CLIENT_METRICS, CONNECTION_EVENTS, RAW_OBJECTS, BROKER_HOURS),
        lambda lake, cluster, day: lake.rows(RAW_OBJECTS, cluster_id=cluster, dt=day),
    ),
    "sessionize": StageWrites((CLIENT_CONNECTIONS, CLIENT_SESSIONS), _sessionize_reads),
    "profile": StageWrites((CLIENTS,), lambda lake, cluster, day: lake.published(cluster)),
}


@contextmanager
def _local_catalog() -> Iterator[None]:
    """Without the configuration of a catalog: the sample's is the local one."""
    before = os.environ.get(LOCAL_CATALOG)
    os.environ[LOCAL_CATALOG] = "1"
    try:
        yield
    finally:
        del os.environ[LOCAL_CATALOG]
        if before is not None:
            os.environ[LOCAL_CATALOG] = before


def rows_of_sample(stages: Sequence[str], rows: int) -> dict[Table, Columns]:
    """Columns of each table that the stages write."""
    lake = Lake(None, str(SAMPLE))
    found = {}
    filled = lake.tables()
    for table in {table for stage in stages for table in STAGES[stage].tables}:
        columns = columns_of_sample(lake, table, rows) if table.name in filled else {}
        if not columns:
            raise SystemExit(f"{SAMPLE} has no rows of {table.name}: run `make run` first")
        found[table] = columns
    return found


def columns_of_sample(lake: Lake, table: Table, rows: int | None = None) -> Columns:
    """Columns of the sample's rows, without those of the partition; none if there are no rows."""
    files = lake.files(table, cluster_id=SAMPLE_CLUSTER)
    groups = [group for file in files for group in file.row_groups(table.arrow_schema, False)]
    if not groups:
        return {}
    columns = pa.concat_tables(groups).slice(0, rows)
    return {
        name: columns[name].combine_chunks() for name in columns.column_names if name not in table.partition
    }


def run_day(
    lake: Lake, sample: Mapping[Table, Columns], stages: Sequence[str], cluster: str, day: dt.date
) -> None:
    for name in stages:
        stage = STAGES[name]
        stage.read(lake, cluster, day)
        lake.create([*stage.tables, QUALITY_RESULTS, PUBLICATIONS])
        branch = lake.branch(f"scheduled__{day}", cluster, name)
        for table in stage.tables:
            _write(lake, branch, table, sample[table], cluster, day)
        lake.append(QUALITY_RESULTS, _checks(cluster, name, day))
        branch.publish(cluster, f"scheduled__{day}", name, [day])
    lake.published_days(cluster, "profile")
    lake.rows(QUALITY_RESULTS, cluster_id=cluster, dt=day)


def _write(lake: Lake, branch: Branch, table: Table, columns: Columns, cluster: str, day: dt.date) -> None:
    url = file_of(lake.place(table), table, columns, cluster, day)
    branch.replace_files(table, [url] if url else [], cluster_id=cluster, dt=[day])


def file_of(place: TablePlace, table: Table, columns: Columns, cluster: str, day: dt.date) -> str | None:
    file = DataFile(table, place, {"cluster_id": cluster, "dt": day})
    file.add_columns(columns)
    return file.close()


def _checks(cluster: str, stage: str, day: dt.date) -> list[dict[str, object]]:
    same = {
        "cluster_id": cluster,
        "run_id": f"scheduled__{day}",
        "stage": stage,
        "dt": day,
        "table_name": "client_pushes",
        "severity": "critical",
        "success": True,
        "observed_value": "0",
        "rows": 1000,
        "description": "what the expectation says, in words as long as the real ones are",
        "evaluated_at": dt.datetime.now(dt.UTC),
    }
    return [same | {"expectation": f"expectation_{n}"} for n in range(CHECKS)]


@dataclass(frozen=True)
class Size:
    """Bytes and files below the tables' folders."""

    data: int
    metadata: int
    files: int


def size_of(location: str) -> Size:
    files, root = file_system(absolute_url(location))
    below = files.get_file_info(fs.FileSelector(root, recursive=True, allow_not_found=True))
    sizes = {"data": 0, "metadata": 0}
    count = 0
    for info in below:
        kind = next((kind for kind in sizes if f"/{kind}/" in info.path), None)
        if info.type == fs.FileType.File and kind:
            sizes[kind] += info.size
            count += 1
    return Size(sizes["data"], sizes["metadata"], count)


@dataclass(frozen=True)
class Growth:
    """What was measured: CPU seconds of each cluster's days, and as multiples of fixed work; failed runs, sizes by day after upkeep."""

    cpu: dict[int, list[float]]
    work: dict[int, list[float]]
    failed: list[str]
    sizes: dict[int, tuple[Size, Size]]
    """Day to the sizes before and after its maintenance."""


def grow(
    location: str,
    clusters: int,
    days: int,
    writers: int,
    stages: Sequence[str],
    rows: int,
    minutes: float,
) -> Growth:
    """`minutes`: no day begins after them."""
    with _local_catalog():
        tables = set(rows_of_sample(stages, rows))
    Lake(None, location).create([*tables, QUALITY_RESULTS, PUBLICATIONS])
    found = Growth({}, {}, [], {})
    began: list[dt.datetime] = []
    until = time.monotonic() + 60 * minutes
    names = [f"cluster-{number:02}" for number in range(clusters)]
    start = (location, stages, rows)
    with ProcessPoolExecutor(writers, mp.get_context("spawn"), Writer.start, start) as pool:
        for number in range(days):
            day = FIRST + dt.timedelta(days=number)
            began.append(dt.datetime.now(dt.UTC))
            first_kept = began[max(0, number - SNAPSHOT_DAYS)]
            done = list(pool.map(_day, names, *zip(*[(day, stages, first_kept)] * clusters, strict=True)))
            found.cpu[number] = [cpu for cpu, _, _ in done]
            found.work[number] = [work for _, work, _ in done]
            found.failed.extend(error for *_, error in done if error)
            is_last = number + 1 == days or time.monotonic() > until
            if (number + 1) % WEEK == 0 or is_last:
                before = size_of(location)
                upkeep(location, began[max(0, number + 1 - SNAPSHOT_DAYS)])
                found.sizes[number + 1] = (before, size_of(location))
            seconds = (dt.datetime.now(dt.UTC) - began[-1]).total_seconds()
            print(f"{_line(found, number)}; {seconds:.0f} s", flush=True)
            if is_last:
                break
    return found


def _line(found: Growth, number: int) -> str:
    text = f"  day {number + 1}: {statistics.median(found.cpu[number]):.2f} s CPU a cluster, {len(found.failed)} failed"
    if number + 1 in found.sizes:
        before, after = found.sizes[number + 1]
        text += f"; data {after.data / 1e6:.0f} MB, metadata {before.metadata / 1e6:.1f} MB, after upkeep {after.metadata / 1e6:.1f} MB"
    return text


class Writer:
    """What one process writes with: it stays for all days."""

    lake: Lake
    sample: Mapping[Table, Columns]

    @classmethod
    def start(cls, location: str, stages: Sequence[str], rows: int) -> None:
        with _local_catalog():
            cls.sample = rows_of_sample(stages, rows)
        cls.lake = Lake(None, location)


def _day(
    cluster: str, day: dt.date, stages: Sequence[str], first_kept: dt.datetime
) -> tuple[float, float, str | None]:
    """CPU seconds of a cluster's day, as multiples of fixed work done before and after it, and why it failed if it did.
    Snapshots that were replaced before `first_kept` go.
    """
    Writer.lake.snapshot_age = dt.datetime.now(dt.UTC) - first_kept
    fixed = _fixed_work()
    began, error = time.process_time(), None
    try:
        run_day(Writer.lake, Writer.sample, stages, cluster, day)
    except Exception as failure:
        error = f"{cluster}, {day}: {type(failure).__name__}: {failure}"
    cpu = time.process_time() - began
    return cpu, 2 * cpu / (fixed + _fixed_work()), error


def _fixed_work() -> float:
    """CPU seconds of something that is the same each day: on a busy machine a second of CPU does more or less."""
    began = time.process_time()
    for _ in range(FIXED_WORK):
        json.loads(json.dumps({str(n): [n, str(n)] for n in range(2_000)}))
    return time.process_time() - began


def upkeep(location: str, first_kept: dt.datetime) -> None:
    """Maintenance in a process of its own; snapshots from `first_kept` on stay, as those of the last days would."""
    process = mp.get_context("spawn").Process(target=_maintain, args=(location, first_kept))
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit("maintenance failed")


def _maintain(location: str, first_kept: dt.datetime) -> None:
    from client_telemetry.pipeline.stage import spark_session

    spark = spark_session("lake_growth", location)
    lake = Lake(spark, location)
    maintain(lake, first_kept + dt.timedelta(days=SNAPSHOT_DAYS), retention({}))
    # The procedure that maintenance calls refuses to remove files that are not a day old by the real clock.
    iceberg = spark._jvm.org.apache.iceberg.spark
    for name in lake.tables():
        table = iceberg.Spark3Util.loadIcebergTable(spark._jsparkSession, f"{CATALOG}.{NAMESPACE}.{name}")
        orphans = iceberg.actions.SparkActions.get(spark._jsparkSession).deleteOrphanFiles(table)
        orphans.olderThan(int(first_kept.timestamp() * 1000)).usePrefixListing(
            not is_local(location)
        ).execute()


def sections(found: Growth, clusters: int, writers: int, stages: Sequence[str]) -> Iterator[Section]:
    days = sorted(found.cpu)
    rows = []
    first, done = None, 0
    for number, (before, after) in sorted(found.sizes.items()):
        since = [day for day in days if done <= day < number]
        cpu, work = (statistics.median(c for n in since for c in of[n]) for of in (found.cpu, found.work))
        first, done = first or work, number
        rows.append(
            {
                "days": f"{since[0] + 1} to {number}",
                "CPU per cluster and day, s": round(cpu, 2),
                "CPU / fixed work, relative to the first": f"{work / first:.2f}",
                "data, MB": round(after.data / 1e6, 1),
                "metadata before upkeep, MB": round(before.metadata / 1e6, 1),
                "after upkeep, MB": round(after.metadata / 1e6, 1),
                "metadata / data": f"{after.metadata / after.data:.1%}",
                "files": after.files,
            }
        )
    text = (
        f"{clusters} clusters, {len(days)} identical days of the stages {', '.join(stages)}, {writers} at a time, upkeep every week: "
        f"{len(found.failed)} of {clusters * len(days)} runs failed. CPU is the median over the days since the previous upkeep; a fixed "
        "amount of work is timed before and after each day, because a second of CPU buys less on a busy machine."
    )
    yield Section("Growth of the tables", text, rows)


def run() -> Iterator[Section]:
    with TemporaryDirectory() as folder:
        found = grow(folder, 5, 60, 1, list(STAGES), ROWS, minutes=24 * 60)
        yield from sections(found, 5, 1, list(STAGES))


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--lake", required=True, help="an empty folder, or a URL with a configured catalog")
    parser.add_argument("--clusters", type=int, default=5)
    parser.add_argument("--days", type=int, default=60)
    parser.add_argument("--writers", type=int, default=1)
    parser.add_argument("--stages", default=",".join(STAGES))
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--minutes", type=float, default=24 * 60, help="begin no day after that time")
    args = parser.parse_args(argv)
    stages = args.stages.split(",")
    found = grow(args.lake, args.clusters, args.days, args.writers, stages, args.rows, args.minutes)
    from benchmarks.bench import shown

    for section in sections(found, args.clusters, args.writers, stages):
        print(shown(section.title, section.text, section.rows))
    for error in found.failed[:10]:
        print(error, file=sys.stderr)
    return 1 if found.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
