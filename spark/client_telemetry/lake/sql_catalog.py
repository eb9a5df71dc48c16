"""pyiceberg's catalog in a database, with cheaper loads of tables. A stage loads a table some ten times, and its
metadata file lists every snapshot since the last maintenance: thousands in a lake of many clusters.

Metadata files never change, so each is read once, and one that this process wrote not at all; of a new one only the new
snapshots are parsed. A commit asks three times which manifests main has: the manifest list is read once.

And times never go back: Iceberg's Java classes open no table whose history goes back by more than a minute, as happens
when a wrong clock is corrected.
"""

import threading
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from typing import Self, TypeVar

from pydantic_core import from_json
from pyiceberg.catalog import Catalog
from pyiceberg.catalog.sql import IcebergTables
from pyiceberg.exceptions import CommitFailedException, NoSuchTableError
from pyiceberg.io import FileIO
from pyiceberg.serializers import Compressor
from pyiceberg.table import CommitTableResponse, StagedTable, Table
from pyiceberg.table.metadata import TableMetadata, TableMetadataUtil, TableMetadataV2
from pyiceberg.table.snapshots import MetadataLogEntry, Snapshot, SnapshotLogEntry
from pyiceberg.table.update import TableRequirement, TableUpdate
from pyiceberg.typedef import Properties
from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from client_telemetry.lake.files import FileAccess
from client_telemetry.lake.iceberg_internals import ExtensibleSqlCatalog
from client_telemetry.lake.refs import SharedSnapshot

_TABLES_AT_ONCE = 8


class _SharedMetadata(TableMetadataV2):
    """Snapshots, schemas and log entries are never modified: copies of the metadata, of which each commit makes several,
    share them, and each is made JSON once.
    """

    def model_dump_json(  # type: ignore[override]  # pyiceberg's own signature
        self,
        exclude_none: bool = True,
        exclude: set[str] | None = None,
        by_alias: bool = True,
        **kwargs: object,
    ) -> str:
        others = super().model_dump_json(exclude_none, {*(exclude or ()), "snapshots"}, by_alias, **kwargs)
        snapshots = ",".join(
            snapshot.as_json if isinstance(snapshot, SharedSnapshot) else snapshot.model_dump_json()
            for snapshot in self.snapshots
        )
        return f'{others.removesuffix("}")},"snapshots":[{snapshots}]}}'

    def __deepcopy__(self, memo: dict[int, object] | None = None) -> Self:
        return self.model_copy(
            update={name: copy(value) for name, value in self if isinstance(value, list | dict)}
        )


@dataclass(frozen=True)
class _Loaded:
    location: str
    metadata: TableMetadata
    snapshots: dict[int, tuple[dict[str, object] | None, Snapshot]]
    """Id -> what the file says, and the snapshot parsed from it. None if this process made the snapshot."""
    io: FileIO


class DatabaseCatalog(ExtensibleSqlCatalog):
    """Used like any of pyiceberg's catalogs, also from several threads."""

    def __init__(self, name: str, **properties: str):
        # A restarted server has closed the connections.
        super().__init__(name, **{"pool_pre_ping": "true", **properties})
        self._loaded: dict[tuple[str, ...], _Loaded] = {}
        self._staged = threading.local()
        """`table`: what this thread is about to commit; None before its metadata is complete."""

    def load_tables(self, namespace: str, names: Collection[str]) -> dict[str, Table]:
        """Those of the tables that exist, with one query."""
        of_these = select(IcebergTables).where(
            IcebergTables.catalog_name == self.name,
            IcebergTables.table_namespace == namespace,
            IcebergTables.table_name.in_(names),
        )
        with Session(self.engine) as session:
            found = {row.table_name: row for row in session.scalars(of_these)}
        with ThreadPoolExecutor(_TABLES_AT_ONCE) as pool:
            tables = pool.map(self.table_of_row, found.values())
            return dict(zip(found, tables, strict=True))

    def metadata_locations(self, namespace: str) -> dict[str, str]:
        """Table -> where its metadata is, as the catalog has it."""
        of_these = select(IcebergTables).where(
            IcebergTables.catalog_name == self.name, IcebergTables.table_namespace == namespace
        )
        with Session(self.engine) as session:
            return {row.table_name: row.metadata_location or "" for row in session.scalars(of_these)}

    def register_tables(self, namespace: str, locations: Mapping[str, str]) -> None:
        """Existing metadata of new tables, of all or none."""
        rows = [self.row_of_table(namespace, name, location) for name, location in locations.items()]
        with Session(self.engine) as session:
            session.execute(insert(IcebergTables), rows)
            session.commit()

    def commit_table(
        self, table: Table, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> CommitTableResponse:
        self._staged.table = None
        try:
            response = super().commit_table(table, requirements, updates)
        except CommitFailedException:
            # Nothing refers to the metadata file of a commit that lost. pyiceberg leaves it.
            staged = self._staged.table
            if staged is not None:
                with suppress(OSError):
                    staged.io.delete(staged.metadata_location)
            raise
        self._remember(table.name(), response)
        return response

    def _remember(self, name: tuple[str, ...], committed: CommitTableResponse) -> None:
        """Keep what was just committed: this process need not read its own metadata file."""
        before = self._loaded.get(name)
        metadata = committed.metadata
        if before is None or not isinstance(metadata, _SharedMetadata):
            return
        snapshots = {
            snapshot.snapshot_id: before.snapshots.get(snapshot.snapshot_id)
            or (None, SharedSnapshot.model_construct(**dict(snapshot)))
            for snapshot in metadata.snapshots
        }
        own = {
            "snapshots": [snapshot for _, snapshot in snapshots.values()],
            "properties": dict(metadata.properties),
        }
        metadata = metadata.model_copy(update=own)
        io = self.file_io(metadata.properties, committed.metadata_location)
        self._loaded[name] = _Loaded(committed.metadata_location, metadata, snapshots, io)

    def file_io(self, properties: Properties, location: str | None) -> FileIO:
        """One for all tables and commits with the same properties, with its connections."""
        merged = tuple(sorted({**self.properties, **properties}.items()))
        return FileAccess(merged).io(location or self.properties.get("warehouse", ""))

    def table_of_row(self, row: IcebergTables) -> Table:
        location = row.metadata_location
        if not location:
            raise NoSuchTableError(f"{row.table_namespace}.{row.table_name} has no metadata")
        name = (*Catalog.identifier_to_tuple(row.table_namespace), row.table_name)
        loaded = self._loaded.get(name)
        if loaded is None or loaded.location != location:
            loaded = self._loaded[name] = self._load(location, loaded)
        # Callers that change the properties of a loaded table must not change the cached ones.
        metadata = loaded.metadata.model_copy(update={"properties": dict(loaded.metadata.properties)})
        return Table(name, metadata, location, loaded.io, self)

    def staged(self, current_table: Table | None, staged: StagedTable) -> StagedTable:
        metadata = staged.metadata
        before = current_table.metadata.snapshot_log if current_table else []
        log = _after_the_last_removed(before, metadata)
        staged.metadata = metadata.model_copy(
            update={
                "snapshot_log": _none_after(metadata.last_updated_ms, log),
                "metadata_log": _none_after(metadata.last_updated_ms, metadata.metadata_log),
            }
        )
        self._staged.table = staged
        return staged

    def _load(self, location: str, before: _Loaded | None) -> _Loaded:
        io = before.io if before else self.file_io({}, location)
        with Compressor.get_compressor(location).stream_decompressor(io.new_input(location).open()) as source:
            content = from_json(source.read())
        known_snapshots = before.snapshots if before else {}
        snapshots = {}
        for fields in content.get("snapshots") or ():
            number = fields["snapshot-id"]
            known_snapshot = known_snapshots.get(number)
            snapshots[number] = (
                known_snapshot
                if known_snapshot and known_snapshot[0] == fields
                else (fields, SharedSnapshot.model_validate(fields))
            )
        content["snapshots"] = [snapshot for _, snapshot in snapshots.values()]
        is_ours = content["format-version"] == 2
        metadata = (_SharedMetadata.model_validate if is_ours else TableMetadataUtil.parse_obj)(content)
        return _Loaded(location, metadata, snapshots, self.file_io(metadata.properties, location))


_Entry = TypeVar("_Entry", SnapshotLogEntry, MetadataLogEntry)


def _after_the_last_removed(
    before: list[SnapshotLogEntry], metadata: TableMetadata
) -> list[SnapshotLogEntry]:
    """The log of new metadata from the last entry on whose snapshot was removed, as Java's TableMetadata has it: with a gap,
    who reads the table as of a time would get another snapshot than the one of that time. `before`: the log so far.
    """
    there = {snapshot.snapshot_id for snapshot in metadata.snapshots}
    kept = [entry for entry in before if entry.snapshot_id in there]
    new = metadata.snapshot_log[len(kept) :]
    last = max((place for place, entry in enumerate(before) if entry.snapshot_id not in there), default=-1)
    return [*before[last + 1 :], *new]


def _none_after(last: int, log: list[_Entry]) -> list[_Entry]:
    """A log in which no entry is dated after the next one, nor after `last`."""
    entries: list[_Entry] = []
    for entry in reversed(log):
        last = min(last, entry.timestamp_ms)
        entries.append(
            entry if entry.timestamp_ms == last else entry.model_copy(update={"timestamp_ms": last})
        )
    return entries[::-1]
