"""Other engines and maintenance change tables between two stages: the pipeline sees it and goes on."""

import datetime as dt

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from client_telemetry.lake.catalog import (
    CATALOG,
    CATALOG_SETTING,
    NAMESPACE,
    NoSuchLake,
    spark_settings,
)
from client_telemetry.lake.commits import SnapshotGone
from client_telemetry.lake.files import portions
from client_telemetry.lake.lake import Lake
from client_telemetry.lake.maintenance import SNAPSHOT_DAYS, maintain, retention
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.publications import PUBLICATIONS
from client_telemetry.tables.quality_results import QUALITY_RESULTS

from tests.client_telemetry.lake.conftest import expire_all_but_the_heads, in_spark

DAY = dt.date(2026, 11, 21)
NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
NAME = f"{CATALOG}.{NAMESPACE}.{CLIENT_PUSHES.name}"
CLUSTER = "c"


@pytest.fixture
def lake(spark, tmp_path) -> Lake:
    location = str(tmp_path / "lake")
    lake = Lake(in_spark(spark, location), location)
    lake.create([CLIENT_PUSHES, QUALITY_RESULTS, PUBLICATIONS])
    publish(lake, "first", DAY, ["ann", "bob", "cid", None])
    publish(lake, "before", DAY - dt.timedelta(days=1), ["ann", "bob"])
    return lake


def publish(lake: Lake, run: str, day: dt.date, clients: list[str | None]) -> None:
    rows = [
        {
            "cluster_id": CLUSTER,
            "dt": day,
            "client_id": client,
            "received_at": NOON,
            "sequence": n,
            "client_software_name": f"software of {client}",
            "resources": None if n else [],
        }
        for n, client in enumerate(clients)
    ]
    branch = lake.branch(run, CLUSTER, "decode")
    branch.replace_rows(CLIENT_PUSHES, rows, cluster_id=CLUSTER, dt=[day])
    branch.publish(CLUSTER, run, "decode", [day])


def seen(lake: Lake, day: dt.date = DAY) -> list[tuple[str | None, str]]:
    """Clients of a day with their software, which must be the same in every way to read them."""
    snapshot = lake.published()[CLIENT_PUSHES.name]
    ways = [
        [
            (row["client_id"], row["client_software_name"])
            for row in lake.rows(CLIENT_PUSHES, snapshot, cluster_id=CLUSTER, dt=day)
        ],
        [
            (row["client_id"], row["client_software_name"])
            for row in lake.read(CLIENT_PUSHES, snapshot).where(f"dt = date'{day}'").collect()
        ],
    ]
    schema = pa.schema(
        [f for f in CLIENT_PUSHES.arrow_schema if f.name in ("client_id", "client_software_name")]
    )
    files = lake.files(CLIENT_PUSHES, snapshot, cluster_id=CLUSTER, dt=[day])
    ways.append(
        [
            (row["client_id"], row["client_software_name"])
            for table in portions([file for file in files if file.dt == day], schema)
            for row in table.to_pylist()
        ]
    )
    ways = [sorted(way, key=str) for way in ways]
    assert ways[0] == ways[1] == ways[2]
    return ways[0]


def of(*clients: str | None) -> list[tuple[str | None, str]]:
    return sorted([(client, f"software of {client}") for client in clients], key=str)


@pytest.mark.parametrize("mode", ["copy-on-write", "merge-on-read"])
def test_rows_that_a_plain_delete_removed_are_gone_for_every_reader(lake, mode):
    lake.spark.sql(f"ALTER TABLE {NAME} SET TBLPROPERTIES ('write.delete.mode' = '{mode}')")
    lake.spark.sql(f"DELETE FROM {NAME} WHERE client_id = 'bob'")
    assert seen(lake) == of("ann", "cid", None)
    assert seen(lake, DAY - dt.timedelta(days=1)) == of("ann")
    publish(lake, "again", DAY, ["ann", "dan"])
    assert seen(lake) == of("ann", "dan")


def test_rows_that_an_equality_delete_names_are_gone(lake):
    """As Flink writes them. Nulls are equal there."""
    iceberg = lake.table(CLIENT_PUSHES)
    field = iceberg.schema().find_field("client_id")
    for client in ("bob", None):
        url = f"{iceberg.location()}/data/delete-{client}.parquet"
        deleted = pa.field("client_id", pa.string(), metadata={"PARQUET:field_id": str(field.field_id)})
        pq.write_table(pa.table([[client]], schema=pa.schema([deleted])), url.removeprefix("file://"))
        append_equality_delete(lake, url, field.field_id)
    rows = lake.rows(CLIENT_PUSHES, cluster_id=CLUSTER, dt=DAY)
    assert sorted(row["client_id"] for row in rows) == ["ann", "cid"]
    assert seen(lake, DAY - dt.timedelta(days=1)) == of("ann", "bob")


def append_equality_delete(lake: Lake, url: str, field_id: int) -> None:
    jvm = lake.spark._jvm
    prefix = f"{CATALOG_SETTING}."
    options = {
        k.removeprefix(prefix): v for k, v in spark_settings(lake.location).items() if k.startswith(prefix)
    }
    catalog = jvm.org.apache.iceberg.CatalogUtil.buildIcebergCatalog(
        CATALOG, options, lake.spark._jsc.hadoopConfiguration()
    )
    table = catalog.loadTable(
        jvm.org.apache.iceberg.catalog.TableIdentifier.parse(f"{NAMESPACE}.{CLIENT_PUSHES.name}")
    )
    ids = lake.spark.sparkContext._gateway.new_array(jvm.int, 1)
    ids[0] = field_id
    delete = (
        jvm.org.apache.iceberg.FileMetadata.deleteFileBuilder(table.spec())
        .ofEqualityDeletes(ids)
        .withPath(url)
        .withFormat("parquet")
        .withPartitionPath(f"cluster_id={CLUSTER}/dt={DAY}")
        .withFileSizeInBytes(1000)
        .withRecordCount(1)
        .build()
    )
    table.newRowDelta().addDeletes(delete).commit()


def test_compaction_and_expiry_between_two_stages_change_no_row(lake):
    for n in range(3):
        lake.spark.sql(
            f"INSERT INTO {NAME} SELECT * FROM {NAME} WHERE client_id = 'cid' AND dt = date'{DAY}' LIMIT 1"
        )
        assert len(lake.files(CLIENT_PUSHES, cluster_id=CLUSTER, dt=[DAY])) == n + 2
    expected = seen(lake)
    later = dt.datetime.now(dt.UTC) + dt.timedelta(days=SNAPSHOT_DAYS + 1)
    done = {each.table: each for each in maintain(lake, later, retention({}))}
    assert seen(lake) == expected
    assert len(lake.files(CLIENT_PUSHES, cluster_id=CLUSTER, dt=[DAY])) == 1
    assert done["client_pushes"].snapshots_after == 1
    publish(lake, "again", DAY, ["ann"])
    assert seen(lake) == of("ann")


def test_a_column_that_another_engine_renamed_is_found_by_its_id(lake):
    lake.spark.sql(f"ALTER TABLE {NAME} RENAME COLUMN client_software_name TO sw")
    lake.spark.sql(
        f"CALL {CATALOG}.system.rewrite_data_files('{NAME}', options => map('rewrite-all', 'true'))"
    )
    assert seen(lake) == of("ann", "bob", "cid", None)
    lake.create([CLIENT_PUSHES])
    assert "sw" not in lake.table(CLIENT_PUSHES).schema().column_names
    assert seen(lake) == of("ann", "bob", "cid", None)
    publish(lake, "again", DAY, ["ann"])
    assert seen(lake) == of("ann")


def test_a_partition_field_that_another_engine_replaced(lake):
    """Files of its layout hold several days; a stage still replaces its day and no other."""
    lake.spark.sql(f"ALTER TABLE {NAME} REPLACE PARTITION FIELD dt WITH days(received_at)")
    lake.spark.sql(
        f"CALL {CATALOG}.system.rewrite_data_files('{NAME}', options => map('rewrite-all', 'true'))"
    )
    assert seen(lake) == of("ann", "bob", "cid", None)
    lake.create([CLIENT_PUSHES])
    publish(lake, "again", DAY, ["ann"])
    assert seen(lake) == of("ann")
    assert seen(lake, DAY - dt.timedelta(days=1)) == of("ann", "bob")
    (resources,) = {repr(r["resources"]) for r in lake.rows(CLIENT_PUSHES, dt=DAY)}
    assert resources == "[]"


def test_a_rewrite_between_two_stages(lake):
    """A snapshot that a stage reads from stays readable while another engine rewrites the table."""
    heads = lake.published()
    lake.spark.sql(
        f"CALL {CATALOG}.system.rewrite_data_files('{NAME}', options => map('rewrite-all', 'true'))"
    )
    read = lake.rows(CLIENT_PUSHES, heads[CLIENT_PUSHES.name], cluster_id=CLUSTER, dt=DAY)
    assert len(read) == 4
    branch = lake.branch("staged", CLUSTER, "decode")
    branch.replace_rows(CLIENT_PUSHES, read[:2], cluster_id=CLUSTER, dt=[DAY])
    lake.spark.sql(
        f"CALL {CATALOG}.system.rewrite_data_files('{NAME}', options => map('rewrite-all', 'true'))"
    )
    branch.publish(CLUSTER, "staged", "decode", [DAY])
    assert len(seen(lake)) == 2


def test_what_a_report_names_outlives_maintenance_and_old_rows_do_not(lake):
    named = lake.published()[CLIENT_PUSHES.name]
    lake.keep(CLIENT_PUSHES, named, "report r")
    publish(lake, "again", DAY, ["ann"])
    later = dt.datetime.combine(DAY + dt.timedelta(days=90), dt.time(), dt.UTC)
    (done,) = [each for each in maintain(lake, later, retention({})) if each.table == "client_pushes"]
    assert done.rows_removed == 2
    assert seen(lake) == of("ann") and seen(lake, DAY - dt.timedelta(days=1)) == []
    assert len(lake.rows(CLIENT_PUSHES, named)) == 6


def test_a_snapshot_that_has_expired_does_not_read_as_empty(lake):
    snapshot = lake.published()[CLIENT_PUSHES.name]
    publish(lake, "again", DAY, ["ann"])
    expire_all_but_the_heads(lake, CLIENT_PUSHES)
    for read in (lake.rows, lake.files, lake.read):
        with pytest.raises(SnapshotGone, match=f"client_pushes: snapshot {snapshot} has expired"):
            read(CLIENT_PUSHES, snapshot)


def test_a_column_that_another_engine_dropped_and_a_stage_made_again(lake):
    """Another column to Iceberg: rows in files with field ids have lost it, and of files without ids it is found by its name."""
    lake.spark.sql(
        f"CALL {CATALOG}.system.rewrite_data_files(table => '{NAME}', where => \"dt = date'{DAY}'\", "
        "options => map('rewrite-all', 'true'))"
    )
    lake.spark.sql(f"ALTER TABLE {NAME} DROP COLUMN client_software_name")
    lake.create([CLIENT_PUSHES])
    assert {software for _, software in seen(lake)} == {None}
    assert seen(lake, DAY - dt.timedelta(days=1)) == of("ann", "bob")
    publish(lake, "again", DAY, ["ann"])
    assert seen(lake) == of("ann")


def test_an_equality_delete_by_a_column_that_is_younger_than_the_file(lake):
    """All its rows are null there."""
    lake.spark.sql(f"ALTER TABLE {NAME} ADD COLUMN marker string")
    iceberg = lake.table(CLIENT_PUSHES)
    field = iceberg.schema().find_field("marker")

    def delete(value):
        url = f"{iceberg.location()}/data/delete-{value}.parquet"
        deleted = pa.field("marker", pa.string(), metadata={"PARQUET:field_id": str(field.field_id)})
        pq.write_table(pa.table([[value]], schema=pa.schema([deleted])), url.removeprefix("file://"))
        append_equality_delete(lake, url, field.field_id)

    delete("x")
    assert len(lake.rows(CLIENT_PUSHES, cluster_id=CLUSTER, dt=DAY)) == 4
    delete(None)
    assert lake.rows(CLIENT_PUSHES, cluster_id=CLUSTER, dt=DAY) == []
    assert len(lake.rows(CLIENT_PUSHES, cluster_id=CLUSTER)) == 2


def test_a_table_that_another_engine_upgraded_is_refused_in_one_sentence(lake):
    """Deletion vectors of version 3 are no Parquet files."""
    lake.spark.sql(
        f"ALTER TABLE {NAME} SET TBLPROPERTIES ('format-version' = '3', 'write.delete.mode' = 'merge-on-read')"
    )
    lake.spark.sql(f"DELETE FROM {NAME} WHERE client_id = 'bob'")
    for use in (lake.rows, lambda table: lake.create([table]), lambda _: lake.published()):
        with pytest.raises(NoSuchLake, match=r"client_pushes has format version 3.*version 2"):
            use(CLIENT_PUSHES)
