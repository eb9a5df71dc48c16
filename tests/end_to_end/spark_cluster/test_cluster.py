"""Both DAGs' stages on a real cluster of a master and two workers: the same rows as on one machine, though a worker dies
while decode runs; and what is missing on an executor is said in one line, after which the stage can be run again."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from client_telemetry.pipeline.all_tables import TABLES
from client_telemetry.pipeline.stages import main_of

from tests.end_to_end.lake.servers import CHECKOUT, free_port
from tests.jobs.conftest import Pipeline

from .cluster import PACKED, Cluster, deployed, spark_settings

pytestmark = pytest.mark.end_to_end

SAMPLE = CHECKOUT / "include/sample/telemetry_cluster"
KAFKA_CLUSTER = "kQ7x0RvXTs-Y2r0m3Jw0zA"
DAY = "2026-11-21"
RAW = {"raw": SAMPLE / "raw"}
DAYS = {"days": DAY}
QUESTION = {"report-id": "question", "from": "4.0.1", "to": "4.3.1", "day": DAY}
JOBS = {
    "collect": {**RAW, "day": DAY},
    "decode": {**RAW, **DAYS},
    "sessionize": DAYS,
    "profile": {**DAYS, "owners": CHECKOUT / "include/sample/owners.yaml"},
    "publish_fleet": DAYS,
    "impact": QUESTION,
    "publish": {"report-id": "question"},
}
UP_TO_SESSIONS = ("collect", "decode", "sessionize")
COMPARED = (
    "client_pushes",
    "client_metrics",
    "connection_events",
    "client_connections",
    "client_sessions",
    "clients",
    "upgrade_verdicts",
    "upgrade_findings",
)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[Cluster]:
    if not PACKED.exists():
        pytest.skip("nothing is packed for executors: make executors")
    folder = tmp_path_factory.mktemp("cluster")
    started = Cluster(folder, deployed(folder))
    try:
        started.start()
        yield started
    finally:
        started.stop()


def start(cluster: Cluster, job: str, folder: Path, master: str = "", **settings: str) -> subprocess.Popen:
    """spark-submit as the operator of the DAGs calls it, with the settings for a cluster."""
    options = {
        "cluster": KAFKA_CLUSTER,
        "lake": folder / "lake",
        "result": folder / f"{job}.json",
        **JOBS[job],
    }
    if job.startswith("publish"):
        options["publish"] = folder / "published"
    master = master or cluster.url
    home = cluster.executor_home
    environment = {
        **{name: value for name, value in os.environ.items() if name != "SPARK_CONF_DIR"},
        "SPARK_MASTER": master,
        "SPARK_CONF_DIR": str(
            spark_settings(folder / "settings", home, sql_shuffle_partitions="8", **settings)
        ),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    arguments = [f"--{name}={value}" for name, value in options.items()]
    command = ["spark-submit", "--master", master, str(CHECKOUT / "spark/run_stage.py"), job, *arguments]
    with (folder / f"{job}.log").open("w") as log:
        return subprocess.Popen(
            [CHECKOUT / "include/airflow.sh", *command], env=environment, stdout=log, stderr=log, cwd=folder
        )


def run(cluster: Cluster, job: str, folder: Path, **settings: str) -> tuple[int, str]:
    """Exit code and message."""
    code = start(cluster, job, folder, **settings).wait()
    report = folder / f"{job}.json"
    assert report.exists(), (folder / f"{job}.log").read_text()[-3000:]
    return code, json.loads(report.read_text())["message"]


@pytest.mark.parametrize(
    "jobs",
    [
        pytest.param(UP_TO_SESSIONS, id="up to sessions"),
        pytest.param(tuple(JOBS), id="both DAGs", marks=pytest.mark.long),
    ],
)
def test_stages_give_the_rows_of_one_machine_though_a_worker_dies(cluster, spark, tmp_path, jobs):
    here, there = tmp_path / "here", tmp_path / "there"
    there.mkdir()
    for job in jobs:
        options = {"cluster": KAFKA_CLUSTER, "lake": here / "lake", **JOBS[job]}
        if job.startswith("publish"):
            options["publish"] = here / "published"
        argv = [f"--{name}={value}" for name, value in options.items()]
        assert main_of(job)(argv) == 0

    for job in jobs:
        process = start(cluster, job, there)
        if job == "decode":
            while not list((there / "lake").glob("**/client_metrics/**/*.parquet")):
                assert process.poll() is None, (there / "decode.log").read_text()[-3000:]
                time.sleep(0.01)
            cluster.kill("worker1")
            assert process.poll() is None, "it was over before the worker died"
        assert process.wait() == 0, (there / f"{job}.log").read_text()[-3000:]
        if job == "decode":
            cluster.start_worker("worker1")
            cluster.wait_for_workers(2)

    lakes = [Pipeline(folder, spark) for folder in (here, there)]
    for table in TABLES:
        if table.name in COMPARED[: None if jobs == tuple(JOBS) else COMPARED.index("clients")]:
            rows, of_cluster = (lake.rows(table, cluster_id=KAFKA_CLUSTER) for lake in lakes)
            assert len(rows) > 0, table.name
            assert without_ids(rows) == without_ids(of_cluster), table.name
    assert len(list((there / "published").glob("**/index.html"))) == len(
        list((here / "published").glob("**/index.html"))
    )


def without_ids(rows: list[dict]) -> list[str]:
    return sorted(repr({name: value for name, value in row.items() if name != "created_at"}) for row in rows)


@pytest.mark.long
def test_what_is_missing_is_said_in_one_line_and_the_stage_can_be_run_again(cluster, tmp_path):
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    cases = {
        "the executors' Python has no package client_telemetry": {"executorEnv_PYTHONPATH": str(nothing)},
        "has no org.apache.iceberg.spark.source.SparkTable": {
            "executor_extraClassPath": f"{nothing}/*",
        },
        "an executor has no program": {"pyspark_python": str(nothing / "python")},
    }
    other = other_python(tmp_path)
    if other:
        cases["both need the same minor version"] = {"pyspark_python": str(other)}
    for words, settings in cases.items():
        code, message = run(cluster, "collect", tmp_path, **settings)
        assert (code, message.count("\n")) == (1, 0) and words in message, message
        assert "run the stage again" in message

    process = start(cluster, "collect", tmp_path, master=f"spark://127.0.0.1:{free_port()}")
    assert process.wait() == 1
    message = json.loads((tmp_path / "collect.json").read_text())["message"]
    assert "no Spark master answers at spark://127.0.0.1:" in message

    code, message = run(cluster, "collect", tmp_path)
    assert code == 0, message


def other_python(folder: Path) -> Path | None:
    """Another minor version than that of the packages, if this machine has one."""
    candidates = [shutil.which(f"python3.{minor}") for minor in (10, 12, 13)]
    candidates += [str(path) for path in Path.home().glob(".pyenv/versions/3.1[0-3]*/bin/python3")]
    for candidate in filter(None, candidates):
        shown = "import sys; print(*sys.version_info[:2])"
        done = subprocess.run([candidate, "-c", shown], capture_output=True, text=True, check=False)
        if done.returncode == 0 and done.stdout.split() != ["3", str(sys.version_info[1])]:
            return Path(candidate)
    return None
