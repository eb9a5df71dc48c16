"""A copy of a lake at another place works when the original is gone: docs/upgrading.md, Backup and restore of a lake."""

import datetime as dt
import shutil

import pytest
from client_telemetry.cli.lake_copy import main
from client_telemetry.lake.catalog import NoSuchLake
from client_telemetry.lake.copying import copy_lake
from client_telemetry.lake.lake import Lake
from client_telemetry.lake.maintenance import maintain, retention
from client_telemetry.tables.broker_hours import BROKER_HOURS
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.publications import PUBLICATIONS

from . import test_other_hands as other_hands
from .conftest import DAY, check_consistent, created, in_spark, left_over, publish_new, staged
from .test_other_hands import lake as other_lake  # noqa: F401


@pytest.fixture
def original(tmp_path) -> Lake:
    """Two publications, a tag on the first, and a branch that a killed run left."""
    lake = created(str(tmp_path / "lake"))
    staged(lake, "a", "old").publish("a", "old", "collect", [DAY])
    lake.keep(BROKERS, lake.snapshot(BROKERS), "report_1")
    publish_new(lake)
    staged(lake, "b", "killed")
    return lake


def _content(lake: Lake) -> dict:
    tag = lake.table(BROKERS).metadata.refs["report_1"].snapshot_id
    return {
        "now": {table.name: lake.rows(table) for table in (BROKERS, BROKER_HOURS, PUBLICATIONS)},
        "as the report read it": lake.rows(BROKERS, tag),
        "refs": left_over(lake),
        "snapshots": {
            name: sorted(s.snapshot_id for s in t.metadata.snapshots) for name, t in lake.tables().items()
        },
    }


def test_a_copy_has_every_row_snapshot_and_ref_when_the_original_is_gone(original, tmp_path):
    before = _content(original)
    assert copy_lake(original.location, str(tmp_path / "copy")).keys() == before["snapshots"].keys()
    shutil.rmtree(original.location)
    copy = Lake(None, str(tmp_path / "copy"))
    assert _content(copy) == before
    check_consistent(copy)


def test_a_copy_is_written_like_any_lake(original, spark, tmp_path):
    copy_lake(original.location, str(tmp_path / "copy"))
    shutil.rmtree(original.location)
    location = str(tmp_path / "copy")
    copy = Lake(in_spark(spark, location), location)
    staged(copy, "b", "killed", brokers=2).publish("b", "killed", "collect", [DAY])
    publish_new(copy)
    maintain(copy, dt.datetime.now(dt.UTC), retention({}))
    check_consistent(copy)
    assert copy.read(BROKERS).count() == 5
    assert len(copy.rows(BROKERS)) == 5


def test_a_folder_that_was_copied_by_hand_becomes_a_lake(original, tmp_path):
    """A backup of the folder, restored at another path while the original is gone."""
    before = _content(original)
    shutil.copytree(original.location, tmp_path / "backup")
    shutil.rmtree(original.location)
    with pytest.raises(NoSuchLake, match="client-telemetry lake-copy"):
        Lake(None, str(tmp_path / "backup"))
    copy_lake(str(tmp_path / "backup"), str(tmp_path / "restored"))
    shutil.rmtree(tmp_path / "backup")
    assert _content(Lake(None, str(tmp_path / "restored"))) == before


def _delete_by_position(lake: Lake) -> None:
    """Files of deletions name data files by their locations."""
    lake.spark.sql(
        f"ALTER TABLE {other_hands.NAME} SET TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')"
    )
    lake.spark.sql(f"DELETE FROM {other_hands.NAME} WHERE client_id = 'bob'")


@pytest.mark.parametrize(
    "delete", [_delete_by_position, other_hands.test_rows_that_an_equality_delete_names_are_gone]
)
def test_rows_that_other_engines_deleted_stay_deleted(other_lake, spark, tmp_path, delete):  # noqa: F811
    delete(other_lake)
    before = _clients(other_lake)
    location = str(tmp_path / "copy")
    copy_lake(other_lake.location, location)
    shutil.rmtree(other_lake.location)
    copy = Lake(in_spark(spark, location), location)
    assert _clients(copy) == before
    if delete is _delete_by_position:
        assert other_hands.seen(copy) == other_hands.of("ann", "cid", None)
    other_hands.publish(copy, "again", DAY, ["ann", "dan"])
    assert other_hands.seen(copy) == other_hands.of("ann", "dan")


def _clients(lake: Lake) -> list[tuple[dt.date, str | None]]:
    return sorted(((row["dt"], row["client_id"]) for row in lake.rows(CLIENT_PUSHES)), key=str)


def test_a_copy_that_is_interrupted_is_no_lake(original, tmp_path, monkeypatch):
    from client_telemetry.lake import copying

    monkeypatch.setattr(copying, "_register", lambda catalog, locations: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        copy_lake(original.location, str(tmp_path / "copy"))
    assert Lake(None, str(tmp_path / "copy")).tables() == {}
    monkeypatch.undo()
    copy_lake(original.location, str(tmp_path / "copy"))
    assert _content(Lake(None, str(tmp_path / "copy"))) == _content(original)


def test_the_command_says_what_it_did_and_what_is_wrong(original, tmp_path, capsys):
    copy = str(tmp_path / "copy")
    assert main([original.location, copy]) == 0
    assert capsys.readouterr().out.startswith(f"{copy}: 4 tables with ")
    for source, target, words in (
        (original.location, copy, "has tables already"),
        (original.location, original.location, "has tables already"),
        (str(tmp_path / "nothing"), str(tmp_path / "new"), "no lake at"),
        (original.location, "s3://bucket/lake", "PYICEBERG_CATALOG__COPY__URI"),
    ):
        assert main([source, target]) == 2
        error = capsys.readouterr().err
        assert words in error and error.count("\n") == 1
    lost = original.files(BROKERS)[0].url.removeprefix("file://")
    shutil.move(lost, tmp_path / "lost")
    assert main([original.location, str(tmp_path / "third")]) == 1
    assert "did something write" in capsys.readouterr().err
