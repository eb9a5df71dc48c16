"""The Spark that `make run` and `make ui` keep warm between jobs."""

import subprocess
import sys

from include.clusters import CHECKOUT

JOB = """
import os, sys
import pyarrow
from client_telemetry.pipeline.stage import spark_session

def parent(batches):
    for _ in batches:
        yield pyarrow.RecordBatch.from_pydict({"pid": [os.getppid()]})

session = spark_session("test", sys.argv[1])
daemon = session.range(0, 1, 1, 1).mapInArrow(parent, "pid long").collect()[0].pid
print("job", daemon, session.conf.get("spark.sql.catalog.lake.warehouse"))
"""
"""Which process its Python worker is a fork of, and which lake its session has."""


def test_jobs_of_a_lake_have_one_python_daemon_and_each_lake_its_catalog(tmp_path):
    """Each daemon imports again what the workers need, a second and a half of CPU; a session keeps its first catalog."""
    job = tmp_path / "job.py"
    job.write_text(JOB)
    lakes = [tmp_path / "lake", tmp_path / "lake", tmp_path / "other"]
    jobs = " && ".join(f"{sys.executable} {job} {lake}" for lake in lakes)
    command = [CHECKOUT / "include/airflow.sh", CHECKOUT / "include/spark_connect.sh", "sh", "-c", jobs]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    found = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("job")]
    daemons, warehouses = zip(*found, strict=True)
    assert warehouses == tuple(f"file://{lake}" for lake in lakes)
    assert daemons[0] == daemons[1]
