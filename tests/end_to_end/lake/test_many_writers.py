"""Eight clusters at once on real catalogs: no run fails, none does its work twice, nothing is left over."""

import datetime as dt
import os
import subprocess
import sys
from pathlib import Path

import pytest
from client_telemetry.tables.publications import PUBLICATIONS

from tests.client_telemetry.lake.conftest import DAY, WRITTEN, check_consistent, created, left_over

from .conftest import POSTGRES_IN_SHORT

CHECKOUT = Path(__file__).parents[3]
CLUSTERS, DAYS = 8, 5

WRITERS = """
import datetime as dt, multiprocessing as mp, sys
from client_telemetry.lake.lake import Lake
from tests.client_telemetry.lake.conftest import DAY, staged

def write(location, cluster, days):
    lake = Lake(None, location)
    for n in range(days):
        day = DAY + dt.timedelta(days=n)
        lake.published()
        branch = staged(lake, cluster, f"run{n}", day)  # the work of the stage: once
        branch.publish(cluster, f"run{n}", "collect", [day])

location, clusters, days = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
writers = [mp.get_context("fork").Process(target=write, args=(location, f"cluster{n}", days)) for n in range(clusters)]
[writer.start() for writer in writers]
[writer.join() for writer in writers]
print([writer.exitcode for writer in writers])
"""
"""One process for each cluster. A run that failed, or lost its partitions to another, ends its process with an error."""


@pytest.mark.parametrize("catalog", POSTGRES_IN_SHORT, indirect=True)
def test_eight_clusters_at_once(catalog, warehouse):
    location = warehouse
    lake = created(location)
    done = subprocess.run(
        [sys.executable, "-c", WRITERS, location, str(CLUSTERS), str(DAYS)],
        cwd=CHECKOUT,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == str([0] * CLUSTERS), done.stderr[-3000:]
    days = [DAY + dt.timedelta(days=n) for n in range(DAYS)]
    for table in WRITTEN:
        found = sorted((row["cluster_id"], row["dt"]) for row in lake.rows(table))
        assert found == [(f"cluster{n}", day) for n in range(CLUSTERS) for day in days]
    assert len(lake.rows(PUBLICATIONS)) == CLUSTERS * DAYS
    assert left_over(lake) == {}
    check_consistent(lake)
