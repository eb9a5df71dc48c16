"""What every DAG of this project must have, and what none may do."""

import ast
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

DAG_FOLDER = Path(__file__).parents[2] / "dags"
DAG_FILES = sorted(DAG_FOLDER.glob("*.py"))
HEAVY = ("pyspark", "great_expectations", "pandas", "pyarrow", "pyiceberg", "client_telemetry")


def test_the_inventory_of_dags(dags):
    assert sorted(dags) == [
        "artefact_inventory",
        "broker_upgrade_impact",
        "broker_upgrade_review",
        "client_telemetry_daily",
        "client_telemetry_notices",
        "lake_maintenance",
        "telemetry_subscription_check",
        "upgrade_campaign",
    ]


def test_one_file_is_one_dag_of_the_same_name(dags):
    assert {Path(dag.fileloc).stem: dag_id for dag_id, dag in dags.items()} == {
        dag_id: dag_id for dag_id in dags
    }


def test_every_dag_has_docs_for_its_operator_and_tags(dags):
    for dag in dags.values():
        assert "When it fails" in dag.doc_md, dag.dag_id
        assert "client telemetry" in dag.tags, dag.dag_id


def test_every_param_says_what_it_is(dags):
    for dag in dags.values():
        for name in dag.params:
            assert dag.params.get_param(name).description, f"{dag.dag_id}: {name}"


def test_every_task_has_an_owner_and_bounded_retries_with_a_pause(dags):
    for dag in dags.values():
        for task in dag.tasks:
            assert task.owner == "kafka-platform", task.task_id
            assert 1 <= task.retries <= 3, task.task_id
            assert task.retry_delay >= timedelta(minutes=1), task.task_id


def test_no_task_and_no_run_hangs_for_ever(dags):
    for dag in dags.values():
        assert dag.dagrun_timeout and dag.dagrun_timeout < timedelta(days=1), dag.dag_id
        for task in dag.tasks:
            assert task.execution_timeout and task.execution_timeout < dag.dagrun_timeout, task.task_id


def test_tasks_that_write_tables_share_the_pool_of_one_slot(dags):
    for dag in dags.values():
        stages = [task for task in dag.tasks if task.operator_name == "SparkStage"]
        if dag.dag_id == "client_telemetry_notices":  # reads published files, and writes no table
            assert not stages
            continue
        assert stages, dag.dag_id
        assert {task.pool for task in stages} == {"lake_writer"}


@pytest.mark.parametrize("file", DAG_FILES, ids=lambda file: file.stem)
def test_a_dag_file_is_parameters_and_wiring(file):
    assert len(file.read_text(encoding="utf-8").splitlines()) <= 60


@pytest.mark.parametrize("file", DAG_FILES, ids=lambda file: file.stem)
def test_no_dag_file_reads_variables_connections_or_files_while_it_is_parsed(file):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    imported = {
        name.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for name in node.names
    }
    assert not {"Variable", "Connection", "open", "Path", "os"} & (names | imported)


def test_parsing_the_dags_imports_nothing_heavy_and_needs_no_clusters_file():
    program = "\n".join(
        [
            "import os, runpy, sys",
            "os.environ['CLIENT_TELEMETRY_CLUSTERS'] = '/nowhere/clusters.yaml'",
            f"for file in {[str(file) for file in DAG_FILES]}: runpy.run_path(file)",
            f"print([name for name in {HEAVY} if name in sys.modules])",
        ]
    )
    printed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    assert printed.splitlines()[-1] == "[]"
