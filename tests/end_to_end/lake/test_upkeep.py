"""Maintenance and erasure as an operator runs them, on real catalogs with tables in an object store, while stages write."""

import datetime as dt
import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from client_telemetry.formats.raw.file_system import forget_file_systems
from client_telemetry.lake.commits import ConcurrentCommit
from client_telemetry.lake.files import all_of, partition_of, planned
from client_telemetry.lake.lake import Lake
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.publications import PUBLICATIONS
from client_telemetry.tables.quality_results import QUALITY_RESULTS

from tests.client_telemetry.lake.conftest import left_over

from .servers import CHECKOUT, s3, s3_server

WAREHOUSE = "s3://lake/warehouse"
TODAY = dt.datetime.now(dt.UTC).date()
PAUSE, PAUSE_OF_CLUSTER = 0.5, 5.0
"""Seconds between two stages that publish; what an erasure deletes is in conflict with each of its cluster."""
DAYS = [TODAY - dt.timedelta(days=age) for age in (1, 2, 200)]


@pytest.fixture
def store(tmp_path, monkeypatch) -> Iterator[Path]:
    """The folder below the S3 server, whose objects are files in it."""
    program = s3_server()
    if program is None or program.name != "versitygw":
        pytest.skip("needs versitygw: make e2e installs it where there is Go")
    with s3(tmp_path, ("lake", "published")) as environment:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("SPARK_CONF_DIR", str(without_codegen(tmp_path / "settings")))
        yield tmp_path / "s3"
        forget_file_systems()


def without_codegen(folder: Path) -> Path:
    """The settings of one machine, and those of the tests' own session: compiling a query costs more than running it on a few rows."""
    shutil.copytree(os.environ["SPARK_CONF_DIR"], folder, ignore=shutil.ignore_patterns("*.jsa", "*.log"))
    with (folder / "spark-defaults.conf").open("a") as settings:
        settings.write("\nspark.sql.codegen.wholeStage false\nspark.sql.codegen.factoryMode NO_CODEGEN\n")
    return folder


@pytest.fixture
def warehouse(store) -> str:
    return WAREHOUSE


def publish(lake: Lake, run: str, day: dt.date, clients: list[str]) -> None:
    rows = [
        {"cluster_id": "c", "dt": day, "client_id": client, "sequence": n} for n, client in enumerate(clients)
    ]
    while True:
        branch = lake.branch(run, "c", "decode")
        branch.replace_rows(CLIENT_PUSHES, rows, cluster_id="c", dt=[day])
        try:
            branch.publish("c", run, "decode", [day])
            return
        except ConcurrentCommit:  # a client was erased meanwhile: a stage begins again
            branch.drop()


LATER = """
import datetime as dt, sys
from client_telemetry.lake.lake import Lake
from client_telemetry.lake.maintenance import maintain, retention
from client_telemetry.pipeline.stage import spark_session

lake = Lake(spark_session("later", sys.argv[1]), sys.argv[1])
maintain(lake, dt.datetime.now(dt.UTC) + dt.timedelta(days=4), retention({}))
"""
"""Maintenance by another clock."""


def rows_of(lake: Lake) -> dict[str, list[str]]:
    return {name: sorted(map(repr, lake.rows(lake.known(name)))) for name in lake.tables()}


def start(*arguments: str) -> subprocess.Popen:
    command = [
        "spark-submit",
        str(CHECKOUT / "spark" / "run_stage.py"),
        "lake_maintenance",
        "--lake",
        WAREHOUSE,
    ]
    return subprocess.Popen([*command, *arguments], cwd=CHECKOUT, env=os.environ, stderr=subprocess.STDOUT)


@pytest.mark.long
def test_maintenance_twice_at_once_and_erasure_while_stages_publish(store, catalog, tmp_path):
    lake = Lake(None, WAREHOUSE)
    lake.create([CLIENT_PUSHES, QUALITY_RESULTS, PUBLICATIONS])
    for day in DAYS:
        publish(lake, f"of {day}", day, ["ann", "bob"])
    orphan = (
        Path(str(store / lake.table(CLIENT_PUSHES).location().removeprefix("s3://")))
        / "data"
        / "orphan.parquet"
    )
    orphan.write_bytes(b"of a worker that died")
    os.utime(orphan, (1, 1))
    results = [tmp_path / "first.json", tmp_path / "second.json"]
    running = [start("--result", str(result)) for result in results]
    published = 0
    while any(process.poll() is None for process in running):
        publish(lake, f"again {published}", TODAY, ["ann", "bob", "cid"])
        published += 1
        time.sleep(PAUSE)
    assert [process.returncode for process in running] == [0, 0]
    assert published > 0
    assert sum(json.loads(result.read_text())["counts"]["rows_removed"] for result in results) == 2
    assert sorted({row["dt"] for row in lake.rows(CLIENT_PUSHES)}) == sorted([*DAYS[:2], TODAY])

    erasing = start("--erase", "--cluster", "c", "--client-id", "bob", "--result", str(results[0]))
    while erasing.poll() is None:
        publish(lake, f"other {published}", TODAY - dt.timedelta(days=3), ["ann"])
        published += 1
        time.sleep(PAUSE_OF_CLUSTER)
    assert erasing.returncode == 0
    assert {row["client_id"] for row in lake.rows(CLIENT_PUSHES)} == {"ann", "cid"}
    assert left_over(lake) == {}
    assert len(lake.rows(PUBLICATIONS)) == published + len(DAYS)
    files = store / lake.table(CLIENT_PUSHES).location().removeprefix("s3://") / "data"
    held = {
        str(file): pq.ParquetFile(file).read()["client_id"].to_pylist()
        for file in files.rglob("*.parquet")
        if file != orphan
    }
    assert held and not [file for file, clients in held.items() if "bob" in clients]

    # Four days later: by the clock that maintenance is given, and by that of the store, which says how old an orphan is.
    written = time.time() - dt.timedelta(days=4).total_seconds()
    for file in store.rglob("*"):
        os.utime(file, (written, written))
    before = rows_of(lake)
    done = subprocess.run(
        [sys.executable, "-c", LATER, WAREHOUSE],
        cwd=CHECKOUT,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        check=False,
    )
    assert done.returncode == 0
    # What the first two runs left to the next one, because others committed all the time, is done too.
    assert not orphan.exists()
    assert rows_of(lake) == before
    for name, iceberg in lake.tables().items():
        assert len(iceberg.metadata.snapshots) == 1
        table = lake.known(name)
        partitions = Counter(
            tuple(partition_of(iceberg, table, plan.file).items())
            for plan in planned(iceberg, None, all_of({}))
        )
        assert set(partitions.values()) <= {1}
        folder = store / iceberg.location().removeprefix("s3://")
        lists = list((folder / "metadata").glob("snap-*.avro"))
        assert len(lists) == 1
