"""What the image `airflow` runs, with everything but its state and /tmp read-only: it starts, is healthy, lets one log in."""

import json
import os
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.lake.servers import CHECKOUT, free_port, postgres_programs, postgres_server

pytestmark = pytest.mark.end_to_end
STARTS_WITHIN_S = 400
READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && ! touch "$0/x" 2>/dev/null && exec include/container.sh'


def why_not() -> str | None:
    if os.geteuid() != 0:
        return "only root mounts file systems"
    if postgres_programs() is None:
        return "no PostgreSQL: on Debian, apt-get install postgresql"
    return None


@pytest.fixture(scope="module")
def container(tmp_path_factory) -> Iterator[dict[str, str]]:
    """Its variables: the state in a folder, Airflow's database on PostgreSQL."""
    if reason := why_not():
        pytest.skip(reason)
    state = tmp_path_factory.mktemp("state")
    with postgres_server() as server:
        variables = {
            "PATH": os.environ["PATH"],
            "HOME": "/nonexistent",
            "STATE": str(state),
            "PORT": str(free_port()),
            "AIRFLOW__API__HOST": "127.0.0.1",
            "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"postgresql+psycopg2://lake:of-the-test@127.0.0.1:{server.port}/lake",
        }
        with (state / "printed").open("w") as out:
            process = subprocess.Popen(
                ["unshare", "-m", "bash", "-c", READ_ONLY, str(CHECKOUT)],
                cwd=CHECKOUT, env=variables, stdout=out, stderr=out, start_new_session=True,
            )  # fmt: skip
        try:
            yield variables
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=60)


def health(variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [".venv/bin/python", "include/health.py"]
    return subprocess.run(command, cwd=CHECKOUT, env=variables, capture_output=True, text=True)


def test_it_is_healthy_and_the_printed_password_logs_in(container):
    printed = Path(container["STATE"], "printed")
    deadline = time.monotonic() + STARTS_WITHIN_S
    while (checked := health(container)).returncode != 0 or "Ready:" not in printed.read_text():
        assert time.monotonic() < deadline, checked.stderr + printed.read_text()
        time.sleep(2)
    (ready,) = [line for line in printed.read_text().splitlines() if line.startswith("Ready:")]
    url, password = ready.split()[1], ready.split()[5]
    body = json.dumps({"username": "admin", "password": password}).encode()
    request = urllib.request.Request(f"{url}/auth/token", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        assert json.load(answer)["access_token"]
    assert (Path(container["STATE"]) / "clusters.yaml").exists()
    assert not (Path(container["STATE"]) / "airflow" / "airflow.db").exists(), "the database is PostgreSQL"
    assert (Path(container["STATE"]) / "spark" / "warm_jobs.log").read_text() == "", (
        "it is there, and had no error"
    )


def test_without_an_answer_it_is_not_healthy(tmp_path):
    checked = health({"PATH": os.environ["PATH"], "PORT": str(free_port())})
    assert (checked.returncode, checked.stderr.count("\n")) == (1, 1)
