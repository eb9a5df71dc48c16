"""The project's DAGs, and an Airflow database of their own."""

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
