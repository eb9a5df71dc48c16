"""Which catalog is opened, and what is refused at start."""

import shutil

import pytest
from client_telemetry.formats.raw.file_system import UnusableLocation
from client_telemetry.lake import catalog, table_folders
from client_telemetry.lake.catalog import NoSuchLake, open_catalog, spark_settings
from client_telemetry.lake.lake import Lake
from client_telemetry.lake.local_catalog import LOCAL_CATALOG
from client_telemetry.lake.maintenance import RETENTION_DAYS, UnknownRetention, retention
from client_telemetry.tables.all_tables import TABLES
from client_telemetry.tables.brokers import BROKERS
from pyiceberg.catalog.sql import SqlCatalog

from include import sample_run

from .conftest import check_consistent, created, publish_new

VARIABLE = "PYICEBERG_CATALOG__LAKE__"


def test_a_misspelled_type_is_an_error_and_no_new_local_catalog(tmp_path, monkeypatch):
    monkeypatch.setenv(f"{VARIABLE}TYPE", "reST_")
    monkeypatch.setenv(f"{VARIABLE}URI", "http://127.0.0.1:1")
    with pytest.raises(NoSuchLake, match="rest_"):
        open_catalog(str(tmp_path))
    assert not (tmp_path / "catalog.db").exists()


def test_a_lake_in_an_object_store_needs_a_catalog_and_the_advice_works(tmp_path, monkeypatch):
    with pytest.raises(NoSuchLake, match="PYICEBERG_CATALOG__LAKE__TYPE"):
        open_catalog("s3://bucket/warehouse")
    monkeypatch.setenv(f"{VARIABLE}TYPE", "sql")
    monkeypatch.setenv(f"{VARIABLE}URI", f"sqlite:///{tmp_path}/c.db")
    assert open_catalog("s3://bucket/warehouse").properties["warehouse"] == "s3://bucket/warehouse"


@pytest.mark.parametrize("location", ["s3://mine:hidden@bucket/lake", "s3://mine@bucket/lake"])
def test_credentials_in_a_url_are_refused_and_not_repeated(location):
    with pytest.raises(UnusableLocation, match="s3://bucket/lake has a user or password") as refused:
        open_catalog(location)
    assert "hidden" not in str(refused.value) and "mine" not in str(refused.value)


@pytest.mark.parametrize(
    "uri", ["//lake:hidden@db/lake", "//lake:1/hidden@db/lake", "//lake@db/lake?password=hidden"]
)
def test_a_password_in_the_address_of_the_catalog_is_refused(tmp_path, monkeypatch, uri):
    monkeypatch.setenv(f"{VARIABLE}TYPE", "sql")
    monkeypatch.setenv(f"{VARIABLE}URI", f"postgresql+psycopg2:{uri}")
    with pytest.raises(NoSuchLake, match="PGPASSWORD") as refused:
        open_catalog(str(tmp_path))
    assert "hidden" not in str(refused.value)


def test_files_with_keys_in_the_address_of_the_catalog_are_no_password(monkeypatch):
    uri = "postgresql+psycopg2://lake@db:5433/tables?sslmode=verify-full&sslkey=/etc/lake.key"
    monkeypatch.setenv(f"{VARIABLE}URI", uri)
    assert catalog.configuration("s3://bucket/lake")["uri"] == uri


def test_spark_shows_no_secret_of_the_catalog(spark):
    session = spark.newSession()
    names = ("credential", "token", "jdbc.password", "s3.secret-access-key", "s3.access-key-id")
    for name in names:
        session.conf.set(f"{catalog.CATALOG_SETTING}.{name}", "hidden")
    shown = {row["key"]: row["value"] for row in session.sql("SET").collect()}
    assert [name for name in names if shown[f"{catalog.CATALOG_SETTING}.{name}"] == "hidden"] == []


def test_spark_gets_the_same_catalog(monkeypatch):
    monkeypatch.setenv(f"{VARIABLE}TYPE", "sql")
    monkeypatch.setenv(f"{VARIABLE}URI", "postgresql+psycopg2://lake@db:5433/tables")
    monkeypatch.setenv(f"{VARIABLE}S3__ENDPOINT", "http://store:9000")
    monkeypatch.setenv("PGPASSWORD", "of the environment")
    prefix = f"{catalog.CATALOG_SETTING}."
    found = {k.removeprefix(prefix): v for k, v in spark_settings("s3://bucket/lake").items()}
    assert found["type"] == "jdbc"
    assert found["uri"] == "jdbc:postgresql://db:5433/tables"
    assert (found["jdbc.user"], found["jdbc.password"]) == ("lake", "of the environment")
    assert (found["warehouse"], found["s3.endpoint"]) == ("s3://bucket/lake", "http://store:9000")
    assert found["io-impl"] == "org.apache.iceberg.aws.s3.S3FileIO"


def test_a_catalog_that_forgets_branches_is_refused_with_the_reason(tmp_path, monkeypatch):
    """As Nessie's REST interface does: the commit succeeds, and the branch is not there."""
    monkeypatch.setenv(f"{VARIABLE}TYPE", "sql")
    monkeypatch.setenv(f"{VARIABLE}URI", f"sqlite:///{tmp_path}/c.db")
    commit = SqlCatalog.commit_table

    def without_branches(self, table, requirements, updates):
        kept = [u for u in updates if u.action != "set-snapshot-ref" or u.ref_name == "main"]
        return commit(self, table, requirements, tuple(kept))

    monkeypatch.setattr(SqlCatalog, "commit_table", without_branches)
    with pytest.raises(NoSuchLake, match="does not keep branches"):
        Lake(None, str(tmp_path)).create([BROKERS])


@pytest.mark.parametrize(
    ("uri", "slots"),
    [
        (None, 1),
        ("sqlite:////srv/lake.db", 1),
        ("postgresql+psycopg2://lake@db/tables", 8),
        ("https://catalog.example.com", 8),
    ],
)
def test_as_many_stages_write_at_once_as_the_catalog_takes(monkeypatch, uri, slots):
    if uri:
        monkeypatch.setenv(f"{VARIABLE}URI", uri)
    assert catalog.writers() == slots


def test_a_misspelled_variable_is_an_error_and_no_new_local_catalog(tmp_path, monkeypatch):
    monkeypatch.setenv(f"{VARIABLE}TYP", "rest")
    monkeypatch.setenv(f"{VARIABLE}URL", "http://127.0.0.1:1")
    with pytest.raises(NoSuchLake, match="TYPE"):
        open_catalog(str(tmp_path))
    assert not (tmp_path / "catalog.db").exists()


def test_the_store_is_the_one_of_all_other_files(monkeypatch):
    monkeypatch.setenv(f"{VARIABLE}URI", "https://catalog.example.com")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "https://minio.example.com")
    monkeypatch.setenv("AWS_REGION", "here")
    found = catalog.configuration("s3://lake/warehouse")
    assert (found["s3.endpoint"], found["s3.region"]) == ("https://minio.example.com", "here")
    monkeypatch.setenv(f"{VARIABLE}S3__ENDPOINT", "https://other.example.com")
    assert catalog.configuration("s3://lake/warehouse")["s3.endpoint"] == "https://other.example.com"


def test_every_table_has_a_retention_and_nothing_else_has():
    assert RETENTION_DAYS.keys() == {table.name for table in TABLES}
    assert retention({"client_metrics": 30, "clients": None})["client_metrics"] == 30


@pytest.mark.parametrize("changes", [{"metrics": 30}, {"clients": 0}, {"clients": "90"}, {"clients": True}])
def test_a_retention_that_cannot_be_meant_is_refused(changes):
    with pytest.raises(UnknownRetention):
        retention(changes)


def test_a_lake_that_was_moved_says_where_it_was_made_and_a_link_makes_it_work(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    publish_new(created(str(old)))
    old.rename(new)
    with pytest.raises(NoSuchLake, match=rf"{new} was made as {old}, .*ln -s {new} {old}"):
        Lake(None, str(new))
    old.symlink_to(new)
    for location in (new, old):
        publish_new(Lake(None, str(location)))
        check_consistent(Lake(None, str(location)))


def test_a_copy_of_a_lake_writes_nothing_into_the_lake(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    created(str(old))
    shutil.copytree(old, new)
    with pytest.raises(NoSuchLake, match=f"{new} is a copy of the lake {old}"):
        Lake(None, str(new))


FORMS = {
    "path": "{path}",
    "slash at the end": "{path}/",
    "relative": "lakes/{name}",
    "relative with a dot": "./lakes/{name}",
    "by its parent": "{path}/../{name}",
    "link": "link",
    "in a linked folder": "linked/{name}",
    "three slashes": "file://{path}",
    "three slashes and one at the end": "file://{path}/",
    "one slash": "file:{path}",
    "host": "file://localhost{path}",
    "encoded": "{uri}",
}


@pytest.mark.parametrize("name", ["lake", "with blanks", "client_telemetry", "Zürich"])
def test_a_lake_is_the_same_however_its_folder_is_written(tmp_path, monkeypatch, name):
    folder = tmp_path / "lakes" / name
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to(folder)
    (tmp_path / "linked").symlink_to(tmp_path / "lakes")
    publish_new(created(str(folder)))
    for what, form in FORMS.items():
        lake = Lake(None, form.format(path=folder, name=name, uri=folder.as_uri()))
        assert len(lake.rows(BROKERS)) == 3, what
    assert sorted(each.name for each in tmp_path.iterdir()) == ["lakes", "link", "linked"]


@pytest.mark.parametrize("what", FORMS)
def test_a_lake_that_was_made_in_any_of_these_forms_is_opened_by_its_path(tmp_path, monkeypatch, what):
    folder = tmp_path / "lakes" / "client_telemetry"
    folder.mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to(folder)
    (tmp_path / "linked").symlink_to(tmp_path / "lakes")
    publish_new(created(FORMS[what].format(path=folder, name="client_telemetry", uri=folder.as_uri())))
    lake = Lake(None, str(folder))
    publish_new(lake)
    check_consistent(lake)


@pytest.mark.parametrize(
    ("folder", "reason"),
    [
        ("C#", "where # has another meaning"),
        ("why?", "where [?] has another meaning"),
        ("100%", "where % has another meaning"),
    ],
)
def test_a_folder_that_no_url_can_name_is_refused_and_nothing_is_made(tmp_path, folder, reason):
    with pytest.raises(NoSuchLake, match=reason):
        open_catalog(str(tmp_path / folder))
    assert not list(tmp_path.iterdir())


def test_a_url_of_another_host_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NoSuchLake, match="on the host 'srv': a folder of this one is file:///folder"):
        open_catalog("file://srv/lake")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("form", ["path", "three slashes"])
def test_a_database_keeps_the_tables_in_the_folder_that_the_clusters_file_names(tmp_path, monkeypatch, form):
    """As docs/storage.md has it: the warehouse is the `lake` of the clusters file, a local folder too."""
    monkeypatch.setenv(f"{VARIABLE}TYPE", "sql")
    monkeypatch.setenv(f"{VARIABLE}URI", f"sqlite:///{tmp_path}/c.db")
    location = FORMS[form].format(path=tmp_path / "lake")
    publish_new(created(location))
    assert list((tmp_path / "lake").rglob("*.parquet"))
    prefix = f"{catalog.CATALOG_SETTING}."
    assert spark_settings(location)[f"{prefix}warehouse"] == f"file://{tmp_path}/lake"


def test_other_tables_in_the_catalog_say_nothing_of_the_lake(tmp_path):
    lake = created(str(tmp_path / "lake"))
    lake.catalog.create_namespace("aaa")
    elsewhere = f"file://{tmp_path}/elsewhere/client_telemetry/brokers"
    lake.catalog.create_table(("aaa", "mine"), lake.table(BROKERS).schema(), location=elsewhere)
    publish_new(Lake(None, str(tmp_path / "lake")))


def configure(monkeypatch, folder, **more: str) -> None:
    """A catalog that is none of the local ones."""
    for name, value in ({"TYPE": "sql", "URI": f"sqlite:///{folder}/c.db"} | more).items():
        monkeypatch.setenv(f"{VARIABLE}{name}", value)


def test_a_process_with_a_lake_of_its_own_ignores_the_configured_catalog(tmp_path, monkeypatch):
    configure(monkeypatch, tmp_path)
    monkeypatch.setenv(LOCAL_CATALOG, "1")
    created(str(tmp_path / "own"))
    assert (tmp_path / "own/catalog.db").exists() and not (tmp_path / "c.db").exists()
    assert spark_settings(str(tmp_path / "own"))[f"{catalog.CATALOG_SETTING}.uri"].endswith("own/catalog.db")
    assert sample_run.LOCAL_CATALOG == LOCAL_CATALOG


def test_a_folder_with_a_catalog_of_its_own_is_not_read_through_the_configured_one(tmp_path, monkeypatch):
    created(str(tmp_path / "own"))
    configure(monkeypatch, tmp_path)
    with pytest.raises(
        NoSuchLake, match=r"own is a lake with a catalog of its own .*unset PYICEBERG_CATALOG__LAKE__"
    ):
        Lake(None, str(tmp_path / "own"))
    monkeypatch.setenv(f"{VARIABLE}URI", f"sqlite:///{tmp_path}/own/catalog.db")
    Lake(None, str(tmp_path / "own"))


def test_a_lake_that_is_not_where_the_catalog_keeps_its_tables_is_refused(tmp_path, monkeypatch):
    configure(monkeypatch, tmp_path)
    created(str(tmp_path / "here"))
    reason = f"there is not where catalog 'lake' keeps its tables, which is {tmp_path}/here: name that"
    with pytest.raises(NoSuchLake, match=reason):
        Lake(None, str(tmp_path / "there"))
    with pytest.raises(NoSuchLake, match="s3://bucket/lake is not where catalog 'lake' keeps its tables"):
        Lake(None, "s3://bucket/lake")
    assert not (tmp_path / "there").exists()
    Lake(None, f"file://{tmp_path}/here/")


def test_a_configured_warehouse_is_the_lake(tmp_path, monkeypatch):
    configure(monkeypatch, tmp_path, WAREHOUSE=f"file://{tmp_path}/w")
    with pytest.raises(NoSuchLake, match=f"keeps its tables, which is {tmp_path}/w"):
        Lake(None, str(tmp_path / "lake"))


def test_a_server_takes_no_tables_in_a_temporary_folder(tmp_path, monkeypatch):
    properties = {"uri": "postgresql://lake@db/lake", "warehouse": f"file://{tmp_path}"}
    monkeypatch.setattr(table_folders, "parent_folders", lambda *_: set())
    with pytest.raises(NoSuchLake, match=f"{tmp_path} is a temporary folder of this machine"):
        catalog._check_place(None, str(tmp_path), properties)
    catalog._check_place(None, "/srv/lake", properties | {"warehouse": "/srv/lake"})


@pytest.mark.parametrize(
    "name",
    [
        "PYICEBERG_CATALOG__LAK__URI",
        "PYICEBERG_CATALOG__LAKES__URI",
        "PYICEBERG_CATALOG__LAKE_URI",
        "PYICEBERG_CATALOG_LAKE__URI",
        "PYICEBERG_CATALOGS__LAKE__URI",
    ],
)
def test_a_misspelt_catalog_makes_no_new_lake(tmp_path, monkeypatch, name):
    monkeypatch.setenv(name, "https://catalog.example.com")
    with pytest.raises(NoSuchLake, match="but no catalog 'lake', which is this program's"):
        open_catalog(str(tmp_path))
    assert not list(tmp_path.iterdir())


def test_another_catalog_of_the_same_user_is_none_of_this_program(tmp_path, monkeypatch):
    monkeypatch.setenv("PYICEBERG_CATALOG__DEFAULT__URI", "https://catalog.example.com")
    created(str(tmp_path))


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg2"])
def test_an_address_as_libpq_writes_it_works(monkeypatch, scheme):
    monkeypatch.setenv(f"{VARIABLE}URI", f"{scheme}://lake@db:5433/tables")
    assert catalog.configuration("/srv/lake")["uri"] == "postgresql+psycopg2://lake@db:5433/tables"
    assert spark_settings("/srv/lake")[f"{catalog.CATALOG_SETTING}.uri"] == "jdbc:postgresql://db:5433/tables"
    assert catalog.writers() == 8


@pytest.mark.parametrize(
    "uri", ["postgresql+psycopg://lake@db/lake", "postgresql+pg://lake@db/lake", "mysqll://db/lake"]
)
def test_an_address_that_no_driver_knows_is_one_line(tmp_path, monkeypatch, uri):
    configure(monkeypatch, tmp_path, URI=uri)
    with pytest.raises(NoSuchLake, match="URI=postgresql://USER@HOST/DATABASE") as refused:
        open_catalog("/srv/lake")
    assert "\n" not in str(refused.value)
