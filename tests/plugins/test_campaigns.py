"""The list of planned upgrades, and who sees it."""

import re

import pytest
from telemetry_pages.run_pages import pages_in

from tests.plugins.conftest import HOSTILE
from tests.plugins.test_access import with_teams  # noqa: F401

PLANNED = """
campaigns:
  - {name: orders-4.0, clusters: [east], to: 4.0.1, date: 2999-02-01, contact: a@example.com}
  - {name: later, clusters: [west], to: 4.1.0, date: 2999-03-01, contact: a@example.com}
  - {name: of-others, clusters: [east], to: 4.1.0, date: 2999-03-01, contact: a@example.com}
"""


@pytest.fixture
def campaigns_file(tmp_path, monkeypatch):
    path = tmp_path / "campaigns.yaml"
    path.write_text(PLANNED)
    monkeypatch.setenv("CLIENT_TELEMETRY_CAMPAIGNS", str(path))
    return path


def words(answer) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", answer.text.partition("<main")[2]).split())


def test_the_list_says_what_is_decided_and_when_it_was_asked(web, campaigns_file):
    text = words(web().get("/campaigns"))
    assert "orders-4.0 west, east to 4.0.1 2999-02-01" in text
    assert "no-go 2 Not ready: &lt;script&gt;" in text and "2026-11-21 07:00" in text
    assert "later west to 4.1.0" in text and "Not asked yet" in text
    assert "Day has passed passed" not in text
    passed = text.partition("Day has passed")[2]
    assert "passed west, east to 4.0.1 2026-01-02" in passed and "not known" in passed
    assert "orders-4.0" not in passed and "damaged" not in text


def test_the_list_has_nothing_of_clusters_of_other_teams(with_teams, campaigns_file):  # noqa: F811
    text = words(with_teams().get("/campaigns"))
    assert "later" in text and "orders-4.0" not in text and "of-others" not in text
    text = words(with_teams(teams=("platform",)).get("/campaigns"))
    assert "orders-4.0" in text and "of-others" in text


def test_a_file_that_cannot_be_used_hides_no_page(web, campaigns_file):
    campaigns_file.write_text("campaigns: 3")
    text = words(web().get("/campaigns"))
    assert "cannot be used" in text and "orders-4.0" in text


def test_without_campaigns_the_list_says_how_to_plan_one(web, monkeypatch, tmp_path):
    monkeypatch.setenv("CLIENT_TELEMETRY_CAMPAIGNS", str(tmp_path / "none.yaml"))
    monkeypatch.setattr("telemetry_pages.published.Published.campaigns", lambda self: [])
    assert "No upgrade is planned" in words(web().get("/campaigns"))


def test_the_overview_leads_to_the_page_of_a_campaign_with_its_messages(web):
    client = web()
    assert '<a href="/campaigns/orders-4.0">' in client.get("/").text
    page = client.get("/campaigns/orders-4.0").text
    assert 'data-src="/files/upgrade_campaign/orders-4.0/index.html"' in page
    assert '/files/upgrade_campaign/orders-4.0/owners/team-a/message.md"' in page
    assert HOSTILE not in page
    overview = web(may=lambda dag_id: dag_id != "upgrade_campaign").get("/").text
    assert "orders-4.0" not in overview and "Planned upgrades" not in overview


def test_the_tab_of_a_run_shows_its_campaign_to_who_may_see_it(with_teams, monkeypatch):  # noqa: F811
    results = [{"report": "s3://bucket/published/upgrade_campaign/orders-4.0/index.html"}]
    monkeypatch.setattr("telemetry_pages.app.pages_of_run", lambda *of: pages_in(results))
    run = "/runs/upgrade_campaign/asset_triggered__2026-11-21"
    shown = with_teams(teams=("platform",)).get(run, follow_redirects=False)
    assert (shown.status_code, shown.headers["location"]) == (303, "/campaigns/orders-4.0")
    assert "No campaign for this run yet" in with_teams().get(run).text
    results += [{"report": "/published/upgrade_campaign/passed/index.html"}]
    listed = with_teams(teams=("platform",)).get(run).text
    assert '<a href="/campaigns/passed">Campaign passed</a>' in listed
