"""What lake/iceberg_internals.py works around is still missing in pyiceberg, and what it uses is still there."""

import importlib
import re
from pathlib import Path

import client_telemetry.lake
import pytest
from client_telemetry.lake.iceberg_internals import MetadataOnce
from pyiceberg import manifest
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.expressions import visitors
from pyiceberg.io import pyarrow
from pyiceberg.io.pyarrow import PyArrowFile
from pyiceberg.schema import Schema
from pyiceberg.table import ManifestGroupPlanner, Transaction
from pyiceberg.table.update.snapshot import UpdateSnapshot, _MergeAppendFiles, _OverwriteFiles
from pyiceberg.types import NestedField, StringType

NEEDLESS = "pyiceberg offers this now: use it, and remove the part of iceberg_internals.py"
PRIVATE = re.compile(
    r"\b(?!self|cls|sys|os)\w+\)?\._(?!replace|asdict|fields)[a-z]|^from pyiceberg\S* import .*\b_", re.M
)


def test_an_overwrite_does_not_merge_manifests_by_itself():
    assert "_process_manifests" in vars(_MergeAppendFiles)
    assert "_process_manifests" not in vars(_OverwriteFiles), NEEDLESS
    assert not issubclass(_OverwriteFiles, _MergeAppendFiles), NEEDLESS
    assert not [name for name in vars(UpdateSnapshot) if "merg" in name and "overwrite" in name], NEEDLESS


@pytest.mark.parametrize("name", ["build_partition_evaluator", "build_metrics_evaluator"])
def test_a_planner_has_evaluators_of_files_for_itself_only(name):
    assert hasattr(ManifestGroupPlanner, f"_{name}")
    assert not {name, name.removeprefix("build_")} & vars(ManifestGroupPlanner).keys(), NEEDLESS


def test_functions_without_a_public_name():
    assert not {"StrictMetricsEvaluator", "strict_metrics_evaluator"} & vars(visitors).keys(), NEEDLESS
    assert not {"import_retry_strategy", "retry_strategy"} & vars(pyarrow).keys(), NEEDLESS
    assert not {"manifests", "read_manifest_list_cached"} & vars(manifest).keys(), NEEDLESS


def test_parts_of_a_file_and_the_session_of_a_catalog_are_private():
    assert not {"path", "filesystem", "buffer_size"} & vars(PyArrowFile).keys(), NEEDLESS
    assert not {"session", "http_session"} & vars(RestCatalog).keys(), NEEDLESS


def test_a_transaction_makes_the_metadata_at_each_access(tmp_path):
    table = plain_catalog(tmp_path).create_table("n.t", Schema(NestedField(1, "a", StringType())))
    transaction = Transaction(table).set_properties(mine="yes")
    assert transaction.table_metadata is not transaction.table_metadata, NEEDLESS
    once = MetadataOnce(table).set_properties(mine="yes")
    first = once.table_metadata
    assert once.table_metadata is first
    assert once.set_properties(more="yes").table_metadata.properties.keys() >= {"mine", "more"}


def test_a_catalog_reads_the_metadata_of_a_table_at_each_load(tmp_path, monkeypatch):
    """Why sql_catalog.py makes tables by itself."""
    catalog = plain_catalog(tmp_path)
    catalog.create_table("n.t", Schema(NestedField(1, "a", StringType())))
    opened = []
    original = pyarrow.PyArrowFileIO.new_input
    monkeypatch.setattr(
        pyarrow.PyArrowFileIO,
        "new_input",
        lambda io, location: opened.append(location) or original(io, location),
    )
    assert catalog.load_table("n.t").metadata == catalog.load_table("n.t").metadata
    assert len(opened) == 2 and len(set(opened)) == 1, (
        "SqlCatalog keeps tables now: remove what sql_catalog.py keeps"
    )
    hooks = {"_convert_orm_to_iceberg", "_load_file_io", "_update_and_stage_table", "_create_table_row"}
    assert hooks <= {*dir(SqlCatalog)}
    assert not {name.removeprefix("_") for name in hooks} & {*dir(SqlCatalog)}, NEEDLESS


def test_files_in_s3_are_opened_at_once(monkeypatch):
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    io = pyarrow.PyArrowFileIO(
        {"s3.region": "us-east-1", "s3.access-key-id": "a", "s3.secret-access-key": "b"}
    )
    _, (options,) = io._initialize_s3_fs(None).__reduce__()
    assert options["allow_delayed_open"] is False, NEEDLESS


def plain_catalog(folder: Path) -> SqlCatalog:
    catalog = SqlCatalog("plain", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}")
    catalog.create_namespace("n")
    return catalog


def test_no_other_module_of_the_lake_uses_private_names():
    """None is used, and none is overridden."""
    folder = Path(next(iter(client_telemetry.lake.__path__)))
    texts = {file.name: file.read_text() for file in folder.glob("*.py")}
    using = {name for name, text in texts.items() if PRIVATE.search(text)}
    modules = [importlib.import_module(f"client_telemetry.lake.{Path(name).stem}") for name in texts]
    overriding = {
        of_us.__module__ for module in modules for of_us in vars(module).values() if overrides_private(of_us)
    }
    assert using == {"iceberg_internals.py"}
    assert overriding == {"client_telemetry.lake.iceberg_internals"}


def overrides_private(member: object) -> bool:
    """Whether it is a class of the lake with a method in place of a private one of pyiceberg."""
    if not isinstance(member, type) or not member.__module__.startswith("client_telemetry."):
        return False
    private = {name for name, value in vars(member).items() if re.match("_[a-z]", name) and callable(value)}
    return any(private & {*dir(base)} for base in member.__mro__ if base.__module__.startswith("pyiceberg."))
