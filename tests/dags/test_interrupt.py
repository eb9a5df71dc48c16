"""Ctrl-C while a command runs a DAG: a real Airflow in a process of its own, and a real signal to its process group."""

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
ENDS_WITHIN_S = 20
"""On a busy machine; on an idle one it is at once."""
COMMAND = ("python", "-m", "include.command", "sample_run")


@pytest.fixture
def environment(environment) -> dict[str, str]:
    """Of a command whose stage decode takes a minute."""
    return environment | {"FAKE_SPARK_SUBMIT": json.dumps({"decode": {"seconds": 60}})}


def as_in_a_terminal() -> None:
    """A shell that starts tests in the background has them ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _left(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def _until(happened, process: subprocess.Popen | None = None, seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while not happened() and (process is None or process.poll() is None) and time.monotonic() < deadline:
        time.sleep(0.2)


def test_a_run_is_interrupted_in_one_line_and_counts_as_failed(environment, tmp_path):
    printed = tmp_path / "printed"
    with printed.open("w") as file:
        process = subprocess.Popen(
            COMMAND,
            cwd=CHECKOUT,
            env=environment,
            stdout=file,
            stderr=file,
            start_new_session=True,
            preexec_fn=as_in_a_terminal,
        )
    _until(lambda: "decode [" in printed.read_text(), process)
    assert process.poll() is None, printed.read_text()
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(60) == 130, printed.read_text()
    first, *progress, last = printed.read_text().splitlines()
    assert first == "client_telemetry_daily {'day': '2026-11-21'} …"
    assert all(line.startswith("  ") for line in progress)
    assert re.search(r" tasks done, decode \[\w+\] runs for ", progress[-1])
    assert last == "interrupted"
    # Not when the job's minute is over.
    _until(lambda: not _left(process.pid), seconds=ENDS_WITHIN_S)
    assert not _left(process.pid)

    from airflow.models.dagrun import DagRun
    from airflow.utils.session import create_session
    from airflow.utils.state import State
    from sqlalchemy import select

    with create_session() as session:
        run = session.scalars(select(DagRun).order_by(DagRun.id.desc())).first()
        assert run.state == "failed"
        # `upstream_failed` if Airflow looked for the next task before the process ended.
        assert {task.state for task in run.get_task_instances(session=session)} <= State.finished


def test_an_interrupt_while_airflow_is_imported_is_one_line(environment):
    process = subprocess.Popen(
        COMMAND, cwd=CHECKOUT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True, preexec_fn=as_in_a_terminal,
    )  # fmt: skip
    maps = Path(f"/proc/{process.pid}/maps")
    _until(lambda: "pydantic_core" in maps.read_text(), process)
    os.killpg(process.pid, signal.SIGINT)
    assert process.communicate(timeout=60)[0] == "interrupted\n"
    assert process.returncode == 130
