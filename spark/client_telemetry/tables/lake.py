"""The lake: where tables are kept, and the write, audit, publish steps. Nothing else knows about Iceberg.

Rows are written by Spark, or by Python workers as Parquet files; branches, snapshots and publishing go through
pyiceberg, on the same catalog. A stage writes to a branch of its own, made from main; when its gate has passed,
main moves to the branch in one step per table. If main moved meanwhile, the stage starts again from it.
"""

import contextlib
import datetime as dt
import re
import warnings
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from pathlib import Path

import pyarrow as pa
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitFailedException, NamespaceAlreadyExistsError, NoSuchTableError
from pyiceberg.expressions import And, BooleanExpression, EqualTo, In
from pyiceberg.io.pyarrow import PYARROW_FIELD_DOC_KEY
from pyiceberg.table import Table as IcebergTable
from pyiceberg.utils.datetime import days_to_date
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from client_telemetry.tables.null_lists import keep_null_lists
from client_telemetry.tables.publications import PUBLICATIONS
from client_telemetry.tables.slice_files import SliceFile
from client_telemetry.tables.table import Table

keep_null_lists()

CATALOG = "lake"
NAMESPACE = "client_telemetry"

_PROPERTIES = {
    "format-version": "2",
    "write.parquet.compression-codec": "zstd",
    # A slice is one partition: hashing by partition would funnel it through one task.
    "write.distribution-mode": "none",
    "write.spark.accept-any-schema": "false",
}


class MainMoved(Exception):
    """Somebody else published the table meanwhile: start the stage again from the new state."""


class NoSuchLake(Exception):
    """The lake's location cannot be used."""


CATALOG_SETTING = f"spark.sql.catalog.{CATALOG}"


def spark_settings_at_start() -> dict[str, str]:
    """What has to be set before Spark starts."""
    return {"spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"}


def spark_settings(location: str) -> dict[str, str]:
    """What a Spark session needs to read and write the embedded lake at `location` (a folder or file:// URL).

    A session that has CATALOG_SETTING already (REST, Glue, Hive, ...) keeps what it has.
    """
    folder = _folder(location)
    return {
        CATALOG_SETTING: "org.apache.iceberg.spark.SparkCatalog",
        f"{CATALOG_SETTING}.type": "jdbc",
        f"{CATALOG_SETTING}.uri": f"jdbc:sqlite:{folder}/catalog.db",
        f"{CATALOG_SETTING}.jdbc.schema-version": "V1",
        f"{CATALOG_SETTING}.warehouse": f"file://{folder}",
        # Branches and snapshots are moved outside Spark: a cached table would be a stale one.
        f"{CATALOG_SETTING}.cache-enabled": "false",
    }


def _folder(location: str) -> Path:
    if "://" in location and not location.startswith("file://"):
        raise NoSuchLake(
            f"{location}: the embedded catalog needs a local folder; for an object store configure the catalog "
            f"`{CATALOG}` for Spark ({CATALOG_SETTING}) and for pyiceberg"
        )
    return Path(location.removeprefix("file://")).absolute()


def open_catalog(location: str) -> Catalog:
    """pyiceberg's view of the catalog: its own configuration of `lake` if there is one, else the embedded one."""
    try:
        return load_catalog(CATALOG)
    except ValueError:
        folder = _folder(location)
        folder.mkdir(parents=True, exist_ok=True)
        return SqlCatalog(CATALOG, uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}")


def _arrow_schema_with_comments(table: Table) -> pa.Schema:
    fields = zip(table.arrow_schema, table.columns, strict=True)
    return pa.schema([f.with_metadata({PYARROW_FIELD_DOC_KEY: c.comment.encode()}) for f, c in fields])


def branch_name(run_id: str, cluster_id: str, stage: str) -> str:
    """`audit_<run>_<cluster>_<stage>` in letters that SQL names allow, with a digest that keeps names apart."""
    plain = re.sub(r"[^A-Za-z0-9]+", "_", f"{run_id}_{cluster_id}")[:60]
    return f"audit_{plain}_{zlib.crc32(f'{run_id}/{cluster_id}'.encode()):08x}_{stage}"


class Lake:
    """The tables at one location. Create one per job; it holds no state but the catalog's connection."""

    def __init__(self, spark: SparkSession | None, location: str):
        self.spark = spark
        self.location = location
        self.catalog = open_catalog(location)

    def create(self, tables: Iterable[Table]) -> None:
        """Create the tables that do not exist yet, each with an empty first snapshot (a branch needs one)."""
        try:
            self.catalog.create_namespace(NAMESPACE)
        except NamespaceAlreadyExistsError:
            pass
        for table in tables:
            name = (NAMESPACE, table.name)
            if self.catalog.table_exists(name):
                self._add_columns(table)
                continue
            properties = {**_PROPERTIES, "comment": table.comment, "key": ", ".join(table.key)}
            # With bounds cut at 16 characters, pyiceberg could not tell that a file lies wholly in a slice: it would
            # load and rewrite the file instead of dropping it.
            properties |= {f"write.metadata.metrics.column.{column}": "full" for column in table.partition}
            with self.catalog.create_table_transaction(
                name, schema=_arrow_schema_with_comments(table), properties=properties
            ) as transaction:
                with transaction.update_spec() as spec:
                    for column in table.partition:
                        spec.add_identity(column)
            self.catalog.load_table(name).append(table.arrow_schema.empty_table())

    def _add_columns(self, table: Table) -> None:
        """A column that a newer version of the program has is null in older rows."""
        iceberg = self.table(table)
        if {c.name for c in table.columns} - set(iceberg.schema().column_names):
            with iceberg.update_schema() as update:
                update.union_by_name(_arrow_schema_with_comments(table))

    def table(self, table: Table) -> IcebergTable:
        return self.catalog.load_table((NAMESPACE, table.name))

    def exists(self, table: Table) -> bool:
        return self.catalog.table_exists((NAMESPACE, table.name))

    def snapshot(self, table: Table) -> int:
        """Id of the snapshot that readers see now."""
        return self.table(table).metadata.refs["main"].snapshot_id

    def rows(self, table: Table, snapshot: int | None = None, **equal: object) -> list[dict]:
        """Rows of a small table as dicts, without Spark; `equal` filters by column. An absent table is empty, and a
        column that is younger than the snapshot or the table is null."""
        try:
            iceberg = self.table(table)
        except NoSuchTableError:
            return []
        condition = _all(EqualTo(name, value) for name, value in equal.items())
        scan = (
            iceberg.scan(snapshot_id=snapshot)
            if condition is None
            else iceberg.scan(condition, snapshot_id=snapshot)
        )
        columns = dict.fromkeys(column.name for column in table.columns)
        return [columns | _plain(row) for row in scan.to_arrow().to_pylist(maps_as_pydicts="strict")]

    def read(self, table: Table, snapshot: int | None = None, branch: str | None = None) -> DataFrame:
        """What readers see, or one snapshot, or what a stage has written on its branch."""
        reader = self.spark.read
        if snapshot is not None:
            reader = reader.option("versionAsOf", str(snapshot))
        if branch is not None:
            reader = reader.option("branch", branch)
        return reader.table(f"{CATALOG}.{NAMESPACE}.{table.name}")

    def files(
        self, table: Table, snapshot: int | None = None, branch: str | None = None, **slice_: object
    ) -> list[SliceFile]:
        """The data files of the slice whose partition columns equal `slice_` (a list means any of them), in what readers
        see, or in one snapshot, or in what a stage has written on its branch."""
        iceberg = self.table(table)
        if branch is not None:
            snapshot = iceberg.metadata.refs[branch].snapshot_id
        places = {field.name: place for place, field in enumerate(iceberg.spec().fields)}
        files = []
        for task in iceberg.scan(_slice(slice_), snapshot_id=snapshot).plan_files():
            cluster_id, day = (task.file.partition[places[name]] for name in ("cluster_id", "dt"))
            files.append(
                SliceFile(task.file.file_path, cluster_id, days_to_date(day), task.file.record_count)
            )
        return files

    def append(self, table: Table, rows: Sequence[dict]) -> None:
        """Add rows to a table that is not audited itself (quality_results, publications)."""
        self.table(table).append(pa.Table.from_pylist(list(rows), schema=table.arrow_schema))

    def published(self) -> dict[str, int]:
        """Table to snapshot that belongs to the latest publications: what a reader of several tables reads."""
        snapshots: dict[str, int] = {}
        for row in sorted(self.rows(PUBLICATIONS), key=lambda row: row["published_at"]):
            snapshots.update(row["snapshots"])
        return snapshots

    def keep(self, table: Table, snapshot: int, name: str) -> None:
        """Tag a snapshot, so that it outlives maintenance as long as what was made from it."""
        iceberg = self.table(table)
        if name not in iceberg.metadata.refs:
            iceberg.manage_snapshots().create_tag(snapshot, name).commit()

    def branch(self, run_id: str, cluster_id: str, stage: str) -> "Branch":
        return Branch(self, branch_name(run_id, cluster_id, stage))


class Branch:
    """What one attempt of a stage writes, out of the readers' sight."""

    def __init__(self, lake: Lake, name: str):
        self.lake = lake
        self.name = name
        self._base: dict[Table, int] = {}

    def _start(self, table: Table) -> IcebergTable:
        """Make the branch from main, dropping what an earlier attempt left."""
        iceberg = self.lake.table(table)
        if table not in self._base:
            if self.name in iceberg.metadata.refs:
                iceberg.manage_snapshots().remove_branch(self.name).commit()
                iceberg = self.lake.table(table)
            self._base[table] = iceberg.metadata.refs["main"].snapshot_id
            iceberg.manage_snapshots().create_branch(self._base[table], self.name).commit()
            iceberg = self.lake.table(table)
        return iceberg

    def replace(self, table: Table, parts: Sequence[DataFrame], **slice_: object) -> None:
        """Replace the slice whose columns equal `slice_` (a list means any of them) by the rows of all `parts`."""
        self._start(table)
        condition = F.lit(True)
        for name, value in slice_.items():
            values = value if isinstance(value, list) else [value]
            condition = condition & F.col(name).isin(*values)
        (
            reduce(DataFrame.unionByName, parts)
            .select(*[F.col(c.name).cast(c.kind) for c in table.columns])
            .writeTo(f"{CATALOG}.{NAMESPACE}.{table.name}.branch_{self.name}")
            .option("check-nullability", "false")
            .overwrite(condition)
        )

    def replace_rows(self, table: Table, rows: Sequence[dict], **slice_: object) -> None:
        """The same for rows that the driver holds."""
        arrow = pa.Table.from_pylist(list(rows), schema=table.arrow_schema)
        iceberg = self._start(table)
        with _an_empty_slice_is_fine():
            iceberg.overwrite(arrow, overwrite_filter=_slice(slice_), branch=self.name)

    def replace_files(self, table: Table, files: Sequence[str], **slice_: object) -> None:
        """The same for Parquet files that workers wrote at their final place; columns that partition or filter
        have statistics in the files (without them add_files takes the partition value for null)."""
        with self._start(table).transaction() as transaction, _an_empty_slice_is_fine():
            transaction.delete(_slice(slice_), branch=self.name)
            if files:
                transaction.add_files(list(files), branch=self.name)

    def read(self, table: Table) -> DataFrame:
        """What the table would be after publishing."""
        return self.lake.read(table, branch=self.name) if table in self._base else self.lake.read(table)

    def files(self, table: Table, **slice_: object) -> list[SliceFile]:
        """Data files of what this attempt has written."""
        return self.lake.files(table, branch=self.name, **slice_)

    def publish(self, cluster_id: str, run_id: str, stage: str, days: Sequence[dt.date]) -> dict[str, int]:
        """Move main to what was written, table by table in the order of writing; then say so in `publications`.

        Raises MainMoved if somebody else published one of the tables since the branch was made.
        """
        snapshots = {}
        for table, base in self._base.items():
            iceberg = self.lake.table(table)
            if iceberg.metadata.refs["main"].snapshot_id != base:
                raise MainMoved(f"{table.name}: main moved while {self.name} was written")
            try:
                iceberg.manage_snapshots().set_current_snapshot(ref_name=self.name).commit()
            except CommitFailedException as error:
                raise MainMoved(f"{table.name}: {error}") from error
            iceberg = self.lake.table(table)
            snapshots[table.name] = iceberg.metadata.refs["main"].snapshot_id
            iceberg.manage_snapshots().remove_branch(self.name).commit()
        row = {
            "cluster_id": cluster_id,
            "run_id": run_id,
            "stage": stage,
            "days": sorted(days),
            "snapshots": snapshots,
            "published_at": dt.datetime.now(dt.UTC),
        }
        self.lake.append(PUBLICATIONS, [row])
        return snapshots


@contextlib.contextmanager
def _an_empty_slice_is_fine() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Delete operation did not match any records")
        yield


def _all(conditions: Iterable[BooleanExpression]) -> BooleanExpression | None:
    conditions = list(conditions)
    if not conditions:
        return None
    return conditions[0] if len(conditions) == 1 else And(*conditions)


def _slice(slice_: dict[str, object]) -> BooleanExpression:
    return _all(In(n, v) if isinstance(v, list) else EqualTo(n, v) for n, v in slice_.items())


def _plain(row: dict) -> dict:
    """pyarrow gives the time zone that the file names; everything here is UTC."""
    return {k: v.astimezone(dt.UTC) if isinstance(v, dt.datetime) else v for k, v in row.items()}
