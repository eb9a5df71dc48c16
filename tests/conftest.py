"""What the whole test session shares: one Spark, set up as `make install` sets it up for jobs, and one run of both
DAGs over the shipped sample."""

import logging
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[1]

# py4j says good-bye when pytest has already closed its log.
logging.getLogger("py4j").setLevel(logging.WARNING)

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


class _SampleInTheBackground:
    """Both DAGs with real jobs and real Spark over the shipped sample, as `make run` does it, in a process beside the
    tests: it starts with them, and the first test that needs it waits."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="client_telemetry_sample_"))
        clusters = (CHECKOUT / "include" / "clusters.yaml").read_text(encoding="utf-8")
        own = clusters.replace(": var/", f": {self.folder}/")
        (self.folder / "clusters.yaml").write_text(own, encoding="utf-8")
        commands = (
            "python -c 'from airflow.utils.db import initdb; initdb()' >initdb.log 2>&1 && cd \"$CHECKOUT\" && "
            "exec include/spark_connect.sh python -m include.sample_run"
        )
        environment = {
            **os.environ,
            "CHECKOUT": str(CHECKOUT),
            "AIRFLOW_HOME": str(self.folder / "airflow"),
            "CLIENT_TELEMETRY_CLUSTERS": str(self.folder / "clusters.yaml"),
        }
        with (self.folder / "printed").open("w") as printed:
            self.process = subprocess.Popen(
                [CHECKOUT / "include" / "airflow.sh", "bash", "-c", commands],
                cwd=self.folder,
                env=environment,
                stdout=printed,
                stderr=subprocess.STDOUT,
            )

    def wait(self) -> SampleRun:
        code = self.process.wait()
        printed = (self.folder / "printed").read_text()
        assert code == 0, printed
        return SampleRun(printed, self.folder)

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


_SAMPLE = pytest.StashKey[_SampleInTheBackground]()


def pytest_collection_finish(session: pytest.Session) -> None:
    needed = any("sample_run" in getattr(item, "fixturenames", ()) for item in session.items)
    if needed and not session.config.option.collectonly:
        session.config.stash[_SAMPLE] = _SampleInTheBackground()


def pytest_unconfigure(config: pytest.Config) -> None:
    if _SAMPLE in config.stash:
        config.stash[_SAMPLE].stop()


@pytest.fixture(scope="session")
def sample_run(pytestconfig) -> SampleRun:
    return pytestconfig.stash[_SAMPLE].wait()
