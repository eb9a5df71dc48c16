import datetime as dt

import pyarrow.parquet as pq
from client_telemetry.lake.writer import DataFile, TablePlace
from client_telemetry.tables.table import CLUSTER_ID, DT, LONG, STRING, TIMESTAMP, Column, Table

TABLE = Table(
    name="some_table",
    comment="For this test.",
    columns=(
        CLUSTER_ID,
        DT,
        Column("number", LONG, ""),
        Column("at", TIMESTAMP, ""),
        Column("text", STRING, ""),
    ),
    key=("number",),
)


def test_partition_columns_have_statistics_or_the_table_format_takes_them_for_null(tmp_path):
    file = DataFile(TABLE, TablePlace(f"file://{tmp_path}"), {"cluster_id": "c1", "dt": dt.date(2026, 3, 1)})
    file.add([(1, dt.datetime(2026, 3, 1, tzinfo=dt.UTC), "a")])
    stored = pq.read_metadata(file.close().removeprefix("file://")).row_group(0)
    columns = {
        stored.column(i).path_in_schema: stored.column(i).statistics for i in range(stored.num_columns)
    }
    assert (columns["cluster_id"].min, columns["dt"].min) == ("c1", dt.date(2026, 3, 1))
    assert columns["number"].has_min_max and columns["at"].has_min_max
    assert columns["text"] is None or not columns["text"].has_min_max
