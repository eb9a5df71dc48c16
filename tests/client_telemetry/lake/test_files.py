"""How much of a table's files a task of Spark reads."""

from dataclasses import replace

from client_telemetry.lake import writer
from client_telemetry.lake.files import PartitionFile, split_bytes
from client_telemetry.lake.lake import Lake
from client_telemetry.pipeline.stage import spark_session
from client_telemetry.tables.brokers import BROKERS
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from tests.client_telemetry.lake.conftest import DAY, row

FILE = PartitionFile("file:///a.parquet", "c", DAY, 1)


def test_small_tables_are_shared_and_large_ones_have_the_table_formats_tasks():
    sizes = (1_000, 40 * 2**20, 4 * 2**30)
    assert [split_bytes([replace(FILE, stored_bytes=size)]) for size in sizes] == [2**20, 5 * 2**20, 2**27]
    assert split_bytes([]) == 2**20


def test_the_row_groups_of_one_file_are_read_by_several_tasks(spark: SparkSession, tmp_path, monkeypatch):
    monkeypatch.setattr(writer, "ROWS_IN_MEMORY", 1)
    lake = Lake(spark_session("collect", str(tmp_path)), str(tmp_path))
    lake.create([BROKERS])
    rows = [row(BROKERS, f"{number}", broker_id=number) | {"cluster_id": "c"} for number in range(4)]
    file = writer.DataFile(BROKERS, lake.place(BROKERS), {"cluster_id": "c", "dt": DAY})
    for each in rows:
        file.add([tuple(each.get(c.name) for c in BROKERS.columns if c.name not in BROKERS.partition)])
    branch = lake.branch("run", "c", "collect")
    branch.replace_files(BROKERS, [file.close()], cluster_id="c", dt=DAY)

    def tasks(**how: int) -> int:
        read = lake.read(BROKERS, branch=branch.name, **how)
        assert read.count() == 4
        return read.select(F.spark_partition_id()).distinct().count()

    assert tasks() == 1
    assert tasks(split_bytes=1) == 4
