"""What the machine lacks is said in one line, before anything is installed or started; and what is started ends."""

import os
import signal
import socket
import subprocess
import sys
import time
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


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ctrl_c_ends_airflow_and_the_tasks_that_run(tmp_path, number, code):
    """Airflow's standalone waits for them, whatever they do."""
    task = program(tmp_path / "task", f"trap '' TERM; echo $$ >{tmp_path}/pid; while true; do sleep 1; done")
    program(tmp_path / "bin" / "airflow", f"trap '' INT TERM; {task} & wait")
    settings = {
        "AIRFLOW_HOME": str(tmp_path),
        "AIRFLOW__API__PORT": "9",
        "AIRFLOW__API__BASE_URL": "http://127.0.0.1:9",
    }
    search = f"{tmp_path}/bin:{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = os.environ | settings | {"PATH": search}
    pid = tmp_path / "pid"
    with subprocess.Popen([INCLUDE / "ui.sh"], env=environment, preexec_fn=_take_interrupts) as ui:
        while not (pid.exists() and pid.read_text()):
            assert ui.poll() is None
            time.sleep(0.05)
        ui.send_signal(number)
        assert ui.wait(30) == code
    left = subprocess.run(
        ["ps", "-o", "stat=", "-p", pid.read_text().strip()], capture_output=True, text=True
    ).stdout
    assert left.strip()[:1] in ("", "Z")  # gone, or waits for the machine's init to be told of it


def _take_interrupts() -> None:
    """As of a terminal: where tests run in the background, programs ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
