"""Where a configured catalog keeps its tables, and whether that is the lake that was asked for. Pure but for the look into
the catalog; catalog.py raises what is found here.
"""

import tempfile
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import ForbiddenError, NoSuchNamespaceError, NoSuchTableError

from client_telemetry.lake.sql_catalog import DatabaseCatalog

OTHER_FOLDERS = {"write.data.path", "write.object-storage.path", "write.metadata.path"}
"""Properties by which an operator puts files elsewhere than below the table's folder."""
_OF_S3 = ("s3a://", "s3n://")


def parent_folders(catalog: Catalog, namespace: str) -> set[str]:
    """The folders that contain the folder of the namespace with the tables; of a REST catalog, the folder of one table.
    Empty: there are no tables, or they may not be listed.
    """
    if isinstance(catalog, DatabaseCatalog):
        found = catalog.metadata_locations(namespace).values()
        return {normalized(before) for text in found if (before := text.rpartition(f"/{namespace}/")[0])}
    with suppress(NoSuchNamespaceError, NoSuchTableError, ForbiddenError):
        for identifier in catalog.list_tables(namespace)[:1]:
            return {normalized(catalog.load_table(identifier).location())}
    return set()


def other_folder(catalog: Catalog, namespace: str, location: str, warehouse: str) -> str | None:
    """The folder where the catalog keeps its tables, or will, if it is not `location`; None if it is, or if that is not
    known.
    """
    expected = normalized(location)
    found = parent_folders(catalog, namespace)
    if isinstance(catalog, DatabaseCatalog):
        found |= {normalized(warehouse)}
        return next(iter(sorted(found - {expected})), None)
    if _is_folder(warehouse):
        found |= {normalized(warehouse)}
    return next((folder for folder in sorted(found) if not f"{folder}/".startswith(f"{expected}/")), None)


def normalized(location: str) -> str:
    """One text for one folder: a URL of a store without a slash at the end, a local folder as its real path."""
    location = with_one_scheme(location)
    if "://" in location and not location.startswith("file:"):
        return location.rstrip("/")
    path = location
    if location.startswith("file:"):
        path = unquote(location.removeprefix("file:").removeprefix("//").removeprefix("localhost"))
    return str(Path(path).resolve())


def with_one_scheme(location: str) -> str:
    """
    >>> with_one_scheme("s3a://lake/a"), with_one_scheme("/lake/a")
    ('s3://lake/a', '/lake/a')
    """
    for scheme in _OF_S3:
        location = location.replace(scheme, "s3://", 1) if location.startswith(scheme) else location
    return location


def is_temporary(location: str) -> bool:
    """Whether it is a folder that a reboot, or the program itself, removes."""
    place = normalized(location)
    if "://" in place:
        return False
    folders = {"/tmp", "/var/tmp", "/dev/shm", "/run", tempfile.gettempdir()}
    return any(Path(place).is_relative_to(Path(folder).resolve()) for folder in folders)


def _is_folder(warehouse: str) -> bool:
    """REST catalogs also give warehouses names."""
    return warehouse.startswith(("/", "file:")) or "://" in warehouse
