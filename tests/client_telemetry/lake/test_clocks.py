"""A clock that was wrong while a stage committed, and is set right: the tables stay readable for Iceberg's Java classes, which take no
history that goes back in time, and upkeep removes nothing that is in use."""

import contextlib
import datetime as dt
import time
from collections.abc import Iterator

import pytest
from client_telemetry.lake.lake import Lake
from client_telemetry.lake.maintenance import maintain, retention
from client_telemetry.tables.brokers import BROKERS
from pyiceberg.table import update
from pyspark.sql import functions as F  # noqa: N812

from .conftest import DAY, WRITTEN, check_consistent, created, in_spark, left_over, staged


@contextlib.contextmanager
def clock(off: dt.timedelta) -> Iterator[None]:
    """That of pyiceberg, which dates snapshots and the table's changes."""

    class Wrong(dt.datetime):
        @classmethod
        def now(cls, tz=None):
            return dt.datetime.now(tz) + off

    with pytest.MonkeyPatch.context() as wrong:
        wrong.setattr(time, "time", lambda now=time.time: now() + off.total_seconds())
        wrong.setattr(update, "datetime", Wrong)
        yield


@pytest.mark.parametrize("off", [dt.timedelta(hours=1), dt.timedelta(days=-1)])
def test_a_clock_that_was_wrong_for_a_while(spark, tmp_path, off):
    created(str(tmp_path))
    lake = Lake(in_spark(spark, str(tmp_path)), str(tmp_path))
    staged(lake, "before").publish("before", "run", "collect", [DAY])
    with clock(off):
        staged(lake, "wrong").publish("wrong", "run", "collect", [DAY])
        running = staged(lake, "running")
    assert maintain(lake, dt.datetime.now(dt.UTC), retention({}))[0].branches_removed == []
    assert set(left_over(lake)) == {table.name for table in WRITTEN}
    running.publish("running", "run", "collect", [DAY])

    branch = lake.branch("of Spark", "after", "collect")
    rows = lake.read(BROKERS).where("cluster_id = 'wrong'").withColumn("cluster_id", F.lit("after"))
    branch.replace(BROKERS, rows, cluster_id="after", dt=[DAY])
    branch.publish("after", "of Spark", "collect", [DAY])
    found = sorted(row["cluster_id"] for row in lake.read(BROKERS).collect())
    assert found == ["after", "before", "running", "wrong"]
    check_consistent(lake)
