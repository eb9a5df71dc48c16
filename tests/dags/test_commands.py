"""Subcommands of `client-telemetry` that go through Airflow: a real Airflow, started as a person does, in another folder."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMAND = Path(sys.executable).parent / "client-telemetry"


def run(environment: dict[str, str], folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_the_exit_code_of_a_review_of_a_cluster_reaches_the_caller(environment, tmp_path):
    report = {"stage": "review", "status": "ok", "message": "review: done", "warnings": [], "counts": {}}
    report |= {"cluster": "fL33tG0ldTruth000000-w", "decision": "stop", "exit_code": 3}
    report |= {"sentence": "One sentence.", "review": "/index.html"}
    environment["FAKE_SPARK_SUBMIT"] = json.dumps({"review": {"report": report}})
    options = ("--from=3.9.1", "--to=4.0.0", "--day=2026-11-21", "--mechanisms=CLIENTS=PLAIN")
    done = run(environment, tmp_path, "review", "--cluster=fleet", *options)
    assert (done.returncode, done.stderr) == (3, ""), done.stdout
    assert done.stdout.splitlines()[-3:] == ["Decision: stop", "One sentence.", "Review: /index.html"]
    (call,) = map(json.loads, (tmp_path / "calls.jsonl").read_text().splitlines())
    asked = {"from": "3.9.1", "to": "4.0.0", "day": "2026-11-21", "mechanisms": "CLIENTS=PLAIN"}
    assert asked.items() <= call["options"].items()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("review", "--cluster=north"), 1, "FAILED review: There is no cluster 'north'"),
    ],
)
def test_a_question_that_cannot_be_answered_says_why(environment, tmp_path, arguments, code, said):
    done = run(environment, tmp_path, *arguments)
    assert (done.returncode, done.stderr) == (code, "")
    assert [line for line in done.stdout.splitlines() if line.startswith(said)], done.stdout


def test_an_interrupted_run_is_one_line_and_leaves_nothing(environment, tmp_path):
    printed = tmp_path / "printed"
    with printed.open("w") as file:
        process = subprocess.Popen(
            [COMMAND, "run"], cwd=tmp_path, env=environment, stdout=file, stderr=file, start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip
    while "client_telemetry_daily" not in printed.read_text() and process.poll() is None:
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(60) == 130, printed.read_text()
    assert printed.read_text().splitlines()[-1] == "interrupted"
    with pytest.raises(ProcessLookupError):
        for _ in range(200):
            os.killpg(process.pid, 0)
            time.sleep(0.1)


def test_the_user_interface_says_that_its_port_is_taken(environment, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run(environment, tmp_path, "ui", f"--port={port}")
    assert done.returncode == 1
    assert done.stderr.startswith(f"Port {port} is taken.")
