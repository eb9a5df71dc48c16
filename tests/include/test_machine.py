"""What the machine lacks is said in one line, before anything is installed or started."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

INCLUDE = Path(__file__).parents[2] / "include"


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def refusal(*command: object, **environment: str) -> str:
    run = subprocess.run(
        [str(part) for part in command],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == 1
    (line,) = run.stderr.splitlines()
    return line


def test_no_python():
    assert "install Python 3.11, 3.12 or 3.13" in refusal(INCLUDE / "machine.sh", "no-such-python")


@pytest.mark.parametrize("version", ["3.10", "3.14"])
def test_a_python_that_airflow_or_spark_does_not_support(tmp_path, version):
    python = program(tmp_path / "python", f"echo {version}")
    assert f"is Python {version}; " in refusal(INCLUDE / "machine.sh", python)


def test_no_java(tmp_path):
    line = refusal(INCLUDE / "machine.sh", sys.executable, JAVA_HOME=str(tmp_path))
    assert "There is no Java: install" in line


def test_a_java_that_is_too_old(tmp_path):
    program(tmp_path / "bin" / "java", """echo 'openjdk version "11.0.2" 2019-01-15' >&2""")
    line = refusal(INCLUDE / "machine.sh", sys.executable, JAVA_HOME=str(tmp_path))
    assert "is Java 11; Spark needs 17 or newer" in line


def test_a_taken_port(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        settings = {"AIRFLOW__API__PORT": port, "AIRFLOW__API__BASE_URL": f"http://127.0.0.1:{port}"}
        line = refusal(INCLUDE / "ui.sh", AIRFLOW_HOME=str(tmp_path), **settings)
    assert f"Port {port} is taken" in line
    assert "make ui PORT=" in line
