"""A question while the nightly run is at work, in an Airflow with a real scheduler and one writer of the lake. Only
spark-submit is replaced: tests/include/fake_bin/spark-submit."""

import json
import os
import signal
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

import pytest

from tests.end_to_end.browser import chromium
from tests.end_to_end.test_subscription_check_in_airflow import (
    CHECKOUT,
    PASSWORD,
    PICTURES,
    Airflow,
    _environment,
    _logged_in,
)

pytestmark = pytest.mark.end_to_end

DAILY, IMPACT = "client_telemetry_daily", "broker_upgrade_impact"
STAGE_S = 30
WITHIN_S = 600
REFUSED = {"status": "bad_arguments", "message": "impact: nothing is known of that day."}


@pytest.fixture(scope="module")
def airflow(tmp_path_factory) -> Iterator[Airflow]:
    home = tmp_path_factory.mktemp("airflow")
    shell, environment = _environment(home)
    stages = ("collect", "decode", "sessionize", "profile", "publish_fleet", "review")
    environment |= {
        "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "True",
        "PATH": f"{CHECKOUT / 'tests' / 'include' / 'fake_bin'}{os.pathsep}{environment['PATH']}",
        "FAKE_SPARK_SUBMIT": json.dumps(
            {stage: {"seconds": STAGE_S} for stage in stages} | {"impact": {"exit": 2, "report": REFUSED}}
        ),
        "FAKE_SPARK_SUBMIT_CALLS": str(home / "calls.jsonl"),
    }
    with (home / "log").open("w") as log:
        for preparation in (["db", "migrate"], ["pools", "set", "lake_writer", "1", "writers"]):
            subprocess.run(
                [shell, "airflow", *preparation], env=environment, stdout=log, stderr=log, check=True
            )
        server = subprocess.Popen(
            [shell, "airflow", "standalone"], env=environment, stdout=log, stderr=log, start_new_session=True
        )
        try:
            yield _logged_in(f"http://127.0.0.1:{environment['PORT']}", server, home / "log")
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(60)


def _eventually(value: Callable[[], Any]) -> Any:
    ends = time.monotonic() + WITHIN_S
    while time.monotonic() < ends:
        found = value()
        if found:
            return found
        time.sleep(0.5)
    raise AssertionError("waited in vain")


def _request(airflow: Airflow, path: str, data: object = None, method: str = "GET") -> str:
    request = urllib.request.Request(
        f"{airflow.url}/api/v2/{path}",
        None if data is None else json.dumps(data).encode(),
        {"Authorization": f"Bearer {airflow.token}", "Content-Type": "application/json"},
        method=method,
    )
    with urllib.request.urlopen(request, timeout=WITHIN_S) as answer:
        return answer.read().decode()


def test_a_question_waits_for_one_stage_is_said_so_and_ends_with_its_reason(airflow):
    for dag in (DAILY, IMPACT):
        _request(airflow, f"dags/{dag}", {"is_paused": False}, "PATCH")
    airflow.call(f"dags/{DAILY}/dagRuns", {"dag_run_id": "night", "logical_date": None, "conf": {}})

    def of_the_night() -> list[dict[str, Any]]:
        return airflow.call(f"dags/{DAILY}/dagRuns/~/taskInstances?limit=200")["task_instances"]

    def running() -> list[dict[str, Any]]:
        return [
            task for task in of_the_night() if task["state"] == "running" and task["pool"] == "lake_writer"
        ]

    _eventually(running)
    waiting = [task for task in of_the_night() if task["map_index"] >= 0 and task["start_date"] is None]
    assert {task["rendered_map_index"] for task in waiting} == {"fleet", "telemetry_cluster"}

    with chromium() as browser:
        page = browser.new_page()
        page.set_default_timeout(60_000)
        page.goto(f"{airflow.url}/client-telemetry/ask?cluster=fleet")
        page.get_by_label("Username").fill("admin")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        page.get_by_text("questions go before the nightly run").wait_for()
        PICTURES.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=PICTURES / "ask_while_it_waits.png")
        page.get_by_role("button", name="Ask").click()
        run = _eventually(lambda: airflow.call(f"dags/{IMPACT}/dagRuns")["dag_runs"])[0]["dag_run_id"]
        page.get_by_text("impact: nothing is known of that day.").wait_for(timeout=WITHIN_S * 1000)
        page.screenshot(path=PICTURES / "ask_failed.png")

    url = f"dags/{IMPACT}/dagRuns/{quote(run, safe='')}"
    (impact,) = [
        task for task in airflow.call(f"{url}/taskInstances")["task_instances"] if task["task_id"] == "impact"
    ]
    between = [
        task["task_id"]
        for task in of_the_night()
        if task["pool"] == "lake_writer"
        and impact["queued_when"] < (task["start_date"] or "") < impact["start_date"]
    ]
    assert between == [], "a stage of the nightly run went before the question"
    assert [task for task in of_the_night() if task["start_date"] is None], "the nightly run had more to do"
    waited = json.loads(_request(airflow, f"{url}/wait?interval=1").splitlines()[-1])
    assert waited["state"] == "failed"
    assert waited["results"]["impact"] == {"failure": f"fleet: {REFUSED['message']}"}
