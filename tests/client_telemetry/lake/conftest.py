"""A lake of a few tables, and what a stage does to it, without Spark."""

import datetime as dt

from client_telemetry.lake.lake import Lake
from client_telemetry.tables.broker_hours import BROKER_HOURS
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.publications import PUBLICATIONS
from client_telemetry.tables.quality_results import QUALITY_RESULTS

DAY = dt.date(2026, 11, 21)
WRITTEN = (BROKERS, BROKER_HOURS)


def created(location: str) -> Lake:
    lake = Lake(None, location)
    lake.create([*WRITTEN, QUALITY_RESULTS, PUBLICATIONS])
    return lake


def row(table, cluster: str, day: dt.date = DAY, **fields: object) -> dict:
    incarnation = {"broker_incarnation": "0" * 32} if table is BROKERS else {"hour": 5, "completeness": []}
    return {"cluster_id": cluster, "dt": day, "broker_id": 1, **incarnation, **fields}


def staged(lake: Lake, cluster: str, run: str = "run", day: dt.date = DAY, brokers: int = 1):
    """A branch with rows of both tables."""
    branch = lake.branch(run, cluster, "collect")
    for table in WRITTEN:
        rows = [row(table, cluster, day, broker_id=n) for n in range(brokers)]
        branch.replace_rows(table, rows, cluster_id=cluster, dt=[day])
    return branch


def left_over(lake: Lake) -> dict[str, list[str]]:
    """Refs other than main, by table."""
    found = {name: sorted(set(t.metadata.refs) - {"main"}) for name, t in lake.tables().items()}
    return {name: names for name, names in found.items() if names}


def check_consistent(lake: Lake) -> None:
    """Every row of `publications` names snapshots that are there, and every change of main has its row."""
    tables = lake.tables()
    named = set()
    for publication in lake.rows(PUBLICATIONS):
        for table, snapshot in publication["snapshots"].items():
            assert tables[table].metadata.snapshot_by_id(snapshot) is not None
            named.add((table, snapshot))
    published = {
        (name, snapshot.snapshot_id)
        for name, iceberg in tables.items()
        for snapshot in iceberg.metadata.snapshots
        if "client-telemetry.published" in snapshot.summary.additional_properties
    }
    assert published == named
