"""How many queries, jobs, stages and tasks of Spark the stages of a day make of the sample.

These counts do not depend on the machine: tests/jobs/test_budget.py holds them to BUDGET.
"""

import contextlib
import io
import json
import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from pathlib import Path

from client_telemetry.jobs import main_of
from client_telemetry.tables.stages import DAILY, UPGRADE_REVIEW
from pyspark.sql import SparkSession

from benchmarks.bench import Section

CHECKOUT = Path(__file__).parents[1]
DAY = "2026-11-21"
CLUSTERS = {"telemetry_cluster": "kQ7x0RvXTs-Y2r0m3Jw0zA", "fleet": "fL33tG0ldTruth000000-w"}
SETTINGS_OF_A_CLUSTER = CHECKOUT / "spark" / "conf" / "cluster.conf.in"
_OF_SQL = re.compile(r"(spark\.sql\.\S+)\s+(\S+)")
_HERE = {"spark.sql.extensions", "spark.sql.session.timeZone"}


@dataclass(frozen=True)
class Counts:
    """SQL executions; Spark's jobs, and the stages and tasks that these completed."""

    queries: int
    jobs: int
    stages: int
    tasks: int

    @classmethod
    def until_now(cls, spark: SparkSession) -> "Counts":
        context = spark.sparkContext._jsc.sc()
        context.listenerBus().waitUntilEmpty()
        jobs = context.statusStore().jobsList(None)
        each = [jobs.apply(number) for number in range(jobs.size())]
        return cls(
            spark._jsparkSession.sharedState().statusStore().executionsCount(),
            len(each),
            sum(job.numCompletedStages() for job in each),
            sum(job.numCompletedTasks() for job in each),
        )

    def since(self, before: "Counts") -> "Counts":
        return Counts(*(now - then for now, then in zip(astuple(self), astuple(before), strict=True)))


_ONCE_MORE = " with Spark"
WITH_SPARK = ("publish_fleet", "review", "profile", "sessionize")
"""Stages that are run once more, made to use Spark, which they need for much data only (pipeline/queries.py). Their pages go to
`on_spark`."""


def stages_of_day(cluster: str, folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Each stage of the daily DAG with its arguments, over a cluster of the sample and with a new lake in `folder`; the review
    of the day's upgrades too, with the questions that it asks first. Pages go to `published`. Run each before the next is taken:
    what collect reports decides about the others. Raises RuntimeError if a stage did not end well.
    """
    sample = CHECKOUT / "include" / "sample"
    options: dict[str, dict[str, object]] = {
        "collect": {"raw": sample / cluster / "raw", "day": DAY},
        "decode": {"raw": sample / cluster / "raw"},
        "profile": {"owners": sample / "owners.yaml"},
        "publish_fleet": {"publish": folder / "published", "cluster-name": cluster},
        "review": {"changed-on": DAY, "publish": folder / "published", "owners": sample / "owners.yaml"},
    }
    result = folder / "result.json"
    days: dict[str, object] = {}
    for stage in (*DAILY, *UPGRADE_REVIEW):
        given = {
            "cluster": CLUSTERS[cluster],
            "lake": folder / "lake",
            "result": result,
            **(days if stage in DAILY else {}),
            **options.get(stage.name, {}),
        }
        result.unlink(missing_ok=True)
        yield stage.name, [f"--{name}={value}" for name, value in given.items()]
        reported = json.loads(result.read_text(encoding="utf-8"))
        if reported["status"] != "ok":
            raise RuntimeError(f"{stage.name}: {reported['message']}")
        if stage.name == "collect":
            days = {"days": ",".join(reported["decode_days"])}


def counts_of_day(spark: SparkSession, cluster: str, folder: Path) -> dict[str, Counts]:
    """Stage -> its counts. Runs the stages in this process."""
    counts = {}
    arguments_of = {}
    for stage, arguments in stages_of_day(cluster, folder):
        counts[stage] = _counts_of(spark, stage, arguments)
        arguments_of[stage] = arguments
    for stage in WITH_SPARK:
        elsewhere = [
            each.replace(f"{folder / 'published'}", f"{folder / 'on_spark'}") for each in arguments_of[stage]
        ]
        counts[stage + _ONCE_MORE] = _counts_of(spark, stage, [*elsewhere, "--without-spark-up-to=0"])
    return counts


def _counts_of(spark: SparkSession, stage: str, arguments: list[str]) -> Counts:
    before = Counts.until_now(spark)
    with contextlib.redirect_stdout(io.StringIO()):
        if main_of(stage)(arguments):
            raise RuntimeError(f"{stage} {' '.join(arguments)} did not end well")
    return Counts.until_now(spark).since(before)


def cluster_settings() -> dict[str, str]:
    """How the shipped settings for a Spark cluster have queries run."""
    found = _OF_SQL.findall(SETTINGS_OF_A_CLUSTER.read_text(encoding="utf-8"))
    return {name: value for name, value in found if name not in _HERE}


def run() -> Iterator[Section]:
    os.environ.setdefault("SPARK_CONF_DIR", str(CHECKOUT / "var/spark"))
    yield _section("one machine", {})
    yield _section("a Spark cluster", cluster_settings())


def _section(where: str, settings: dict[str, str]) -> Section:
    builder = SparkSession.builder.master("local[2]").config("spark.ui.showConsoleProgress", "false")
    spark = builder.config(map=settings).getOrCreate()
    rows = []
    try:
        for cluster in CLUSTERS:
            with tempfile.TemporaryDirectory() as folder:
                counts = counts_of_day(spark, cluster, Path(folder))
            once = [astuple(each) for stage, each in counts.items() if not stage.endswith(_ONCE_MORE)]
            total = [sum(column) for column in zip(*once, strict=True)]
            rows += [
                {"cluster": cluster, "stage": stage, **dict(zip(_COLUMNS, astuple(each), strict=True))}
                for stage, each in {**counts, "all": Counts(*total)}.items()
            ]
    finally:
        spark.stop()
    return Section(
        f"Queries of a day with the settings for {where}",
        "The stages of the daily run over the two clusters of the sample, and the review of the fleet's two upgrades with the questions that it asks, in one Spark with two cores; *with Spark*: once more, where the stage was made to use Spark for its little data. Counts of Spark's SQL "
        "executions, its jobs, and the stages and tasks that these completed: they do not depend on the machine. "
        "tests/jobs/test_budget.py holds the sample to a budget.",
        rows,
    )


_COLUMNS = ("queries", "jobs", "stages", "tasks")
