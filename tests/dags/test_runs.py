"""Both DAGs run by Airflow; only spark-submit is replaced, by tests/include/fake_bin/spark-submit."""

import json
import os
from pathlib import Path

import pytest
from airflow.sdk.exceptions import ParamValidationError

# Airflow's in-process API imports starlette.testclient, which wants another HTTP client than Airflow's pins have.
pytestmark = pytest.mark.filterwarnings("ignore:Using `httpx` with:UserWarning")

DAY = "2026-11-21"
GATE = "decode: client_pushes failed its gate. Do this."


@pytest.fixture
def run(dags, database, tmp_path, monkeypatch):
    """Runs a DAG over two clusters, east (id aaa) and west (id bbb); gives the run, its results and the calls."""
    calls = tmp_path / "calls.jsonl"
    calls.touch()
    fake = Path(__file__).parents[1] / "include" / "fake_bin"
    monkeypatch.setenv("PATH", str(fake), prepend=os.pathsep)
    monkeypatch.setenv("PYSPARK_DRIVER_PYTHON", str(fake / "spark-submit"))
    monkeypatch.setenv("FAKE_SPARK_SUBMIT_CALLS", str(calls))
    monkeypatch.setenv("CLIENT_TELEMETRY_CLUSTERS", str(tmp_path / "clusters.yaml"))
    (tmp_path / "clusters.yaml").write_text(f"""
lake: {tmp_path}/lake
publish: {tmp_path}/published
results: {tmp_path}/results
clusters:
  - {{name: east, cluster_id: aaa, raw: s3://dumps/east}}
  - name: west
    cluster_id: bbb
    raw: /srv/west
    hosts: /srv/west-hosts
    knowledge_package: /srv/knowledge.zip
    source: {{format: request_log, files: /logs/west/*.log.*, release: 4.0.1}}
""")

    def run_dag(dag_id, conf, **behaviours):
        monkeypatch.setenv(
            "FAKE_SPARK_SUBMIT", json.dumps({k.replace("_", " "): v for k, v in behaviours.items()})
        )
        dag_run = dags[dag_id].test(run_conf=conf)
        tasks = {(ti.task_id, ti.map_index): ti for ti in dag_run.get_task_instances()}
        return dag_run, tasks, [json.loads(line) for line in calls.read_text().splitlines()]

    return run_dag


def test_a_day_goes_through_all_stages_of_all_clusters(run):
    dag_run, tasks, calls = run("client_telemetry_daily", {"day": DAY})
    assert dag_run.state == "success"
    summary = tasks["summary", -1].xcom_pull(task_ids="summary")
    assert [cluster["status"] for cluster in summary["clusters"].values()] == ["ok", "ok"]
    options = {(call["stage"], call["options"]["cluster"]): call["options"] for call in calls}
    assert options["collect", "aaa"]["day"] == DAY
    for stage in ("decode", "sessionize", "profile", "publish_fleet"):
        assert options[stage, "bbb"]["days"] == DAY
    assert options["publish_fleet", "bbb"]["cluster-name"] == "west"
    assert options["publish_fleet", "bbb"]["hosts"] == "/srv/west-hosts"
    assert "hosts" not in options["publish_fleet", "aaa"]
    assert tasks["cluster.decode", 1].rendered_map_index == "west"


def test_all_stages_know_the_releases_of_the_clusters_package(run):
    """Collect names the release of a broker by its log, and a campaign or subscription is checked for one."""
    run("client_telemetry_daily", {"day": DAY})
    run("telemetry_subscription_check", {"cluster": "west", "name": "a", "metrics": "*", "release": "9.1.0"})
    _, _, calls = run("broker_upgrade_impact", {"cluster": "west", "to": "9.1.0"})
    assert {call["stage"] for call in calls} >= {
        "collect",
        "decode",
        "profile",
        "subscription_check",
        "publish",
    }
    packages = {(call["options"]["cluster"], call["options"].get("knowledge-package")) for call in calls}
    assert packages == {("aaa", None), ("bbb", "/srv/knowledge.zip")}


def test_a_declared_source_is_passed_to_collect_only(run):
    _, _, calls = run("client_telemetry_daily", {"day": DAY})
    options = {(call["stage"], call["options"]["cluster"]): call["options"].get("source") for call in calls}
    source = json.loads(options.pop(("collect", "bbb")))
    assert source == {"format": "request_log", "files": ["/logs/west/*.log.*"], "release": "4.0.1"}
    assert set(options.values()) == {None}


def test_only_the_clusters_asked_for_are_processed(run):
    _, _, calls = run("client_telemetry_daily", {"day": DAY, "clusters": ["west"]})
    assert {call["options"]["cluster"] for call in calls} == {"bbb"}


def test_the_days_to_decode_and_to_derive_again_are_those_that_collect_found(run):
    found = {
        "status": "ok",
        "message": "",
        "counts": {},
        "warnings": [],
        "decode_days": [],
        "derive_days": [DAY, "2026-11-22"],
    }
    _, _, calls = run("client_telemetry_daily", {"day": DAY, "clusters": ["east"]}, collect={"report": found})
    *stages, review = calls[1:]
    assert [call["options"]["days"] for call in stages] == ["", *3 * [f"{DAY},2026-11-22"]]
    assert (review["stage"], review["options"]["changed-on"]) == ("review", f"{DAY},2026-11-22")


def test_a_failed_gate_of_one_cluster_stops_that_cluster_and_fails_the_run(run):
    behaviour = {"exit": 3, "report": {"status": "failed_gate", "message": GATE}}
    dag_run, tasks, _ = run("client_telemetry_daily", {"day": DAY}, decode_aaa=behaviour)
    states = {key: ti.state for key, ti in tasks.items()}
    assert dag_run.state == "failed"
    assert states["cluster.decode", 0] == "failed"
    assert tasks["cluster.decode", 0].try_number == 1  # no retry
    assert states["cluster.profile", 0] == "upstream_failed"
    assert states["cluster.profile", 1] == "success"
    assert states["summary", -1] == "failed"
    east, west = tasks["summary", -1].xcom_pull(task_ids="summary")["clusters"].values()
    assert (east["status"], east["message"], west["status"]) == ("failed", f"east: {GATE}", "ok")


def test_an_unknown_cluster_fails_the_run_before_any_job(run):
    dag_run, tasks, calls = run("client_telemetry_daily", {"clusters": ["north"]})
    assert dag_run.state == "failed"
    assert tasks["clusters", -1].state == "failed"
    assert tasks["summary", -1].state == "failed"
    assert calls == []


def _waited_for(dag_run, database):
    """What REST's /wait ends with."""
    import asyncio

    from airflow import settings
    from airflow.api_fastapi.core_api.services.public.dag_run import DagRunWaiter

    async def last():
        lines = [line async for line in DagRunWaiter(dag_run.dag_id, dag_run.run_id, 1, None).wait()]
        await settings.async_engine.dispose()  # its connections belong to this event loop
        return lines

    return json.loads("".join(asyncio.run(last())).strip().splitlines()[-1])


def _note(dag_run):
    from airflow.models.dagrun import DagRun
    from airflow.utils.session import create_session

    with create_session() as session:
        return session.get(DagRun, dag_run.id).note


def test_a_question_goes_before_every_stage_of_a_nightly_run_that_waits_for_the_pool(run):
    """The scheduler fills a pool's free slots by priority: a question waits for at most one stage to end."""
    _, nightly, _ = run("client_telemetry_daily", {"day": DAY})
    most = max(task.priority_weight for task in nightly.values())
    questions = [
        ("broker_upgrade_impact", {"cluster": "west", "to": "4.0.0"}),
        ("broker_upgrade_review", {"cluster": "west"}),
        ("telemetry_subscription_check", {"cluster": "west", "action": "delete", "name": "all"}),
    ]
    for dag_id, conf in questions:
        _, tasks, _ = run(dag_id, conf)
        assert min(task.priority_weight for task in tasks.values()) > most, dag_id


def test_a_cluster_has_its_page_before_the_next_one_begins(run):
    """Later stages of one cluster weigh more than the first of another that waits for the same pool."""
    _, tasks, _ = run("client_telemetry_daily", {"day": DAY})
    chain = ("collect", "decode", "sessionize", "profile", "publish", "review")
    for cluster in (0, 1):
        weights = [tasks[f"cluster.{stage}", cluster].priority_weight for stage in chain]
        assert weights == sorted(set(weights))


def test_today_goes_before_every_day_of_a_backfill_that_waits_for_the_pool(dags):
    """The scheduler orders by weight and then by day, and a backfill's days are earlier ones."""
    from airflow.models.taskinstance import TaskInstance
    from airflow.serialization.serialized_objects import DagSerialization

    daily = DagSerialization.from_dict(DagSerialization.to_dict(dags["client_telemetry_daily"]))

    def weights(run_id):
        ids = [task.task_id for task in daily.tasks]
        made = (TaskInstance(daily.get_task(each), None, run_id=run_id) for each in ids)
        return [each.priority_weight for each in made]

    backfill, today = weights("backfill__2026-11-18T02:00:00+00:00"), weights("scheduled__2026-11-21T02:00")
    assert max(backfill) < min(today) and max(today) < 1000


@pytest.mark.parametrize(("run_type", "looks_back"), [("backfill", "0"), ("scheduled", ""), ("manual", "")])
def test_a_run_of_a_backfill_looks_at_its_own_day_only(dags, run_type, looks_back):
    from types import SimpleNamespace

    from airflow.utils.types import DagRunType
    from jinja2 import Template

    arguments = dags["client_telemetry_daily"].get_task("cluster.collect").arguments
    for option in ("late-days", "too-late-days"):
        dag_run = SimpleNamespace(run_type=DagRunType(run_type))
        assert Template(arguments[option]).render(dag_run=dag_run) == looks_back


def test_the_note_of_a_question_is_its_answer_and_waiting_ends_with_it(run, database):
    dag_run, _, _ = run("broker_upgrade_impact", {"cluster": "west", "to": "4.0.0"})
    assert _note(dag_run) == "1 of 2 breaks"
    assert _waited_for(dag_run, database)["results"]["publish"]["sentence"] == "1 of 2 breaks"


def test_waiting_for_a_refused_question_ends_with_the_reason_and_so_does_its_note(run, database):
    refused = {"exit": 2, "report": {"status": "bad_arguments", "message": "impact: nothing is known."}}
    dag_run, _, _ = run("broker_upgrade_impact", {"cluster": "west", "to": "4.0.0"}, impact=refused)
    assert _note(dag_run) == "west: impact: nothing is known."
    waited = {"state": "failed", "results": {"impact": {"failure": "west: impact: nothing is known."}}}
    assert _waited_for(dag_run, database) == waited


def test_the_note_of_a_day_has_a_line_per_cluster_failures_first_and_all_tasks_have_names(run):
    behaviour = {"exit": 3, "report": {"status": "failed_gate", "message": GATE}}
    dag_run, tasks, _ = run("client_telemetry_daily", {"day": DAY}, decode_bbb=behaviour)
    assert _note(dag_run).split("\n\n") == [DAY, f"FAILED west: {GATE}", "east: nothing to do"]
    assert tasks["cluster.profile", 1].state == "upstream_failed"
    assert tasks["cluster.profile", 1].rendered_map_index == "west"


def test_notes_leave_the_answers_about_a_team_s_cluster_to_its_pages(run, tmp_path):
    clusters = tmp_path / "clusters.yaml"
    clusters.write_text(
        clusters.read_text().replace("  - name: west\n", "  - name: west\n    team: orders\n")
    )
    dag_run, _, _ = run("broker_upgrade_impact", {"cluster": "west", "to": "4.0.0"})
    assert _note(dag_run) == "The answer is for the team orders of west: see its pages."
    behaviour = {"exit": 3, "report": {"status": "failed_gate", "message": GATE}}
    dag_run, _, _ = run("client_telemetry_daily", {"day": DAY}, decode_bbb=behaviour)
    west = "FAILED west: for the team orders, see its pages"
    assert _note(dag_run).split("\n\n") == [DAY, west, "east: nothing to do"]


def test_a_note_that_somebody_wrote_stays(run):
    from airflow.models.dagrun import DagRun, DagRunNote
    from airflow.utils.session import create_session
    from telemetry_pages.run_notes import _conclude

    ended, _, _ = run("broker_upgrade_impact", {"cluster": "west", "to": "4.0.0"})
    with create_session() as session:
        session.get(DagRun, ended.id).dag_run_note = DagRunNote("mine", user_id="7")
    with create_session() as session:
        _conclude(session.get(DagRun, ended.id))
    assert _note(ended) == "mine"


def test_the_log_of_a_failure_ends_with_its_reason(run, caplog):
    refused = {"exit": 2, "report": {"status": "bad_arguments", "message": "impact: nothing is known."}}
    run("broker_upgrade_impact", {"cluster": "west", "to": "4.0.0"}, impact=refused)
    (said,) = [
        record
        for record in caplog.records
        if record.name == "include.spark_stage" and record.levelname == "ERROR"
    ]
    assert said.getMessage() == "west: impact: nothing is known."


def test_a_question_is_handed_to_the_jobs_and_its_report_is_the_result(run):
    question = {"cluster": "west", "from": "3.9.1", "to": "4.0.0", "day": DAY, "window_days": 3}
    dag_run, tasks, (impact, publish) = run("broker_upgrade_impact", question)
    assert dag_run.state == "success"
    asked = {key: impact["options"][key] for key in ("cluster", "report-id", "from", "to", "day", "window")}
    assert asked == {
        "cluster": "bbb",
        "report-id": dag_run.run_id,
        "from": "3.9.1",
        "to": "4.0.0",
        "day": DAY,
        "window": "3",
    }
    assert publish["options"]["report-id"] == dag_run.run_id
    assert publish["options"]["cluster-name"] == "west"
    result = tasks["publish", -1].xcom_pull(task_ids="publish")
    assert result["verdicts"] == {"breaks": 1}
    assert result["report"].endswith("index.html")


def test_the_weekly_upkeep_erases_nobody(run):
    dag_run, _, (erase, maintain) = run("lake_maintenance", {})
    assert dag_run.state == "success"
    assert not erase["options"].keys() & {"cluster", "client-id", "principal"}
    assert json.loads(maintain["options"]["retention-days"]) == {}
    assert "erase" not in maintain["options"]


def test_who_is_to_be_erased_and_how_long_rows_stay_is_handed_on(run):
    asked = {"cluster": "west", "client_id": "bob", "retention_days": {"client_metrics": 30, "clients": None}}
    _, tasks, (erase, maintain) = run("lake_maintenance", asked)
    options = erase["options"]
    assert (options["cluster"], options["client-id"], "erase" in options) == ("bbb", "bob", True)
    assert options["publish"].endswith("/published")
    assert json.loads(maintain["options"]["retention-days"]) == asked["retention_days"]
    assert [ti.state for ti in tasks.values()] == ["success", "success"]


def test_how_long_rows_stay_is_in_the_clusters_file_and_a_run_changes_it_for_itself(run, tmp_path):
    keep = {"client_metrics": 400, "clients": None}
    with (tmp_path / "clusters.yaml").open("a") as file:
        file.write(f"\nretention_days: {json.dumps(keep)}\n")
    _, _, (_, weekly) = run("lake_maintenance", {})
    assert json.loads(weekly["options"]["retention-days"]) == keep
    *_, calls = run("lake_maintenance", {"retention_days": {"clients": 30}})
    by_hand = calls[-1]
    assert json.loads(by_hand["options"]["retention-days"]) == keep | {"clients": 30}


def test_what_was_not_asked_is_not_passed(run):
    _, _, (impact, _) = run("broker_upgrade_impact", {"cluster": "west", "to": "4.0.0"})
    assert not {"from", "day"} & impact["options"].keys()


def test_a_refused_question_fails_the_run_and_publishes_nothing(run):
    refusal = {
        "status": "bad_arguments",
        "message": "impact: nothing is known of 2026-11-30. Run it for that day.",
    }
    question = {"cluster": "west", "to": "4.0.0", "day": "2026-11-30"}
    dag_run, tasks, calls = run("broker_upgrade_impact", question, impact={"exit": 2, "report": refusal})
    assert dag_run.state == "failed"
    assert tasks["impact", -1].xcom_pull(task_ids="impact", key="failure") == f"west: {refusal['message']}"
    assert [call["stage"] for call in calls] == ["impact"]


@pytest.mark.parametrize("release", ["9.1.0", "1.1.1", "0.10.2.2", "msk-eu"])
def test_whether_a_release_is_known_is_said_by_the_stage(run, release):
    """The clusters file may name a package or a folder that knows more releases than this code was shipped with."""
    conf = {"cluster": "west", "from": release, "to": release}
    _, _, (impact, _) = run("broker_upgrade_impact", conf)
    assert (impact["options"]["from"], impact["options"]["to"]) == (release, release)


def test_a_release_that_is_not_exact_is_refused_before_the_run(run):
    with pytest.raises(ParamValidationError):
        run("broker_upgrade_impact", {"cluster": "west", "to": "4.0"})
