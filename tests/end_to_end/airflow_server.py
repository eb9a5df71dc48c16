"""A real Airflow with the project's DAGs and pages, in a folder of its own."""

import json
import os
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from client_telemetry.rehearsal.sandbox_broker import free_ports

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHECKOUT = Path(__file__).parents[2]
PICTURES = CHECKOUT / "var" / "e2e"
PASSWORD = "browser"  # of an Airflow that listens on this machine only and ends with the tests
ANSWERS_WITHIN_S = 300
"""How long a browser and a caller wait for one answer: far longer than it takes, because other tests use the same cores."""
ENDS_WITHIN_S = 60
SHELL = str(CHECKOUT / "include" / "airflow.sh")


def environment(home: Path, lake: str | None = None, **settings: str) -> dict[str, str]:
    """Of an Airflow below `home`, where its clusters have their data too; the tables are in `lake`, if that is given."""
    clusters = (CHECKOUT / "include" / "clusters.yaml").read_text(encoding="utf-8")
    if lake is not None:
        clusters = clusters.replace("lake: var/lake", f"lake: {lake}")
    (home / "clusters.yaml").write_text(clusters.replace(": var/", f": {home}/"), encoding="utf-8")
    set_password(home, PASSWORD)
    return settings_of(home, home / "clusters.yaml", free_ports(1)[0], **settings)


def set_password(home: Path, password: str) -> None:
    """Of `admin`, where Airflow would make one up."""
    (home / "simple_auth_manager_passwords.json.generated").write_text(json.dumps({"admin": password}))


def settings_of(home: Path, clusters: Path, port: int, **settings: str) -> dict[str, str]:
    """The environment of an Airflow with its state in `home`."""
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("AIRFLOW_")},
        "AIRFLOW_HOME": str(home),
        "PORT": str(port),
        "CLIENT_TELEMETRY_CLUSTERS": str(clusters),
        **settings,
    }


@contextmanager
def started(
    command: Sequence[str], preparations: Sequence[Sequence[str]], environment: dict[str, str]
) -> Iterator[tuple[str, subprocess.Popen, Path]]:
    """A command of Airflow's after `airflow <preparation>` of each: its address, its process and its log. It may not answer yet."""
    log = Path(environment["AIRFLOW_HOME"], "log")
    with log.open("a") as out:
        for preparation in preparations:
            subprocess.run(
                [SHELL, "airflow", *preparation], env=environment, stdout=out, stderr=out, check=True
            )
        server = subprocess.Popen(
            [SHELL, *command], env=environment, stdout=out, stderr=out, start_new_session=True
        )
        try:
            yield f"http://127.0.0.1:{environment['PORT']}", server, log
        finally:
            _end(server)


def _end(server: subprocess.Popen) -> None:
    """With the processes that it started."""
    with suppress(ProcessLookupError):
        os.killpg(server.pid, signal.SIGTERM)
        for _ in range(ENDS_WITHIN_S * 5):
            server.poll()
            os.killpg(server.pid, 0)
            time.sleep(0.2)
        os.killpg(server.pid, signal.SIGKILL)
    server.wait()


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
