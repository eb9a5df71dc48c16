"""Publishing: partitions are replaced in main as it is then; what a killed run leaves is completed or has no effect."""

import datetime as dt
import errno
import time

import pytest
from client_telemetry.lake.branch import drop_branch
from client_telemetry.lake.catalog import NoSuchLake
from client_telemetry.lake.commits import ConcurrentCommit, Superseded
from client_telemetry.lake.lake import Lake
from client_telemetry.tables.broker_hours import BROKER_HOURS
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.publications import PUBLICATIONS
from client_telemetry.tables.quality_results import QUALITY_RESULTS
from pyiceberg.io.pyarrow import PyArrowFile

from tests.client_telemetry.lake.conftest import (
    COMMITS,
    DAY,
    DECIDES,
    WRITTEN,
    check_consistent,
    check_killed_publication,
    create,
    created,
    expire_all_but_the_heads,
    killed,
    left_over,
    publish_new,
    row,
    staged,
)


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


def test_a_publication_is_that_many_commits(tmp_path):
    created(str(tmp_path))
    assert killed(str(tmp_path), COMMITS, "after", publish_new)
    assert not killed(str(tmp_path), COMMITS + 1, "before", publish_new)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("at", range(1, COMMITS + 1))
def test_a_run_killed_at_any_commit_leaves_all_of_its_publication_or_nothing(tmp_path, at, when):
    check_killed_publication(created(str(tmp_path)), at, when)


@pytest.mark.parametrize("at", [1, 2, 3, 5, 8, 11, 14, 17])
def test_a_full_disk_at_any_file_of_a_publication_leaves_all_of_it_or_nothing(tmp_path, monkeypatch, at):
    lake = created(str(tmp_path))
    staged(lake, "a", "old").publish("a", "old", "collect", [DAY])
    create_file, files = PyArrowFile.create, []

    def full(self, overwrite=False):
        files.append(self.location)
        if len(files) >= at:
            raise OSError(errno.ENOSPC, "No space left on device")
        return create_file(self, overwrite)

    with monkeypatch.context() as disk, pytest.raises(OSError, match="No space left"):
        disk.setattr(PyArrowFile, "create", full)
        publish_new(lake)
    heads = lake.published()
    check_consistent(lake)
    found = {
        (table.name, row["broker_id"]) for table in WRITTEN for row in lake.rows(table, heads[table.name])
    }
    assert found in ({(table.name, n) for table in WRITTEN for n in range(count)} for count in (1, 3))
    publish_new(lake)
    assert brokers(lake) == [("a", n) for n in range(3)]
    assert left_over(lake) == {}
    check_consistent(lake)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("at", range(1, 9))
def test_a_run_killed_while_it_makes_the_tables_leaves_a_lake_that_the_next_one_uses(tmp_path, at, when):
    location = str(tmp_path)
    assert killed(location, at, when, create)
    lake = created(location)
    lake.published()
    publish_new(lake)
    assert left_over(lake) == {}
    check_consistent(lake)


def test_a_column_of_a_partition_may_hold_any_text(tmp_path):
    lake = created(str(tmp_path))
    for cluster in ("a/b", "ü 'x'", "%2F"):
        branch = lake.branch("run", cluster, "collect")
        branch.replace_rows(BROKERS, [row(BROKERS, cluster)], cluster_id=cluster, dt=[DAY])
        branch.publish(cluster, "run", "collect", [DAY])
        assert len(lake.rows(BROKERS, cluster_id=cluster)) == 1


def test_an_attempt_that_goes_on_after_the_next_one_began_publishes_nothing(tmp_path):
    lake = created(str(tmp_path))
    staged(lake, "a", "old", brokers=2).publish("a", "old", "collect", [DAY])
    first = staged(lake, "a", brokers=3)
    retry = lake.branch("run", "a", "collect")
    retry.replace_rows(BROKERS, [], cluster_id="a", dt=[DAY])  # before Spark appends the rows
    with pytest.raises(Superseded, match="brokers: a later attempt of the same run writes to audit_run_a_"):
        first.publish("a", "run", "collect", [DAY])
    first.drop()
    assert brokers(lake) == [("a", 0), ("a", 1)]
    assert [row["run_id"] for row in lake.rows(PUBLICATIONS)] == ["old"]
    retry.replace_rows(BROKER_HOURS, [row(BROKER_HOURS, "a")], cluster_id="a", dt=[DAY])
    retry.publish("a", "run", "collect", [DAY])
    assert brokers(lake) == []
    assert left_over(lake) == {}
    check_consistent(lake)


def test_an_attempt_that_has_decided_is_completed_before_the_next_one_writes(tmp_path):
    lake = created(str(tmp_path))
    retry = lake.branch("new", "a", "collect")
    assert killed(lake.location, DECIDES, "after", publish_new)
    retry.replace_rows(BROKERS, [row(BROKERS, "a")], cluster_id="a", dt=[DAY])
    assert [row["broker_id"] for row in lake.rows(BROKER_HOURS)] == [0, 1, 2]
    assert len(lake.rows(PUBLICATIONS)) == 1
    retry.publish("a", "new", "collect", [DAY])
    assert brokers(lake) == [("a", 1)]
    assert left_over(lake) == {}
    check_consistent(lake)


def test_a_killed_publication_is_completed_though_the_deciding_snapshot_has_expired(tmp_path):
    """Another engine expired it, after a stage that was running already had committed to the same table."""
    lake = created(str(tmp_path))
    other = staged(lake, "b")
    assert killed(lake.location, DECIDES + 1, "after", publish_new)
    other.publish("b", "run", "collect", [DAY])
    expire_all_but_the_heads(lake, WRITTEN[0])
    lake.recover()
    assert brokers(lake) == [("a", 0), ("a", 1), ("a", 2), ("b", 0)]
    assert sorted(row["cluster_id"] for row in lake.rows(PUBLICATIONS)) == ["a", "b"]
    assert left_over(lake) == {}
    check_consistent(lake)


def test_a_branch_that_somebody_removed_is_not_published(tmp_path):
    lake = created(str(tmp_path))
    branch = staged(lake, "a")
    drop_branch(lake, BROKERS.name, branch.name)
    with pytest.raises(ConcurrentCommit, match="was removed before it was published"):
        branch.publish("a", "run", "collect", [DAY])
    branch.drop()
    assert brokers(lake) == []
    assert left_over(lake) == {}


def test_a_change_of_the_same_partitions_whose_snapshot_has_expired_is_a_concurrent_commit(tmp_path):
    lake = created(str(tmp_path))
    mine = staged(lake, "a", "mine")
    staged(lake, "a", "other", brokers=2).publish("a", "other", "collect", [DAY])
    staged(lake, "b").publish("b", "run", "collect", [DAY])
    for table in WRITTEN:
        expire_all_but_the_heads(lake, table)
    with pytest.raises(ConcurrentCommit, match="has expired"):
        mine.publish("a", "mine", "collect", [DAY])
    assert brokers(lake) == [("a", 0), ("a", 1), ("b", 0)]


def test_a_catalog_that_forgets_branches_of_tables_that_are_there_is_refused(tmp_path, monkeypatch):
    lake = created(str(tmp_path))
    commit = lake.catalog.commit_table

    def without_branches(table, requirements, updates):
        kept = [u for u in updates if u.action != "set-snapshot-ref" or u.ref_name == "main"]
        return commit(table, requirements, tuple(kept))

    monkeypatch.setattr(lake.catalog, "commit_table", without_branches)
    with pytest.raises(NoSuchLake, match="does not keep branches"):
        staged(lake, "a")


def test_a_stage_completes_the_publications_of_its_own_cluster(tmp_path):
    lake = created(str(tmp_path))
    assert killed(lake.location, DECIDES, "after", publish_new)
    lake.published("b")
    lake.branch("run", "b", "collect")
    assert left_over(lake) and lake.rows(PUBLICATIONS) == []  # b's run leaves it to a's next one
    lake.published("a")
    assert brokers(lake) == [("a", 0), ("a", 1), ("a", 2)]
    assert left_over(lake) == {}
    check_consistent(lake)


def test_manifests_of_many_runs_are_merged_and_all_that_was_published_stays(tmp_path):
    lake, runs = created(str(tmp_path)), 40
    for number in range(runs):
        staged(lake, f"cluster {number}").publish(f"cluster {number}", "run", "collect", [DAY])
    staged(lake, "cluster 7", "again").publish("cluster 7", "again", "collect", [DAY])
    iceberg = lake.table(BROKERS)
    manifests = iceberg.metadata.snapshot_by_name("main").manifests(iceberg.io)
    assert len(manifests) < runs / 3
    assert [cluster for cluster, _ in brokers(lake)] == sorted(f"cluster {number}" for number in range(runs))
    check_consistent(lake)


def snapshots(lake: Lake, table=BROKERS) -> list[int]:
    return [snapshot.snapshot_id for snapshot in lake.table(table).metadata.snapshots]


def published(lake: Lake, *runs: str) -> list[int]:
    """The snapshots that readers saw after each of the runs, one after the other."""
    heads = []
    for run in runs:
        staged(lake, "a", run).publish("a", run, "collect", [DAY])
        heads.append(lake.snapshot(BROKERS))
    return heads


def test_a_commit_removes_the_snapshots_that_nobody_reads_any_more(tmp_path):
    """A stage that began before a snapshot was replaced may read it until the age of snapshots is over."""
    lake = created(str(tmp_path))
    heads = published(lake, "first", "second", "third")
    assert set(heads) <= set(snapshots(lake))

    lake.keep(BROKERS, heads[0], "report r")
    lake.snapshot_age = dt.timedelta(0)
    staged(lake, "a", "fourth", brokers=2).publish("a", "fourth", "collect", [DAY])
    # The commit itself replaced the third.
    assert set(snapshots(lake)) == {heads[0], heads[2], lake.snapshot(BROKERS)}
    assert brokers(lake) == [("a", 0), ("a", 1)]
    assert len(lake.rows(BROKERS, heads[0])) == 1
    for table in (QUALITY_RESULTS, PUBLICATIONS):
        lake.append(table, [])
        assert len(snapshots(lake, table)) <= 2


def test_snapshots_of_a_lake_at_rest_stay_for_those_who_read_them_when_it_goes_on(tmp_path):
    """How old a snapshot is does not matter, but for how long it has not been the current one."""
    lake = created(str(tmp_path))
    staged(lake, "a", "before").publish("a", "before", "collect", [DAY])
    read = lake.snapshot(BROKERS)
    lake.snapshot_age = dt.timedelta(seconds=5)
    time.sleep(5)
    for run in ("after", "next"):
        staged(lake, "a", run).publish("a", run, "collect", [DAY])
    assert read in snapshots(lake)


def test_a_killed_publication_is_completed_though_others_commit_for_days(tmp_path):
    lake = created(str(tmp_path))
    lake.snapshot_age = dt.timedelta(0)
    assert killed(lake.location, DECIDES, "after", publish_new)
    decided = lake.snapshot(BROKERS)
    for run in ("first", "second"):
        staged(lake, "b", run).publish("b", run, "collect", [DAY])
    assert decided in snapshots(lake)
    publish_new(lake)
    assert sorted(row["run_id"] for row in lake.rows(PUBLICATIONS, cluster_id="a")) == ["new", "new"]
    assert len(lake.rows(BROKER_HOURS, cluster_id="a")) == len(lake.rows(BROKERS, cluster_id="a")) == 3
    assert left_over(lake) == {}


def test_a_publication_that_was_recorded_before_the_run_was_killed_is_not_recorded_again(tmp_path):
    """Though others commit so long that its snapshot of a table is gone."""
    lake = created(str(tmp_path))
    lake.snapshot_age = dt.timedelta(0)
    assert killed(lake.location, COMMITS, "before", publish_new)
    for run in ("first", "second"):
        staged(lake, "b", run).publish("b", run, "collect", [DAY])
    lake.published("a")
    assert len(lake.rows(PUBLICATIONS, cluster_id="a")) == 1
    assert left_over(lake) == {}


def test_what_a_report_tags_stays_though_it_has_not_been_current_for_days(tmp_path):
    lake = created(str(tmp_path))
    staged(lake, "a", "first").publish("a", "first", "collect", [DAY])
    read = lake.snapshot(BROKERS)
    staged(lake, "a", "second").publish("a", "second", "collect", [DAY])
    lake.snapshot_age = dt.timedelta(0)
    lake.keep(BROKERS, read, "report r")
    assert len(lake.rows(BROKERS, read)) == 1
    staged(lake, "a", "third").publish("a", "third", "collect", [DAY])
    assert len(lake.rows(BROKERS, read)) == 1


def test_a_table_that_an_operator_rolled_back_meanwhile_keeps_its_main(tmp_path):
    """A stage begins to write in a lake that stood still for days."""
    lake, operator = created(str(tmp_path)), Lake(None, str(tmp_path))
    old = lake.snapshot(BROKERS)
    for run in ("first", "second"):
        staged(lake, "a", run).publish("a", run, "collect", [DAY])
    lake.snapshot_age = dt.timedelta(0)
    load, loads = lake.known_table, []

    def overtaken(name):
        iceberg = load(name)
        loads.append(name)
        if loads == [BROKERS.name] * 2:  # for the place of the file, and for the commit
            operator.table(BROKERS).manage_snapshots().set_current_snapshot(snapshot_id=old).commit()
        return iceberg

    branch = lake.branch("next", "b", "collect")
    lake.known_table = overtaken
    branch.replace_rows(BROKERS, [row(BROKERS, "b")], cluster_id="b", dt=[DAY])
    assert lake.snapshot(BROKERS) == old
    branch.publish("b", "next", "collect", [DAY])
    assert brokers(lake) == [("b", 1)]


def test_a_time_is_never_read_as_another_snapshot_than_that_of_the_time(tmp_path):
    lake = created(str(tmp_path))
    ids = published(lake, "first", "second", "third")
    when = lake.table(BROKERS).metadata.snapshot_by_id(ids[1]).timestamp_ms
    assert lake.table(BROKERS).snapshot_as_of_timestamp(when).snapshot_id == ids[1]
    lake.keep(BROKERS, ids[0], "report r")
    lake.snapshot_age = dt.timedelta(0)
    staged(lake, "a", "fourth").publish("a", "fourth", "collect", [DAY])
    assert ids[1] not in snapshots(lake)
    assert lake.table(BROKERS).snapshot_as_of_timestamp(when) is None


def test_a_clock_that_was_wrong_removes_no_snapshot_that_was_just_replaced(tmp_path, monkeypatch):
    lake = created(str(tmp_path))
    staged(lake, "a", "first").publish("a", "first", "collect", [DAY])
    read = lake.snapshot(BROKERS)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now - 10 * 86_400)
    staged(lake, "a", "second").publish("a", "second", "collect", [DAY])
    monkeypatch.undo()
    staged(lake, "a", "third").publish("a", "third", "collect", [DAY])
    assert read in snapshots(lake)


def test_snapshots_stay_until_maintenance_if_files_are_elsewhere(tmp_path):
    """It finds those of removed snapshots below the table's folder only; its expiry finds all."""
    lake = created(str(tmp_path / "lake"))
    with lake.table(BROKERS).transaction() as transaction:
        transaction.set_properties({"write.data.path": f"file://{tmp_path}/elsewhere"})
    lake.snapshot_age = dt.timedelta(0)
    heads = published(lake, "first", "second", "third")
    assert set(heads) <= set(snapshots(lake))


def test_what_a_later_attempt_staged_is_not_taken_for_what_this_one_did(tmp_path):
    lake = created(str(tmp_path))
    earlier, later = staged(lake, "a", brokers=1), staged(lake, "a", brokers=2)
    with pytest.raises(Superseded, match="runs at the same time need different --run-id"):
        earlier.files(BROKERS, cluster_id="a", dt=DAY)
    assert sum(file.rows for file in later.files(BROKERS, cluster_id="a", dt=DAY)) == 2
    later.drop()
    with pytest.raises(Superseded):
        later.files(BROKERS, cluster_id="a", dt=DAY)
