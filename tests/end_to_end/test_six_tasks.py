"""What people come for, from the first page in Airflow, with the clicks that it takes: at most three each."""

import json
from collections.abc import Iterator

import pytest

from tests.end_to_end.airflow_server import PICTURES
from tests.end_to_end.test_airflow_pages import airflow, page  # noqa: F401

pytestmark = pytest.mark.end_to_end

MOST_CLICKS = 3
FAILURE = "FAILED fleet: decode: client_pushes failed its gate. Look at the rows in the log."


class Visitor:
    """Clicks, and counts them. `view`: Airflow's frame with the pages; `shown`: a published page in it."""

    def __init__(self, page) -> None:  # noqa: F811
        self.page = page
        self.view = page.frame_locator("iframe[title='Client telemetry']")
        self.shown = self.view.frame_locator("iframe")
        self.clicks = 0

    def click(self, target) -> None:
        self.clicks += 1
        target.click()

    def open_the_report(self) -> None:
        self.click(self.view.get_by_role("row", name="14 of 41").get_by_role("link", name="3.9.1 to 4.0.0"))
        self.shown.get_by_role("heading", name="Action required").wait_for()


@pytest.fixture
def visitor(airflow, page, record_property) -> Iterator[Visitor]:  # noqa: F811
    page.goto(f"{airflow.url}/plugin/client_telemetry")
    visitor = Visitor(page)
    visitor.view.get_by_role("heading", name="Client telemetry").wait_for()
    yield visitor
    record_property("clicks", visitor.clicks)
    assert visitor.clicks <= MOST_CLICKS


def test_who_do_i_write_to_and_what(visitor):
    visitor.open_the_report()
    with visitor.page.expect_download() as download:
        visitor.click(visitor.shown.get_by_role("link", name="message to the owner").first)
    message = download.value.path().read_text(encoding="utf-8")
    assert "**Subject:** Kafka cluster fleet: 3.9.1 to 4.0.0" in message
    assert "**To:** " in message
    assert "## Change 1" in message


def test_is_this_one_a_false_alarm(visitor):
    visitor.open_the_report()
    findings = visitor.shown.locator("details", has=visitor.shown.get_by_text("1 finding", exact=True)).first
    visitor.click(findings.locator("summary"))
    evidence = findings.inner_text()
    assert "requests" in evidence
    assert "observed" in evidence


def test_what_changed_since_last_week(visitor, airflow):  # noqa: F811
    visitor.click(visitor.view.get_by_role("link", name=airflow.fleet_day).first)
    visitor.shown.get_by_role("heading", name="What changed").wait_for()


def test_which_of_our_clusters_is_ready(visitor):
    row = visitor.view.locator(".clusters").get_by_role("row", name="14 of 41")
    assert "fleet" in row.inner_text()
    assert visitor.clicks == 0


def test_why_did_last_nights_run_fail(visitor, airflow, page):  # noqa: F811
    runs = f"{airflow.url}/api/v2/dags/client_telemetry_daily/dagRuns"
    run = {"dag_run_id": "last-night", "logical_date": None, "conf": {}}
    assert page.request.post(runs, data=run).ok
    ended = page.request.patch(f"{runs}/last-night", data={"state": "failed", "note": FAILURE})
    assert ended.ok, json.dumps(ended.json())
    page.reload()
    visitor.view.get_by_text("Last daily run: failed").wait_for()
    assert visitor.view.locator("#last-run").inner_text().endswith(FAILURE)
    visitor.click(visitor.view.get_by_role("link", name="Last daily run: failed"))
    page.wait_for_url(lambda url: "/dags/client_telemetry_daily/runs/last-night" in url)


def test_what_did_this_client_do_on_a_day(visitor, airflow):  # noqa: F811
    visitor.click(visitor.view.get_by_role("link", name=airflow.fleet_day).first)
    visitor.shown.get_by_role("searchbox").fill("orders-service")
    visitor.shown.get_by_text("1 matching client").wait_for()
    row = visitor.shown.locator("#clients tr:visible", has_text="orders-service").first
    text = row.inner_text()
    assert "2.0.0" in text
    visitor.page.screenshot(path=PICTURES / "client_of_a_day.png")
