"""A REST catalog that vends the credentials of the store: nobody else has them, and stages, workers and Spark need no others."""

import ast
import os
import pickle
import subprocess
import sys

import pytest
from client_telemetry.formats.raw.file_system import file_system, forget_file_systems
from client_telemetry.lake.lake import Lake
from client_telemetry.tables.brokers import BROKERS

from tests.client_telemetry.lake.conftest import DAY, check_consistent, created, left_over, row, staged

from .servers import CHECKOUT, REST_JARS, rest_catalog, s3, s3_server

WAREHOUSE = "s3://lake/warehouse"
KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
WORKER = """
import pickle, sys
from client_telemetry.lake.writer import write_rows
from client_telemetry.tables.brokers import BROKERS

place, files, rows = pickle.load(sys.stdin.buffer)
read = [r for file in files for group in file.row_groups(BROKERS.arrow_schema, False) for r in group.to_pylist()]
print(len(read), *write_rows(BROKERS, place, rows))
"""
IN_SPARK = """
import datetime as dt, sys
from client_telemetry.lake.lake import Lake
from client_telemetry.lake.maintenance import maintain, retention
from client_telemetry.pipeline.stage import spark_session
from client_telemetry.tables.brokers import BROKERS
from pyspark.sql import functions as F
from tests.client_telemetry.lake.conftest import DAY

lake = Lake(spark_session("vended", sys.argv[1]), sys.argv[1])
branch = lake.branch("of Spark", "c", "collect")
branch.replace(BROKERS, lake.read(BROKERS).withColumn("cluster_id", F.lit("c")), cluster_id="c", dt=[DAY])
print(branch.read(BROKERS).count())
branch.publish("c", "of Spark", "collect", [DAY])
later = dt.datetime.now(dt.UTC) + dt.timedelta(days=4)
print({done.table: done.snapshots_after for done in maintain(lake, later, retention({}))})
"""
"""Reads, writes a branch, and all of maintenance, with a JVM's own FileIO."""


@pytest.fixture
def lake(tmp_path, monkeypatch) -> Lake:
    if s3_server() is None or not REST_JARS.exists():
        pytest.skip("no S3 server or no jars of the REST catalog: make e2e gets them")
    with s3(tmp_path, ("lake",)) as store:
        for name, value in store.items():
            monkeypatch.setenv(name, value)
        vended = {
            "CATALOG_INCLUDE__CREDENTIALS": "true",
            "CATALOG_S3_ACCESS__KEY__ID": store["AWS_ACCESS_KEY_ID"],
            "CATALOG_S3_SECRET__ACCESS__KEY": store["AWS_SECRET_ACCESS_KEY"],
        }
        with rest_catalog(tmp_path / "rest", WAREHOUSE, **vended) as environment:
            for name, value in environment.items():
                monkeypatch.setenv(name, value)
            monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__WAREHOUSE", WAREHOUSE)
            for name in KEYS:
                monkeypatch.delenv(name)
            monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "no_such_file"))
            yield created(WAREHOUSE)
            forget_file_systems()


def test_stages_and_workers_have_no_other_credentials(lake):
    staged(lake, "a").publish("a", "run", "collect", [DAY])
    sent = pickle.dumps((lake.place(BROKERS), lake.files(BROKERS), [row(BROKERS, "b")]))
    worker = subprocess.run(
        [sys.executable, "-c", WORKER], input=sent, cwd=CHECKOUT, capture_output=True, check=False
    )
    assert worker.returncode == 0, worker.stderr.decode()[-3000:]
    read, url = worker.stdout.decode().split()
    assert int(read) == 1

    branch = lake.branch("of the worker", "b", "collect")
    branch.replace_files(BROKERS, [url], cluster_id="b", dt=[DAY])
    branch.publish("b", "of the worker", "collect", [DAY])
    assert sorted(each["cluster_id"] for each in lake.rows(BROKERS)) == ["a", "b"]
    assert left_over(lake) == {}
    check_consistent(lake)

    _check_that_nobody_else_may_read(url)


def test_spark_has_no_other_credentials(lake):
    staged(lake, "a").publish("a", "run", "collect", [DAY])
    spark = subprocess.run(
        [sys.executable, "-c", IN_SPARK, WAREHOUSE],
        cwd=CHECKOUT,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert spark.returncode == 0, spark.stderr[-3000:]
    counted, snapshots = spark.stdout.splitlines()[-2:]
    assert counted == "1"
    assert set(ast.literal_eval(snapshots).values()) == {1}
    assert sorted(each["cluster_id"] for each in lake.rows(BROKERS)) == ["a", "c"]
    _check_that_nobody_else_may_read(lake.files(BROKERS)[0].url)


def _check_that_nobody_else_may_read(url: str) -> None:
    files, path = file_system(url)
    with pytest.raises(OSError, match=r"ACCESS_DENIED|403"):
        files.open_input_file(path).read()
