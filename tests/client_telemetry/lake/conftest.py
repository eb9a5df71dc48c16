"""A lake of a few tables, and what a stage does to it, without Spark."""

import datetime as dt
import os
import signal
import traceback
from collections.abc import Callable

from client_telemetry.lake.catalog import spark_settings
from client_telemetry.lake.lake import Lake
from client_telemetry.tables.broker_hours import BROKER_HOURS
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.publications import PUBLICATIONS
from client_telemetry.tables.quality_results import QUALITY_RESULTS
from client_telemetry.tables.table import Table
from pyspark.sql import SparkSession

DAY = dt.date(2026, 11, 21)
WRITTEN = (BROKERS, BROKER_HOURS)


def created(location: str) -> Lake:
    lake = Lake(None, location)
    create(lake)
    return lake


def create(lake: Lake) -> None:
    lake.create([*WRITTEN, QUALITY_RESULTS, PUBLICATIONS])


def in_spark(spark: SparkSession, location: str) -> SparkSession:
    """A session of its own with the lake's catalog."""
    session = spark.newSession()
    for name, value in spark_settings(location).items():
        session.conf.set(name, value)
    session.conf.set("spark.sql.session.timeZone", "UTC")
    return session


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


def expire_all_but_the_heads(lake: Lake, table: Table) -> None:
    """As another engine may at any moment."""
    metadata = lake.table(table).metadata
    heads = {ref.snapshot_id for ref in metadata.refs.values()}
    expired = [each.snapshot_id for each in metadata.snapshots if each.snapshot_id not in heads]
    lake.table(table).maintenance.expire_snapshots().by_ids(expired).commit()


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


def killed(location: str, at: int, when: str, work: Callable[[Lake], None]) -> bool:
    """Do the work in a process of its own that kills itself before or after its commit number `at`, from 1 on. False: it
    came to its end before."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            lake = Lake(None, location)
            _die_at(lake, at, when)
            work(lake)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == 0
    return False


def _die_at(lake: Lake, at: int, when: str) -> None:
    commit, commits = lake.catalog.commit_table, []

    def dying(*args):
        commits.append(args)
        if len(commits) == at and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        done = commit(*args)
        if len(commits) == at and when == "after":
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    lake.catalog.commit_table = dying


COMMITS = 6
"""Of a publication of two tables: two branches, two changes of main, the row of publications, the branch of the table that
decides."""
DECIDES = 3
"""The commit from which on the publication is completed by whoever comes next."""


def publish_new(lake: Lake, cluster: str = "a") -> None:
    """Three brokers in place of what is there."""
    staged(lake, cluster, "new", brokers=3).publish(cluster, "new", "collect", [DAY])


def check_killed_publication(lake: Lake, at: int, when: str, cluster: str = "a") -> None:
    """Kill a run at a commit of its publication: the next reader sees all of it or nothing, and the retry leaves nothing
    behind."""
    staged(lake, cluster, "old").publish(cluster, "old", "collect", [DAY])
    assert killed(lake.location, at, when, lambda child: publish_new(child, cluster))

    heads = lake.published()
    check_consistent(lake)
    rows = {table: lake.rows(table, heads[table.name], cluster_id=cluster) for table in WRITTEN}
    found = {(table.name, row["broker_id"]) for table in WRITTEN for row in rows[table]}
    runs = sorted(row["run_id"] for row in lake.rows(PUBLICATIONS, cluster_id=cluster))
    if at > DECIDES or (at == DECIDES and when == "after"):
        assert runs == ["new", "old"]
        assert found == {(table.name, n) for table in WRITTEN for n in range(3)}
        assert left_over(lake) == {}
    else:
        assert runs == ["old"]
        assert found == {(table.name, 0) for table in WRITTEN}

    publish_new(lake, cluster)
    assert left_over(lake) == {}
    check_consistent(lake)
