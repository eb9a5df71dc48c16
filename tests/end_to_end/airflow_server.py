"""A real Airflow with the project's DAGs and pages, in a folder of its own."""

import json
import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHECKOUT = Path(__file__).parents[2]
PICTURES = CHECKOUT / "var" / "e2e"
PASSWORD = "browser"  # of an Airflow that listens on this machine only and ends with the tests
ANSWERS_WITHIN_S = 300
"""How long a browser and a caller wait for one answer: far longer than it takes, because other tests use the same cores."""
SHELL = str(CHECKOUT / "include" / "airflow.sh")


def environment(home: Path, lake: str | None = None, **settings: str) -> dict[str, str]:
    """Of an Airflow below `home`, where its clusters have their data too; the tables are in `lake`, if that is given."""
    clusters = (CHECKOUT / "include" / "clusters.yaml").read_text(encoding="utf-8")
    if lake is not None:
        clusters = clusters.replace("lake: var/lake", f"lake: {lake}")
    (home / "clusters.yaml").write_text(clusters.replace(": var/", f": {home}/"), encoding="utf-8")
    passwords = home / "simple_auth_manager_passwords.json.generated"
    passwords.write_text(json.dumps({"admin": PASSWORD}))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("AIRFLOW_")},
        "AIRFLOW_HOME": str(home),
        "PORT": str(port),
        "CLIENT_TELEMETRY_CLUSTERS": str(home / "clusters.yaml"),
        **settings,
    }


@contextmanager
def started(
    command: str, preparations: Sequence[Sequence[str]], environment: dict[str, str]
) -> Iterator[tuple[str, subprocess.Popen, Path]]:
    """`airflow <command>` after `airflow <preparation>` of each: its address, its process and its log. It may not answer yet."""
    log = Path(environment["AIRFLOW_HOME"], "log")
    with log.open("a") as out:
        for preparation in preparations:
            subprocess.run(
                [SHELL, "airflow", *preparation], env=environment, stdout=out, stderr=out, check=True
            )
        server = subprocess.Popen(
            [SHELL, "airflow", command], env=environment, stdout=out, stderr=out, start_new_session=True
        )
        try:
            yield f"http://127.0.0.1:{environment['PORT']}", server, log
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(60)


def wait_for_answer(url: str, server: subprocess.Popen, log: Path) -> None:
    for _ in range(300):
        assert server.poll() is None, log.read_text()[-2000:]
        try:
            urllib.request.urlopen(f"{url}/api/v2/version", timeout=5).close()
            return
        except OSError:
            time.sleep(1)
    raise AssertionError(log.read_text()[-2000:])


def sign_in(page: "Page") -> None:
    """On the page that Airflow shows to who is not signed in."""
    page.get_by_label("Username").fill("admin")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
