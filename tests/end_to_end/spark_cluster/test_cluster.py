"""Both DAGs' stages on a real cluster of a master and two workers: what is missing is said in one line, after which the stage
can be run again; and the same rows as on one machine, though a worker dies while decode runs.

An application costs two executors and a driver, which is most of it. So collect, decode and impact each start one; the stages
after decode, which start theirs as it does, use that one."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from client_telemetry.jobs import main_of
from client_telemetry.lake.lake import Lake
from client_telemetry.tables.all_tables import TABLES
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.table import Table

from tests.end_to_end.lake.servers import CHECKOUT, free_port

from .cluster import PACKED, Cluster, deployed, spark_settings

pytestmark = pytest.mark.end_to_end

SAMPLE = CHECKOUT / "include/sample/telemetry_cluster"
KAFKA_CLUSTER = "kQ7x0RvXTs-Y2r0m3Jw0zA"
DAY = "2026-11-21"
RAW = {"raw": SAMPLE / "raw"}
DAYS = {"days": DAY}
SPARK = {"without-spark-up-to": 0}
QUESTION = {"report-id": "question", "from": "4.0.1", "to": "4.3.1", "day": DAY}
JOBS = {
    "collect": {**RAW, "day": DAY},
    "decode": {**RAW, **DAYS, **SPARK},
    "sessionize": {**DAYS, **SPARK},
    "profile": {**DAYS, **SPARK, "owners": CHECKOUT / "include/sample/owners.yaml"},
    "publish_fleet": {**DAYS, **SPARK},
    "impact": QUESTION,
    "publish": {"report-id": "question"},
}
SEVERAL_RUNS = "tests/end_to_end/spark_cluster/several_runs.py"
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


@pytest.fixture(scope="module")
def there(tmp_path_factory) -> Path:
    """Where the cluster's lake is: of the stages that find something missing, and then of those that find all."""
    return tmp_path_factory.mktemp("there")


def options_of(job: str, folder: Path, **more: object) -> list[str]:
    options = {"cluster": KAFKA_CLUSTER, "lake": folder / "lake", **JOBS[job], **more}
    if job.startswith("publish"):
        options["publish"] = folder / "published"
    return [f"--{name}={value}" for name, value in options.items()]


def submit(
    cluster: Cluster, folder: Path, program: str, *arguments: str, **settings: str
) -> subprocess.Popen:
    """spark-submit as the operator of the DAGs calls it, with the settings for a cluster."""
    own = spark_settings(folder / "settings", cluster.executor_home, **settings)
    environment = {
        **{name: value for name, value in os.environ.items() if name != "SPARK_CONF_DIR"},
        "SPARK_MASTER": cluster.url,
        "SPARK_CONF_DIR": str(own),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    driver = ["spark-submit", "--master", cluster.url]
    if "impact" in arguments:
        # The operator starts it by Python, on a machine whose own Python executors do not have.
        driver = [sys.executable]
        environment |= {
            "PYSPARK_SUBMIT_ARGS": f"--master {cluster.url} pyspark-shell",
            "PYSPARK_PYTHON": "/only/on/the/machine/of/Airflow/python",
            "PYSPARK_DRIVER_PYTHON": sys.executable,
        }
    command = [*driver, str(CHECKOUT / program), *arguments]
    with (folder / "log").open("a") as log:
        return subprocess.Popen(
            [CHECKOUT / "include/airflow.sh", *command], env=environment, stdout=log, stderr=log, cwd=folder
        )


def start(cluster: Cluster, folder: Path, *jobs: str) -> subprocess.Popen:
    """The first starts an application, which the others use."""
    options = {job: options_of(job, folder, result=folder / f"{job}.json") for job in jobs}
    if "impact" in options:
        # The driver alone would judge so few clients, as it does on the one machine.
        options["impact"].append("--without-spark-up-to=0")
    if len(jobs) == 1:
        return submit(cluster, folder, "spark/run_stage.py", jobs[0], *options[jobs[0]])
    runs = [{"stage": job, "options": options[job]} for job in jobs]
    return submit(cluster, folder, SEVERAL_RUNS, json.dumps(runs))


def end_of_log(folder: Path) -> str:
    return (folder / "log").read_text()[-3000:]


def test_what_is_missing_is_said_in_one_line_and_nothing_is_written(cluster, there, tmp_path):
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    cases = {
        "the executors' Python has no package client_telemetry": {
            "spark.executorEnv.PYTHONPATH": str(nothing)
        },
        "has no org.apache.iceberg.spark.source.SparkTable": {
            "spark.executor.extraClassPath": f"{nothing}/*",
        },
        "an executor has no program": {"spark.pyspark.python": str(nothing / "python")},
        "no Spark master answers at spark://127.0.0.1:": {"spark.master": f"spark://127.0.0.1:{free_port()}"},
    }
    other = other_python(tmp_path)
    if other:
        cases["both need the same minor version"] = {"spark.pyspark.python": str(other)}
    results = [tmp_path / f"{number}.json" for number in range(len(cases))]
    runs = [
        {
            "stage": "decode",
            "options": options_of("decode", there, result=result),
            "settings": settings,
            "code": 1,
        }
        for settings, result in zip(cases.values(), results, strict=True)
    ]
    assert main_of("collect")(options_of("collect", there)) == 0
    failing = submit(cluster, there, SEVERAL_RUNS, json.dumps(runs), cores_max="1")
    assert failing.wait() == 0, end_of_log(there)
    for words, result in zip(cases, results, strict=True):
        message = json.loads(result.read_text())["message"]
        assert message.count("\n") == 0 and words in message, message
        assert "Nothing was written; mend it and run the stage again" in message
    lake = Lake(None, str(there / "lake"))
    assert lake.published_days(KAFKA_CLUSTER, "decode") == set() and lake.rows(CLIENT_PUSHES) == []


@pytest.mark.long
def test_both_dags_give_the_rows_of_one_machine_though_a_worker_dies(cluster, there, spark, tmp_path):
    """In the place where the test above failed: these are the stages that are run again."""
    here = tmp_path / "here"
    for job in JOBS:
        assert main_of(job)(options_of(job, here)) == 0

    assert start(cluster, there, "collect").wait() == 0, end_of_log(there)
    days = start(cluster, there, "decode", "sessionize", "profile", "publish_fleet")
    wait_until(lambda: list((there / "lake").glob("**/client_metrics/**/*.parquet")), days, there)
    cluster.kill("worker1")
    assert not (there / "decode.json").exists(), "decode was over before the worker died"
    wait_until((there / "decode.json").exists, days, there)
    cluster.start_worker("worker1")
    assert days.wait() == 0, end_of_log(there)
    cluster.wait_for_workers(2)
    for job in ("impact", "publish"):
        assert start(cluster, there, job).wait() == 0, end_of_log(there)

    lakes = [Lake(None, str(folder / "lake")) for folder in (here, there)]
    for table in TABLES:
        if table.name in COMPARED:
            rows, of_cluster = (without_ids(lake, table) for lake in lakes)
            assert len(rows) > 0, table.name
            assert rows == of_cluster, table.name
    assert len(list((there / "published").glob("**/index.html"))) == len(
        list((here / "published").glob("**/index.html"))
    )


def wait_until(condition: Callable[[], object], process: subprocess.Popen, folder: Path) -> None:
    while not condition():
        assert process.poll() is None, end_of_log(folder)
        time.sleep(0.01)


def without_ids(lake: Lake, table: Table) -> list[str]:
    names = [name for name in table.data_columns if name != "created_at"]
    return sorted(repr([row[name] for name in names]) for row in lake.rows(table, cluster_id=KAFKA_CLUSTER))


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
