"""Airflow for the tests of include/: the settings of include/airflow.sh with a home of its own."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]

# Airflow reads its settings when it is first imported. Whichever of the two conftest files comes first sets them.
if "airflow" not in sys.modules:
    home = tempfile.mkdtemp(prefix="client_telemetry_airflow_")
    shown = subprocess.run(
        [CHECKOUT / "include" / "airflow.sh", "env", "-0"],
        env={**os.environ, "AIRFLOW_HOME": home},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    ).stdout
    os.environ.update(line.split("=", 1) for line in shown.split("\0") if line)


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
    """Puts fake_bin/spark-submit on PATH; gives what it was called with."""
    calls = tmp_path / "calls.jsonl"
    calls.touch()
    monkeypatch.setenv("FAKE_SPARK_SUBMIT_CALLS", str(calls))
    monkeypatch.setenv("PATH", str(Path(__file__).parent / "fake_bin"), prepend=os.pathsep)
    return lambda: [json.loads(line) for line in calls.read_text().splitlines()]
