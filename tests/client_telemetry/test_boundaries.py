"""The pure packages import neither Spark nor Airflow, shown in a bare interpreter."""

import subprocess
import sys

import pytest

from benchmarks import rooms

LINES_OF_A_JOB = 100


@pytest.mark.parametrize(
    "package",
    [
        "artefacts",
        "console",
        "formats",
        "knowledge",
        "knowledge_package",
        "sources",
        "identity",
        "compatibility",
        "reports",
        "subscriptions",
        "probe",
        "campaign",
        "inventory",
    ],
)
def test_a_pure_package_imports_neither_spark_nor_airflow(package):
    code = f"""
import importlib, pkgutil, sys
package = importlib.import_module("client_telemetry.{package}")
for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print(sorted({{name.partition(".")[0] for name in sys.modules}} & {{"pyspark", "airflow", "pandas", "pyiceberg"}}))
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.strip() == "[]"


def test_imports_go_down_or_stay_at_their_level():
    assert rooms.upward() == []
    assert {path.parent.name for path in rooms.PACKAGE.glob("*/__init__.py")} == set().union(*rooms.LEVELS)


def test_no_modules_import_each_other_and_no_chain_is_too_long():
    assert rooms.circles() == []
    assert len(rooms.longest_chain()) <= rooms.LONGEST_CHAIN


def test_a_job_is_arguments_inputs_transform_write():
    """What is more belongs to the room whose work it is."""
    lines = {path.name: len(path.read_text().splitlines()) for path in (rooms.PACKAGE / "jobs").glob("*.py")}
    assert {name: number for name, number in lines.items() if number > LINES_OF_A_JOB} == {}
