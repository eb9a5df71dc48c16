"""How long a question will wait, as its form says: a real scheduler, and a task that runs in the pool of the question."""

import json
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator

import pytest

from tests.end_to_end.browser import chromium
from tests.end_to_end.test_airflow_pages import CHECKOUT, PASSWORD, PICTURES, _wait_for

pytestmark = pytest.mark.end_to_end

STAGE = """
import time
from airflow.sdk import dag, task

@dag(schedule=None, params={"seconds": 1}, is_paused_upon_creation=False)
def a_daily_run():
    @task(pool="lake_writer")
    def decode(params=None):
        time.sleep(params["seconds"])
    decode()

a_daily_run()
"""


@pytest.fixture(scope="module")
def url(tmp_path_factory) -> Iterator[str]:
    """An Airflow with scheduler and executor, with the project's DAGs, paused, and one whose only task sleeps in the pool."""
    home = tmp_path_factory.mktemp("airflow")
    dags = home / "dags"
    dags.mkdir()
    for file in (CHECKOUT / "dags").glob("*.py"):
        (dags / file.name).symlink_to(file)
    (dags / "a_daily_run.py").write_text(STAGE)
    clusters = (CHECKOUT / "include" / "clusters.yaml").read_text(encoding="utf-8")
    (home / "clusters.yaml").write_text(clusters.replace(": var/", f": {home}/"), encoding="utf-8")
    passwords = home / "simple_auth_manager_passwords.json.generated"
    passwords.write_text(json.dumps({"admin": PASSWORD}))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("AIRFLOW_")},
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(dags),
        "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "True",
        "PORT": str(port),
        "CLIENT_TELEMETRY_CLUSTERS": str(home / "clusters.yaml"),
    }
    command = [str(CHECKOUT / "include" / "airflow.sh"), "airflow"]
    with (home / "log").open("w") as log:
        for preparation in (["db", "migrate"], ["pools", "set", "lake_writer", "1", "one writer"]):
            subprocess.run([*command, *preparation], env=environment, stdout=log, stderr=log, check=True)
        server = subprocess.Popen(
            [*command, "standalone"], env=environment, stdout=log, stderr=log, start_new_session=True
        )
        try:
            _wait_for(f"http://127.0.0.1:{port}/api/v2/version", server, home / "log")
            yield f"http://127.0.0.1:{port}"
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(60)


def _until(told: Callable[[], str], wanted: str) -> None:
    deadline = time.monotonic() + 300
    while (found := told()) != wanted:
        assert time.monotonic() < deadline, f"{found} instead of {wanted}"
        time.sleep(1)


def test_the_form_says_what_a_question_waits_for(url):
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.set_default_timeout(60_000)
        page.goto(f"{url}/auth/login")
        page.get_by_label("Username").fill("admin")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(lambda url: "/auth/" not in url)
        runs = f"{url}/api/v2/dags/a_daily_run/dagRuns"

        def start(run_id: str, seconds: int) -> None:
            run = {"dag_run_id": run_id, "logical_date": None, "conf": {"seconds": seconds}}
            answer = page.request.post(runs, data=run)
            assert answer.ok, answer.text()

        def state(run_id: str) -> str:
            return page.request.get(f"{runs}/{run_id}/taskInstances/decode").json().get("state") or ""

        def wait_text() -> str:
            page.goto(f"{url}/client-telemetry/ask")
            page.locator("#wait:not(:empty)").wait_for()
            return page.locator("#wait").inner_text()

        _until(lambda: str(page.request.get(f"{url}/api/v2/dags/a_daily_run").status), "200")
        assert wait_text() == "Starts at once."
        start("last-night", 30)
        _until(lambda: state("last-night"), "success")
        start("tonight", 600)
        _until(lambda: state("tonight"), "running")
        words = wait_text()
        page.screenshot(path=PICTURES / "ask_that_waits.png")
        left = re.fullmatch(
            r"Starts when decode has ended, in about (\d+) s: questions go before the nightly run\.", words
        )
        assert left and 1 <= int(left[1]) <= 60, words
        assert page.request.patch(f"{runs}/tonight", data={"state": "success"}).ok
        assert wait_text() == "Starts at once."
