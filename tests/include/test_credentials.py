"""Credentials in Airflow connections: which variables a job and the pages get."""

import ast
import json
import os
import subprocess

import pytest

from include import credentials
from include.clusters import CHECKOUT

KEYS = {"conn_type": "aws", "login": "AKIA1", "password": "secret/1"}


@pytest.fixture
def connection(monkeypatch):
    """Defines a connection, as AIRFLOW_CONN_… does."""

    def define(conn_id: str, **fields: object) -> None:
        monkeypatch.setenv(f"AIRFLOW_CONN_{conn_id.upper()}", json.dumps(fields))

    for conn_id in (credentials.STORE, credentials.CATALOG):
        monkeypatch.delenv(f"AIRFLOW_CONN_{conn_id.upper()}", raising=False)
    return define


def test_without_connections_the_environment_stays(connection):
    assert credentials.from_connections() == {}


@pytest.mark.parametrize(
    ("fields", "variables"),
    [
        (KEYS, {"AWS_ACCESS_KEY_ID": "AKIA1", "AWS_SECRET_ACCESS_KEY": "secret/1"}),
        (
            {"conn_type": "aws", "extra": {"aws_access_key_id": "AKIA2", "aws_secret_access_key": "s"}},
            {"AWS_ACCESS_KEY_ID": "AKIA2", "AWS_SECRET_ACCESS_KEY": "s"},
        ),
        (
            {
                "conn_type": "aws",
                "extra": {
                    "region_name": "eu-west-1",
                    "endpoint_url": "https://s3.example",
                    "aws_session_token": "t",
                },
            },
            {"AWS_REGION": "eu-west-1", "AWS_ENDPOINT_URL": "https://s3.example", "AWS_SESSION_TOKEN": "t"},
        ),
    ],
)
def test_variables_of_the_store(connection, fields, variables):
    connection(credentials.STORE, **fields)
    assert credentials.from_connections() == variables


@pytest.mark.parametrize(
    ("catalog", "fields", "variables"),
    [
        (None, {"conn_type": "postgres", "login": "lake", "password": "p"}, {"PGPASSWORD": "p"}),
        ("sql", {"conn_type": "generic", "password": "p"}, {"PGPASSWORD": "p"}),
        (
            "rest",
            {"conn_type": "generic", "login": "id", "password": "s"},
            {"PYICEBERG_CATALOG__LAKE__CREDENTIAL": "id:s"},
        ),
        ("rest", {"conn_type": "generic", "password": "token"}, {"PYICEBERG_CATALOG__LAKE__TOKEN": "token"}),
    ],
)
def test_variables_of_the_catalog(connection, monkeypatch, catalog, fields, variables):
    monkeypatch.delenv("PYICEBERG_CATALOG__LAKE__TYPE", raising=False)
    if catalog:
        monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__TYPE", catalog)
    connection(credentials.CATALOG, **fields)
    assert credentials.from_connections() == variables


@pytest.mark.parametrize(
    ("conn_id", "fields", "says"),
    [
        (
            credentials.STORE,
            KEYS | {"extra": {"role_arn": "arn:aws:iam::1:role/x"}},
            "'role_arn', which stages",
        ),
        (credentials.CATALOG, {"conn_type": "postgres", "login": "lake"}, "has no password"),
    ],
)
def test_a_connection_that_cannot_be_used_is_refused(connection, conn_id, fields, says):
    connection(conn_id, **fields)
    with pytest.raises(credentials.UnusableConnection, match=says):
        credentials.from_connections()


def test_a_job_gets_them_in_its_environment_and_not_in_its_arguments(
    connection, run, calls_of_spark_submit, monkeypatch
):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "of the environment")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY", raising=False)
    connection(credentials.STORE, **KEYS)
    connection(credentials.CATALOG, conn_type="postgres", login="lake", password="of-the-catalog")
    run("collect", arguments={"day": "2026-11-21"})
    (call,) = calls_of_spark_submit()
    environment = call.pop("environment")
    assert environment["AWS_ACCESS_KEY_ID"] == "AKIA1"
    assert environment["AWS_SECRET_ACCESS_KEY"] == "secret/1"
    assert environment["PGPASSWORD"] == "of-the-catalog"
    assert "secret/1" not in json.dumps(call) and "of-the-catalog" not in json.dumps(call)
    assert os.environ["AWS_ACCESS_KEY_ID"] == "of the environment"
    assert "AWS_SECRET_ACCESS_KEY" not in os.environ


def test_a_stage_is_not_submitted_with_a_connection_that_cannot_be_used(
    connection, run, calls_of_spark_submit
):
    connection(credentials.STORE, **KEYS, extra={"profile_name": "x"})
    with pytest.raises(credentials.UnusableConnection, match="profile_name"):
        run("collect", arguments={"day": "2026-11-21"})
    assert not calls_of_spark_submit()


def test_the_documented_commands_make_connections_that_can_be_used(tmp_path):
    """In a database of their own, read as the API server reads them."""
    recipe = (CHECKOUT / "docs" / "storage.md").read_text().split("### Credentials in Airflow connections")[1]
    commands = (
        recipe.split("```")[1]
        .replace("AKIA...", "AKIA1")
        .replace("--conn-password ...", "--conn-password secret/1")
    )
    shown = "from include import credentials; print(credentials.from_connections())"
    log = tmp_path / "log"
    script = (
        f"airflow db migrate >{log} 2>&1 && ({commands}) >{log} 2>&1 && "
        f"_AIRFLOW_PROCESS_CONTEXT=server python -c '{shown}' 2>{log}"
    )
    environment = {**os.environ, "AIRFLOW_HOME": str(tmp_path), "PYICEBERG_CATALOG__LAKE__TYPE": "sql"}
    for conn_id in (credentials.STORE, credentials.CATALOG):
        environment.pop(f"AIRFLOW_CONN_{conn_id.upper()}", None)
    run = [CHECKOUT / "include" / "airflow.sh", "bash", "-c", script]
    done = subprocess.run(run, cwd=CHECKOUT, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0, log.read_text()[-2000:]
    assert ast.literal_eval(done.stdout.splitlines()[-1]) == {
        "AWS_ACCESS_KEY_ID": "AKIA1",
        "AWS_SECRET_ACCESS_KEY": "secret/1",
        "AWS_REGION": "eu-central-1",
        "AWS_ENDPOINT_URL": "https://minio.example.com",
        "PGPASSWORD": "secret/1",
    }
