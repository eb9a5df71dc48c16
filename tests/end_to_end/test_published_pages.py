"""Every kind of page as it is published, opened from its folder in a real browser: what axe-core finds against WCAG 2.2 AA,
light and dark, and the upgrade report as paper."""

import re
import shutil
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.end_to_end.airflow_server import PICTURES
from tests.end_to_end.browser import chromium
from tests.plugins.conftest import audited, clusters_file, published, web  # noqa: F401
from tests.plugins.test_app import PAGES
from tests.plugins.test_client_day import address

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

pytestmark = pytest.mark.end_to_end

CHECKOUT = Path(__file__).parents[2]
WIDTHS = (1400, 900, 420)
AA = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
CHECK = """async tags => (await axe.run(document, {runOnly: tags, resultTypes: ['violations']})).violations
    .map(each => [each.id, each.nodes.length, each.nodes[0].html.slice(0, 200), each.nodes[0].failureSummary])"""


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> dict[str, Path]:
    """Published pages by name."""
    from client_telemetry import knowledge
    from client_telemetry.reports.fleet.build import build_fleet_day
    from client_telemetry.reports.fleet.files import publish_fleet_day
    from client_telemetry.reports.review.page import review_page
    from client_telemetry.reports.subscription.publish import files as subscription_files
    from client_telemetry.reports.upgrade.build import build_report
    from client_telemetry.reports.upgrade.publish import publish

    from tests.client_telemetry.reports import conftest as report_rows
    from tests.client_telemetry.reports.fleet import conftest as fleet_rows
    from tests.client_telemetry.reports.fleet.test_whole_page import curves
    from tests.client_telemetry.reports.test_subscription_report import found

    root = tmp_path_factory.mktemp("published")
    clients = [
        fleet_rows.client("orders-service", version="2.0.0"),
        fleet_rows.client("erp", "unknown", "unknown"),
    ]
    hours = [fleet_rows.hour(hour) for hour in range(24)]
    fleet = build_fleet_day(
        fleet_rows.DAY, clients, [fleet_rows.instance()], {}, hours, [fleet_rows.broker()], (), {},
        cluster_id=fleet_rows.CLUSTER_ID, cluster_name="fleet", knowledge_version=knowledge.version(),
        created_at=fleet_rows.AT,
    )  # fmt: skip
    index = fleet_rows.index_of(clients, [fleet_rows.instance()])
    warnings = [report_rows.quality_result()]
    report = build_report(**report_rows.fleet_rows(), warnings=warnings, cluster_name="fleet")
    check = root / "check.html"
    check.write_text(subscription_files(found())["index.html"], encoding="utf-8")
    fleet = replace(fleet, curves=curves())
    review = root / "review.html"
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(Path(__file__).parents[1] / "client_telemetry" / "review")
        from tests.client_telemetry.review.test_review_report import report as review_report
    review.write_text(review_page(review_report(extra=3)), encoding="utf-8")
    return {
        "campaign": a_year_of_a_campaign(root),
        "subscription_check": check,
        "review": review,
        "report": publish(report, root) / "index.html",
        "fleet": publish_fleet_day(fleet, index, root) / "index.html",
    }


def a_year_of_a_campaign(root: Path) -> Path:
    """Of 240 clients on 3 clusters, with every kind of change; one owner is late, and two waivers are in force."""
    from client_telemetry.campaign.gate import Knowledge, decide
    from client_telemetry.campaign.plan import WAIVE, Statement, Target
    from client_telemetry.campaign.states import history
    from client_telemetry.reports.campaign.publish import publish
    from client_telemetry.reports.campaign.view import view

    from benchmarks.campaign_year import year

    made = year(240, 3)
    day = made.until
    waived = [
        Statement(
            WAIVE,
            Target(application=name),
            "ann@example.com",
            day,
            day + timedelta(days=days),
            "retired soon",
        )
        for name, days in (("app-00003", 20), ("app-00015", 6))
    ]
    campaign = replace(
        made.campaign,
        deadlines={"team-33": day - timedelta(days=3)},
        statements=(*made.campaign.statements, *waived),
    )
    changes, reports = history(campaign, made.answers, day), [each.facts for each in made.answers]
    decision = decide(campaign, changes, reports, Knowledge("k", day), day)
    return publish(view(campaign, changes, reports, decision, day), root) / "index.html"


def opened(browser: "Browser", path: Path, scheme: str = "light", width: int = 1400) -> "Page":
    # axe-core is put in by the test; the page's own policy admits nothing but its one script.
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True
    )
    page = context.new_page()
    page.goto(path.as_uri())
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["report", "fleet", "review", "subscription_check", "campaign"])
def test_nothing_against_aa(browser, pages, name, scheme):
    check_against_aa(browser, pages[name], scheme)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_against_aa_on_the_page_of_a_client(browser, web, tmp_path, scheme):  # noqa: F811
    """The plugin's, as the file that it gives."""
    page = tmp_path / "client.html"
    page.write_text(web().get(address("orders", file="1")).text, encoding="utf-8")
    check_against_aa(browser, page, scheme)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", [*PAGES, "/nowhere"])
def test_nothing_against_aa_on_the_pages_in_airflow(browser, web, tmp_path, path, scheme):  # noqa: F811
    page = tmp_path / "page.html"
    page.write_text(web().get(path, headers={"Accept": "text/html"}).text, encoding="utf-8")
    check_against_aa(browser, page, scheme)


def check_against_aa(browser: "Browser", path: Path, scheme: str) -> None:
    """On a large screen, a tablet and a phone; without scrolling to the right."""
    page = opened(browser, path, scheme)
    page.evaluate("for (const folded of document.querySelectorAll('details')) folded.open = true")
    page.add_script_tag(content=(files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8"))
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(CHECK, AA) == [], width
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.context.close()


def test_the_page_of_a_campaign_is_short_and_on_paper_it_is_whole(browser, pages):
    page = opened(browser, pages["campaign"])
    assert page.evaluate("document.documentElement.scrollHeight") <= 3200
    folded = page.locator("#settled tbody tr").first
    assert not folded.is_visible()
    name = folded.locator("code").first.text_content()
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert name in page.evaluate("document.querySelector('main').innerText")
    page.context.close()


class Reader:
    """Of the page of a campaign: clicks, and counts them. What is asked for has to be on the screen then."""

    def __init__(self, page: "Page") -> None:
        self.page = page
        self.clicks = 0

    def click(self, name: str, within: str = "nav") -> None:
        self.clicks += 1
        assert self.clicks <= 3
        self.page.locator(within).get_by_text(name).first.click()

    def seen(self, selector: str) -> str:
        found = self.page.locator(selector).first
        top, bottom = found.evaluate(
            "found => { const box = found.getBoundingClientRect(); return [box.top, box.bottom] }"
        )
        assert top >= 0 and bottom <= 900, selector
        return found.inner_text()


@pytest.fixture
def reader(browser, pages) -> Iterator[Reader]:
    page = opened(browser, pages["campaign"])
    yield Reader(page)
    page.context.close()


def test_what_is_the_decision_and_what_does_the_gate_say(reader):
    assert re.match(r"Not ready: \d+ applications of \d+ owners left, ", reader.seen("h1"))
    assert reader.seen("#gate h2") == "Gate: no-go"
    assert "applications left with the verdict breaks" in reader.seen("#gate li")
    assert reader.clicks == 0


def test_which_owner_is_late(reader):
    reader.click("1 late")
    row = reader.seen("#owners tbody tr")
    assert row.startswith("team-33") and "2027-01-01 late" in row


def test_what_changed_since_last_monday_and_why(reader):
    reader.click("What changed")
    assert reader.seen("#changes h2").startswith("What changed since 2026-12-28")
    day, application, state, why = reader.seen("#changes tbody tr").split("\t")[:4]
    assert day == "2027-01-04" and application.startswith("app-") and state and len(why) > 20


def test_which_waivers_end_soon(reader):
    reader.click("Waivers and promises")
    row = reader.seen("#ending tbody tr")
    assert "2027-01-10" in row and "6 days" in row and "app-00015" in row


def test_write_to_one_owner(reader):
    reader.click("Owners")
    reader.click("more owners", "#owners summary")
    reader.click("mail", "#owners details tbody tr:first-child .messages")
    reader.page.wait_for_url("**/message.html")
    assert "will be upgraded to Kafka 4.0.1 on 2027-01-11" in reader.page.locator("body").inner_text()


def test_a_folded_application_is_reached_by_keyboard_and_by_its_address(browser, pages):
    page = opened(browser, pages["campaign"])
    page.locator("#applications summary").focus()
    page.keyboard.press("Enter")
    row = page.locator("#applications details tbody tr").last
    assert row.is_visible()
    address = row.get_attribute("id")
    page.goto("about:blank")
    page.goto(f"{pages['campaign'].as_uri()}#{address}")
    assert page.locator(f"#{address}").is_visible()
    page.context.close()


def test_a_filter_is_kept_in_the_address(browser, pages):
    page = opened(browser, pages["report"])
    page.get_by_role("searchbox").fill("erp-sync")
    assert page.evaluate("location.hash") == "#?q=erp-sync"
    page.reload()
    assert page.get_by_role("searchbox").input_value() == "erp-sync"
    assert page.locator("#matches").inner_text().startswith("1 matching")
    page.context.close()


def test_paper_has_what_the_screen_has(browser, pages):
    """All of it, with what is folded on screen; the first page is the summary."""
    page = opened(browser, pages["report"])
    page.evaluate("for (const folded of document.querySelectorAll('details')) folded.open = true")
    on_screen = page.evaluate("document.querySelector('main').innerText")
    page.reload()
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    on_paper = page.evaluate("document.querySelector('main').innerText")
    words = on_screen.split()
    assert [word for word in dict.fromkeys(words) if word not in on_paper] == []
    assert page.evaluate("getComputedStyle(document.querySelector('main')).breakBefore") == "page"
    paper = page.evaluate("document.querySelector('header').getBoundingClientRect().height")
    assert paper < 1009, "the summary fits on one page of A4"
    page.context.close()


def opened_panel(page: "Page", name: str) -> "Locator":
    page.locator("#must-act").get_by_role("link", name=name, exact=True).click()
    panel = page.locator("article", has=page.get_by_role("heading", name=name)).filter(visible=True)
    panel.wait_for()
    return panel


def test_a_row_opens_its_application_and_has_the_focus_again(browser, pages):
    page = opened(browser, pages["report"])
    page.keyboard.press("/")
    page.keyboard.type("erp-sync")
    panel = opened_panel(page, "erp-sync")
    address = page.evaluate("location.hash")
    assert address.startswith("#application-")
    assert panel.evaluate("panel => panel === document.activeElement")
    for words in ("How it is known", "Change:", "Permanent link", address, "Evidence", "sequence"):
        assert words in panel.inner_text()
    page.keyboard.press("Escape")
    assert not panel.is_visible()
    assert page.evaluate("document.activeElement.getAttribute('href')") == address
    assert page.evaluate("location.hash") == "#?q=erp-sync"
    assert page.get_by_role("searchbox").input_value() == "erp-sync"
    panel = opened_panel(page, "erp-sync")
    panel.get_by_role("link", name="Close").click()
    assert not panel.is_visible()
    page.context.close()


def test_without_a_script_a_row_opens_its_application_too(browser, pages):
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(pages["report"].as_uri())
    panel = opened_panel(page, "erp-sync")
    assert "How it is known" in panel.inner_text()
    panel.get_by_role("link", name="Close").click()
    assert not panel.is_visible()
    page.context.close()


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_against_aa_on_an_open_panel(browser, pages, width):
    page = opened(browser, pages["report"], width=width)
    opened_panel(page, "erp-sync")
    page.add_script_tag(content=(files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8"))
    assert page.evaluate(CHECK, AA) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.context.close()


LARGEST_HEIGHT = 3_200
MOST_PAGES = 4
"""Of the sample's 45 applications: pixels on a screen of 1400, and pages of A4 before the annex."""


def test_the_sample_is_read_in_a_few_screens_and_pages(browser, sample_run):
    (report,) = re.findall(r"^Report: (.+)$", sample_run.printed, re.M)
    page = opened(browser, Path(report))
    height = page.evaluate("document.documentElement.scrollHeight")
    page.add_style_tag(content=".annex-begins, .annex-begins ~ section { display: none }")
    paper = len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True)))
    print(f"{height} px, {paper} pages and an annex")
    assert height <= LARGEST_HEIGHT
    assert paper <= MOST_PAGES
    page.context.close()


@pytest.fixture(scope="module")
def large(tmp_path_factory) -> dict[int, tuple[Path, dict[str, list[str]]]]:
    """By the number of clients: a page, and the anchors of its clients by outcome."""
    from client_telemetry.reports.upgrade.build import build_report
    from client_telemetry.reports.upgrade.page import report_page

    from tests.client_telemetry.reports.conftest import large_rows

    made = {}
    for clients in (1_000, 50_000):
        report = build_report(**large_rows(clients))
        path = tmp_path_factory.mktemp("large") / "index.html"
        path.write_text(report_page(report), encoding="utf-8")
        anchors: dict[str, list[str]] = {}
        for client in report.clients:
            anchors.setdefault(client.outcome, []).append(f"{client.anchor} {client.client_id}")
        made[clients] = path, anchors
    return made


def measured(browser: "Browser") -> tuple["Page", Callable[[], float]]:
    """A page, and the seconds of CPU that its main thread has taken."""
    page = browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def busy() -> float:
        found = session.send("Performance.getMetrics")["metrics"]
        return next(each["value"] for each in found if each["name"] == "TaskDuration")

    return page, busy


def test_fifty_thousand_clients_of_five_hundred_owners(browser, large):
    """Less than 2 MB, at most 2 s of the main thread, and a search that answers at once (times are CPU of the renderer)."""
    path, _ = large[50_000]
    assert path.stat().st_size < 2_000_000
    page, busy = measured(browser)
    page.goto(path.as_uri())
    loaded = busy()
    page.get_by_role("searchbox").fill("service-43210")
    page.locator("#found tbody tr").first.wait_for()
    searched = busy() - loaded
    print(f"{path.stat().st_size / 1e6:.2f} MB, load {loaded:.2f} s, first search {searched:.2f} s")
    assert page.locator("#found tbody tr").count() == 1
    assert "team-210" in page.locator("#found tbody tr").inner_text()
    page.get_by_role("searchbox").fill("service-000")
    assert loaded <= 2 and searched <= 1
    page.context.close()


@pytest.mark.parametrize("place", [0, -1])
@pytest.mark.parametrize("outcome", ["breaks_at_once", "insufficient_evidence", "safe"])
@pytest.mark.parametrize("clients", [1_000, 50_000])
def test_the_address_of_a_client_leads_to_it(browser, large, clients, outcome, place):
    """The first and the last of a list: with a row of its own, in a group, or in the packed data. The page is scrolled there
    after at most 2 s of the main thread, packed data included."""
    path, anchors = large[clients]
    anchor, client_id = anchors[outcome][place].split(" ", 1)
    page, busy = measured(browser)
    page.goto(f"{path.as_uri()}#{anchor}")
    row = (
        page.locator(f"tr:has(#{anchor}), #found tbody tr, .app:has(#{anchor})")
        .filter(has_text=client_id)
        .first
    )
    row.wait_for()
    page.wait_for_function("scrollY > 0 || document.activeElement.matches('.app')")
    taken = busy()
    top = row.bounding_box()["y"]
    print(f"{clients} clients, {outcome} {place}: {taken:.2f} s")
    assert 0 <= top < 900 and taken <= 2
    page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pictures_of_the_readme_are_small(browser, sample_run, scheme):
    """Of the report that `make run` prints; docs/images has copies."""
    (report,) = re.findall(r"^Report: (.+)$", sample_run.printed, re.M)
    PICTURES.mkdir(parents=True, exist_ok=True)
    first_screen = {"x": 0, "y": 0, "width": 1200, "height": 830}
    page = opened(browser, Path(report), scheme, width=1200)
    page.screenshot(path=PICTURES / f"report_{scheme}.png", clip=first_screen)
    assert 50_000 < (PICTURES / f"report_{scheme}.png").stat().st_size < 200_000


def test_the_sample_report_of_the_documentation_opens(browser, sample_run):
    """docs/examples has a copy of the report that `make run` prints, as a zip; this makes it anew beside the pictures."""
    (report,) = re.findall(r"^Report: (.+)$", sample_run.printed, re.M)
    made = PICTURES / "sample_report.zip"
    PICTURES.mkdir(parents=True, exist_ok=True)
    _pack(Path(report).parent, made)
    assert made.stat().st_size < 300_000
    for packed in (made, CHECKOUT / "docs/examples/sample_report.zip"):
        folder = PICTURES / packed.parent.name
        shutil.rmtree(folder, ignore_errors=True)
        with zipfile.ZipFile(packed) as archive:
            archive.extractall(folder)
        page = opened(browser, folder / "sample_report/index.html")
        assert "12 of 45 applications" in page.locator("body").inner_text()
        links = page.eval_on_selector_all("a[href]", "found => found.map(each => each.getAttribute('href'))")
        files = [link for link in links if not re.match(r"[a-z]+:|#", link)]
        assert files and all((folder / "sample_report" / link.partition("#")[0]).is_file() for link in files)
        page.context.close()


def _pack(report: Path, into: Path) -> None:
    """A report without what only programs read and without links to other pages; equal files make an equal archive."""
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for file in sorted(path for path in report.rglob("*") if path.is_file()):
            if file.name not in ("answer.json", "earlier.json", "summary.json"):
                content = file.read_bytes()
                if file.name == "index.html":
                    content = re.sub(rb'<a href="\.\./[^"]*">([^<]*)</a>', rb"\1", content)
                name = f"sample_report/{file.relative_to(report)}"
                archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
