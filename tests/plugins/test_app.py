"""Pages inside Airflow's user interface: who sees them, what they show, and what they never hand out."""

import html
import json
import re
import shutil
from html.parser import HTMLParser

import pytest
from fastapi.testclient import TestClient
from telemetry_pages.run_pages import pages_in

from tests.plugins.conftest import DAY, HOSTILE

PAGES = [
    "/",
    "/clusters/east",
    f"/fleet/east/{DAY}",
    "/reports/east/manual__1",
    f"/quality/east/{DAY}",
    "/coverage/east",
    "/search",
    "/search?q=orders",
    "/ask",
    "/checks",
    "/campaigns",
    "/campaigns/orders-4.0",
    "/checks/east/manual__3",
    "/reviews/east/review__1",
    f"/client/east/{DAY}?id=orders&principal=User:a",
]
FILES = [
    f"/files/fleet/east/{DAY}/index.html",
    f"/files/fleet/east/{DAY}/clients.csv",
    "/files/upgrade_impact/east/manual__1/index.html",
    "/runs/broker_upgrade_impact/manual__1%2B00:00",
    "/files/subscription_check/east/manual__3/index.html",
    "/runs/telemetry_subscription_check/manual__3%2B00:00",
    "/files/upgrade_review/east/review__1/index.html",
]


@pytest.mark.parametrize("path", PAGES + FILES)
def test_nobody_sees_anything_without_logging_in(clusters_file, path):
    from telemetry_pages.app import app

    assert TestClient(app).get(path).status_code == 401


@pytest.mark.parametrize("path", PAGES + FILES)
def test_who_may_not_read_the_dags_sees_nothing(web, path):
    assert web(may=lambda dag_id: False).get(path).status_code == 403


def test_who_may_read_the_daily_dag_only_sees_no_upgrade_reports(web):
    reader = web(may=lambda dag_id: dag_id == "client_telemetry_daily")
    assert reader.get(f"/fleet/east/{DAY}").status_code == 200
    assert reader.get("/files/upgrade_impact/east/manual__1/index.html").status_code == 403
    assert reader.get("/checks").status_code == 403


@pytest.mark.parametrize("path", PAGES)
def test_every_page_is_escaped_and_has_a_policy(web, path):
    answer = web().get(path)
    assert answer.status_code == 200
    assert HOSTILE not in answer.text
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_the_policy_admits_the_styles_and_the_script_that_are_there(web):
    import base64
    import hashlib

    answer = web().get("/ask")
    policy = dict(part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; "))
    for tag, number in (("style", 1), ("script", 2)):
        contents = re.findall(f"<{tag}>(.*?)</{tag}>", answer.text, re.DOTALL)
        assert len(contents) == number
        for content in contents:
            digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
            assert f"'sha256-{digest}'" in policy[f"{tag}-src"]


class Links(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found |= {value for name, value in attrs if name in ("href", "src") and value}


def test_every_link_leads_somewhere(web):
    client = web()
    seen, waiting = set(), ["/"]
    while waiting:
        path = waiting.pop()
        answer = client.get(path)
        assert answer.status_code == 200 or path.endswith((".csv", ".json", ".md")), path
        seen.add(path)
        if answer.headers["content-type"].startswith("text/html"):
            links = (
                Links(answer.text).found
                - seen
                - {"/dags/telemetry_subscription_check", "/dags/upgrade_campaign", ""}
            )  # Airflow's own pages, and what a script fills in
            waiting += links
    assert len(seen) >= 12


def test_a_published_page_is_shown_in_a_sandbox_and_other_files_are_downloads(web):
    client = web()
    shown = client.get(f"/files/fleet/east/{DAY}/index.html")
    assert shown.headers["content-security-policy"].startswith("sandbox allow-scripts allow-downloads ")
    assert "allow-same-origin" not in shown.headers["content-security-policy"]
    table = client.get(f"/files/fleet/east/{DAY}/clients.csv")
    assert table.headers["content-disposition"] == 'attachment; filename="clients.csv"'


@pytest.mark.parametrize(
    "path",
    [
        "../secret.json",
        "..%2fsecret.json",
        f"east/{DAY}/../../../secret.json",
        f"east/{DAY}/..%2f..%2f..%2fsecret.json",
        "%2e%2e/secret.json",
        "/etc/passwd",
        "east//etc/passwd",
        f"east/{DAY}/link.json",
        "link/secret.json",
        f"east/{DAY}",
        f"east/{DAY}/",
        f"east/{DAY}/index.html%00.csv",
        "east/.hidden/index.html",
        ".",
        "",
    ],
)
def test_nothing_outside_the_published_folder_is_handed_out(web, path):
    answer = web().get(f"/files/fleet/{path}")
    assert answer.status_code == 404
    assert "password" not in answer.text


@pytest.mark.parametrize(
    "path", ["/fleet/east/2026-01-01", "/fleet/west/x", "/clusters/west", "/quality/east/.."]
)
def test_what_is_not_there_is_said(web, path):
    assert web().get(path).status_code == 404


def test_the_tab_of_a_run_shows_its_report(web):
    runs = "/runs/broker_upgrade_impact"
    assert (
        'src="/files/upgrade_impact/east/manual__1/index.html"' in web().get(f"{runs}/manual__1+00:00").text
    )
    missing = web().get(f"{runs}/scheduled__x")
    assert (missing.status_code, "No upgrade report for this run yet." in missing.text) == (404, True)
    assert web().get("/runs/another_dag/x").status_code == 404


def test_the_tab_of_a_daily_run_shows_its_fleet_page_or_lists_several(web, monkeypatch):
    from telemetry_pages import app

    results = []
    asked = []
    monkeypatch.setattr(app, "pages_of_run", lambda *of: asked.append(of) or pages_in(results))
    run = "/runs/client_telemetry_daily/scheduled__2026-11-21"
    assert "No fleet page for this run yet." in web().get(run).text
    results += [{"page": f"s3://bucket/published/fleet/east/{DAY}/index.html", "reviews": [{"review": None}]}]
    shown = web().get(f"{run}?task=cluster.publish&map_index=0", follow_redirects=False)
    assert (shown.status_code, shown.headers["location"]) == (303, f"/fleet/east/{DAY}")
    assert asked[-1] == ("client_telemetry_daily", "scheduled__2026-11-21", "cluster.publish", 0)
    results += [{"reviews": [{"review": "/published/upgrade_review/east/review__1/index.html"}]}]
    text = web().get(run).text
    assert f'<a href="/fleet/east/{DAY}">' in text and '<a href="/reviews/east/review__1">' in text
    assert web(may=lambda dag_id: dag_id != "client_telemetry_daily").get(run).status_code == 403


def test_reports_are_listed_with_their_answer_and_older_ones_too(web):
    text = web().get("/clusters/east").text
    assert "breaks 2 of 3" in text
    assert "/reports/east/older" in text


def test_numbers_and_hours_of_a_day(web):
    assert "2,048" in web().get("/").text
    assert "6 of 24 hours seen completely" in web().get("/coverage/east").text


@pytest.mark.parametrize("content", ["{", "[]", '{"day": "2026-11-19"}', None])
def test_a_day_that_cannot_be_read_hides_no_other(web, published, content):
    damaged = published / "fleet" / "east" / "2026-11-19"
    damaged.mkdir()
    (damaged / "index.html").write_text("<p>page</p>")
    if content is not None:
        (damaged / "day.json").write_text(content)
    try:
        for path in ("/", "/clusters/east", "/coverage/east"):
            answer = web().get(path)
            assert answer.status_code == 200, path
            assert "2026-11-19/day.json" in answer.text
            assert DAY in answer.text
    finally:
        shutil.rmtree(damaged)


def test_the_overview_compares_clusters_with_their_trends(web):
    text = web().get("/").text
    (row,) = re.findall(r'<tr><th scope="row"><a href="/clusters/east">.*?</tr>', text, re.DOTALL)
    assert 'aria-label="applications: 512, 1024"' in row
    assert "3.9.1 to 4.0.0" in row
    assert "2 of 3" in row
    assert re.search(r"\d+ days ago", row)
    sentence = re.search(r"<p>(2026-\d\d-\d\d: [^<]+)</p>", text)
    assert sentence and sentence[1] in web().get("/clusters/east").text


def test_the_overview_does_not_take_safe_so_far_for_ready(web, published):
    summary = next((published / "upgrade_impact").glob("east/*/summary.json"))
    before = summary.read_text()
    counts = {"breaks_at_once": 0, "safe": 3}
    try:
        summary.write_text(json.dumps(json.loads(before) | {"counts": counts, "safe_so_far": 2}))
        assert "0 of 3 <small>safe so far: 2</small>" in web().get("/").text
    finally:
        summary.write_text(before)


def test_quality_says_what_failed_first_and_what_to_do(web):
    text = web().get(f"/quality/east/{DAY}").text
    assert "2 checks ran on the tables of this day; 1 failed. A critical one blocks publishing" in text
    assert text.index("What to do") < text.index("<h2>Passed</h2>")
    assert "Add owner rules" in text
    assert '<code>{"client_id": "' in html.unescape(text)
    assert re.search(r"<summary><code>brokers</code> 1 of 1 checks", text)


def test_every_warning_of_a_suite_has_its_own_advice_or_is_about_odd_records():
    from client_telemetry.tables.all_tables import TABLES
    from telemetry_pages.quality_advice import ADVICE

    warnings = {
        name for table in TABLES for name, rule in table.expectations().items() if rule.severity == "warning"
    }
    assert len(warnings) > 10
    assert set(ADVICE) <= warnings
    odd_records = {"metric_has_a_name", "point_has_a_value", "buckets_fit_bounds", "pairs_are_listed_once"}
    of_answers = {"observed_cites_its_source", "missing_evidence_is_listed", "most_is_as_before"}
    assert warnings - set(ADVICE) == odd_records | of_answers | {
        "stands_for_something",
        "rules_are_mostly_right",
    }


def test_the_form_offers_the_releases_and_clusters_and_asks_airflow(web):
    text = web().get("/ask?cluster=east").text
    assert re.search(r"<option selected [^>]*>east</option>", text)
    assert 'data-runs="/api/v2/dags/broker_upgrade_impact/dagRuns"' in text
    assert "<option>4.0.1</option>" in text
    offered = 'list="releases"'  # any other can be typed: a package of the clusters file may know it
    assert [offered in field for field in re.findall(r'<input name="(?:from|to)"[^>]*>', text)] == [
        True,
        True,
    ]


def test_under_a_path_of_its_own_all_links_begin_there(web, monkeypatch):
    client = web()
    text = TestClient(client.app, root_path="/airflow/client-telemetry").get("/ask").text
    assert 'href="/airflow/client-telemetry/search"' in text
    assert 'data-runs="/airflow/api/v2/dags/' in text


def test_a_broken_clusters_file_is_said(web, tmp_path, monkeypatch):
    client = web()
    monkeypatch.setenv("CLIENT_TELEMETRY_CLUSTERS", str(tmp_path / "nowhere.yaml"))
    answer = client.get("/")
    assert answer.status_code == 500
    assert "nowhere.yaml" in json.loads(answer.text)["detail"]


def test_a_person_who_is_not_logged_in_is_led_to_the_login_and_back(clusters_file):
    from telemetry_pages.app import app

    client = TestClient(app, root_path="/airflow/client-telemetry")
    answer = client.get("/search?q=a", headers={"Accept": "text/html"}, follow_redirects=False)
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/airflow/api/v2/auth/login?next=%2F")
    assert "search%3Fq%3Da" in answer.headers["location"]


def test_a_page_that_is_not_there_is_a_page_for_people(web):
    assert "<h1>Page not found</h1>" in web().get("/nowhere", headers={"Accept": "text/html"}).text
    assert web().get("/nowhere").json() == {"detail": "Not Found"}


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/fleet/east/2026-01-01", "No fleet page for 2026-01-01: run client_telemetry_daily for that day."),
        ("/fleet/west/2026-01-01", "No pages for cluster &#39;west&#39;."),
        ("/clusters/west", "No pages for cluster &#39;west&#39;."),
        (
            "/quality/east/2026-01-01",
            "No results of quality checks for 2026-01-01: run client_telemetry_daily",
        ),
        (
            "/client/east/2026-11-20?id=a",
            "No curves of clients for 2026-11-20: run client_telemetry_daily for that",
        ),
        ("/reports/east/other", "No upgrade report &#39;other&#39; of cluster east."),
        ("/reviews/east/other", "No review &#39;other&#39; of cluster east."),
        ("/checks/east/other", "No subscription check &#39;other&#39; of cluster east."),
        ("/fleet/east/lately", "&#39;lately&#39; is not a date (YYYY-MM-DD)."),
        ("/answered/other", "No upgrade report for this run yet."),
        ("/checked/other", "No subscription check for this run yet."),
    ],
)
def test_what_is_missing_is_said_with_what_to_do(web, path, words):
    text = web().get(path).text
    assert words in text and "<h1>Page not found</h1>" in text


def test_refusals_and_failures_are_pages_for_people_too(web, tmp_path, monkeypatch):
    people = {"Accept": "text/html"}
    refused = web(may=lambda dag_id: False).get("/", headers=people)
    assert refused.status_code == 403 and "<h1>Access denied</h1>" in refused.text
    assert "need read access to the DAG client_telemetry_daily." in refused.text
    client = TestClient(web().app, raise_server_exceptions=False)
    monkeypatch.setattr("telemetry_pages.answering.Published", lambda location: 1 / 0)
    assert client.get("/").json() == {"detail": "Internal Server Error"}
    broken = client.get("/", headers=people)
    assert broken.status_code == 500 and "API server says why" in broken.text
    monkeypatch.setenv("CLIENT_TELEMETRY_CLUSTERS", str(tmp_path / "nowhere.yaml"))
    wrong = client.get("/", headers=people)
    assert wrong.status_code == 500 and "nowhere.yaml" in wrong.text and "<h1>" in wrong.text


def test_a_published_page_has_its_files_and_messages_to_owners_above_it(web, published):
    text = web().get(f"/fleet/east/{DAY}").text
    assert f"/files/fleet/east/{DAY}/never_pushed.csv" in text and 'class="packs"' not in text
    assert "/files/fleet/east/2026-11-20/never_pushed.csv" not in web().get("/fleet/east/2026-11-20").text
    text = web().get("/reports/east/manual__1").text
    assert "Messages to 1 owner<" in text
    assert "/files/upgrade_impact/east/manual__1/owners/team-a/report.md" in text
    got = web().get("/files/upgrade_impact/east/manual__1/owners/team-a/report.md")
    assert (got.status_code, got.text) == (200, "# To team-a")
    assert web().get("/files/upgrade_impact/east/manual__1/owners/team-b/report.md").status_code == 404


@pytest.mark.parametrize("path", [path for path in PAGES if "?q=" not in path])
def test_every_page_has_one_first_heading_and_a_way_to_skip_the_links(web, path):
    text = web().get(path).text
    assert text.count("<h1") == 1
    assert '<a class="skip" href="#content">' in text and '<main id="content"' in text
    assert text.count("<table") == text.count("<caption")


def test_a_run_leads_to_its_report(web):
    answer = web().get("/answered/manual__1%2B00:00", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/reports/east/manual__1")
    answer = web().get("/checked/manual__3%2B00:00", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/checks/east/manual__3")
    assert web().get("/answered/nothing").status_code == 404


@pytest.mark.parametrize(
    ("running", "proposed"),
    [
        ("3.8.1", "3.9.2"),
        ("3.9.0", "4.0.2"),
        ("4.4.0", "4.4.0"),
        (None, "4.4.0"),
        ("2.2.0", "2.4.1"),
        ("4.2.9", "4.3.1"),
        ("9.1.0", ""),
    ],
)
def test_the_form_proposes_the_newest_patch_of_the_next_minor(web, running, proposed):
    web()
    from telemetry_pages.app import next_release

    assert next_release(running) == proposed


def test_the_form_proposes_a_release_after_what_brokers_run_now(web):
    """Not after what they ran before the upgrade of the same day."""
    web()
    from telemetry_pages.app import next_release, oldest_running

    day = {"oldest_release": "3.9.1", "releases": [{"release": "4.3.1", "broker_ids": [1, 2]}]}
    assert next_release(oldest_running(day)) == "4.4.0"
    mixed = [{"release": "3.9.1", "broker_ids": [1]}, {"release": "4.0.0", "broker_ids": [2]}]
    assert oldest_running({"oldest_release": "3.8.0", "releases": mixed}) == "3.9.1"
    assert (
        oldest_running({"oldest_release": "3.8.0", "releases": [{"release": None, "broker_ids": [1]}]})
        == "3.8.0"
    )
    assert oldest_running({}) is None
    unlisted = [{"release": "9.1.0", "broker_ids": [1]}, {"release": "1.1.1", "broker_ids": [2]}]
    assert oldest_running({"releases": unlisted}) == "1.1.1"
    assert oldest_running({"releases": unlisted[:1]}) == "9.1.0"


def test_the_form_says_what_brokers_run_and_which_days_have_data(web):
    text = web().get("/ask?cluster=east").text
    assert "Brokers 1, 2 run 3.9.1, broker 3 runs 4.0.0; 2 days with data, 2026-11-20 to 2026-11-21" in text
    assert 'data-first="2026-11-20" data-last="2026-11-21"' in text
    assert 'name="planned_for" type="date"' in text and 'name="asked_by"' in text
    assert "default: the newest patch of the next minor release" in text
    assert text.index("<option>4.4.0</option>") < text.index("<option>2.4.0</option>")


def test_the_form_offers_measured_targets_by_name(web, published, tmp_path, monkeypatch):
    folder, file = tmp_path / "targets", tmp_path / "more.yaml"
    folder.mkdir()
    for name in ("msk-eu.json", "proxy.json", "notes.txt", "<b>.json", "4.0.1.json"):
        (folder / name).write_text("{}")
    clusters = (
        "  - {name: east, cluster_id: aaa, raw: x, targets: TARGETS}\n"
        "  - {name: west, cluster_id: bbb, raw: x, targets: TARGETS/none}\n"
        "  - {name: north, cluster_id: ccc, raw: x}\n"
    )
    file.write_text(
        f"lake: l\npublish: {published}\nresults: r\nclusters:\n{clusters.replace('TARGETS', str(folder))}"
    )
    client = web()
    monkeypatch.setenv("CLIENT_TELEMETRY_CLUSTERS", str(file))
    text = client.get("/ask?cluster=east").text
    assert re.findall(r'data-targets="([^"]*)"', text) == ["msk-eu proxy", "", ""]


def test_reports_of_one_minute_are_told_apart(web, published):
    reports = published / "upgrade_impact/east"
    first = next(file for file in sorted(reports.glob("*/summary.json")))
    again = reports / "asked-again"
    again.mkdir()
    summary = json.loads(first.read_text())
    day, _, _ = summary["created_at"].partition("T")
    (again / "summary.json").write_text(json.dumps(summary | {"created_at": f"{day}T07:00:31Z"}))
    (again / "index.html").write_text("<html></html>")
    text = web().get("/clusters/east").text
    shutil.rmtree(again)
    assert f">{day} 07:00:00</a>" in text
    assert f">{day} 07:00:31</a>" in text
