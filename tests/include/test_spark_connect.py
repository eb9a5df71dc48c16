"""The Spark that `make run` and `make ui` keep warm between jobs."""

import subprocess
import sys

from include.clusters import CHECKOUT

DAEMON = """
import os
import pyarrow
from pyspark.sql import SparkSession

def parent(batches):
    for _ in batches:
        yield pyarrow.RecordBatch.from_pydict({"pid": [os.getppid()]})

frame = SparkSession.builder.getOrCreate().range(0, 1, 1, 1).mapInArrow(parent, "pid long")
print("daemon", frame.collect()[0].pid)
"""
"""A job: which process its Python worker is a fork of."""


def test_all_jobs_have_the_same_python_daemon(tmp_path):
    """Each one imports again what the workers need: a second and a half of CPU."""
    job = tmp_path / "job.py"
    job.write_text(DAEMON)
    jobs = f"{sys.executable} {job} && {sys.executable} {job}"
    command = [CHECKOUT / "include/airflow.sh", CHECKOUT / "include/spark_connect.sh", "sh", "-c", jobs]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    first, second = [line for line in done.stdout.splitlines() if line.startswith("daemon")]
    assert first == second
