"""A clusters file, and a spark-submit that notes what it is called with."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

import tests.airflow_settings  # noqa: F401


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
