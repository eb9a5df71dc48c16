"""telemetry_subscription_check as a person uses it: asked over Airflow's REST, answered by its scheduler with real Spark on
the lake of the sample, and read in a browser. Pictures of the page are left in var/e2e.

SUBSCRIPTION_LAKE names a lake that has the sample already, to save its processing.
"""

import json
import os
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.airflow_server import (
    ANSWERS_WITHIN_S,
    PASSWORD,
    PICTURES,
    SHELL,
    environment,
    sign_in,
    started,
)
from tests.end_to_end.browser import chromium

pytestmark = pytest.mark.end_to_end

DAG = "telemetry_subscription_check"
ANSWERED_WITHIN_S = 900
PROCESS = "import sys; from benchmarks.subscription_forecast import *; sample_lake(Path(sys.argv[1]))"


@dataclass(frozen=True)
class Airflow:
    url: str
    token: str

    def call(self, path: str, data: object = None) -> Any:
        request = urllib.request.Request(
            f"{self.url}/api/v2/{path}",
            None if data is None else json.dumps(data).encode(),
            {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=ANSWERS_WITHIN_S) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            error.msg = f"{error.msg}: {error.read().decode()[:1000]}"
            raise

    def ask(self, run_id: str, conf: dict[str, object]) -> str:
        """The state in which the run ended."""
        run = {"dag_run_id": run_id, "logical_date": None, "conf": {"cluster": "telemetry_cluster", **conf}}
        self.call(f"dags/{DAG}/dagRuns", run)
        ends = time.monotonic() + ANSWERED_WITHIN_S
        while time.monotonic() < ends:
            state = self.call(f"dags/{DAG}/dagRuns/{run_id}")["state"]
            if state in ("success", "failed"):
                return str(state)
            time.sleep(3)
        raise AssertionError("not answered")

    def result(self, run_id: str) -> dict[str, Any]:
        found = self.call(
            f"dags/{DAG}/dagRuns/{run_id}/taskInstances/subscription_check/xcomEntries/return_value"
        )
        return json.loads(found["value"]) if isinstance(found["value"], str) else found["value"]


@pytest.fixture(scope="module")
def airflow(tmp_path_factory) -> Iterator[Airflow]:
    home = tmp_path_factory.mktemp("airflow")
    settings = environment(home, os.environ.get("SUBSCRIPTION_LAKE", str(home / "lake")))
    if "SUBSCRIPTION_LAKE" not in os.environ:
        with (home / "log").open("w") as log:
            subprocess.run(
                [SHELL, "python", "-c", PROCESS, str(home)], env=settings, stdout=log, stderr=log, check=True
            )
    preparations = (["db", "migrate"], ["pools", "set", "lake_writer", "1", "writers"])
    with started(("airflow", "standalone"), preparations, settings) as (url, server, file):
        yield _logged_in(url, server, file)


def _logged_in(url: str, server: subprocess.Popen, log: Path) -> Airflow:
    login = urllib.request.Request(
        f"{url}/auth/token",
        json.dumps({"username": "admin", "password": PASSWORD}).encode(),
        {"Content-Type": "application/json"},
    )
    ends = time.monotonic() + ANSWERED_WITHIN_S
    while time.monotonic() < ends:
        assert server.poll() is None, log.read_text()[-2000:]
        try:
            with urllib.request.urlopen(login, timeout=10) as answer:
                airflow = Airflow(url, json.load(answer)["access_token"])
            airflow.call(f"dags/{DAG}/details")
            return airflow
        except OSError:
            time.sleep(2)
    raise AssertionError(log.read_text()[-2000:])


def test_a_change_is_answered_and_its_page_is_read(airflow) -> None:
    run_id = "alter_java-all"
    conf = {"action": "alter", "name": "java-all", "interval_ms": 1000}
    assert airflow.ask(run_id, conf) == "success"
    found = airflow.result(run_id)
    assert found["answer"] == "go" and "change" in found["sentence"]
    PICTURES.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.context.set_default_timeout(ANSWERS_WITHIN_S * 1000)
        page.goto(f"{airflow.url}/auth/login")
        sign_in(page)
        page.wait_for_url(lambda url: "/auth/" not in url)
        page.goto(f"{airflow.url}/plugin/client_telemetry")
        pages = page.frame_locator("iframe[title='Client telemetry']")
        pages.get_by_role("link", name="Subscription checks").first.click()
        pages.get_by_role("link", name="2026").first.click()
        shown = pages.frame_locator("iframe")
        heading = shown.get_by_role("heading", level=1)
        heading.wait_for()
        assert heading.inner_text().startswith("Go:")
        shown.get_by_text("kafka-client-metrics.sh").first.wait_for()
        page.screenshot(path=PICTURES / "subscription_check_in_airflow.png")
        for width in (1400, 420):
            alone = browser.new_page(viewport={"width": width, "height": 900})
            alone.goto(Path(found["report"]).as_uri())
            assert alone.evaluate("document.documentElement.scrollWidth") <= width
            alone.screenshot(path=PICTURES / f"subscription_check_{width}.png", full_page=True)


def test_a_change_that_cannot_be_meant_fails_with_the_reason(airflow) -> None:
    run_id = "nothing_named"
    assert airflow.ask(run_id, {"action": "alter"}) == "failed"
    entries = airflow.call(
        f"dags/{DAG}/dagRuns/{run_id}/taskInstances/subscription_check/xcomEntries/failure"
    )
    assert '"name" is needed' in str(entries["value"])
