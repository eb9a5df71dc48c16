"""Data files: what is in them, where they go, and by what they are opened."""

import datetime as dt
import pickle

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from client_telemetry.lake.files import LOCAL
from client_telemetry.lake.writer import DataFile, TablePlace, write_rows, write_table
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.table import CLUSTER_ID, DT, LONG, STRING, TIMESTAMP, Column, Table
from pyiceberg.io import InputFile, OutputFile
from pyiceberg.io.pyarrow import PyArrowFileIO

from tests.client_telemetry.lake.conftest import DAY, created, row

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


def test_an_arrow_table_is_a_file_for_each_partition(tmp_path, monkeypatch):
    """Whatever types a query gives its values, and in however many pieces they come."""
    monkeypatch.setattr("client_telemetry.lake.writer.ROWS_IN_COLUMNS", 2)
    at = dt.datetime(2026, 3, 1, 7, tzinfo=dt.UTC)
    days = [dt.date(2026, 3, 1), dt.date(2026, 3, 2)]
    rows = pa.table(
        {
            "text": ["a", None, "c", "d", "e"],
            "at": pa.array([at] * 5, pa.timestamp("us", "America/New_York")),
            "number": pa.array(range(5), pa.int32()),
            "dt": [days[0], days[1], days[0], days[0], days[1]],
            "cluster_id": ["c"] * 5,
        }
    )
    urls = write_table(TABLE, TablePlace(f"file://{tmp_path}"), rows)
    files = [pq.ParquetFile(url.removeprefix("file://")) for url in urls]
    stored = sorted((tuple(row.values()) for file in files for row in file.read().to_pylist()), key=repr)
    expected = [
        ("c", days[day], n, at, text)
        for day, n, text in zip((0, 1, 0, 0, 1), range(5), rows["text"].to_pylist(), strict=True)
    ]
    assert stored == sorted(expected, key=repr)
    assert write_table(TABLE, TablePlace(f"file://{tmp_path}"), rows.slice(0, 0)) == []


class WithToken(PyArrowFileIO):
    """Opens files for who has what the catalog vended."""

    def new_input(self, location: str) -> InputFile:
        return super().new_input(self._allowed(location))

    def new_output(self, location: str) -> OutputFile:
        return super().new_output(self._allowed(location))

    def _allowed(self, location: str) -> str:
        if self.properties.get("vended") != "token":
            raise PermissionError(location)
        return location


def test_workers_open_files_by_the_catalogs_file_io_where_its_location_provider_says(tmp_path, monkeypatch):
    properties = {
        "TYPE": "sql",
        "URI": f"sqlite:///{tmp_path}/catalog.db",
        "WAREHOUSE": f"file://{tmp_path}/warehouse",
        "PY_IO_IMPL": f"{__name__}.WithToken",
        "VENDED": "token",
    }
    for name, value in properties.items():
        monkeypatch.setenv(f"PYICEBERG_CATALOG__LAKE__{name}", value)
    lake = created(str(tmp_path / "warehouse"))
    elsewhere = {"write.object-storage.enabled": "true", "write.data.path": f"file://{tmp_path}/elsewhere"}
    lake.committed(BROKERS.name, lambda _, change: change.set_properties(elsewhere))
    in_worker = pickle.loads(pickle.dumps(lake.place(BROKERS)))
    urls = write_rows(BROKERS, in_worker, [row(BROKERS, "a")])
    branch = lake.branch("run", "a", "collect")
    branch.replace_files(BROKERS, urls, cluster_id="a", dt=[DAY])
    branch.publish("a", "run", "collect", [DAY])
    (file,) = pickle.loads(pickle.dumps(lake.files(BROKERS)))
    assert file.url.startswith(f"file://{tmp_path}/elsewhere/")
    assert [len(group) for group in file.row_groups(BROKERS.arrow_schema, False)] == [1]
    assert len(lake.rows(BROKERS, cluster_id="a")) == 1
    without = TablePlace(
        in_worker.location, in_worker.properties, type(LOCAL)((("py-io-impl", f"{__name__}.WithToken"),))
    )
    with pytest.raises(PermissionError):
        write_rows(BROKERS, without, [row(BROKERS, "a")])
