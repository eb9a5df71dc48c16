"""Parquet files of a table that Python workers write at their final place. The driver registers them
(`Branch.replace_files`); a file that nobody registers is invisible to readers."""

import datetime as dt
import uuid
from collections.abc import Sequence
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from client_telemetry.tables.table import Table

ROWS_IN_MEMORY = 50_000


class DataFile:
    """One file of one slice (cluster, day) of a table, made when the first row arrives. Holds at most
    `ROWS_IN_MEMORY` rows; each such portion becomes a row group.

    The name is new at every attempt: after a lost worker Spark's attempt number can be the same again.
    """

    def __init__(self, table: Table, location: str, cluster_id: str, dt_: dt.date):
        self._schema = table.arrow_schema
        self._slice = {"cluster_id": cluster_id, "dt": dt_}
        self._columns = [c.name for c in table.columns if c.name not in self._slice]
        self._rows: list[Sequence[object]] = []
        self._writer: pq.ParquetWriter | None = None
        self._url = f"{location}/data/cluster_id={quote(cluster_id, safe='')}/dt={dt_.isoformat()}/{uuid.uuid4().hex}.parquet"
        self.rows = 0

    def add(self, rows: Sequence[Sequence[object]]) -> None:
        """Rows hold the values of all columns but cluster_id and dt, in table order."""
        self._rows.extend(rows)
        if len(self._rows) >= ROWS_IN_MEMORY:
            self._flush()

    def _flush(self) -> None:
        if not self._rows:
            return
        values = dict(zip(self._columns, zip(*self._rows, strict=True), strict=True))
        size = len(self._rows)
        arrays = [
            pa.repeat(pa.scalar(self._slice[f.name], f.type), size)
            if f.name in self._slice
            else pa.array(values[f.name], f.type)
            for f in self._schema
        ]
        if self._writer is None:
            files, path = fs.FileSystem.from_uri(self._url)
            files.create_dir(path.rpartition("/")[0], recursive=True)
            # Dictionaries stay a matter of the encoding; readers see the plain types of the table.
            self._writer = pq.ParquetWriter(
                path, self._schema, filesystem=files, compression="zstd", store_schema=False
            )
        self._writer.write_table(pa.Table.from_arrays(arrays, schema=self._schema))
        self.rows += size
        self._rows = []

    def close(self) -> str | None:
        """URL of the file, or None if no row came."""
        self._flush()
        if self._writer is None:
            return None
        self._writer.close()
        return self._url
