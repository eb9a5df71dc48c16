"""The pages inside Airflow as a person uses them: a real Airflow, a real browser, reports that the jobs' code wrote.

Pictures of what was seen are left in var/e2e."""

import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.end_to_end.airflow_server import (
    ANSWERS_WITHIN_S,
    PICTURES,
    environment,
    sign_in,
    started,
    wait_for_answer,
)
from tests.end_to_end.browser import chromium

pytestmark = pytest.mark.end_to_end

FLAGS = {"allow-scripts", "allow-same-origin", "allow-forms", "allow-downloads"}
"""Of the frame that Airflow draws around a plugin's page."""
HOSTILE = "<script>document.title='taken over'</script>"


@dataclass(frozen=True)
class Airflow:
    url: str
    fleet_day: str
    instance_id: str
    """As Kafka prints it."""
    run_id: str
    """Of the run that published the upgrade report."""
    root: Path
    """Where the pages are published."""


def _published(root: Path) -> tuple[str, str, str]:
    """An upgrade report and a fleet page; gives `fleet_day`, `instance_id` and `run_id`."""
    from client_telemetry import knowledge
    from client_telemetry.reports.fleet.build import build_fleet_day
    from client_telemetry.reports.fleet.files import publish_fleet_day
    from client_telemetry.reports.upgrade.build import build_report
    from client_telemetry.reports.upgrade.publish import publish

    from tests.client_telemetry.reports import conftest as report_rows
    from tests.client_telemetry.reports.fleet import conftest as fleet_rows

    publish(build_report(**report_rows.fleet_rows(), cluster_name="fleet"), root)
    clients = [fleet_rows.client(HOSTILE), fleet_rows.client("orders-service", version="2.0.0")]
    clients.append(fleet_rows.client("erp", "unknown", "unknown", api_uses=[fleet_rows.use(0, 2)]))
    instances = [fleet_rows.instance()]
    fleet = build_fleet_day(
        fleet_rows.DAY,
        clients,
        instances,
        {},
        [fleet_rows.hour(hour) for hour in range(24)],
        [fleet_rows.broker()],
        (),
        {},
        cluster_id=fleet_rows.CLUSTER_ID,
        cluster_name="fleet",
        knowledge_version=knowledge.version(),
        created_at=fleet_rows.AT,
    )
    day = fleet_rows.DAY.isoformat()
    publish_fleet_day(fleet, fleet_rows.index_of(clients, instances), root)
    return day, "AAECAwQFBgcICQoLDA0ODw", report_rows.REPORT_ID


@pytest.fixture(scope="module")
def airflow(tmp_path_factory) -> Iterator[Airflow]:
    home = tmp_path_factory.mktemp("airflow")
    published = _published(home / "published")
    preparations = (["db", "migrate"], ["dags", "reserialize"])
    with started(("airflow", "api-server"), preparations, environment(home)) as (url, server, log):
        wait_for_answer(url, server, log)
        yield Airflow(url, *published, home / "published")


@pytest.fixture(scope="module")
def page(airflow) -> Iterator["Page"]:  # noqa: F821
    """A browser that is logged in; what its console complains of fails the test that asks for `complaints`."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.context.set_default_timeout(ANSWERS_WITHIN_S * 1000)
        page.goto(f"{airflow.url}/auth/login")
        sign_in(page)
        page.wait_for_url(lambda url: "/auth/" not in url)
        yield page


@pytest.fixture
def complaints(page) -> Iterator[list[str]]:
    found: list[str] = []

    def listen(message) -> None:
        if message.type == "error":
            found.append(message.text)

    page.on("console", listen)
    yield found
    page.remove_listener("console", listen)
    assert [text for text in found if "Content Security Policy" in text] == []


@pytest.fixture
def pages(page, airflow, complaints):
    """The frame with the plugin's pages, opened from Airflow's own navigation."""
    page.goto(f"{airflow.url}/plugin/client_telemetry")
    return page.frame_locator("iframe[title='Client telemetry']")


def test_without_a_login_nothing_is_shown(airflow):
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{airflow.url}/client-telemetry/")
    assert refused.value.code == 401


def test_without_a_login_a_person_is_led_to_it_and_back(airflow):
    with chromium() as browser:
        page = browser.new_page()
        page.context.set_default_timeout(ANSWERS_WITHIN_S * 1000)
        page.goto(f"{airflow.url}/client-telemetry/search?q=erp")
        sign_in(page)
        page.get_by_role("heading", name="Search").wait_for()
        assert page.url.endswith("/client-telemetry/search?q=erp")


def test_the_frame_of_airflow_has_the_flags_that_the_pages_are_made_for(page, pages):
    """docs/decisions/0008 rests on it: no popups, no dialogs, no navigation of the page around the frame."""
    pages.get_by_role("heading", name="Client telemetry").wait_for()
    frame = page.locator("iframe[title='Client telemetry']")
    flags = frame.get_attribute("sandbox")
    assert set(flags.split()) == FLAGS


def test_airflows_address_carries_the_page_and_its_filter(page, pages, airflow):
    pages.get_by_role("link", name=airflow.fleet_day).first.click()
    pages.frame_locator("iframe").get_by_role("searchbox").fill("erp")
    pages.frame_locator("iframe").get_by_text("1 matching client").wait_for()
    page.wait_for_function("location.hash.endsWith('q=erp')", timeout=5000)
    address = page.evaluate("location.href")
    assert "/plugin/client_telemetry/client-telemetry/fleet/fleet/" in address
    page.goto("about:blank")
    page.goto(address)
    shown = pages.frame_locator("iframe")
    shown.get_by_text("1 matching client").wait_for()
    assert shown.get_by_role("searchbox").input_value() == "erp"
    assert page.evaluate("location.href") == address


def test_a_page_opens_outside_of_the_frame_with_its_filter(page, pages, airflow):
    pages.get_by_role("row", name="3.9.1 to 4.0.0").get_by_role("link").last.click()
    pages.frame_locator("iframe").get_by_role("heading", name="Action required").wait_for()
    with page.context.expect_page() as opened:
        pages.get_by_role("link", name="Open in a new tab").click()
    own = opened.value
    own.wait_for_load_state()
    assert "/client-telemetry/reports/fleet/" in own.url
    own.frame_locator("iframe").get_by_role("heading", name="Action required").wait_for()
    own.close()


def test_the_overview_leads_to_the_fleet_page(page, pages, airflow):
    pages.get_by_role("heading", name="Client telemetry").wait_for()
    page.screenshot(path=PICTURES / "overview.png")
    pages.get_by_role("link", name=airflow.fleet_day).first.click()
    shown = pages.frame_locator("iframe")
    shown.get_by_role("heading", level=1).wait_for()
    assert "3 clients" in shown.get_by_role("heading", level=1).inner_text()
    page.screenshot(path=PICTURES / "fleet_page.png")
    shown.get_by_role("searchbox").fill("erp")
    assert shown.locator("#matches").inner_text() == "1 matching client"
    assert shown.get_by_text("document.title").count() >= 1  # the hostile client id, as text
    assert page.title() != "taken over"


def test_the_overview_leads_to_an_upgrade_report(page, pages):
    pages.get_by_role("row", name="3.9.1 to 4.0.0").get_by_role("link").last.click()
    shown = pages.frame_locator("iframe")
    shown.get_by_role("heading", name="Action required").wait_for()
    assert shown.locator("body").evaluate("() => innerHeight") > 700, "most of the window is the page"
    page.screenshot(path=PICTURES / "report.png")


def test_a_published_page_cannot_act_as_the_user(page, pages, airflow):
    pages.get_by_role("link", name=airflow.fleet_day).first.click()
    pages.frame_locator("iframe").get_by_role("heading", level=1).wait_for()
    frame = next(frame for frame in page.frames if frame.url.endswith("/index.html"))
    assert frame.evaluate("origin") == "null"
    with pytest.raises(Exception, match=r"cookie|SecurityError"):
        frame.evaluate("document.cookie")


def test_a_page_in_airflows_frame_is_printed_by_a_window_of_its_own(page, pages, airflow):
    """Airflow's frame forbids dialogs."""
    page.context.add_init_script(
        "window.print = () => { document.documentElement.dataset.printed = location.href }"
    )
    pages.get_by_role("link", name=airflow.fleet_day).first.click()
    shown = pages.frame_locator("iframe")
    shown.get_by_role("searchbox").fill("erp")
    page.wait_for_function("location.hash.endsWith('q=erp')")
    with page.context.expect_page() as opened:
        shown.get_by_role("button", name="Print").click()
    own = opened.value
    own.frame_locator("iframe").locator("html[data-printed]").wait_for(state="attached")
    assert own.frame_locator("iframe").get_by_role("searchbox").input_value() == "erp"
    assert shown.locator("html[data-printed]").count() == 0
    own.close()


def test_a_client_of_the_fleet_page_leads_to_its_own_page(page, pages, airflow):
    pages.get_by_role("link", name=airflow.fleet_day).first.click()
    pages.frame_locator("iframe").locator("#clients").get_by_role("link", name="orders-service").click()
    page.wait_for_function("location.pathname.includes('/client/fleet/')")
    assert "id=orders-service" in page.evaluate("location.search")


def test_an_instance_is_found_by_its_id(page, pages, airflow):
    pages.get_by_role("searchbox").fill(airflow.instance_id)
    pages.get_by_role("button", name="Search").click()
    pages.get_by_role("heading", name="Client instances").wait_for()
    assert pages.get_by_text("00010203-0405-0607-0809-0a0b0c0d0e0f").count() >= 1
    page.screenshot(path=PICTURES / "search.png")


def test_coverage_and_quality(page, pages):
    pages.get_by_role("link", name="Coverage calendar").click()
    pages.get_by_role("heading", name="Coverage of fleet").wait_for()
    assert pages.get_by_role("img", name="24 of 24 hours seen completely").count() == 1
    page.screenshot(path=PICTURES / "coverage.png")


def test_a_question_becomes_a_run(page, pages):
    pages.get_by_role("link", name="Ask an upgrade question").first.click()
    pages.locator("[name=cluster]").select_option("fleet")
    pages.locator("[name=to]").fill("4.0.0")
    pages.get_by_role("button", name="Ask").click()
    pages.get_by_text("Asked as manual__").wait_for()
    page.screenshot(path=PICTURES / "ask.png")


def test_a_question_that_cannot_be_meant_is_refused_in_airflows_words(page, pages):
    pages.get_by_role("link", name="Ask an upgrade question").first.click()
    pages.locator("[name=to]").fill("4.0")
    pages.get_by_role("button", name="Ask").click()
    pages.get_by_text("Rejected: ").wait_for()
    assert "4.0" in pages.locator("#asked").inner_text()


def test_a_run_shows_its_report_in_a_tab(page, airflow, complaints):
    run = {"dag_run_id": airflow.run_id, "logical_date": None, "conf": {"cluster": "fleet", "to": "4.0.0"}}
    answer = page.request.post(f"{airflow.url}/api/v2/dags/broker_upgrade_impact/dagRuns", data=run)
    assert answer.ok, answer.text()
    page.goto(f"{airflow.url}/dags/broker_upgrade_impact/runs/{quote(airflow.run_id, safe='')}")
    page.get_by_role("link", name="Published pages").click()
    shown = page.frame_locator("iframe[title='Published pages']").frame_locator("iframe")
    shown.get_by_role("heading", name="Action required").wait_for()
    flags = set(page.locator("iframe[title='Published pages']").get_attribute("sandbox").split())
    assert flags == FLAGS
    assert shown.locator("body").evaluate("() => innerHeight") > 400
    page.screenshot(path=PICTURES / "run.png")
