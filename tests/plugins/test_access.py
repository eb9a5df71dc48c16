"""Who sees what, and that it is recorded: rights on DAGs, teams of clusters, messages of owners, the audit log."""

import re

import pytest

from tests.plugins.conftest import DAY

DAILY = "client_telemetry_daily"
REPORT = "/files/upgrade_impact/east/manual__1"
OF_EAST = [
    "/clusters/east",
    f"/fleet/east/{DAY}",
    f"/client/east/{DAY}?id=orders&principal=User:a",
    f"/quality/east/{DAY}",
    "/coverage/east",
    "/reports/east/manual__1",
    "/reviews/east/review__1",
    "/checks/east/manual__3",
    f"/files/fleet/east/{DAY}/clients.csv",
    f"{REPORT}/index.html",
    "/files/upgrade_review/east/review__1/index.html",
    "/files/subscription_check/east/manual__3/index.html",
    "/campaigns/orders-4.0",
    "/files/upgrade_campaign/orders-4.0/index.html",
    "/files/upgrade_campaign/orders-4.0/gate.json",
]


@pytest.fixture
def with_teams(web, tmp_path, published):
    """The clusters file gives the cluster `east` to a team, and names another one that all may see."""
    (tmp_path / "clusters.yaml").write_text(
        f"lake: l\npublish: {published}\nresults: r\nclusters:\n"
        "  - {name: east, cluster_id: aaa, raw: x, team: platform}\n"
        "  - {name: west, cluster_id: bbb, raw: x}\n"
    )
    return web


@pytest.mark.parametrize("path", ["/", "/clusters/east"])
def test_who_may_read_the_daily_dag_only_sees_no_answers(web, path):
    text = web(may=lambda dag_id: dag_id == DAILY).get(path).text
    assert DAY in text
    for words in ("breaks 2 of 3", "2 of 3", "1 failed since", "3.9.1 to 4.0.0", "manual__1", "review__1"):
        assert words not in text, words
    assert "not asked yet" not in text, "a question may have been asked"
    text = web().get(path).text
    assert "3.9.1 to 4.0.0" in text and "1 failed since" in text


def test_reviews_are_shown_to_who_may_not_read_reports(web):
    text = web(may=lambda dag_id: dag_id != "broker_upgrade_impact").get("/").text
    assert "1 failed since" in text and "breaks 2 of 3" not in text


@pytest.mark.parametrize("path", OF_EAST)
def test_pages_of_a_cluster_with_a_team_are_for_that_team(with_teams, path):
    assert with_teams(teams=("platform",)).get(path).status_code == 200
    refused = with_teams(teams=("payments",)).get(path)
    assert refused.status_code == 403
    assert "for the team platform" in refused.json()["detail"]


@pytest.mark.parametrize("path", ["/", "/checks", "/campaigns", "/search?q=orders", "/ask"])
def test_lists_leave_out_clusters_of_other_teams(with_teams, path):
    assert "east" in with_teams(teams=("platform",)).get(path).text
    answer = with_teams().get(path)
    assert answer.status_code == 200
    assert not re.search(r"\beast\b", answer.text)


@pytest.mark.parametrize(
    "path", ["/answered/manual__1%2B00:00", "/runs/broker_upgrade_impact/manual__1+00:00"]
)
def test_a_run_does_not_lead_to_a_page_of_another_team(with_teams, path):
    assert with_teams().get(path, follow_redirects=False).status_code == 404
    assert with_teams(teams=("platform",)).get(path, follow_redirects=False).status_code == 303


def test_a_team_reads_the_messages_to_it_as_an_owner_and_nothing_else(with_teams):
    owner = with_teams(teams=("team-a",))
    assert owner.get(f"{REPORT}/owners/team-a/report.md").text == "# To team-a"
    for path in ("index.html", "summary.json", "owners/team-c/review.md", "owners/team-a/../../index.html"):
        assert owner.get(f"{REPORT}/{path}").status_code in (403, 404), path


def test_a_published_cluster_that_the_file_does_not_name_has_no_known_team(web, tmp_path, published):
    (tmp_path / "clusters.yaml").write_text(
        f"lake: l\npublish: {published}\nresults: r\nclusters:\n"
        "  - {name: west, cluster_id: bbb, raw: x, team: platform}\n"
    )
    refused = web(teams=("platform",)).get("/clusters/east")
    assert refused.status_code == 403 and "does not name the cluster" in refused.json()["detail"]


def test_an_auth_manager_without_teams_is_said(with_teams, monkeypatch):
    from airflow.api_fastapi.auth.managers.base_auth_manager import BaseAuthManager
    from telemetry_pages import access

    client = with_teams()

    class Manager:
        is_authorized_team = BaseAuthManager.is_authorized_team

        def is_authorized_dag(self, **_) -> bool:
            return True

    monkeypatch.setattr(access, "get_auth_manager", Manager)
    refused = client.get("/clusters/east")
    assert refused.status_code == 403 and "auth manager has none" in refused.json()["detail"]


def test_the_gate_of_a_campaign_over_rest(web):
    answer = web().get("/files/upgrade_campaign/orders-4.0/gate.json")
    assert (answer.status_code, answer.json()["code"], answer.json()["decision"]) == (200, 3, "no-go")
    page = web().get("/files/upgrade_campaign/orders-4.0/index.html")
    assert "sandbox" in page.headers["Content-Security-Policy"]
    assert web(may=lambda dag_id: dag_id != "upgrade_campaign").get(answer.url.path).status_code == 403
    for unknown in (
        "nothing/gate.json",
        "orders-4.0/nothing.json",
        "../fleet/east/index.html",
        "orders-4.0/..",
    ):
        assert web().get(f"/files/upgrade_campaign/{unknown}").status_code == 404, unknown


def test_what_was_read_and_refused_is_in_airflows_audit_log(with_teams, audited):
    with_teams(teams=("platform",)).get("/search?q=orders")
    with_teams(teams=("platform",)).get(f"{REPORT}/index.html")
    with_teams().get("/clusters/east")
    with_teams(may=lambda dag_id: False).get("/")
    assert audited() == [
        ("client_telemetry.read", "ada", "/search"),
        ("client_telemetry.read", "ada", f"{REPORT}/index.html"),
        ("client_telemetry.refused", "ada", "/clusters/east"),
        ("client_telemetry.refused", "ada", "/"),
    ]


def test_every_page_asks_for_a_right_and_is_recorded(web, audited):
    """A route without either would be open to whoever can reach Airflow."""
    client = web(may=lambda dag_id: False)
    routes = [route for route in client.app.routes if "GET" in getattr(route, "methods", ())]
    assert len(routes) > 15
    for number, route in enumerate(routes, start=1):
        path = route.path
        for part, value in (("{cluster}", "east"), ("{day}", DAY), ("{dag_id}", DAILY)):
            path = path.replace(part, value)
        assert client.get(re.sub(r"\{[^}]+\}", "x", path)).status_code == 403, path
        assert len(audited()) == number, path
