"""How long a question will wait, as its form says: a real scheduler, and a task that runs in the pool of the question."""

import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.end_to_end.airflow_server import (
    ANSWERS_WITHIN_S,
    CHECKOUT,
    PICTURES,
    environment,
    sign_in,
    started,
    wait_for_answer,
)
from tests.end_to_end.browser import chromium

pytestmark = pytest.mark.end_to_end

STAGE = """
import time
from datetime import timedelta
from airflow.sdk import dag, task

@dag(schedule=None, params={"seconds": 1}, is_paused_upon_creation=False)
def a_daily_run():
    @task(pool="lake_writer", retries=3, retry_delay=timedelta(seconds=1))
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
    settings = environment(
        home, AIRFLOW__CORE__DAGS_FOLDER=str(dags), AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION="True"
    )
    preparations = (["db", "migrate"], ["pools", "set", "lake_writer", "1", "one writer"])
    with started(("airflow", "standalone"), preparations, settings) as (url, server, log):
        wait_for_answer(url, server, log)
        yield url


def _until(told: Callable[[], str], wanted: str) -> None:
    deadline = time.monotonic() + 300
    while (found := told()) != wanted:
        assert time.monotonic() < deadline, f"{found} instead of {wanted}"
        time.sleep(1)


def test_the_form_says_what_a_question_waits_for(url):
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.context.set_default_timeout(ANSWERS_WITHIN_S * 1000)
        page.goto(f"{url}/auth/login")
        sign_in(page)
        page.wait_for_url(lambda url: "/auth/" not in url)
        runs = f"{url}/api/v2/dags/a_daily_run/dagRuns"

        def start(run_id: str, seconds: int) -> None:
            run = {"dag_run_id": run_id, "logical_date": None, "conf": {"seconds": seconds}}
            answer = page.request.post(runs, data=run)
            assert answer.ok, answer.text()

        def decode_of(run_id: str) -> dict[str, Any]:
            return page.request.get(f"{runs}/{run_id}/taskInstances/decode").json()

        def state(run_id: str) -> str:
            return decode_of(run_id).get("state") or ""

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
            r"Starts when decode has ended, in about (\d+) (s|minutes): questions go before the nightly run\.",
            words,
        )
        assert left, words
        # A task that sleeps for 30 s: however long this machine took to start it, rounded as the page rounds.
        unit_s, rounding_s = {"s": (1, 1), "minutes": (60, 30)}[left[2]]
        assert 1 <= int(left[1]) * unit_s <= decode_of("last-night")["duration"] + rounding_s, words
        assert page.request.patch(f"{runs}/tonight", data={"state": "success"}).ok
        assert wait_text() == "Starts at once."
