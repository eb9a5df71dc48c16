"""What lake/iceberg_internals.py works around is still missing in pyiceberg, and what it uses is still there."""

import re
from pathlib import Path

import client_telemetry.lake
import pytest
from pyiceberg import manifest
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.expressions import visitors
from pyiceberg.io import pyarrow
from pyiceberg.io.pyarrow import PyArrowFile
from pyiceberg.table import ManifestGroupPlanner
from pyiceberg.table.update.snapshot import UpdateSnapshot, _MergeAppendFiles, _OverwriteFiles

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


def test_no_other_module_of_the_lake_uses_private_names():
    folder = Path(next(iter(client_telemetry.lake.__path__)))
    found = {
        file.name: PRIVATE.findall(file.read_text())
        for file in folder.glob("*.py")
        if PRIVATE.search(file.read_text())
    }
    assert set(found) == {"iceberg_internals.py"}
