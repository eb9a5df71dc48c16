"""What include/airflow_internals.py and standalone.py work around is still missing in Airflow and its Spark provider, and what they
use is still there."""

import inspect
import json

import pytest
from airflow.configuration import conf
from airflow.models.taskinstance import TaskInstance
from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk.exceptions import AirflowException
from airflow.utils.serve_logs import serve_logs

from include.airflow_internals import PythonHook, PythonOperator

NEEDLESS = "Airflow offers this now: use it, and remove the part of airflow_internals.py"


@pytest.fixture
def local(monkeypatch) -> None:
    connection = {"conn_type": "spark", "host": "local[2]"}
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(connection))


def test_the_provider_starts_every_program_with_the_options_of_spark_submit(local):
    """Python would take `--master` for an option of its own."""
    hook = SparkSubmitHook(conn_id="spark_default", spark_binary="python", application_args=["impact"])
    command = hook._build_spark_submit_command("run_stage.py")
    assert command[:2] == ["python", "--master"], NEEDLESS
    for kind in (SparkSubmitHook, SparkSubmitOperator):
        assert not {"launcher", "python", "hook_class"} & inspect.signature(kind).parameters.keys(), NEEDLESS


def test_a_hook_keeps_the_exit_code_for_itself_and_leaves_the_output_open(local, monkeypatch, tmp_path):
    program = tmp_path / "spark-submit"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    hook = SparkSubmitHook(conn_id="spark_default", spark_binary=str(program))
    with pytest.raises(AirflowException) as failed:
        hook.submit("run_stage.py")
    public = {name for name in {*vars(hook), *vars(failed.value)} if not name.startswith("_")}
    assert not {name for name in public if "code" in name or "process" in name}, NEEDLESS
    process = hook._submit_sp
    assert process.returncode == 3
    assert not process.stdout.closed, NEEDLESS
    process.stdout.close()


def test_an_operator_tells_its_connection_to_itself_only():
    operator = SparkSubmitOperator(task_id="impact", conn_id="spark_default")
    assert operator._conn_id == "spark_default"
    assert not hasattr(operator, "conn_id"), NEEDLESS


def test_a_mapped_task_that_has_not_begun_cannot_be_named():
    named = TaskInstance.__mapper__.all_orm_descriptors["rendered_map_index"]
    assert named.fset is None, NEEDLESS
    assert "_rendered_map_index" in TaskInstance.__mapper__.attrs


def test_log_servers_listen_on_every_interface():
    assert list(inspect.signature(serve_logs).parameters) == ["port"], "include/standalone.py is needless"
    options = conf.getsection("logging") or {}
    assert not [name for name in options if "log_server" in name and "host" in name]


@pytest.mark.parametrize("deploy_mode", ["client", "cluster"])
def test_python_starts_what_runs_here_and_spark_submit_what_runs_in_the_cluster(monkeypatch, deploy_mode):
    connection = {"conn_type": "spark", "host": "spark://a", "extra": {"deploy-mode": deploy_mode}}
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(connection))
    monkeypatch.setenv("PYSPARK_DRIVER_PYTHON", "/a/python")
    operator = PythonOperator(task_id="impact", application="run_stage.py", application_args=["impact"])
    hook = operator._get_hook()
    assert type(hook) is PythonHook and operator.exit_code() is None
    command = hook._build_spark_submit_command("run_stage.py")
    assert command[-2:] == ["run_stage.py", "impact"]
    assert command[0] == {"client": "/a/python", "cluster": "spark-submit"}[deploy_mode]
