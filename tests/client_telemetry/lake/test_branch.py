"""Publishing: partitions are replaced in main as it is then; what a killed run leaves is completed or has no effect."""

import datetime as dt
import os
import subprocess
import sys
from pathlib import Path

import pytest
from client_telemetry.lake.commits import ConcurrentCommit
from client_telemetry.lake.lake import Lake
from client_telemetry.tables.broker_hours import BROKER_HOURS
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.publications import PUBLICATIONS

from tests.client_telemetry.lake.conftest import DAY, check_consistent, created, left_over, row, staged

CHECKOUT = Path(__file__).parents[3]


def brokers(lake: Lake) -> list[tuple[str, int]]:
    return sorted((r["cluster_id"], r["broker_id"]) for r in lake.rows(BROKERS))


def test_runs_of_other_partitions_that_publish_meanwhile_are_no_conflict(tmp_path):
    lake = created(str(tmp_path))
    first, second = staged(lake, "a"), staged(lake, "b")
    third = staged(lake, "a", run="tomorrow", day=DAY + dt.timedelta(days=1))
    for branch, cluster in ((second, "b"), (third, "a"), (first, "a")):
        branch.publish(cluster, "run", "collect", [DAY])
    assert brokers(lake) == [("a", 0), ("a", 0), ("b", 0)]
    assert left_over(lake) == {}
    assert len(lake.rows(PUBLICATIONS)) == 3
    check_consistent(lake)


def test_a_partition_is_replaced_whole_and_others_stay(tmp_path):
    lake = created(str(tmp_path))
    for run, count in (("first", 3), ("second", 1)):
        staged(lake, "a", run, brokers=count).publish("a", run, "collect", [DAY])
        staged(lake, "b", run).publish("b", run, "collect", [DAY])
    assert brokers(lake) == [("a", 0), ("b", 0)]


def test_another_run_of_the_same_partitions_is_a_concurrent_commit_and_nothing_is_published(tmp_path):
    lake = created(str(tmp_path))
    mine, other = staged(lake, "a", "mine"), staged(lake, "a", "other", brokers=2)
    other.publish("a", "other", "collect", [DAY])
    with pytest.raises(ConcurrentCommit, match="another run committed to the same partitions"):
        mine.publish("a", "mine", "collect", [DAY])
    mine.drop()
    assert brokers(lake) == [("a", 0), ("a", 1)]
    assert left_over(lake) == {}
    check_consistent(lake)


def test_the_next_attempt_takes_the_place_of_what_a_killed_one_staged(tmp_path):
    lake = created(str(tmp_path))
    staged(lake, "a", brokers=5)
    staged(lake, "a", brokers=2).publish("a", "run", "collect", [DAY])
    assert brokers(lake) == [("a", 0), ("a", 1)]
    assert left_over(lake) == {}


KILLED = """
import os, sys
from pyiceberg.catalog.sql import SqlCatalog
from client_telemetry.lake.lake import Lake
from tests.client_telemetry.lake.conftest import DAY, staged

location, at, when = sys.argv[1], int(sys.argv[2]), sys.argv[3]
commit, commits = SqlCatalog.commit_table, []

def dying(self, *told):
    commits.append(told)
    if len(commits) == at and when == "before":
        os.kill(os.getpid(), 9)
    done = commit(self, *told)
    if len(commits) == at and when == "after":
        os.kill(os.getpid(), 9)
    return done

SqlCatalog.commit_table = dying
staged(Lake(None, location), "a", "new", brokers=3).publish("a", "new", "collect", [DAY])
print(len(commits))
"""


def killed(location: Path, at: int, when: str) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PYTHONPATH": f"{CHECKOUT}"}
    return subprocess.run(
        [sys.executable, "-c", KILLED, str(location), str(at), when],
        cwd=CHECKOUT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


COMMITS = 6
"""Two branches, two changes of main, the row of publications, the branch of the table that decides."""


def test_a_publication_is_that_many_commits(tmp_path):
    created(str(tmp_path))
    done = killed(tmp_path, 99, "after")
    assert done.stdout.strip() == str(COMMITS), done.stderr


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("at", range(1, COMMITS + 1))
def test_a_run_killed_at_any_commit_leaves_all_of_its_publication_or_nothing(tmp_path, at, when):
    lake = created(str(tmp_path))
    staged(lake, "a", "old").publish("a", "old", "collect", [DAY])
    assert killed(tmp_path, at, when).returncode == -9

    heads = lake.published()  # what the next reader does
    check_consistent(lake)
    found = {
        (table.name, row["broker_id"])
        for table in (BROKERS, BROKER_HOURS)
        for row in lake.rows(table, heads[table.name])
    }
    runs = sorted(r["run_id"] for r in lake.rows(PUBLICATIONS))
    if runs == ["new", "old"]:
        assert found == {(t, n) for t in ("brokers", "broker_hours") for n in range(3)}
        assert left_over(lake) == {}
    else:
        assert runs == ["old"]
        assert found == {("brokers", 0), ("broker_hours", 0)}
    is_decided = at > 3 or (at == 3 and when == "after")
    assert (len(runs) == 2) == is_decided

    staged(lake, "a", "new", brokers=3).publish("a", "new", "collect", [DAY])  # the retry
    assert left_over(lake) == {}
    check_consistent(lake)


def test_a_column_of_a_partition_may_hold_any_text(tmp_path):
    lake = created(str(tmp_path))
    for cluster in ("a/b", "ü 'x'", "%2F"):
        branch = lake.branch("run", cluster, "collect")
        branch.replace_rows(BROKERS, [row(BROKERS, cluster)], cluster_id=cluster, dt=[DAY])
        branch.publish(cluster, "run", "collect", [DAY])
        assert len(lake.rows(BROKERS, cluster_id=cluster)) == 1
