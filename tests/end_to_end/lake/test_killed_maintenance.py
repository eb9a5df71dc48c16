"""kill -9 of maintenance, after each of its commits and while it deletes files: nothing that readers see is lost, stages go on, and the
next maintenance ends what was begun."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import pytest
from client_telemetry.lake.lake import Lake
from client_telemetry.tables.brokers import BROKERS

from tests.client_telemetry.lake.conftest import DAY, WRITTEN, created, left_over, staged

from .servers import CHECKOUT

MAINTAIN = """
import datetime as dt, sys
from client_telemetry.lake.lake import Lake
from client_telemetry.lake.maintenance import RETENTION_DAYS, maintain
from client_telemetry.pipeline.stage import spark_session

lake = Lake(spark_session("maintenance", sys.argv[1]), sys.argv[1])
maintain(lake, dt.datetime.now(dt.UTC) + dt.timedelta(days=4), dict.fromkeys(RETENTION_DAYS))
"""
"""Four days later, so that all snapshots are old; rows stay."""
RUNS = 3


@contextmanager
def maintenance(lake: Lake) -> Iterator[subprocess.Popen]:
    """In processes of its own, which are killed in the end if they are still there: Python's and Java's."""
    process = subprocess.Popen(
        [sys.executable, "-c", MAINTAIN, lake.location],
        cwd=CHECKOUT,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def killed_when(lake: Lake, reached: Callable[[], bool]) -> bool:
    """Kill a maintenance when something is so. False: it came to its end before."""
    with maintenance(lake) as process:
        while process.poll() is None:
            if reached():
                return True
            time.sleep(0.001)
    assert process.returncode == 0
    return False


def killed_after_commit(lake: Lake, number: int) -> bool:
    """Kill a maintenance when it has made its commit `number` to a table."""
    seen = {lake.table(BROKERS).metadata_location}

    def committed() -> bool:
        seen.add(lake.table(BROKERS).metadata_location)
        return len(seen) > number

    return killed_when(lake, committed)


def killed_at_first_deletion(lake: Lake) -> bool:
    """Kill a maintenance when a data file has gone."""
    folder = Path(lake.table(BROKERS).location().removeprefix("file://")) / "data"
    before = list(folder.rglob("*.parquet"))
    return killed_when(lake, lambda: not all(file.exists() for file in before))


def fill(lake: Lake, clusters: list[str]) -> None:
    """Several files in each partition, in snapshots of their own."""
    for cluster in clusters:
        for run in range(RUNS):
            staged(lake, cluster, f"run {run}", brokers=2).publish(cluster, f"run {run}", "collect", [DAY])
    lake.append(BROKERS, [{"cluster_id": clusters[0], "dt": DAY, "broker_id": 9, "broker_incarnation": "9"}])


def rows_of(lake: Lake) -> dict[str, list[str]]:
    return {table.name: sorted(map(repr, lake.rows(table))) for table in WRITTEN}


@pytest.mark.long
def test_maintenance_that_is_killed_loses_nothing(tmp_path):
    lake = created(str(tmp_path))
    moments = [partial(killed_after_commit, lake, number) for number in (1, 2, 3)]
    for number, killed in enumerate([*moments, partial(killed_at_first_deletion, lake)]):
        fill(lake, [f"a{number}", f"b{number}"])
        before = rows_of(lake)
        assert killed()
        assert rows_of(lake) == before
    staged(lake, "c").publish("c", "run", "collect", [DAY])
    before = rows_of(lake)
    assert not killed_when(lake, lambda: False)
    assert rows_of(lake) == before
    for iceberg in lake.tables().values():
        assert len(iceberg.metadata.snapshots) == 1
    assert left_over(lake) == {}
    staged(lake, "d").publish("d", "run", "collect", [DAY])
    assert sorted({row["cluster_id"] for row in lake.rows(BROKERS)}) == [
        *(f"{name}{number}" for name in "ab" for number in range(4)),
        "c",
        "d",
    ]
