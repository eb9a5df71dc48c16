"""A night's run over a small cluster, each stage a process of its own as Airflow starts it: CPU of all processes, and where it goes.

    make bench ARGS=submitted_day

No Connect server and no warm process, which `make run` has. What a stage costs before it reads a row is measured beside it.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from client_telemetry.tables.stages import DAILY, UPGRADE_REVIEW

from benchmarks.bench import Section
from benchmarks.command_cost import cost_of_command
from benchmarks.measure import RUN_STAGE, Cost
from benchmarks.queries import CHECKOUT, CLUSTERS, stages_of_day

_TEXT = """The stages of the daily DAG over the two clusters of the sample, each started as Airflow starts it where no warm process is: by Python, which starts Spark \
if the stage needs it, with the settings for one machine (`var/spark`), one after the other, on a new lake. \
One run each. CPU is that of the command and of every process that it started; *JVM* is the part of Java processes, \
the rest is Python: imports, the driver, Spark's workers. Nothing is kept between stages."""
_STARTS = """The same command with less and less to do: what a stage pays before it reads a row. *Nothing to do*: the stage with an \
empty list of days, so it is Python and the imports of the stage. \
One run each."""
_WARM = """The same night of each cluster as the image `airflow` runs it, here by `include/warm.sh` (docs/deployment.md): its stages are forks of one process that has imported \
everything, and of which several clusters share the start. *A job that does nothing* is that start. One run each."""
_PROGRAMS = {
    "no session": "",
    "a session": "from pyspark.sql import SparkSession\nSparkSession.builder.getOrCreate().stop()\n",
    "a session, one query": "from pyspark.sql import SparkSession\nspark = SparkSession.builder.getOrCreate()\n"
    "spark.range(10).groupBy('id').count().collect()\nspark.stop()\n",
    "a session, a Python worker": "from pyspark.sql import SparkSession\nspark = SparkSession.builder.getOrCreate()\n"
    "spark.range(0, 1, 1, 1).mapInArrow(lambda batches: batches, 'id long').collect()\nspark.stop()\n",
}


def run() -> Iterator[Section]:
    yield Section("Stages of a night, each a process of its own", _TEXT, _stages())
    yield Section("Stages of a night, forks of a warm process", _WARM, _warm())
    yield Section("What a stage costs before it reads a row", _STARTS, _starts())


def command_of(stage: str, arguments: Sequence[str]) -> list[str]:
    """As the daily DAG starts the stage."""
    return [sys.executable, str(RUN_STAGE), stage, *arguments]


def costs_of_day(cluster: str, folder: Path) -> dict[str, Cost]:
    """Stage -> its cost, of one run of the day; `folder` is empty before."""
    return {
        stage: cost_of_command(command_of(stage, arguments))
        for stage, arguments in stages_of_day(cluster, folder)
    }


def _stages() -> list[dict[str, str | float]]:
    rows = []
    for cluster in CLUSTERS:
        with tempfile.TemporaryDirectory(prefix="submitted_day_") as folder:
            costs = costs_of_day(cluster, Path(folder))
        parts = ("cpu", "jvm", "wall")
        costs["all"] = Cost(*(sum(getattr(cost, part) for cost in costs.values()) for part in parts))
        rows += [{"cluster": cluster, "stage": stage, **_columns(cost)} for stage, cost in costs.items()]
    return rows


def _warm() -> list[dict[str, str | float]]:
    rows = []
    for cluster in ("", *CLUSTERS):
        with tempfile.TemporaryDirectory(prefix="submitted_day_") as folder:
            night = [sys.executable, "-m", "benchmarks.submitted_day", cluster, folder]
            cost = cost_of_command([str(CHECKOUT / "include/warm.sh"), *night])
            if not cluster:
                start = cost
            name = cluster or "a job that does nothing"
            rows.append({"night": name, **_columns(cost), "CPU s beyond the start": cost.cpu - start.cpu})
    return rows


def run_warm(cluster: str, folder: Path) -> None:
    """The day's stages in forks of the process at WARM_JOBS; without a cluster, a job that does nothing."""
    fork = [sys.executable, str(CHECKOUT / "spark/warm_jobs.py"), "run", os.environ["WARM_JOBS"]]
    if not cluster:
        nothing = folder / "nothing.py"
        nothing.touch()
        subprocess.run([*fork, str(nothing)], check=True)
        return
    for stage, arguments in stages_of_day(cluster, folder):
        subprocess.run([*fork, str(RUN_STAGE), stage, *arguments], check=True)


def _columns(cost: Cost) -> dict[str, float]:
    return {"CPU s": cost.cpu, "of which JVM": float(cost.jvm), "wall s": cost.wall}


def _starts() -> list[dict[str, str | float]]:
    with tempfile.TemporaryDirectory(prefix="submitted_day_") as folder:
        commands = commands_of_starts(Path(folder))
        return [{"command": name, **_columns(cost_of_command(command))} for name, command in commands.items()]


def commands_of_starts(folder: Path) -> dict[str, list[str]]:
    """Name -> command. Their programs are written to `folder`."""
    commands = {"Python alone": [sys.executable, "-c", ""]}
    for number, (name, text) in enumerate(_PROGRAMS.items()):
        program = folder / f"{number}.py"
        program.write_text(text, encoding="utf-8")
        commands[f"spark-submit, {name}"] = ["spark-submit", "--master", "local[2]", str(program)]
    for stage in (*DAILY, *UPGRADE_REVIEW):
        if stage.name != "collect":  # which always has something to do
            commands[f"{stage.name}, nothing to do"] = command_of(stage.name, _nothing(stage.name, folder))
    return commands


def _nothing(stage: str, folder: Path) -> list[str]:
    arguments = [f"--cluster={CLUSTERS['fleet']}", f"--lake={folder / 'lake'}"]
    if stage == "decode":
        arguments.append(f"--raw={CHECKOUT / 'include' / 'sample' / 'fleet' / 'raw'}")
    if stage in {"publish_fleet", "review"}:
        arguments.append(f"--publish={folder / 'published'}")
    return [*arguments, "--changed-on=" if stage == "review" else "--days="]


if __name__ == "__main__":
    run_warm(sys.argv[1], Path(sys.argv[2]))
