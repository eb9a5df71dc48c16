"""Which catalog keeps the tables, for pyiceberg and Spark alike, from one configuration: pyiceberg's own for the
catalog `lake` (PYICEBERG_CATALOG__LAKE__* or .pyiceberg.yaml). Without one it is a local SQLite file.
docs/storage.md has recipes.
"""

import difflib
import errno
import os
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit

import requests
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.catalog.sql import IcebergTables
from pyiceberg.io import PY_IO_IMPL, S3_RETRY_STRATEGY_IMPL
from pyiceberg.utils.config import Config
from sqlalchemy import select, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from client_telemetry import Unusable
from client_telemetry.formats.raw.file_system import has_secret_option, without_userinfo
from client_telemetry.lake.iceberg_internals import server_time
from client_telemetry.lake.local_catalog import LOCAL_CATALOG
from client_telemetry.lake.sql_catalog import DatabaseCatalog
from client_telemetry.lake.table_folders import is_temporary, other_folder

CATALOG = "lake"
COPY = "copy"
"""The catalog that gets the tables of a copy, in pyiceberg's configuration."""
NAMESPACE = "client_telemetry"
WRITERS_OF_A_SERVER = 8
"""Tested with 8 clusters at once, on PostgreSQL and a REST catalog."""
_CLOCKS_APART_S = 60
CATALOG_SETTING = f"spark.sql.catalog.{CATALOG}"

_OF_AWS = {
    "s3.endpoint": ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
    "s3.region": ("AWS_REGION", "AWS_DEFAULT_REGION"),
}
"""Property -> the equivalent variables of Amazon's tools, which configure the store for all other files."""

_POSTGRESQL = re.compile(r"\Apostgres(?:ql)?://")
"""As libpq writes it. SQLAlchemy takes it for a driver that is not the one installed, or not at all."""

_S3 = ("s3://", "s3a://", "s3n://")

_VARIABLES = f"PYICEBERG_CATALOG__{CATALOG.upper()}__"
_OF_COPY = f"PYICEBERG_CATALOG__{COPY.upper()}__"

FORGETS_BRANCHES = (
    f"catalog {CATALOG!r} does not keep branches of tables, to which stages write before readers see anything: "
    "use a catalog that keeps them (PostgreSQL, an Iceberg REST catalog; docs/storage.md)"
)


class NoSuchLake(Unusable):
    """The lake's location or catalog cannot be used."""


class WrongClock(Exception):
    """This machine's clock and the catalog's differ too much."""


def configuration(location: str, name: str = CATALOG) -> dict[str, str] | None:
    """pyiceberg's configuration of the catalog of this name, with `location` as its warehouse if it names none; None if there is
    no configuration and the catalog is local. Raises NoSuchLake, or UnusableLocation.
    """
    without_userinfo(location)
    if os.environ.get(LOCAL_CATALOG):
        return None
    config = Config()
    configured = config.get_catalog_config(name)
    if configured is None:
        if name == CATALOG:
            _check_names(config.config)
        return None
    properties = {key: str(value) for key, value in configured.items()}
    if "uri" in properties:
        properties["uri"] = _POSTGRESQL.sub("postgresql+psycopg2://", properties["uri"])
    if _is_in_a_store(location):
        properties.setdefault("warehouse", location)
    elif _is_database(properties):  # a REST server has its own
        properties.setdefault("warehouse", f"file://{_folder(location)}")
    _set_up_store(location, properties)
    if _has_password(properties.get("uri", "")):
        raise NoSuchLake(
            f"{_VARIABLES}URI has a password in it: leave it out and set PGPASSWORD, or a .pgpass file"
        )
    return properties


def _set_up_store(location: str, properties: dict[str, str]) -> None:
    """How an object store is read, where the configuration does not say it: from the variables of AWS's tools."""
    for key, variables in _OF_AWS.items():
        value = next((value for variable in variables if (value := os.environ.get(variable))), None)
        if value:
            properties.setdefault(key, value)
    properties.setdefault(S3_RETRY_STRATEGY_IMPL, "client_telemetry.formats.raw.file_system.StoreRetries")
    if any(place.startswith(_S3) for place in (location, properties.get("warehouse", ""))):
        properties.setdefault(PY_IO_IMPL, "client_telemetry.lake.file_io.StoreFileIO")


def _check_names(config: Mapping[str, object]) -> None:
    """Raises NoSuchLake for what looks like a misspelt configuration of the catalog: the lake would be a new local one."""
    catalogs = config.get("catalog")
    names = list(catalogs) if isinstance(catalogs, Mapping) else []
    misspelt = [f"catalog {name!r}" for name in difflib.get_close_matches(CATALOG, names)]
    misspelt += [f"{name!r}" for name in config if name.startswith("catalog") and name != "catalog"]
    if misspelt:
        raise NoSuchLake(
            f"pyiceberg's configuration (PYICEBERG_* or .pyiceberg.yaml) has {misspelt[0]}, but no catalog {CATALOG!r}, which is "
            f"this program's: its variables are {_VARIABLES}TYPE, {_VARIABLES}URI, ..."
        )


def _has_password(uri: str) -> bool:
    # A password may contain slashes; SQLite's address is a path.
    place = uri.partition("://")[2].partition("?")[0]
    has_userinfo = not uri.startswith("sqlite") and ":" in place.rpartition("@")[0]
    return has_userinfo or has_secret_option(uri)


def open_catalog(location: str) -> Catalog:
    """pyiceberg's catalog: the configured one, otherwise the local one at `location`. Raises NoSuchLake."""
    properties = configuration(location)
    if properties is None:
        folder = _folder(location)
        folder.mkdir(parents=True, exist_ok=True)
        local = _in_folder(folder)
        _check_that_it_was_made_here(local, folder)
        return local
    _check_that_it_is_no_local_lake(location, properties)
    catalog = _opened(properties)
    _check_place(catalog, location, properties)
    return catalog


def catalog_of_any_folder(location: str) -> DatabaseCatalog | None:
    """The catalog in a folder, also of a lake that was moved or copied there; None if there is none."""
    if _is_in_a_store(location) or not (_folder(location) / "catalog.db").exists():
        return None
    return _in_folder(_folder(location))


def catalog_of_a_copy(location: str) -> Catalog:
    """The catalog in which the tables of a copy at `location` will be: the one that is configured as `copy`, else a SQLite file
    in the folder, which is made. Raises NoSuchLake.
    """
    properties = configuration(location, COPY)
    if properties is not None:
        return _opened(properties)
    if _is_in_a_store(location):
        raise NoSuchLake(
            f"{location}: a copy in an object store needs a catalog that is no local file: set {_OF_COPY}TYPE and {_OF_COPY}URI, and "
            f"use the copy with the same values as {_VARIABLES}TYPE and {_VARIABLES}URI (docs/upgrading.md)"
        )
    _folder(location).mkdir(parents=True, exist_ok=True)
    return _in_folder(_folder(location))


def _in_folder(folder: Path) -> DatabaseCatalog:
    return DatabaseCatalog(CATALOG, uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}")


def _opened(properties: dict[str, str]) -> Catalog:
    open_it: Callable[..., Catalog] = DatabaseCatalog if _is_database(properties) else load_catalog
    try:
        catalog = open_it(CATALOG, **properties)
    except ValueError as error:
        raise NoSuchLake(
            f"catalog {CATALOG!r}: {error}. Its configuration is {_VARIABLES}TYPE and {_VARIABLES}URI (or .pyiceberg.yaml); "
            "docs/storage.md has a recipe for each kind"
        ) from error
    except (SQLAlchemyError, ModuleNotFoundError) as error:
        if isinstance(error, DBAPIError):  # the database's own: `unavailable` words it
            raise
        raise NoSuchLake(
            f"catalog {CATALOG!r}: {_in_one_line(error)}. A PostgreSQL catalog is {_VARIABLES}URI=postgresql://USER@HOST/DATABASE"
        ) from error
    return catalog


def _check_that_it_is_no_local_lake(location: str, properties: dict[str, str]) -> None:
    """Raises NoSuchLake for a folder that has a catalog of its own, which the configured one is not."""
    if _is_in_a_store(location):
        return
    own = _folder(location) / "catalog.db"
    uri = properties.get("uri", "")
    database = make_url(uri).database if uri.startswith("sqlite") else None
    if own.exists() and not (database and Path(database).exists() and own.samefile(database)):
        raise NoSuchLake(
            f"{location} is a lake with a catalog of its own ({own.name}), but the environment configures another: unset "
            f"{_VARIABLES}* to use this lake, or name the one of that catalog"
        )


def _check_place(catalog: Catalog, location: str, properties: dict[str, str]) -> None:
    """Raises NoSuchLake if the configured catalog keeps its tables elsewhere than the lake that was asked for, and for a
    server's tables in a folder that will be gone.
    """
    folder = other_folder(catalog, NAMESPACE, location, properties.get("warehouse", ""))
    if folder is not None:
        raise NoSuchLake(
            f"{location} is not where catalog {CATALOG!r} keeps its tables, which is {folder}: name that (`lake` of the clusters "
            f"file, --lake), or unset {_VARIABLES}* for a lake of its own"
        )
    if is_temporary(location) and not properties.get("uri", "").startswith("sqlite"):
        raise NoSuchLake(
            f"{location} is a temporary folder of this machine: catalog {CATALOG!r} is on a server, and would have tables without "
            "files once it is gone. Name a folder that stays, or an object store"
        )


def _check_that_it_was_made_here(catalog: DatabaseCatalog, folder: Path) -> None:
    """Raises NoSuchLake for a lake that was moved or copied: its tables refer to their files by the folder where they
    were created.
    """
    ours = select(IcebergTables.metadata_location).where(IcebergTables.table_namespace == NAMESPACE).limit(1)
    with catalog.engine.connect() as connection:
        location = connection.scalar(ours) or ""
    # Java's Iceberg writes file:/folder, pyiceberg file:///folder. The lake may be in a folder named like the
    # namespace.
    made_in, separator, _ = location.removeprefix("file:").removeprefix("//").rpartition(f"/{NAMESPACE}/")
    if not separator:
        return
    with suppress(OSError):  # it does not exist, or this user may not look
        if Path(made_in).samefile(folder):
            return
        raise NoSuchLake(
            f"{folder} is a copy of the lake {made_in}, whose tables name their files with that folder: use {made_in}, or make a "
            f"lake of the copy: client-telemetry lake-copy {folder} NEW_FOLDER"
        )
    raise NoSuchLake(
        f"{folder} was made as {made_in}, and its tables name their files with that folder: move it back, make a link to where it "
        f"is now (ln -s {folder} {made_in}), or make a lake of it: client-telemetry lake-copy {folder} NEW_FOLDER"
    )


def check_clock(catalog: Catalog) -> None:
    """Raises WrongClock if this machine's clock differs from that of the catalog's server. Iceberg orders snapshots by
    their writers' clocks, with a tolerance of a minute.
    """
    theirs = None
    if isinstance(catalog, DatabaseCatalog) and catalog.engine.dialect.name == "postgresql":
        with catalog.engine.connect() as connection:
            theirs = float(connection.scalar(text("select extract(epoch from clock_timestamp())")))
    elif isinstance(catalog, RestCatalog):
        answered = server_time(catalog)
        theirs = answered.timestamp() if answered else None
    ahead = time.time() - theirs if theirs else 0
    if abs(ahead) > _CLOCKS_APART_S:
        raise WrongClock(
            f"this machine's clock is {abs(ahead):.0f} s {'ahead of' if ahead > 0 else 'behind'} that of the catalog's server: set the "
            "one that is wrong; nothing was written"
        )


def unavailable(error: BaseException) -> str | None:
    """What is wrong with the catalog or the store, in one line, if the error is theirs and not the program's; otherwise
    None.
    """
    if isinstance(error, DBAPIError):
        told = _in_one_line(error.orig)
        cure = next((cure for words, cure in _OF_SQLITE.items() if words in told), "")
        return f"the catalog's database: {told}{cure}"
    if isinstance(error, requests.ConnectionError):
        return f"the catalog does not answer: {_in_one_line(error)}"
    if isinstance(error, OSError) and "AWS Error" in str(error):
        return f"the object store: {_in_one_line(error)}"
    if isinstance(error, OSError) and error.errno in _OF_THE_DISK:
        return f"the disk: {_in_one_line(error)}: {_OF_THE_DISK[error.errno]}"
    return None


_OF_THE_DISK = {
    errno.ENOSPC: "free some space",
    errno.EDQUOT: "free some space, or raise the quota",
    errno.EROFS: "make it writable",
    errno.EACCES: "give this user access",
}
"""Errors of a file system, and what to do."""
_OF_SQLITE = {"disk is full": ": free some space", "readonly database": ": make it writable"}


def _in_one_line(error: object) -> str:
    return re.sub(r"\s+", " ", str(error)).strip()


def _is_database(properties: dict[str, str]) -> bool:
    """As pyiceberg decides it."""
    uri = properties.get("uri", "")
    named = properties.get("type", "sql" if uri.startswith(("sqlite", "postgresql")) else "")
    return bool(uri) and named.lower() == "sql"


def is_missing(location: str) -> bool:
    """Whether the catalog would be the local one but does not exist yet: opening it would create it."""
    return is_local(location) and not (_folder(location) / "catalog.db").exists()


def is_local(location: str) -> bool:
    """Whether no catalog is configured, so that this program's SQLite file is used."""
    return configuration(location) is None


def writers(location: str = "") -> int:
    """How many stages may write at once, the slots of the pool `lake_writer`: a SQLite file allows one."""
    properties = configuration(location)
    is_sqlite = properties is None or properties.get("uri", "").startswith("sqlite")
    return 1 if is_sqlite else WRITERS_OF_A_SERVER


def spark_settings_at_start() -> dict[str, str]:
    """Settings that are needed before Spark starts."""
    return {"spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"}


def spark_settings(location: str) -> dict[str, str]:
    """Settings with which a Spark session reads and writes the lake: the same catalog that pyiceberg opens.

    A session that already has CATALOG_SETTING (Glue, Hive, ...) keeps it.
    """
    properties = configuration(location)
    if properties is None:
        folder = _folder(location)
        of_catalog = {
            "type": "jdbc",
            "uri": f"jdbc:sqlite:{folder}/catalog.db",
            "jdbc.schema-version": "V1",
            "warehouse": f"file://{folder}",
        }
    else:
        of_catalog = _spark_properties(properties)
    settings = {f"{CATALOG_SETTING}.{name}": value for name, value in of_catalog.items()}
    # Branches and snapshots are moved outside Spark: a cached table would be stale.
    return {
        CATALOG_SETTING: "org.apache.iceberg.spark.SparkCatalog",
        **settings,
        f"{CATALOG_SETTING}.cache-enabled": "false",
    }


def _spark_properties(properties: dict[str, str]) -> dict[str, str]:
    """pyiceberg's properties under their names in Iceberg's Java classes, which are mostly the same."""
    kind = properties.get("type", "rest" if properties.get("uri", "").startswith("http") else "sql")
    shared = {
        k: v
        for k, v in properties.items()
        if not k.startswith(("py-", "s3.region")) and k not in ("type", "uri", S3_RETRY_STRATEGY_IMPL)
    }
    if kind == "sql":
        shared |= {"type": "jdbc", "jdbc.schema-version": "V1", **_jdbc(make_url(properties["uri"]))}
    else:
        shared |= {"type": kind, **({"uri": properties["uri"]} if "uri" in properties else {})}
    if "s3.region" in properties:
        shared["client.region"] = properties["s3.region"]
    if "s3.endpoint" in properties:
        shared.setdefault("s3.path-style-access", "true")
    if properties.get("warehouse", "").startswith(_S3):
        shared.setdefault("io-impl", "org.apache.iceberg.aws.s3.S3FileIO")
    return shared


def _jdbc(uri: URL) -> dict[str, str]:
    """SQLAlchemy's URL of a database as a JDBC URL; libpq's variables apply to both."""
    if uri.get_backend_name() == "sqlite":
        return {"uri": f"jdbc:sqlite:{uri.database}"}
    place = f"{uri.host or 'localhost'}:{uri.port}" if uri.port else uri.host or "localhost"
    # 57P01 is the first error of a connection whose server was stopped.
    properties = {
        "uri": f"jdbc:{uri.get_backend_name()}://{place}/{uri.database}",
        "retryable_status_codes": "57P01",
    }
    for name, value in (
        ("user", uri.username or os.environ.get("PGUSER")),
        ("password", os.environ.get("PGPASSWORD")),
    ):
        if value:
            properties[f"jdbc.{name}"] = value
    return properties


def _is_in_a_store(location: str) -> bool:
    return "://" in location and not location.startswith("file://")


def _folder(location: str) -> Path:
    """The folder of a path, or of a file: URL (RFC 8089)."""
    if _is_in_a_store(location):
        raise NoSuchLake(
            f"{location}: tables in an object store need a catalog that is no local file: set {_VARIABLES}TYPE and "
            f"{_VARIABLES}URI (PostgreSQL or a REST catalog; docs/storage.md has the recipes)"
        )
    path = location
    if location.startswith("file:"):
        url = urlsplit(location)
        if url.netloc not in ("", "localhost"):
            raise NoSuchLake(
                f"{location} is on the host {url.netloc!r}: a folder of this one is file:///folder"
            )
        path = unquote(location.partition(":")[2].removeprefix(f"//{url.netloc}"))
    folder = Path(path).absolute()
    if match := re.search("[%?#]", str(folder)):
        raise NoSuchLake(
            f"{folder}: tables name their files with URLs, where {match[0]} has another meaning: take another folder"
        )
    return folder
