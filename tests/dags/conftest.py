"""The project's DAGs, and an Airflow database of their own."""

from pathlib import Path

import pytest

from tests.airflow_settings import AT_THE_START, CHECKOUT


@pytest.fixture
def dags():
    """DAG id -> DAG, from the real folder, parsed anew because a run leaves its params in the DAG object."""
    from airflow.dag_processing.dagbag import DagBag

    bag = DagBag(dag_folder=str(CHECKOUT / "dags"))
    assert bag.import_errors == {}
    return bag.dags


@pytest.fixture(scope="session")
def database():
    """Airflow's metadata database, as an empty SQLite file of this process of tests."""
    from airflow import settings
    from airflow.utils.db import initdb

    assert AT_THE_START["AIRFLOW_HOME"] in settings.SQL_ALCHEMY_CONN, (
        "Airflow was imported before its settings were made"
    )

    initdb()


@pytest.fixture
def environment(database, tmp_path: Path) -> dict[str, str]:
    """Of a command in a process of its own: with places of its own, and with jobs that end as FAKE_SPARK_SUBMIT says where no
    warm process runs them."""
    (tmp_path / "calls.jsonl").touch()
    clusters = (CHECKOUT / "include" / "clusters.yaml").read_text(encoding="utf-8")
    (tmp_path / "clusters.yaml").write_text(clusters.replace(": var/", f": {tmp_path}/"), encoding="utf-8")
    return {
        **AT_THE_START,
        "PYSPARK_DRIVER_PYTHON": str(CHECKOUT / "tests/include/fake_bin/spark-submit"),
        "FAKE_SPARK_SUBMIT_CALLS": str(tmp_path / "calls.jsonl"),
        "CLIENT_TELEMETRY_CLUSTERS": str(tmp_path / "clusters.yaml"),
    }
