"""Reading tables without Spark."""

import datetime as dt
import logging
from dataclasses import replace

import pytest
from client_telemetry.lake.catalog import NoSuchLake
from client_telemetry.lake.files import DamagedFile
from client_telemetry.lake.lake import TABLES_VERSION, Lake
from client_telemetry.lake.writer import write_rows
from client_telemetry.tables.broker_hours import BROKER_HOURS
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.upgrade_verdicts import UPGRADE_VERDICTS

from .conftest import created

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


def test_a_table_that_another_run_makes_at_the_same_moment_is_that_table(tmp_path, monkeypatch):
    """The other begins after this one has looked, and has not made the first snapshot when this one fails."""
    first, second = Lake(None, str(tmp_path)), Lake(None, str(tmp_path))
    begin = second.catalog.create_table_transaction
    monkeypatch.setattr(first, "_fill_in", lambda table: None)

    def beaten(*args, **named):
        transaction = begin(*args, **named)
        first.create([BROKER_HOURS])
        return transaction

    monkeypatch.setattr(second.catalog, "create_table_transaction", beaten)
    second.create([BROKER_HOURS])
    # Whoever comes second has completed it: it can be read before anything is appended.
    assert BROKER_HOURS.name in first.tables()
    assert first.rows(BROKER_HOURS, first.snapshot(BROKER_HOURS)) == []
    second.append(BROKER_HOURS, [ROW])
    assert len(first.rows(BROKER_HOURS)) == 1


@pytest.mark.parametrize(
    "damage",
    [lambda data: data[:200], lambda data: b"", lambda data: b"x" * len(data)],
    ids=["cut", "empty", "garbage"],
)
def test_a_damaged_file_is_named_with_what_to_do(tmp_path, damage):
    lake = Lake(None, str(tmp_path))
    lake.create([BROKER_HOURS])
    lake.append(BROKER_HOURS, [ROW])
    (file,) = tmp_path.glob("**/broker_hours/data/**/*.parquet")
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(DamagedFile, match=f"{file.name} is damaged .*: put it back from a backup"):
        lake.rows(BROKER_HOURS)


def test_a_partition_may_have_a_longer_name_than_a_file(tmp_path):
    lake, report = Lake(None, str(tmp_path)), 300 * "é/"
    lake.create([UPGRADE_VERDICTS])
    urls = write_rows(
        UPGRADE_VERDICTS, lake.place(UPGRADE_VERDICTS), [{"cluster_id": "c", "report_id": report}]
    )
    (file,) = tmp_path.glob("**/upgrade_verdicts/data/**/*.parquet")
    assert len(urls) == 1 and file.parent.name.startswith("report_id=%C3%A9%2F")


def test_a_lake_of_a_newer_version_is_refused_and_an_older_one_is_brought_up_to_date(tmp_path):
    lake = created(str(tmp_path))
    assert lake.table(BROKERS).properties[TABLES_VERSION] == "1"

    def written_by(version: str) -> None:
        lake.committed(BROKERS.name, lambda _, change: change.set_properties({TABLES_VERSION: version}))

    written_by("0")
    lake.create([BROKERS])
    assert lake.table(BROKERS).properties[TABLES_VERSION] == "1"
    written_by("2")
    for use in (lambda: lake.table(BROKERS), lambda: lake.create([BROKERS]), lambda: lake.rows(BROKERS)):
        with pytest.raises(
            NoSuchLake,
            match=r"written by a newer version .*tables of version 2; this one knows 1.*docs/upgrading",
        ):
            use()
