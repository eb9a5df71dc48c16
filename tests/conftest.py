"""What the whole test session shares: one Spark, set up as `make install` sets it up for jobs, and one run of both
DAGs over the shipped sample."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[1]

os.environ.setdefault("SPARK_CONF_DIR", str(CHECKOUT / "var" / "spark"))
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)


@pytest.fixture(scope="session")
def spark() -> Iterator["SparkSession"]:  # noqa: F821
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.showConsoleProgress": "false",
        # Compiling a query costs more than running it on a few rows.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.shuffle.partitions": "1",
    }
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    yield session
    session.stop()


@dataclass(frozen=True)
class SampleRun:
    """What `make run` printed, and the folder with its lake, published reports and results."""

    printed: str
    folder: Path


@pytest.fixture(scope="session")
def sample_run(tmp_path_factory) -> SampleRun:
    """Both DAGs with real jobs and real Spark over the shipped sample, as `make run` does it."""
    folder = tmp_path_factory.mktemp("sample")
    clusters = (CHECKOUT / "include" / "clusters.yaml").read_text(encoding="utf-8")
    (folder / "clusters.yaml").write_text(clusters.replace(": var/", f": {folder}/"), encoding="utf-8")
    environment = {
        **os.environ,
        "AIRFLOW_HOME": str(folder / "airflow"),
        "CLIENT_TELEMETRY_CLUSTERS": str(folder / "clusters.yaml"),
    }
    airflow = ["include/airflow.sh"]
    for command in (
        ["python", "-c", "from airflow.utils.db import initdb; initdb()"],
        ["include/spark_connect.sh", "python", "-m", "include.sample_run"],
    ):
        run = subprocess.run(
            [*airflow, *command], cwd=CHECKOUT, env=environment, capture_output=True, text=True
        )
        assert run.returncode == 0, run.stdout + run.stderr
    return SampleRun(run.stdout, folder)
