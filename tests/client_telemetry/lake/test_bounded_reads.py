"""What a stage reads of a table does not grow with the days that are in it, nor with other clusters."""

import datetime as dt
from collections.abc import Callable

import pytest
from client_telemetry.lake import files
from client_telemetry.lake.branch import _PUBLICATION_FILES
from client_telemetry.lake.lake import Lake
from client_telemetry.lake.maintenance import SNAPSHOT_DAYS, maintain, retention
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.publications import PUBLICATIONS
from client_telemetry.tables.quality_results import QUALITY_RESULTS
from pyiceberg.manifest import ManifestFile

from .conftest import DAY, check_consistent, created, in_spark, row, staged

RUNS = 2 * _PUBLICATION_FILES + 3
DAYS = [DAY + dt.timedelta(days=n) for n in range(RUNS)]


@pytest.fixture
def opened(monkeypatch) -> Callable[[Callable[[], object]], dict[str, int]]:
    """Data files and entries of manifests that a read opens."""
    counts = {"files": 0, "entries": 0}
    row_groups, entries = files.PartitionFile.row_groups, ManifestFile.fetch_manifest_entry

    def counted_groups(self, *args, **named):
        counts["files"] += 1
        return row_groups(self, *args, **named)

    def counted_entries(self, *args, **named):
        found = entries(self, *args, **named)
        counts["entries"] += len(found)
        return found

    monkeypatch.setattr(files.PartitionFile, "row_groups", counted_groups)
    monkeypatch.setattr(ManifestFile, "fetch_manifest_entry", counted_entries)

    def during(read: Callable[[], object]) -> dict[str, int]:
        counts.update(files=0, entries=0)
        read()
        return dict(counts)

    return during


def test_publications_of_a_cluster_are_few_files_without_any_upkeep(tmp_path, opened):
    lake = created(str(tmp_path))
    for cluster in ("a", "b"):
        for n in range(RUNS if cluster == "a" else 3):
            staged(lake, cluster, f"run{n}", DAYS[n]).publish(cluster, f"run{n}", "collect", [DAYS[n]])
    read = opened(lambda: lake.rows(PUBLICATIONS, cluster_id="a", stage="collect"))
    assert read["files"] <= _PUBLICATION_FILES
    days = [day for each in lake.rows(PUBLICATIONS, cluster_id="a", stage="collect") for day in each["days"]]
    assert sorted(days) == DAYS
    assert opened(lambda: lake.rows(PUBLICATIONS, cluster_id="b"))["files"] == 3
    check_consistent(lake)


def test_a_publication_is_recorded_without_the_rows_of_the_others(tmp_path, monkeypatch):
    lake = created(str(tmp_path))
    for n in range(5):
        staged(lake, "a", f"run{n}", DAYS[n]).publish("a", f"run{n}", "collect", [DAYS[n]])
    made = []
    rows_of = lake.rows_of

    def counted(iceberg, table, *args, **named):
        found = list(rows_of(iceberg, table, *args, **named))
        made.extend(found if table is PUBLICATIONS else ())
        return found

    monkeypatch.setattr(lake, "rows_of", counted)
    staged(lake, "a", "new", DAY).publish("a", "new", "collect", [DAY])
    assert made == []
    assert len(lake.rows(PUBLICATIONS, cluster_id="a")) == 6


def test_of_quality_results_only_the_asked_days_are_opened(tmp_path, opened):
    lake = created(str(tmp_path))
    for day in DAYS:
        for cluster in ("a", "b"):
            checked = {"cluster_id": cluster, "dt": day, "stage": "decode", "expectation": "some"}
            lake.append(QUALITY_RESULTS, [checked])
    read = opened(lambda: lake.rows(QUALITY_RESULTS, cluster_id="a", dt=DAYS[3]))
    assert read["files"] == 1
    assert len(lake.rows(QUALITY_RESULTS, cluster_id="a", dt=DAYS[3:5])) == 2


def test_a_day_of_a_cluster_is_found_without_the_manifest_entries_of_others(spark, tmp_path, opened):
    clusters, days = 8, [DAY + dt.timedelta(days=n) for n in range(60)]
    created(str(tmp_path))
    lake = Lake(in_spark(spark, str(tmp_path)), str(tmp_path))
    for n in range(clusters):
        rows = [row(BROKERS, f"cluster{n}", day) for day in days]
        branch = lake.branch("run", f"cluster{n}", "collect")
        branch.replace_rows(BROKERS, rows, cluster_id=f"cluster{n}", dt=days)
        branch.publish(f"cluster{n}", "run", "collect", days)
    later = dt.datetime.now(dt.UTC) + dt.timedelta(days=SNAPSHOT_DAYS + 1)
    maintain(lake, later, retention(dict.fromkeys(retention({}))))
    read = opened(lambda: lake.rows(BROKERS, cluster_id="cluster3", dt=days[30]))
    assert read["files"] == 1
    assert read["entries"] < len(days) * clusters / 2
