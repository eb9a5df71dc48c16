"""Airflow for the tests of DAGs: the settings of include/airflow.sh with a home and a database of its own."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]

# Airflow reads its settings when it is first imported. Whichever of the two conftest files comes first sets them.
if "airflow" not in sys.modules:
    home = tempfile.mkdtemp(prefix="client_telemetry_airflow_")
    shown = subprocess.run(
        [CHECKOUT / "include" / "airflow.sh", "env", "-0"],
        env={**os.environ, "AIRFLOW_HOME": home},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    ).stdout
    os.environ.update(line.split("=", 1) for line in shown.split("\0") if line)


@pytest.fixture
def dags():
    """DAG id -> DAG, from the real folder, parsed anew because a run leaves its params in the DAG object."""
    from airflow.dag_processing.dagbag import DagBag

    bag = DagBag(dag_folder=str(CHECKOUT / "dags"))
    assert bag.import_errors == {}
    return bag.dags


@pytest.fixture(scope="session")
def database():
    """Airflow's metadata database, as an empty SQLite file."""
    from airflow.utils.db import initdb

    initdb()
