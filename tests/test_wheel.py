"""The wheel on a bare machine: a new environment with nothing but Python and the wheel."""

import csv
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import pytest

CHECKOUT = Path(__file__).parents[1]
EXAMPLE = CHECKOUT / "docs/examples/clients.csv"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        str(folder),
        str(CHECKOUT),
    ]
    subprocess.run(command, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def command(wheel, tmp_path_factory) -> Path:
    """`client-telemetry` of an environment that has nothing else."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, with_pip=True)
    install = [folder / "bin/pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", wheel]
    subprocess.run(install, check=True, capture_output=True)
    return folder / "bin/client-telemetry"


def test_it_has_what_others_need_of_the_package(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    assert "client_telemetry/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not any(name.startswith(("tests/", "jobs/")) for name in names)


def test_verdicts_of_a_list_in_a_second_after_the_first_start(command, tmp_path):
    verdicts = tmp_path / "verdicts.csv"
    arguments = [
        "compatibility",
        "--from",
        "3.9.1",
        "--to",
        "4.0.1",
        "--input",
        EXAMPLE,
        "--output",
        verdicts,
    ]
    seconds = []
    for _ in range(3):
        before = getrusage(RUSAGE_CHILDREN)
        subprocess.run([command, *arguments], check=True, cwd=tmp_path, env={"PATH": "/usr/bin:/bin"})
        after = getrusage(RUSAGE_CHILDREN)
        seconds.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    with EXAMPLE.open(newline="") as asked, verdicts.open(newline="") as given:
        assert len(list(csv.DictReader(given))) == len(list(csv.DictReader(asked))) > 0
    # Processor time: the first start compiles the modules, and other processes may run beside a test.
    assert min(seconds[1:]) <= 1


def test_patterns_of_ones_own_say_what_they_need(command, tmp_path):
    arguments = [command, "knowledge-check", CHECKOUT / "docs/examples/knowledge"]
    run = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert run.stderr.count("\n") == 1
    assert "patterns of your own need the package google-re2: pip install google-re2" in run.stderr
