"""The daily run announces the days of each cluster, and open campaigns ask again for them."""

import datetime as dt
import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from include import campaigns
from include.campaigns import CampaignsFileError
from include.clusters import UnknownCluster
from tests.dags.test_runs import DAY, run

CHECKOUT = Path(__file__).parents[2]
pytestmark = pytest.mark.filterwarnings("ignore:Using `httpx` with:UserWarning")
__all__ = ["run"]

FILE = """campaigns:
  - {name: both-4.0, clusters: [east, west], to: 4.0.1, date: 2999-02-01, contact: kafka@example.com}
  - {name: east-4.0, clusters: [east], to: 4.0.1, date: 2999-03-01, contact: kafka@example.com}
  - {name: over, clusters: [east], to: 4.3.1, date: 2020-01-01, contact: kafka@example.com}
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    path = tmp_path / "campaigns.yaml"
    path.write_text(FILE)
    monkeypatch.setenv("CLIENT_TELEMETRY_CAMPAIGNS", str(path))
    return path


def asked(calls, stage):
    return [call["options"] for call in calls if call["stage"] == stage]


def test_open_campaigns_are_asked_once_per_cluster_and_target_and_get_their_states(run, file):
    dag_run, _, calls = run("upgrade_campaign", {"day": DAY})
    assert dag_run.state == "success"
    for stage in ("impact", "publish"):
        assert sorted((o["cluster"], o["report-id"]) for o in asked(calls, stage)) == [
            ("aaa", f"campaign_4.0.1_{DAY}"),
            ("bbb", f"campaign_4.0.1_{DAY}"),
        ]
    assert {(o["to"], o["day"]) for o in asked(calls, "impact")} == {("4.0.1", DAY)}
    told = {(o["planned-for"], o["asked-by"]) for o in asked(calls, "publish")}
    assert told == {("2999-02-01", "kafka@example.com")}
    states = [(o["cluster"], o["cluster-name"], o["campaign"], o["campaigns"]) for o in asked(calls, STATES)]
    assert sorted(states) == [
        ("aaa", "east", "both-4.0", str(file)),
        ("aaa", "east", "east-4.0", str(file)),
        ("bbb", "west", "both-4.0", str(file)),
    ]
    stages = [call["stage"] for call in calls]
    assert max(n for n, stage in enumerate(stages) if stage == "publish") < stages.index(STATES)


STATES = "upgrade_campaign"


def test_a_question_that_fails_fails_the_run_and_states_are_made_all_the_same(run, file):
    failed = {"exit": 2, "report": {"status": "bad_arguments", "message": "impact: runs 4.0.1 already"}}
    dag_run, _, calls = run("upgrade_campaign", {"day": DAY}, impact_bbb=failed)
    assert dag_run.state == "failed"
    assert len(asked(calls, STATES)) == 3


@pytest.mark.parametrize("content", [None, "campaigns: []\n", FILE.replace("2999", "2020")])
def test_without_an_open_campaign_nothing_is_asked(run, file, content):
    file.unlink() if content is None else file.write_text(content)
    dag_run, _, calls = run("upgrade_campaign", {"day": DAY})
    assert (dag_run.state, calls) == ("success", [])


def events(dag_run):
    from airflow import settings
    from airflow.models.asset import AssetEvent
    from sqlalchemy import select

    with settings.Session() as session:
        found = session.scalars(select(AssetEvent).where(AssetEvent.source_run_id == dag_run.run_id)).all()
        return sorted((each.asset.name, json.dumps(each.extra, sort_keys=True)) for each in found)


def test_the_daily_run_announces_the_days_of_each_cluster(run):
    dag_run, _, _ = run("client_telemetry_daily", {"day": DAY})
    extra = '{{"cluster": "{}", "days": ["{}"]}}'
    assert events(dag_run) == [
        ("client_telemetry/east", extra.format("east", DAY)),
        ("client_telemetry/west", extra.format("west", DAY)),
    ]


def test_news_of_a_cluster_wake_the_campaigns(run):
    """The scheduler starts a run of each DAG in this queue; the DAGs are stored as its processor stores them."""
    from airflow import settings
    from airflow.dag_processing.dagbag import DagBag, sync_bag_to_db
    from airflow.models.asset import AssetDagRunQueue
    from airflow.models.dag import DagModel
    from airflow.models.dagbundle import DagBundleModel
    from sqlalchemy import select

    with settings.Session() as session:
        if session.get(DagBundleModel, "dags-folder") is None:
            session.add(DagBundleModel(name="dags-folder"))
            session.commit()
    sync_bag_to_db(DagBag(dag_folder=str(CHECKOUT / "dags")), "dags-folder", None)
    with settings.Session() as session:
        session.get(DagModel, "upgrade_campaign").is_paused = False
        session.commit()
    run("client_telemetry_daily", {"day": DAY})
    with settings.Session() as session:
        queued = session.scalars(select(AssetDagRunQueue.target_dag_id)).all()
    assert set(queued) == {"upgrade_campaign"}


def test_nothing_new_is_no_news(run):
    nothing = {
        "status": "ok",
        "message": "",
        "counts": {},
        "warnings": [],
        "decode_days": [],
        "derive_days": [],
    }
    dag_run, _, _ = run("client_telemetry_daily", {"day": DAY}, collect={"report": nothing})
    assert events(dag_run) == []


def test_the_documented_dag_waits_for_a_cluster():
    page = (CHECKOUT / "docs/campaigns.md").read_text()
    (text,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    program = f"{text}\nfrom include.campaigns import asset_of\nassert asset_of('fleet') == Asset(name='client_telemetry/fleet', uri='client-telemetry://fleet/days')"
    exec(compile(program, "docs/campaigns.md", "exec"), {})


def event(cluster, *days):
    return SimpleNamespace(extra={"cluster": cluster, "days": list(days)})


def test_events_ask_for_their_days_and_for_their_clusters_alone(run, file):
    found = campaigns.open_campaigns([], dt.date(2026, 11, 28))
    news = [
        event("east", "2026-11-21", "2026-11-22"),
        event("east", "2026-11-22"),
        event("north", "2026-11-22"),
    ]
    asked_for = campaigns.questions(found, news, None)
    assert [(each["cluster"], each["day"]) for each in asked_for] == [
        ("east", "2026-11-21"),
        ("east", "2026-11-22"),
    ]
    assert [each["campaign"] for each in campaigns.standings(found, asked_for)] == ["both-4.0", "east-4.0"]


def test_what_cannot_be_used_is_said(run, file):
    with pytest.raises(CampaignsFileError, match="There is no campaign 'x' in"):
        campaigns.open_campaigns(["x"])
    file.write_text(FILE.replace("east", "north"))
    with pytest.raises(UnknownCluster, match="no cluster 'north'"):
        campaigns.questions(campaigns.open_campaigns([]), [], DAY)
    file.write_text("campaigns: [{name: a}]")
    with pytest.raises(CampaignsFileError, match="client-telemetry campaign show NAME --campaigns"):
        campaigns.open_campaigns([])


def test_a_measured_target_is_asked_by_its_path_or_its_name(run, file):
    file.write_text(
        FILE.replace("4.0.1, date: 2999-02", "targets/next.json, date: 2999-02").replace("4.0.1", "next")
    )
    found = campaigns.questions(campaigns.open_campaigns([]), [], DAY)
    assert sorted({(each["to"], each["report"]) for each in found}) == [
        (str(file.parent / "targets/next.json"), f"campaign_next.json_{DAY}"),
        ("next", f"campaign_next_{DAY}"),
    ]
