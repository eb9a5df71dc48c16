"""A clusters file, a spark-submit that notes what it is called with, and a stage that is run with both."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from include.spark_stage import SparkStage


@pytest.fixture
def clusters_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Writes the text as the clusters file that tasks read."""

    def write(text: str) -> Path:
        path = tmp_path / "clusters.yaml"
        path.write_text(text, encoding="utf-8")
        monkeypatch.setenv("CLIENT_TELEMETRY_CLUSTERS", str(path))
        return path

    return write


@pytest.fixture
def calls_of_spark_submit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[dict]]:
    """Puts fake_bin/spark-submit on PATH, and in the place of Python; gives what it was called with."""
    calls = tmp_path / "calls.jsonl"
    calls.touch()
    fake = Path(__file__).parent / "fake_bin"
    monkeypatch.setenv("FAKE_SPARK_SUBMIT_CALLS", str(calls))
    monkeypatch.setenv("PATH", str(fake), prepend=os.pathsep)
    monkeypatch.setenv("PYSPARK_DRIVER_PYTHON", str(fake / "spark-submit"))
    return lambda: [json.loads(line) for line in calls.read_text().splitlines()]


RUN_ID = "manual__2026-11-22T02:00:00+00:00"


class TaskInstance:
    """Takes the place of the running task instance: keeps what is pushed."""

    def __init__(self):
        self.pushed = {}

    def xcom_push(self, key, value):
        self.pushed[key] = value


@pytest.fixture
def ti():
    return TaskInstance()


@pytest.fixture
def run(clusters_file, calls_of_spark_submit, tmp_path, ti, monkeypatch):
    """Runs a stage of the cluster `east`; what fake_bin/spark-submit does is given as `behaviour`."""
    clusters_file(f"""
lake: {tmp_path}/lake
publish: {tmp_path}/published
results: {tmp_path}/results
clusters: [{{name: east, cluster_id: -aaa, raw: s3://dumps/east, owners: s3://dumps/owners.yaml}}]
""")

    def run_stage(stage, behaviour=None, cluster="east", **kwargs):
        monkeypatch.setenv("FAKE_SPARK_SUBMIT", json.dumps({stage: behaviour or {}}))
        operator = SparkStage(task_id=stage, cluster=cluster, **kwargs)
        return operator.execute({"ti": ti, "run_id": RUN_ID, "dag": SimpleNamespace(dag_id="a_dag")})

    return run_stage
