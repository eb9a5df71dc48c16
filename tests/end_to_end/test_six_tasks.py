"""What people come for, from the first page in Airflow, with the clicks that it takes: at most three each."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.end_to_end.airflow_server import PICTURES
from tests.end_to_end.test_airflow_pages import airflow, page  # noqa: F401

pytestmark = pytest.mark.end_to_end

MOST_CLICKS = 3
FAILURE = "FAILED fleet: decode: client_pushes failed its gate. Look at the rows in the log."
TUESDAY = "2026-11-17"


def _publish_more(root: Path) -> None:
    """A second cluster, on which the upgrade breaks nothing, and for the first a day of a week ago, a Tuesday with the
    curves of its clients, and the latest day compared with the week before.
    """
    from client_telemetry import knowledge
    from client_telemetry.reports.fleet.build import build_fleet_day
    from client_telemetry.reports.fleet.day_curves import ClientFiles, Grid, bucket, client_text
    from client_telemetry.reports.fleet.files import publish_fleet_day
    from client_telemetry.reports.upgrade.build import build_report
    from client_telemetry.reports.upgrade.publish import publish

    from tests.client_telemetry.reports import conftest as report_rows
    from tests.client_telemetry.reports.fleet import conftest as fleet_rows

    orders = fleet_rows.client("orders-service", version="2.0.0")
    week_ago = fleet_rows.DAY - timedelta(days=7)
    clients_of_days = {
        ("fleet", week_ago): [orders, fleet_rows.client("old-billing")],
        ("fleet", fleet_rows.DAY - timedelta(days=4)): [orders],
        ("fleet", fleet_rows.DAY): [
            orders,
            fleet_rows.client("new-shop"),
            fleet_rows.client("erp", "unknown", "unknown", api_uses=[fleet_rows.use(0, 2)]),
        ],
        ("payments", fleet_rows.DAY): [fleet_rows.client("ledger")],
    }
    for (cluster, day), clients in clients_of_days.items():
        before = clients_of_days.get((cluster, day - timedelta(days=7)))
        fleet = build_fleet_day(
            day,
            clients,
            [fleet_rows.instance()],
            {},
            [fleet_rows.hour(hour) for hour in range(24)],
            [fleet_rows.broker()],
            (),
            {day - timedelta(days=7): before},
            cluster_id=fleet_rows.CLUSTER_ID,
            cluster_name=cluster,
            knowledge_version=knowledge.version(),
            created_at=fleet_rows.AT,
        )
        grid = Grid.of(fleet_rows.AT.timestamp(), fleet_rows.AT.timestamp() + 1440)
        texts = [
            (
                bucket(row["client_id"], row["principal"], 1),
                client_text(
                    row["client_id"],
                    row["principal"],
                    ["apache-kafka-java 2.0.0"],
                    [
                        ("api", "0:5", [[slot, 600.0, 0.0] for slot in range(grid.slots)]),
                        ("connections", "", [[slot, 2.0] for slot in range(grid.slots)]),
                    ],
                ),
            )
            for row in clients
        ]
        curves = ClientFiles(grid, (), 1, [0], [], texts)
        index = fleet_rows.index_of(clients, [fleet_rows.instance()])
        publish_fleet_day(fleet, index, root, curves)
    rows = (
        report_rows.question(1, cluster_id="payments", report_id="payments"),
        [report_rows.verdict("ledger")],
    )
    publish(build_report(*rows, [], [], [], cluster_name="payments"), root)


@pytest.fixture(scope="module", autouse=True)
def _more_is_published(airflow):  # noqa: F811
    _publish_more(airflow.root)


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
    assert re.search(r"\*\*Subject:\*\* .+ on Kafka 4\.0\.0 \(cluster fleet\)", message)
    assert "**To:** " in message
    assert "## Change 1" in message


def test_is_this_one_a_false_alarm(visitor):
    visitor.open_the_report()
    visitor.click(visitor.shown.locator("#must-act .self").first)
    panel = visitor.shown.locator("article").filter(visible=True)
    panel.wait_for()
    evidence = panel.inner_text()
    assert "requests" in evidence
    assert "observed" in evidence


def test_what_changed_since_last_week(visitor, airflow):  # noqa: F811
    visitor.click(visitor.view.get_by_role("link", name=airflow.fleet_day).first)
    changed = visitor.shown.locator("section", has=visitor.shown.get_by_role("heading", name="What changed"))
    changed.wait_for()
    compared = changed.inner_text()
    assert "2026-11-14" in compared
    assert "new-shop" in compared
    assert "old-billing" in compared


def test_which_of_our_clusters_is_ready(visitor):
    clusters = visitor.view.locator(".clusters")
    rows = {row.locator("th").inner_text(): row.inner_text() for row in clusters.locator("tbody tr").all()}
    assert set(rows) == {"fleet", "payments"}
    assert "14 of 41" in rows["fleet"]
    assert "0 of 1" in rows["payments"]
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


def test_what_did_this_client_do_on_tuesday(visitor):
    tuesday = visitor.view.get_by_role("row", name=f"{TUESDAY} Tue").first
    visitor.click(tuesday.get_by_role("link", name=TUESDAY))
    visitor.click(visitor.shown.locator("#clients").get_by_role("link", name="orders-service"))
    visitor.view.get_by_role("heading", name=f"orders-service on {TUESDAY}").wait_for()
    assert "Produce v5" in visitor.view.locator("main").inner_text()
    visitor.page.screenshot(path=PICTURES / "client_of_a_day.png")


def test_what_did_this_client_of_the_report_do(visitor):
    """From its evidence in the report to its page of the day when it was last seen."""
    visitor.open_the_report()
    visitor.click(visitor.shown.locator("#must-act .self").first)
    visitor.click(visitor.shown.locator("article h3 a").filter(visible=True).first)
    visitor.page.wait_for_function("location.pathname.endsWith('/client/fleet/2026-11-21')")
    assert "id=" in visitor.page.evaluate("location.search")
