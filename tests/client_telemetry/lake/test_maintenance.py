"""Upkeep and erasure on real tables: what goes, what stays, and what the report of it says."""

import datetime as dt
import json
import os
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from client_telemetry.lake import erasure
from client_telemetry.lake.commits import ConcurrentCommit
from client_telemetry.lake.erasure import erase
from client_telemetry.lake.lake import Lake
from client_telemetry.lake.maintenance import (
    DERIVED_DAYS,
    SNAPSHOT_DAYS,
    again_if_overtaken,
    maintain,
    retention,
)
from client_telemetry.pipeline.quality import result_rows, validate_rows
from client_telemetry.tables.client_metrics import CLIENT_METRICS
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.client_sessions import CLIENT_SESSIONS
from client_telemetry.tables.clients import CLIENTS
from client_telemetry.tables.publications import PUBLICATIONS
from client_telemetry.tables.quality_results import QUALITY_RESULTS
from client_telemetry.tables.raw_objects import RAW_OBJECTS
from client_telemetry.tables.table import Table
from client_telemetry.tables.undecodable_records import UNDECODABLE_RECORDS
from client_telemetry.tables.upgrade_verdicts import UPGRADE_VERDICTS

from tests.client_telemetry.lake.conftest import in_spark, left_over

CLUSTER = "c"
TODAY = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
TABLES = (CLIENT_PUSHES, CLIENT_METRICS, CLIENTS, RAW_OBJECTS, UNDECODABLE_RECORDS, UPGRADE_VERDICTS)
BOB, ANN = bytes(16), bytes(range(16))


@pytest.fixture
def lake(spark, tmp_path) -> Lake:
    location = str(tmp_path / "a lake")  # a folder with a blank in all of them
    lake = Lake(in_spark(spark, location), location)
    lake.create([*TABLES, QUALITY_RESULTS, PUBLICATIONS])
    return lake


def publish(lake: Lake, table: Table, day: dt.date, rows: Sequence[dict[str, object]]) -> None:
    branch = lake.branch(f"{table.name} {day}", CLUSTER, "decode")
    full = [{"cluster_id": CLUSTER, "dt": day, "report_id": "r", **row} for row in rows]
    names = {column.name for column in table.columns}
    own = [{name: value for name, value in row.items() if name in names} for row in full]
    where = {"report_id": "r"} if "dt" not in table.partition else {"dt": [day]}
    branch.replace_rows(table, own, cluster_id=CLUSTER, **where)
    branch.publish(CLUSTER, f"{table.name} {day}", "decode", [day])


def days(lake: Lake, table: Table) -> list[dt.date]:
    return sorted({row["dt"] for row in lake.rows(table)})


def test_each_table_keeps_its_rows_as_long_as_it_is_configured(lake):
    ages = [dt.timedelta(days=n) for n in (1, 40, 89, 91, 395, 397)]
    every = sorted(TODAY.date() - age for age in ages)
    for table in (CLIENT_PUSHES, CLIENT_METRICS, CLIENTS, RAW_OBJECTS):
        for day in every:
            publish(lake, table, day, [{"client_id": "ann", "object_key": str(day)}])
    done = {each.table: each for each in maintain(lake, TODAY, retention({"client_metrics": 30}))}
    assert days(lake, CLIENT_PUSHES) == days(lake, RAW_OBJECTS) == every[-3:]
    assert days(lake, CLIENTS) == every[1:]
    assert days(lake, CLIENT_METRICS) == every[-1:]
    assert [done[t.name].rows_removed for t in (CLIENT_PUSHES, CLIENTS, CLIENT_METRICS)] == [3, 1, 5]
    assert len(lake.rows(PUBLICATIONS)) == 4 * len(every)  # for ever


def test_orphan_files_and_branches_of_dead_runs_go_when_they_are_old(lake):
    publish(lake, CLIENT_PUSHES, TODAY.date(), [{"client_id": "ann"}])
    lake.branch("killed", CLUSTER, "decode").replace_rows(
        CLIENT_PUSHES, [{"cluster_id": CLUSTER, "dt": TODAY.date()}], cluster_id=CLUSTER, dt=[TODAY.date()]
    )
    folder = Path(lake.table(CLIENT_PUSHES).location().removeprefix("file://")) / "data"
    old, young = folder / "old.parquet", folder / "young.parquet"
    for file in (old, young):
        file.write_bytes(b"of a worker that died")
    os.utime(old, (1, 1))
    now = dt.datetime.now(dt.UTC)
    first = {each.table: each for each in maintain(lake, now, retention({"client_pushes": None}))}
    assert (old.exists(), young.exists()) == (False, True)
    assert first["client_pushes"].orphans_removed == 1
    assert len(left_over(lake)["client_pushes"]) == 1  # it may be at work
    later = now + dt.timedelta(days=SNAPSHOT_DAYS + 1)
    second = {each.table: each for each in maintain(lake, later, retention({"client_pushes": None}))}
    assert len(second["client_pushes"].branches_removed) == 1
    assert left_over(lake) == {}
    assert len(lake.rows(CLIENT_PUSHES)) == 1


def test_a_statement_that_others_overtake_begins_again_and_other_errors_do_not():
    overtaken = ["org.apache.iceberg.exceptions.ValidationException: Found conflicting files"] * 3
    errors = [*overtaken]

    def statement():
        if errors:
            raise RuntimeError(errors.pop())
        return "deleted"

    assert again_if_overtaken(statement) == "deleted"
    errors = [*overtaken, *overtaken]
    with pytest.raises(RuntimeError, match="Found conflicting files"):
        again_if_overtaken(statement)
    assert len(errors) == 2
    errors = [*overtaken, *overtaken]
    assert again_if_overtaken(statement, 7) == "deleted"
    errors = ["no such table", "no such table"]
    with pytest.raises(RuntimeError, match="no such table"):
        again_if_overtaken(statement)
    assert len(errors) == 1


def test_what_was_computed_before_an_erasure_is_not_published_after_it(lake):
    publish(lake, CLIENT_PUSHES, TODAY.date(), [{"client_id": "bob"}, {"client_id": "ann"}])
    branch, other = lake.branch("run", CLUSTER, "profile"), lake.branch("run", "other", "profile")
    for cluster, each in ((CLUSTER, branch), ("other", other)):
        rows = [{"cluster_id": cluster, "dt": TODAY.date(), "client_id": "bob"}]
        each.replace_rows(CLIENTS, rows, cluster_id=cluster, dt=[TODAY.date()])
    erase(lake, CLUSTER, {"client_id": "bob"}, None)
    with pytest.raises(ConcurrentCommit, match="a client was erased"):
        branch.publish(CLUSTER, "run", "profile", [TODAY.date()])
    branch.drop()
    other.publish("other", "run", "profile", [TODAY.date()])
    assert [row["cluster_id"] for row in lake.rows(CLIENTS)] == ["other"]
    assert left_over(lake) == {}


def test_no_file_holds_an_erased_client_though_a_branch_goes_while_snapshots_expire(lake):
    """As the expiry finds it that has listed the snapshots when a stage removes its branch: no list of the branch's files."""
    first, second = TODAY.date() - dt.timedelta(days=1), TODAY.date()
    publish(lake, CLIENTS, first, [{"client_id": "bob"}, {"client_id": "ann"}])
    publish(lake, CLIENTS, second, [{"client_id": "bob"}])
    branch = lake.branch("of a stage", "other", "profile")
    branch.replace_rows(CLIENTS, [{"cluster_id": "other", "dt": second}], cluster_id="other", dt=[second])
    iceberg = lake.table(CLIENTS)
    staged = iceberg.metadata.snapshot_by_name(branch.name)
    iceberg.manage_snapshots().remove_branch(branch.name).commit()
    iceberg.io.delete(staged.manifest_list)

    erase(lake, CLUSTER, {"client_id": "bob"}, None)
    iceberg = lake.table(CLIENTS)
    assert len(iceberg.metadata.snapshots) == 1
    folder = Path(iceberg.location().removeprefix("file://"))
    rows = [str(pq.ParquetFile(file).read().to_pylist()) for file in (folder / "data").rglob("*.parquet")]
    assert not [each for each in rows if "bob" in each]
    assert len(list((folder / "metadata").glob("snap-*.avro"))) == 1
    assert [row["client_id"] for row in lake.rows(CLIENTS)] == ["ann"]


def test_no_file_holds_an_erased_client_though_its_snapshot_left_the_metadata_before(lake):
    publish(lake, CLIENTS, TODAY.date(), [{"client_id": "bob"}])
    lake.snapshot_age = dt.timedelta(0)
    for client in ("ann", "eve"):
        publish(lake, CLIENTS, TODAY.date(), [{"client_id": client}])
    folder = Path(lake.table(CLIENTS).location().removeprefix("file://"))
    old = time.time() - 86_400 * (SNAPSHOT_DAYS + 1)
    for file in folder.rglob("*.*"):
        os.utime(file, (old, old))
    lists = list((folder / "metadata").glob("snap-*.avro"))

    def held() -> list[str]:
        files = (folder / "data").rglob("*.parquet")
        return sorted(row["client_id"] for file in files for row in pq.ParquetFile(file).read().to_pylist())

    assert (held(), len(lake.table(CLIENTS).metadata.snapshots)) == (["ann", "bob", "eve"], 2)
    assert len(lists) > 1
    erase(lake, CLUSTER, {"client_id": "bob"}, None)
    assert held() == ["eve"]
    assert len(list((folder / "metadata").glob("snap-*.avro"))) == 1


def test_an_erased_client_is_in_no_table_no_file_and_no_published_page(lake, tmp_path):
    day = TODAY.date()
    clients = [
        {"client_id": "bob", "client_instance_id": BOB, "source_object": "with bob"},
        {"client_id": "ann", "client_instance_id": ANN, "source_object": "without"},
    ]
    for table in (CLIENT_PUSHES, CLIENT_METRICS, CLIENTS, UPGRADE_VERDICTS):
        publish(lake, table, day, clients)
    damaged = [{"bytes": b"\x00bob\xff", "source_object": "damaged"}, {"bytes": b"ann"}]
    publish(lake, UNDECODABLE_RECORDS, day, damaged)
    for names in ({"client_id": "bob"}, {"client_id": "bobby"}):
        rows = pa.Table.from_pylist([names], CLIENTS.arrow_schema)
        results = [each for each in validate_rows(rows, CLIENTS, defaultdict(int)) if not each.success]
        results = [each for each in results if each.unexpected_count][:1]
        lake.append(QUALITY_RESULTS, result_rows(results, CLUSTER, "run", "profile", day))
    # Of a table that names an instance only: by its id as Kafka writes it, and in hex, as versions before 0.2 wrote it.
    for id_ in ("AAAAAAAAAAAAAAAAAAAAAA", BOB.hex(), "AAECAwQFBgcICQoLDA0ODw"):
        row = {"cluster_id": CLUSTER, "dt": day, "result": json.dumps({"client_instance_id": id_})}
        lake.append(QUALITY_RESULTS, [row])
    lake.keep(CLIENTS, lake.snapshot(CLIENTS), "report r")
    assert lake.table(CLIENTS).refs()["report r"].max_ref_age_ms == DERIVED_DAYS * 24 * 60 * 60 * 1000
    pages = {"fleet/c/2026-11-21": '{"client_id": "bob"}', "fleet/c/2026-11-20": '{"client_id": "bobby"}'}
    for page, text in pages.items():
        (tmp_path / "published" / page).mkdir(parents=True)
        (tmp_path / "published" / page / "fleet.json").write_text(text)

    done = erase(lake, CLUSTER, {"client_id": "bob"}, f"file://{tmp_path}/published", "c")

    assert sorted("bobby" in row["result"] for row in lake.rows(QUALITY_RESULTS)) == [False, True]
    assert sum("AAECAwQFBgcICQoLDA0ODw" in row["result"] for row in lake.rows(QUALITY_RESULTS)) == 1
    tables = (CLIENT_PUSHES, CLIENT_METRICS, CLIENTS, UPGRADE_VERDICTS, UNDECODABLE_RECORDS)
    assert {name: rows for name, rows in done.rows.items() if rows} == {
        **{table.name: 1 for table in tables},
        QUALITY_RESULTS.name: 3,
    }
    assert done.raw_objects == ["damaged", "with bob"]
    assert done.report_tags == ["report r"]
    assert done.published_folders == ["fleet/c/2026-11-21"]
    assert not (tmp_path / "published" / "fleet/c/2026-11-21").exists()
    assert (tmp_path / "published" / "fleet/c/2026-11-20").exists()
    for table in tables:
        assert len(lake.rows(table)) == 1
        assert len(lake.table(table).metadata.snapshots) == 1
        for file in (Path(lake.table(table).location().removeprefix("file://")) / "data").rglob("*.parquet"):
            assert "bob" not in str(pq.ParquetFile(file).read().to_pylist())


def test_a_principal_is_erased_as_a_client_id_is(lake):
    rows = [{"client_id": "x", "principal": "User:bob"}, {"client_id": "bob", "principal": "User:ann"}]
    for table in (CLIENTS, UPGRADE_VERDICTS):
        publish(lake, table, TODAY.date(), rows)
    done = erase(lake, CLUSTER, {"principal": "User:bob"})
    assert {name: rows for name, rows in done.rows.items() if rows} == {"clients": 1, "upgrade_verdicts": 1}
    for table in (CLIENTS, UPGRADE_VERDICTS):
        assert [row["principal"] for row in lake.rows(table)] == ["User:ann"]


@pytest.mark.parametrize("deleted", range(4))
def test_an_erasure_that_was_interrupted_is_ended_by_the_next_one(lake, monkeypatch, deleted):
    """`deleted`: tables of which the first attempt deleted the rows."""
    client = {"client_id": "bob", "client_instance_id": BOB, "source_object": "with bob"}
    for table in (CLIENT_METRICS, CLIENT_PUSHES, CLIENTS, UPGRADE_VERDICTS):
        publish(lake, table, TODAY.date(), [client])
    calls = []
    delete = erasure._delete

    def interrupted(lake: Lake, name: str, condition: str) -> int:
        if len(calls) == deleted:
            raise KeyboardInterrupt
        rows = delete(lake, name, condition)
        calls.extend([name] * bool(rows))
        return rows

    with monkeypatch.context() as patch:
        patch.setattr(erasure, "_delete", interrupted)
        with pytest.raises(KeyboardInterrupt):
            erase(lake, CLUSTER, {"client_id": "bob"})
    erase(lake, CLUSTER, {"client_id": "bob"})
    assert [lake.rows(table) for table in (CLIENT_METRICS, CLIENT_PUSHES, CLIENTS, UPGRADE_VERDICTS)] == [
        []
    ] * 4


def test_points_go_though_the_pushes_are_past_their_retention(lake):
    client = {"client_id": "bob", "client_instance_id": BOB}
    lake.create([CLIENT_SESSIONS])
    for table in (CLIENT_METRICS, CLIENT_SESSIONS):
        publish(lake, table, TODAY.date(), [client])
    erase(lake, CLUSTER, {"client_id": "bob"})
    assert lake.rows(CLIENT_METRICS) == []


def test_what_a_gate_refused_does_not_hold_an_erased_client(lake):
    publish(lake, CLIENTS, TODAY.date(), [{"client_id": "bob"}])
    branch = lake.branch("refused by its gate", CLUSTER, "profile")
    rows = [{"cluster_id": CLUSTER, "dt": TODAY.date(), "client_id": name} for name in ("bob", "ann")]
    branch.replace_rows(CLIENTS, rows, cluster_id=CLUSTER, dt=[TODAY.date()])
    erase(lake, CLUSTER, {"client_id": "bob"})
    assert left_over(lake) == {}
    folder = Path(lake.table(CLIENTS).location().removeprefix("file://")) / "data"
    assert not list(folder.rglob("*.parquet"))


def test_rows_about_others_do_not_name_an_erased_client(lake):
    related = [
        {"client_id": name, "relation": "same_address", "because": "10.0.0.1"}
        for name in ("bob", None, "eve")
    ]
    publish(lake, CLIENTS, TODAY.date(), [{"client_id": "ann", "related": related}])
    done = erase(lake, CLUSTER, {"client_id": "bob"})
    assert done.related == 1
    (row,) = lake.rows(CLIENTS)
    assert [one["client_id"] for one in row["related"]] == [None, "eve"]


def test_published_folders_go_whole_and_only_those_of_the_cluster(lake, tmp_path):
    published = tmp_path / "published"
    texts = {
        "upgrade_impact/c/1/index.html": "<td>bob</td>",
        "upgrade_impact/c/1/owners/bobs/report.md": "bob",
        "upgrade_impact/c/1/owners/bobs/clients.csv": 'client_id,principal\r\n"bob","User:bob"\r\n',
        "upgrade_impact/c/2/clients.csv": '"ann","a word about bob"\r\n',
        "upgrade_impact/c/2/report.json": '{"bob": 1, "clients": [{"client_id": "ann"}]}',
        "fleet/c/latest.json": '{"path": "bob"}',
        "fleet/other/2026-11-21/clients.csv": "bob,1\r\n",
        "upgrade_campaign/spring/index.html": "<td>bob</td>",
        "upgrade_campaign/autumn/index.html": "<td>ann</td>",
        "campaign_states/autumn.jsonl": '{"tracks": "[]"}',
    }
    for name, text in texts.items():
        (published / name).parent.mkdir(parents=True, exist_ok=True)
        (published / name).write_text(text)
    done = erase(lake, CLUSTER, {"client_id": "bob"}, published.as_uri(), "c")
    gone = ("campaign_states", "upgrade_campaign/spring", "upgrade_impact/c/1")
    assert done.published_folders == list(gone)
    left = sorted(str(path.relative_to(published)) for path in published.rglob("*") if path.is_file())
    assert left == sorted(name for name in texts if not name.startswith(tuple(f"{each}/" for each in gone)))
