"""A load of a table from a database's catalog costs what is new in it, and says what is there."""

import datetime as dt
import gzip
from pathlib import Path

import pytest
from client_telemetry.lake.catalog import NAMESPACE
from client_telemetry.lake.lake import Lake
from client_telemetry.lake.sql_catalog import DatabaseCatalog
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.publications import PUBLICATIONS
from client_telemetry.tables.quality_results import QUALITY_RESULTS
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.table.snapshots import Summary
from sqlalchemy.event import listen

from .conftest import DAY, WRITTEN, created, row, staged

NAME = (NAMESPACE, BROKERS.name)


def publish(lake: Lake, run: str) -> None:
    staged(lake, "a", run).publish("a", run, "collect", [DAY])


@pytest.fixture
def made(monkeypatch) -> list[object]:
    """The summaries of snapshots that were made from a file."""
    made: list[object] = []
    original = Summary.__init__

    def counted(self, *args, **kwargs) -> None:
        made.append(self)
        original(self, *args, **kwargs)

    monkeypatch.setattr(Summary, "__init__", counted)
    return made


def test_of_a_table_that_others_changed_only_the_new_snapshots_are_made(tmp_path, made) -> None:
    lake, other = created(str(tmp_path)), Lake(None, str(tmp_path))
    for n in range(8):
        publish(other, str(n))
    assert len(lake.table(BROKERS).metadata.snapshots) > 8
    publish(other, "new")
    made.clear()
    loaded = lake.table(BROKERS).metadata
    assert len(made) == 1
    assert (
        loaded == other.catalog.load_table(NAME).metadata == Lake(None, str(tmp_path)).table(BROKERS).metadata
    )


def test_a_table_that_nobody_changed_is_not_read_again(tmp_path, monkeypatch) -> None:
    lake = created(str(tmp_path))
    first = lake.tables()
    monkeypatch.setattr(PyArrowFileIO, "new_input", None)
    assert {name: iceberg.metadata for name, iceberg in lake.tables().items()} == {
        name: iceberg.metadata for name, iceberg in first.items()
    }


def test_which_manifests_a_table_has_is_read_once(tmp_path, monkeypatch) -> None:
    lake = created(str(tmp_path))
    publish(lake, "before")
    opened: list[str] = []
    original = PyArrowFileIO.new_input

    def counted(self, location: str):
        opened.append(location)
        return original(self, location)

    monkeypatch.setattr(PyArrowFileIO, "new_input", counted)
    publish(lake, "run")
    lists = [each for each in opened if "/snap-" in each]
    assert lists
    assert len(lists) == len(set(lists))


def test_what_one_does_with_a_loaded_table_is_not_in_the_next(tmp_path) -> None:
    lake = created(str(tmp_path))
    lake.table(BROKERS).metadata.properties["mine"] = "yes"
    publish(lake, "run")
    assert "mine" not in lake.table(BROKERS).metadata.properties
    assert lake.table(BROKERS).properties["commit.retry.num-retries"] == "20"


def test_a_snapshot_whose_parent_was_expired_is_made_again(tmp_path) -> None:
    lake, other = created(str(tmp_path)), Lake(None, str(tmp_path))
    for n in range(3):
        publish(other, str(n))
    assert len(lake.table(BROKERS).metadata.snapshots) > 1
    later = dt.datetime.now(dt.UTC) + dt.timedelta(days=1)
    other.table(BROKERS).maintenance.expire_snapshots().older_than(later).commit()
    (last,) = lake.table(BROKERS).metadata.snapshots
    assert last.parent_snapshot_id is None


def test_a_table_that_was_made_again_is_another(tmp_path) -> None:
    lake, other = created(str(tmp_path)), Lake(None, str(tmp_path))
    publish(lake, "run")
    other.catalog.drop_table(NAME)
    other.create([BROKERS])
    assert lake.rows(BROKERS) == []
    lake.append(BROKERS, [row(BROKERS, "b")])
    assert [each["cluster_id"] for each in other.rows(BROKERS)] == ["b"]


def test_metadata_that_another_engine_compressed(tmp_path) -> None:
    lake = created(str(tmp_path))
    iceberg = lake.table(PUBLICATIONS)
    plain = Path(iceberg.metadata_location.removeprefix("file://"))
    compressed = plain.with_name(plain.name.replace(".metadata.json", ".gz.metadata.json"))
    compressed.write_bytes(gzip.compress(plain.read_bytes()))
    lake.catalog.drop_table((NAMESPACE, PUBLICATIONS.name))
    lake.catalog.register_table((NAMESPACE, PUBLICATIONS.name), f"file://{compressed}")
    assert lake.table(PUBLICATIONS).metadata == iceberg.metadata
    assert Lake(None, str(tmp_path)).table(PUBLICATIONS).metadata == iceberg.metadata


def test_all_tables_are_found_with_one_query(tmp_path) -> None:
    lake = created(str(tmp_path))
    asked: list[str] = []
    listen(lake.catalog.engine, "before_cursor_execute", lambda *arguments: asked.append(arguments[2]))
    assert set(lake.tables()) == {table.name for table in (*WRITTEN, QUALITY_RESULTS, PUBLICATIONS)}
    assert len(asked) == 1


def test_a_process_does_not_read_the_metadata_that_it_committed(tmp_path, monkeypatch) -> None:
    lake = created(str(tmp_path))
    publish(lake, "run0")
    opened: list[str] = []
    new_input = PyArrowFileIO.new_input

    def counted(self, location):
        opened.append(location)
        return new_input(self, location)

    branch = staged(lake, "a", "run1")
    monkeypatch.setattr(PyArrowFileIO, "new_input", counted)
    branch.publish("a", "run1", "collect", [DAY])
    assert not [location for location in opened if location.endswith(".metadata.json")]
    assert lake.tables()[BROKERS.name].metadata == Lake(None, str(tmp_path)).tables()[BROKERS.name].metadata


def test_a_commit_that_lost_leaves_no_metadata_file(tmp_path, monkeypatch) -> None:
    lake, other = created(str(tmp_path)), Lake(None, str(tmp_path))
    original = DatabaseCatalog._write_metadata

    def overtaken(metadata, io, metadata_path) -> None:
        original(metadata, io, metadata_path)
        monkeypatch.setattr(DatabaseCatalog, "_write_metadata", staticmethod(original))
        publish(other, "first")

    monkeypatch.setattr(DatabaseCatalog, "_write_metadata", staticmethod(overtaken))
    publish(lake, "second")
    for name, iceberg in lake.tables().items():
        of_table = Path(iceberg.location().removeprefix("file://")) / "metadata"
        named = {iceberg.metadata_location, *(entry.metadata_file for entry in iceberg.metadata.metadata_log)}
        assert {file.name for file in of_table.glob("*.json")} == {Path(url).name for url in named}, name
