"""Notices on schedule, by a real mail server and a chat on this machine."""

import pytest

from tests.chat import listening
from tests.client_telemetry.cli.test_notify import mailbox, of_day, seen_on
from tests.client_telemetry.cli.test_tickets import BROKEN, CAMPAIGNS, FIX
from tests.client_telemetry.reports import conftest as made
from tests.dags.test_runs import run

pytestmark = pytest.mark.filterwarnings("ignore:Using `httpx` with:UserWarning")
__all__ = ["mailbox", "run"]
DAG = "client_telemetry_notices"


@pytest.fixture
def notices(tmp_path, mailbox, monkeypatch):
    """A notices file and a campaign about what is published below the folder that is given."""
    root = tmp_path / "published"
    root.mkdir()
    (tmp_path / "campaigns.yaml").write_text(CAMPAIGNS.replace("2027-02-01", "2999-02-01"))
    (tmp_path / "notices.yaml").write_text(
        f"mail: {{server: '127.0.0.1:{mailbox.port}', from: kafka@example.com, security: none}}\n"
        'operators: [ops@example.com]\nowners: yes\npublished_by: "00:00"\n'
    )
    monkeypatch.setenv("CLIENT_TELEMETRY_NOTICES", str(tmp_path / "notices.yaml"))
    monkeypatch.setenv("CLIENT_TELEMETRY_CAMPAIGNS", str(tmp_path / "campaigns.yaml"))
    return root


def state_of(tasks) -> str:
    return tasks["tell", -1].state


def test_news_are_told_once_however_often_the_dag_runs(run, notices, mailbox, monkeypatch):
    of_day(notices, 21, made.verdict("a", "breaks", fix=FIX, **BROKEN))
    of_day(notices, 22, made.verdict("a", **BROKEN, **seen_on(22)))
    of_day(notices, 23, made.verdict("a", "breaks", fix=FIX, **BROKEN, **seen_on(23)))
    (notices / "fleet/fleet").mkdir(parents=True)
    (notices / "fleet/fleet/latest.json").write_text('{"cluster_name": "fleet", "day": "2026-01-01"}')
    with listening() as (address, texts):
        monkeypatch.setenv("CLIENT_TELEMETRY_CHAT_WEBHOOK", address)
        for _ in range(2):
            dag_run, tasks, _ = run(DAG, {})
            assert (dag_run.state, state_of(tasks)) == ("success", "success")
    told = [(to, mail["Subject"]) for to, mail in mailbox.mails]
    assert [to for to, _ in told] == [["erp@example.com"], ["ops@example.com"], ["ops@example.com"]]
    assert told[0][1].startswith("1 regressed: By 2999-02-01: ")
    assert told[1][1] == "1 application regressed: orders"
    assert "fleet" in told[2][1] and len(texts) == 2
    assert (notices.parent / "notices_sent.json").exists()


def test_what_is_not_sent_fails_the_run_and_is_sent_by_the_next_one(run, notices, mailbox, monkeypatch):
    of_day(notices, 21, made.verdict("a", "breaks", fix=FIX, **BROKEN))
    (notices.parent / "campaigns.yaml").write_text("campaigns: 3")
    dag_run, tasks, _ = run(DAG, {})
    assert (dag_run.state, state_of(tasks), mailbox.mails) == ("failed", "failed", [])
    (notices.parent / "campaigns.yaml").write_text(CAMPAIGNS.replace("2027-02-01", "2999-02-01"))
    dag_run, _, _ = run(DAG, {})
    assert (dag_run.state, len(mailbox.mails)) == ("success", 1)


def test_without_a_notices_file_nobody_is_told_and_nothing_is_scheduled(run, dags, monkeypatch):
    monkeypatch.delenv("CLIENT_TELEMETRY_NOTICES", raising=False)
    _, tasks, _ = run(DAG, {})
    assert state_of(tasks) == "skipped"
    assert dags[DAG].schedule is None


def test_states_of_a_campaign_wake_it(notices, tmp_path):
    from airflow.dag_processing.dagbag import DagBag

    from include.campaigns import STATES_COMPUTED
    from tests.airflow_settings import CHECKOUT

    bag = DagBag(dag_folder=str(CHECKOUT / "dags"))
    assert STATES_COMPUTED in bag.dags[DAG].schedule.asset_condition.objects
    outlets = bag.dags["upgrade_campaign"].task_dict["standing.upgrade_campaign"].outlets
    assert outlets == [STATES_COMPUTED]
