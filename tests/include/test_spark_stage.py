import json
from datetime import timedelta
from types import SimpleNamespace

import pytest
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk.exceptions import AirflowFailException, AirflowTaskTimeout
from structlog.testing import capture_logs

from include.spark_stage import PublishedLink, SparkStage, StageFailed, StageRefused
from tests.include.conftest import RUN_ID


def test_a_stage_returns_what_its_job_reported(run):
    report = run("collect", arguments={"day": "2026-11-21"})
    assert report["status"] == "ok"
    assert report["decode_days"] == ["2026-11-21"]


def test_the_job_gets_its_cluster_run_lake_and_where_to_report(run, calls_of_spark_submit, tmp_path):
    run("sessionize", arguments={"days": ["2026-11-20", "2026-11-21"]})
    (call,) = calls_of_spark_submit()
    assert call["spark"][2:4] == ["--master", "local[2]"]
    assert call["options"] == {
        "cluster": "-aaa",
        "cluster-name": "east",
        "run-id": RUN_ID,
        "lake": f"{tmp_path}/lake",
        "result": f"{tmp_path}/results/a_dag/{RUN_ID}/east/sessionize.json",
        "days": "2026-11-20,2026-11-21",
    }


@pytest.mark.parametrize(
    ("location", "options"),
    [
        ("raw", {"raw": "s3://dumps/east"}),
        ("owners", {"owners": "s3://dumps/owners.yaml"}),
        ("publish", {"publish": "{tmp_path}/published"}),
    ],
)
def test_a_job_gets_the_locations_that_its_task_names(
    run, calls_of_spark_submit, tmp_path, location, options
):
    run("profile", locations=[location])
    (call,) = calls_of_spark_submit()
    passed = {key: value for key, value in call["options"].items() if key in ("raw", "owners", "publish")}
    assert passed == {key: value.format(tmp_path=tmp_path) for key, value in options.items()}


def test_an_empty_list_is_passed_and_a_question_that_was_not_asked_is_not(run, calls_of_spark_submit):
    run("decode", arguments={"days": [], "from": "", "window": None})
    (call,) = calls_of_spark_submit()
    assert call["options"]["days"] == ""
    assert not {"from", "window"} & call["options"].keys()


def test_the_output_of_spark_submit_is_in_the_log(run):
    with capture_logs() as lines:
        run("decode", arguments={"days": []})
    assert "spark says: decode ends with 0" in [line["event"] for line in lines]


@pytest.mark.parametrize(
    ("exit_code", "status"), [(2, "bad_arguments"), (3, "failed_gate")], ids=["bad arguments", "failed gate"]
)
def test_a_job_that_refuses_fails_the_task_for_good_with_its_message(run, ti, exit_code, status):
    report = {"status": status, "message": "decode: the gate of client_pushes failed. Do this."}
    with pytest.raises(StageRefused) as refused:
        run("decode", {"exit": exit_code, "report": report})
    assert isinstance(refused.value, AirflowFailException)
    assert str(refused.value) == "east: decode: the gate of client_pushes failed. Do this."
    assert ti.pushed == {"failure": str(refused.value), "return_value": {"failure": str(refused.value)}}


@pytest.mark.parametrize("exit_code", [2, 3])
def test_a_job_that_refuses_before_it_can_report_fails_for_good_too(run, exit_code):
    with pytest.raises(StageRefused, match=rf"(?s)east: decode: .*exit code {exit_code}.*spark says"):
        run("decode", {"exit": exit_code, "report": None})


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        pytest.param(
            {"exit": 1, "report": {"status": "failed", "message": "decode: a worker was lost"}},
            "east: decode: a worker was lost",
            id="the job reported a failure",
        ),
        pytest.param({"exit": 137, "report": None}, "exit code 137", id="the job was killed"),
        pytest.param({"exit": 0, "report": None}, "exit code 0 and left no report", id="no report"),
        pytest.param(
            {"exit": 1, "report": '{"status": "o'}, "exit code 1", id="it died while it wrote its report"
        ),
        pytest.param(
            {"exit": 1, "report": {"status": "ok", "message": "all well"}},
            "exit code 1",
            id="it died after its report",
        ),
    ],
)
def test_a_job_that_breaks_fails_the_attempt_so_that_airflow_tries_again(run, ti, behaviour, said):
    with pytest.raises(StageFailed) as failed:
        run("decode", behaviour)
    assert not isinstance(failed.value, AirflowFailException)
    assert said in str(failed.value)
    assert ti.pushed["failure"] == str(failed.value)


def test_a_job_that_hangs_leaves_its_reason(run, ti, monkeypatch):
    def hang(self, context):
        raise AirflowTaskTimeout("Timeout")

    monkeypatch.setattr(SparkSubmitOperator, "execute", hang)
    with pytest.raises(AirflowTaskTimeout):
        run("profile", execution_timeout=timedelta(hours=1.5))
    assert ti.pushed["failure"].startswith("east: profile did not end within 1.5 hours and was stopped")


def test_the_report_of_an_earlier_attempt_is_not_taken_for_this_one(run):
    run("decode")
    with pytest.raises(StageFailed, match="left no report"):
        run("decode", {"report": None})


def test_the_source_of_a_cluster_arrives_as_json(run, clusters_file, calls_of_spark_submit, tmp_path):
    source = {"format": "request_log", "files": ["1=/logs/a"], "release": "4.0.1"}
    cluster = {"name": "east", "cluster_id": "-aaa", "raw": "/dumps/east", "source": source}
    locations = {name: f"{tmp_path}/{name}" for name in ("lake", "publish", "results")}
    clusters_file(json.dumps({**locations, "clusters": [cluster]}))
    run("decode", locations=("raw", "source", "owners"))
    (call,) = calls_of_spark_submit()
    assert json.loads(call["options"]["source"]) == source
    assert "owners" not in call["options"]


def test_an_unknown_cluster_fails_for_good_without_starting_spark(run, calls_of_spark_submit):
    with pytest.raises(AirflowFailException, match="no cluster 'west'"):
        run("decode", cluster="west")
    assert calls_of_spark_submit() == []


def test_without_a_spark_connection_nothing_is_sent_to_yarn(run, calls_of_spark_submit, monkeypatch):
    monkeypatch.delenv("AIRFLOW_CONN_SPARK_DEFAULT")
    with pytest.raises(StageRefused, match="AIRFLOW_CONN_SPARK_DEFAULT"):
        run("decode")
    assert calls_of_spark_submit() == []


def test_without_the_python_that_is_named_the_task_says_so(run, monkeypatch):
    monkeypatch.setenv("PYSPARK_DRIVER_PYTHON", "/nowhere/python")
    with pytest.raises(StageFailed, match="/nowhere/python"):
        run("decode")


def test_a_job_is_told_what_spark_submit_would_be(run, calls_of_spark_submit, monkeypatch):
    more = {"queue": "reports", "deploy-mode": "client"}
    connection = {"conn_type": "spark", "host": "spark://a", "port": 7077, "extra": more}
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(connection))
    given = {"conf": {"spark.executor.cores": "3"}, "env_vars": {"AWS_PROFILE": "reports"}}
    assert run("impact", **given)["message"] == "impact: done"
    monkeypatch.setattr(SparkStage, "_get_hook", SparkSubmitOperator._get_hook)
    assert run("impact", **given)["message"] == "impact: done"
    itself, submitted = calls_of_spark_submit()
    bars = ["--conf", "spark.ui.showConsoleProgress=false"]
    assert itself["spark"] == [*bars, *submitted["spark"], "pyspark-shell"]
    assert {"spark://a:7077", "reports", "spark.executor.cores=3"} <= set(itself["spark"])
    assert itself["environment"]["AWS_PROFILE"] == submitted["environment"]["AWS_PROFILE"] == "reports"


def test_with_a_warm_process_the_job_is_a_fork_of_it(monkeypatch):
    connection = {"conn_type": "spark", "host": "local[2]"}
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(connection))
    monkeypatch.setenv("WARM_JOBS", "/run/socket")
    hook = SparkStage(task_id="impact", cluster="east")._get_hook()
    _, warm, *command = hook._build_spark_submit_command("run_stage.py")
    assert warm.endswith("/spark/warm_jobs.py")
    assert command == ["run", "/run/socket", "run_stage.py"]


def test_a_task_links_to_what_its_run_published():
    key = SimpleNamespace(dag_id="a_dag", run_id=RUN_ID, task_id="cluster.publish", map_index=2)
    run = "manual__2026-11-22T02%3A00%3A00%2B00%3A00"
    for page, address in (
        ("answered", f"/client-telemetry/answered/{run}"),
        ("runs", f"/client-telemetry/runs/a_dag/{run}?task=cluster.publish&map_index=2"),
        (None, ""),
    ):
        operator = SparkStage(task_id="publish", cluster="east", page=page)
        assert PublishedLink().get_link(operator, ti_key=key) == address
