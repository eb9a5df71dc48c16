"""Reading tables without Spark."""

import datetime as dt
import logging
from dataclasses import replace

from client_telemetry.lake.lake import Lake
from client_telemetry.tables.broker_hours import BROKER_HOURS

ROW = {
    "cluster_id": "c",
    "dt": dt.date(2026, 11, 21),
    "broker_id": 1,
    "hour": 5,
    "completeness": ["complete"],
}


def test_a_column_that_is_younger_than_the_table_or_the_snapshot_is_null(tmp_path):
    before = replace(BROKER_HOURS, columns=tuple(c for c in BROKER_HOURS.columns if c.name != "dropped"))
    lake = Lake(None, str(tmp_path))
    lake.create([before])
    lake.append(before, [ROW])
    snapshot = lake.snapshot(BROKER_HOURS)
    assert [row["dropped"] for row in lake.rows(BROKER_HOURS)] == [None]
    lake.create([BROKER_HOURS])  # adds the column
    assert [row["dropped"] for row in lake.rows(BROKER_HOURS, snapshot)] == [None]


def test_opening_a_lake_quiets_the_loggers_that_warn_of_what_is_meant(tmp_path):
    for name in ("pyiceberg.io.pyarrow", "pyiceberg.catalog"):
        logging.getLogger(name).setLevel(logging.NOTSET)
    Lake(None, str(tmp_path))
    assert logging.getLogger("pyiceberg.io.pyarrow.anything").getEffectiveLevel() == logging.ERROR
    assert logging.getLogger("pyiceberg.catalog").level == logging.ERROR
