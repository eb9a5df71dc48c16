"""A copy of a lake at another place, which works without the original: Iceberg's metadata names every file by its full location, so
metadata, manifest lists and manifests are written anew, with the rows and snapshots, branches and tags that they had.

The copy's catalog knows its tables once everything is there, so that a copy that was interrupted is no lake.
"""

import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import cast

import pyarrow.parquet as pq
from pyiceberg.avro.file import AvroFile, AvroOutputFile
from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import NoSuchNamespaceError
from pyiceberg.io import FileIO, InputFile
from pyiceberg.manifest import DataFileContent, ManifestEntryStatus
from pyiceberg.schema import Schema
from pyiceberg.serializers import FromInputFile, ToOutputFile
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.typedef import Record
from pyiceberg.types import NestedField, StructType

from client_telemetry.lake.catalog import (
    NAMESPACE,
    NoSuchLake,
    catalog_of_a_copy,
    catalog_of_any_folder,
    open_catalog,
)
from client_telemetry.lake.files import FileAccess
from client_telemetry.lake.sql_catalog import DatabaseCatalog
from client_telemetry.lake.table_folders import OTHER_FOLDERS, normalized, with_one_scheme

_FILES_AT_ONCE = 8
# Field ids of manifest lists, manifests and position deletes: https://iceberg.apache.org/spec/
_MANIFEST_PATH, _MANIFEST_LENGTH = 500, 501
_STATUS, _DATA_FILE = 0, 2
_FILE_PATH, _FILE_SIZE, _CONTENT, _REFERENCED = 100, 104, 134, 143
_BOUNDS = (125, 128)
_DELETED_PATH = 2147483546


def copy_lake(source: str, target: str, say: Callable[[str], None] = lambda _: None) -> dict[str, int]:
    """Table -> number of data files that were copied.

    `source`: a lake, or a folder to which one was copied or moved. `target`: a folder without tables, or a URL of a store. The
    catalog of `target` is the one that is configured as `copy`; without it a SQLite file in the folder. `say`: gets what is being
    done. Raises NoSuchLake, and FileNotFoundError if something removes files from `source` meanwhile.
    """
    tables = _tables_in(source)
    catalog = catalog_of_a_copy(target)
    if _names(catalog):
        raise NoSuchLake(f"{target} has tables already: name another place, or remove them and their catalog")
    io = FileAccess.of(catalog).io(target)
    place = normalized(target)
    place = place if "://" in place else f"file://{place}"
    locations, counts = {}, {}
    for table in tables:
        say(f"copying table {table.name}")
        copied = _Copy(table, f"{place}/{NAMESPACE}/{table.name}", io)
        locations[table.name] = copied.write()
        counts[table.name] = len(copied.files)
    _register(catalog, locations)
    return counts


@dataclass(frozen=True)
class _Stored:
    """A table where it is now. `recorded`: its location in its own metadata; `actual`: where these files are."""

    name: str
    metadata_location: str
    io: FileIO
    recorded: str
    actual: str

    def found(self, url: str) -> str:
        return f"{self.actual}/{self.below(url)}"

    def below(self, url: str) -> str:
        """The part of a file's location below the table's. Raises NoSuchLake if it is elsewhere."""
        plain, folder = normalized_text(url), normalized_text(self.recorded)
        if not plain.startswith(f"{folder}/"):
            raise NoSuchLake(
                f"table {self.name}: {url} is not below {self.recorded}, where the table's files are: another program put it there; "
                "rewrite the table's files first (Spark: CALL lake.system.rewrite_data_files)"
            )
        return plain.removeprefix(f"{folder}/")


def normalized_text(url: str) -> str:
    """One text for one file, without looking: Java's Iceberg writes file:/folder, pyiceberg file:///folder.

    >>> normalized_text("file:/lake/a"), normalized_text("file:///lake/a"), normalized_text("s3a://b/c/")
    ('/lake/a', '/lake/a', 's3://b/c')
    """
    if url.startswith("file:"):
        url = "/" + url.removeprefix("file:").lstrip("/")
    return with_one_scheme(url).rstrip("/")


def _tables_in(source: str) -> list[_Stored]:
    local = catalog_of_any_folder(source)
    tables = _of_folder(local, normalized(source)) if local else _of_catalog(open_catalog(source))
    if not tables:
        raise NoSuchLake(f"no lake at {source}: give the `lake` of the clusters file, or a backup of it")
    return tables


def _of_folder(catalog: DatabaseCatalog, folder: str) -> list[_Stored]:
    """Of a folder with a catalog of its own, wherever it was made."""
    io = FileAccess().io("file://")
    tables = []
    for name, metadata in sorted(catalog.metadata_locations(NAMESPACE).items()):
        recorded = metadata.rpartition("/metadata/")[0]
        actual = f"file://{folder}/{'/'.join(PurePosixPath(recorded).parts[-2:])}"
        tables.append(_Stored(name, metadata, io, recorded, actual))
    return tables


def _of_catalog(catalog: Catalog) -> list[_Stored]:
    tables = []
    for name in _names(catalog):
        table = catalog.load_table((NAMESPACE, name))
        tables.append(_Stored(name, table.metadata_location, table.io, table.location(), table.location()))
    return tables


def _names(catalog: Catalog) -> list[str]:
    try:
        return sorted(identifier[-1] for identifier in catalog.list_tables(NAMESPACE))
    except NoSuchNamespaceError:
        return []


def _register(catalog: Catalog, locations: dict[str, str]) -> None:
    catalog.create_namespace_if_not_exists(NAMESPACE)
    if isinstance(catalog, DatabaseCatalog):
        catalog.register_tables(NAMESPACE, locations)
        return
    for name, location in locations.items():
        catalog.register_table((NAMESPACE, name), location)


@dataclass
class _Copy:
    """One table on its way to `location`."""

    table: _Stored
    location: str
    io: FileIO
    files: set[str] = field(default_factory=set)
    """Data files and equality deletes, as recorded: they name no other file, and are copied as they are."""
    _manifests: dict[str, int] = field(default_factory=dict)
    """Recorded location -> length of what was written in its place."""

    def write(self) -> str:
        """Returns the location of the new metadata."""
        metadata = FromInputFile.table_metadata(self._source(self.table.metadata_location))
        if elsewhere := sorted(OTHER_FOLDERS & metadata.properties.keys()):
            raise NoSuchLake(
                f"table {self.table.name} keeps files at another place ({elsewhere[0]}): unset that property, and rewrite its files"
            )
        for snapshot in metadata.snapshots:
            self._write_manifest_list(snapshot.manifest_list)
        with ThreadPoolExecutor(_FILES_AT_ONCE) as pool:
            list(pool.map(self._write_as_it_is, sorted(self.files)))
        target = self._moved(self.table.metadata_location)
        ToOutputFile.table_metadata(self._relocated(metadata), self.io.new_output(target), overwrite=True)
        return target

    def _relocated(self, metadata: TableMetadata) -> TableMetadata:
        """Older metadata is not copied, nor are statistics, which any engine computes again."""
        moved_snapshots = [
            snapshot.model_copy(update={"manifest_list": self._moved(snapshot.manifest_list)})
            for snapshot in metadata.snapshots
        ]
        return metadata.model_copy(
            update={
                "location": self.location,
                "snapshots": moved_snapshots,
                "metadata_log": [],
                "statistics": [],
                "partition_statistics": [],
            }
        )

    def _write_manifest_list(self, url: str) -> None:
        manifests, schema, header = self._records(url)
        path, length = _positions(schema, _MANIFEST_PATH, _MANIFEST_LENGTH)
        for manifest in manifests:
            recorded = manifest[path]
            if recorded not in self._manifests:
                self._manifests[recorded] = self._write_manifest(recorded)
            manifest[path], manifest[length] = self._moved(recorded), self._manifests[recorded]
        self._write_records(url, manifests, schema, "manifest_file", header)

    def _write_manifest(self, url: str) -> int:
        entries, schema, header = self._records(url)
        status, data_file = _positions(schema, _STATUS, _DATA_FILE)
        fields = _places(cast("StructType", schema.fields[data_file].field_type).fields)
        for entry in entries:
            is_live = entry[status] != ManifestEntryStatus.DELETED.value
            self._relocate_file(entry[data_file], fields, is_live)
        return self._write_records(url, entries, schema, "manifest_entry", header)

    def _relocate_file(self, file: Record, fields: dict[int, int], is_live: bool) -> None:
        """Files of entries that say what was deleted may be gone; other snapshots list those that are not."""
        recorded = file[fields[_FILE_PATH]]
        is_position_delete = (
            _CONTENT in fields and file[fields[_CONTENT]] == DataFileContent.POSITION_DELETES.value
        )
        if is_position_delete:
            self._relocate_bounds(file, fields)
            if is_live:
                file[fields[_FILE_SIZE]] = self._write_position_deletes(recorded)
        elif is_live:
            self.files.add(recorded)
        if _REFERENCED in fields and file[fields[_REFERENCED]]:
            file[fields[_REFERENCED]] = self._moved(file[fields[_REFERENCED]])
        file[fields[_FILE_PATH]] = self._moved(recorded)

    def _relocate_bounds(self, file: Record, fields: dict[int, int]) -> None:
        """Bounds of deleted rows' files: equal ones name the one file; others, which may be cut, are left out."""
        lower, upper = ((file[fields[n]] or {}) if n in fields else {} for n in _BOUNDS)
        is_one_file = _DELETED_PATH in lower and lower[_DELETED_PATH] == upper.get(_DELETED_PATH)
        for bounds in (lower, upper):
            if is_one_file:
                bounds[_DELETED_PATH] = self._moved(bounds[_DELETED_PATH].decode()).encode()
            else:
                bounds.pop(_DELETED_PATH, None)

    def _write_position_deletes(self, url: str) -> int:
        with self._source(url).open() as stream:
            rows = pq.read_table(stream)
        place = rows.schema.get_field_index("file_path")
        moved = [self._moved(path) for path in rows["file_path"].to_pylist()]
        rows = rows.set_column(place, rows.schema.field(place), [moved])
        target = self.io.new_output(self._moved(url))
        with target.create(overwrite=True) as stream:
            pq.write_table(rows, stream, compression="zstd")
        return len(target.to_input_file())

    def _write_as_it_is(self, url: str) -> None:
        with (
            self._source(url).open() as content,
            self.io.new_output(self._moved(url)).create(overwrite=True) as target,
        ):
            shutil.copyfileobj(content, target, 2**20)

    def _records(self, url: str) -> tuple[list[Record], Schema, dict[str, str]]:
        """Records of an Avro file with all fields that it has, its schema and its header."""
        with AvroFile[Record](self._source(url)) as source:
            return list(source), source.schema, dict(source.header.meta)

    def _write_records(
        self, url: str, records: list[Record], schema: Schema, name: str, header: dict[str, str]
    ) -> int:
        """Returns the length of the file."""
        target = self.io.new_output(self._moved(url))
        with AvroOutputFile[Record](target, schema, name, metadata=header) as out:
            out.write_block(records)
        return len(target.to_input_file())

    def _source(self, url: str) -> InputFile:
        return self.table.io.new_input(self.table.found(url))

    def _moved(self, url: str) -> str:
        return f"{self.location}/{self.table.below(url)}"


def _positions(schema: Schema, *ids: int) -> list[int]:
    """Of fields in a record of this schema."""
    places = _places(schema.fields)
    return [places[number] for number in ids]


def _places(fields: Sequence[NestedField]) -> dict[int, int]:
    return {each.field_id: n for n, each in enumerate(fields)}
