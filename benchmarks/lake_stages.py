"""A cluster's day through all stages: on an empty lake, on one whose windows are filled, and on one of 59 days. What age costs,
and what fails.

    make bench ARGS=lake_stages

The day is that of the sample, and collect, decode, sessionize, profile and publish_fleet do all their work on it. The days before
were not run: the rows that the stages write of the sample's day are in the tables as those of each of them, for each of CLUSTERS
clusters, maintained. Their objects are in the raw location as far back as collect looks.
"""

import datetime as dt
import json
import shutil
import statistics
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.compute as pc
from client_telemetry.jobs import main_of
from client_telemetry.jobs.collect import LATE_DAYS, TOO_LATE_DAYS
from client_telemetry.lake.branch import append_files
from client_telemetry.lake.lake import Lake
from client_telemetry.tables.publications import PUBLICATIONS
from client_telemetry.tables.raw_objects import RAW_OBJECTS
from client_telemetry.tables.stages import DAILY

from benchmarks.bench import Section
from benchmarks.lake_growth import (
    SAMPLE_CLUSTER,
    Columns,
    columns_of_sample,
    file_of,
    size_of,
    upkeep,
)
from benchmarks.measure import cost_of

RAW = Path("include/sample/fleet/raw")
DAY = dt.date(2026, 11, 21)
CLUSTERS, ROUNDS = 5, 5
SEEN_BY_COLLECT = LATE_DAYS + TOO_LATE_DAYS
AGES = {"day 1": 0, f"day {SEEN_BY_COLLECT + 1}": SEEN_BY_COLLECT, "day 60": 59}
"""How many days are before the one that is run: none, as many as any stage but the fleet page looks back at, two months."""
STAGES = tuple(stage.name for stage in DAILY)

Costs = dict[str, list[dict[str, float]]]
"""Age to the CPU seconds of each stage in each round."""


def run() -> Iterator[Section]:
    with TemporaryDirectory(prefix="client_telemetry_lake_stages_") as folder:
        yield _measured(Path(folder))


def _measured(folder: Path) -> Section:
    failed: list[str] = []
    source = _Place(folder / "source")
    source.receive(DAY)
    source.run_day(failed)  # which warms up, and makes the rows of all days
    places = {}
    for name, age in AGES.items():
        places[name] = _Place(folder / name.replace(" ", "_"))
        places[name].age(Lake(None, str(source.lake)), age)
    costs: Costs = {name: [] for name in places}
    for number in range(ROUNDS):
        for name, place in places.items():
            place.begin_again()
            costs[name].append(place.run_day(failed))
            total = sum(costs[name][-1].values())
            print(f"  round {number + 1}, {name}: {total:.1f} s CPU, {len(failed)} failed", flush=True)
    for error in failed:
        print(error)
    size = size_of(str(places["day 60"].kept))
    text = (
        f"The sample's day of one cluster, in lakes with {CLUSTERS} clusters and {', '.join(map(str, AGES.values()))} earlier days, "
        f"{ROUNDS} times in turn: {len(failed)} of {(ROUNDS * len(places) + 1) * len(STAGES)} stages failed. CPU is that of all "
        f"processes, the median; ratios are medians over the rounds. The lake of day 60 has {size.data / 1e6:.0f} MB of data and "
        f"{size.metadata / 1e6:.1f} MB of metadata ({size.metadata / size.data:.1%}). From day {SEEN_BY_COLLECT + 1} on, the stages see "
        "the same number of earlier days."
    )
    return Section(
        "Stages of a day in a lake with many days", text, [_row(costs, each) for each in (*STAGES, "all")]
    )


def _row(costs: Costs, stage: str) -> dict[str, object]:
    cpu = {
        name: [sum(seconds for n, seconds in each.items() if stage in (n, "all")) for each in rounds]
        for name, rounds in costs.items()
    }
    first, full, last = cpu.values()
    row: dict[str, object] = {"stage": stage}
    row |= {f"{name}, CPU s": round(statistics.median(each), 2) for name, each in cpu.items()}
    names = [*cpu]
    for name, each in ((names[0], first), (names[1], full)):
        ratio = statistics.median(b / a for a, b in zip(each, last, strict=True))
        row[f"{names[2]} / {name}"] = f"{ratio:.2f}"
    return row


class _Place:
    """A raw location, a lake and pages, each in a folder of its own."""

    def __init__(self, folder: Path):
        self.raw, self.lake, self.kept, self.published = (
            folder / name for name in ("raw", "lake", "lake.kept", "published")
        )
        self._result = folder / "result.json"

    def receive(self, day: dt.date) -> None:
        """The sample's objects as those of a day, with their times of change."""
        for folder in RAW.glob(f"v1/dataset=*/cluster=*/dt={DAY}"):
            shutil.copytree(folder, (self.raw / folder.relative_to(RAW)).with_name(f"dt={day}"))

    def age(self, sample: Lake, days: int) -> None:
        """That many days before the sample's: the rows of all clusters, a day in one commit."""
        lake = Lake(None, str(self.lake))
        tables = [sample.known(name) for name in sample.tables()]
        lake.create(tables)
        clusters = [SAMPLE_CLUSTER, *(f"cluster-{number}" for number in range(1, CLUSTERS))]
        before = [DAY - dt.timedelta(days=number) for number in range(days, 0, -1)]
        for table in tables:
            if "dt" not in table.partition or not (columns := columns_of_sample(sample, table)):
                continue
            place = lake.place(table)
            for day in before:
                ours = _of_ledger(columns, day) if table is RAW_OBJECTS else _later(columns, day - DAY)
                urls = [url for c in clusters if (url := file_of(place, table, ours, c, day))]
                lake.committed(table.name, partial(append_files, urls=urls))
        published = sample.rows(PUBLICATIONS)
        lake.append(
            PUBLICATIONS,
            [
                row | {"cluster_id": cluster, "days": [day], "run_id": f"scheduled__{day}"}
                for cluster in clusters
                for day in before
                for row in published
            ],
        )
        if before:
            upkeep(str(self.lake), dt.datetime.now(dt.UTC))
        for day in [*before[-SEEN_BY_COLLECT:], DAY]:
            self.receive(day)
        shutil.copytree(self.lake, self.kept)

    def begin_again(self) -> None:
        """The lake as it was, where it was: its tables name their files with their folder."""
        shutil.rmtree(self.lake)
        shutil.copytree(self.kept, self.lake)
        shutil.rmtree(self.published, ignore_errors=True)

    def run_day(self, failed: list[str]) -> dict[str, float]:
        """CPU seconds of each stage, with what Airflow would tell it."""
        costs = {}
        options = {
            "collect": [f"--raw={self.raw}", f"--day={DAY}"],
            "decode": [f"--raw={self.raw}", f"--days={DAY}"],
            "publish_fleet": [f"--days={DAY}", f"--publish={self.published}"],
        }
        same = [f"--cluster={SAMPLE_CLUSTER}", f"--lake={self.lake}", f"--result={self._result}"]
        for stage in STAGES:
            arguments = [*same, f"--run-id=scheduled__{DAY}", *options.get(stage, [f"--days={DAY}"])]
            costs[stage] = cost_of(partial(_run_stage, stage, arguments, failed)).cpu
            result: Mapping[str, object] = json.loads(self._result.read_text())
            if stage == "collect" and result.get("decode_days") != [str(DAY)]:
                failed.append(f"collect: {result.get('decode_days')} are to be decoded, not {DAY} alone")
        return costs


def _run_stage(stage: str, arguments: Sequence[str], failed: list[str]) -> None:
    if code := main_of(stage)(arguments):
        failed.append(f"{stage} {' '.join(arguments)} ended with {code}")


def _of_ledger(columns: Columns, day: dt.date) -> Columns:
    """Objects of another day: they have its name, and are otherwise the same files."""
    keys = pc.replace_substring(columns["object_key"], f"dt={DAY}", f"dt={day}")
    return {**columns, "object_key": keys}


def _later(columns: Columns, by: dt.timedelta) -> Columns:
    return {
        name: pc.add(column, pa.scalar(by, pa.duration("us")))
        if pa.types.is_timestamp(column.type)
        else column
        for name, column in columns.items()
    }
