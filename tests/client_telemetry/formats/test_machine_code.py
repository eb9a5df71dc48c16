"""Machine code where people install: a package folder of another user that is read-only, and a user without a home."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numba
import pytest
from client_telemetry.formats.raw import machine_code
from numba.core import compiler

PACKAGE = Path(machine_code.__file__).parents[2]
IMPORT = "import client_telemetry.formats.raw.wire as w; print(w.__file__, w._fill.stats.cache_hits.total())"
NOBODY = 65534


@pytest.fixture
def readable() -> Iterator[Path]:
    """A folder that others may read; those of pytest are closed to them."""
    folder = Path(tempfile.mkdtemp(prefix="machine_code_"))
    folder.chmod(0o755)
    yield folder
    subprocess.run(["chmod", "-R", "u+w", folder], check=True)
    shutil.rmtree(folder)


@pytest.fixture
def installed(readable) -> Path:
    """A copy of the package without machine code."""
    folder = readable / "installed"
    shutil.copytree(PACKAGE, folder / "client_telemetry", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def make_read_only(folder: Path) -> None:
    subprocess.run(["chmod", "-R", "a-w,a+rX", folder], check=True)


def as_another_user(folder: Path, **environment: str) -> subprocess.CompletedProcess:
    """What a new process of a user without rights and without a home says when it imports the decoder."""
    prefix = []
    if os.getuid() == 0:
        prefix = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    site = next(path for path in sys.path if path.endswith("site-packages"))
    settings = {"HOME": "/nonexistent", "PATH": os.environ["PATH"], "PYTHONPATH": f"{folder}:{site}"}
    settings |= {"PYTHONDONTWRITEBYTECODE": "1", **environment}
    command = [*prefix, sys.executable, "-c", IMPORT]
    return subprocess.run(
        command, env=settings, capture_output=True, text=True, check=False, cwd="/", timeout=300
    )


@pytest.fixture(autouse=True)
def others_may_run_this_python() -> None:
    if os.getuid() == 0:
        command = ["setpriv", f"--reuid={NOBODY}", "--clear-groups", sys.executable, "-c", ""]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("another user cannot run this Python")


def test_without_a_place_it_works_and_one_line_says_what_to_set(installed):
    make_read_only(installed)
    done = as_another_user(installed)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(installed / "client_telemetry/formats/raw/wire.py"), "0"]
    (line,) = done.stderr.splitlines()
    assert "Set NUMBA_CACHE_DIR to a folder" in line


def test_code_for_any_processor_beside_the_modules_is_used_by_whoever_may_read_it(installed):
    environment = {"PATH": os.environ["PATH"], "NUMBA_CPU_NAME": "generic", "PYTHONPATH": str(installed)}
    subprocess.run([sys.executable, "-c", IMPORT], env=environment, check=True, capture_output=True, cwd="/")
    make_read_only(installed)
    done = as_another_user(installed)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split()[1] == "1"


def test_a_folder_that_is_set_keeps_it_and_a_file_of_a_stranger_or_a_damaged_one_is_not_run(
    installed, readable
):
    make_read_only(installed)
    kept = readable / "kept"
    kept.mkdir()
    kept.chmod(0o777)
    hits = []
    for damage in (False, False, True, False):
        if damage:
            for file in kept.iterdir():
                file.write_bytes(file.read_bytes()[:100])
        done = as_another_user(installed, NUMBA_CACHE_DIR=str(kept))
        assert done.stderr == ""
        hits.append(done.stdout.split()[1])
    assert hits == ["0", "1", "0", "1"]
    if os.getuid() == 0:
        for file in kept.iterdir():
            os.chown(file, 12345, 12345)
        assert as_another_user(installed, NUMBA_CACHE_DIR=str(kept)).stdout.split()[1] == "0"


def test_machine_code_of_another_source_is_another_file(monkeypatch):
    here = machine_code.MachineCode(make_read_only)._file("void(int64)", ("x", "generic", ""))
    monkeypatch.setattr(machine_code, "sources_digest", lambda: b"changed")
    assert machine_code.MachineCode(make_read_only)._file("void(int64)", ("x", "generic", "")) != here


def test_all_modules_with_compiled_functions_are_named():
    found = {
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        for path in PACKAGE.rglob("*.py")
        if re.search(r"^(@compiled|@njit|from numba import)", path.read_text(), re.M)
    }
    assert found == set(machine_code.MODULES)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"XDG_CACHE_HOME": "/caches", "HOME": "/home/ann"}, "/caches/client-telemetry"),
        ({"HOME": "/home/ann"}, "/home/ann/.cache/client-telemetry"),
    ],
)
def test_the_folder_of_a_user(monkeypatch, settings, expected):
    monkeypatch.setattr(machine_code._config, "CACHE_DIR", "")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert machine_code.cache_folder() == Path(expected)
    monkeypatch.setattr(machine_code._config, "CACHE_DIR", "/set")
    assert machine_code.cache_folder() == Path("/set")


def test_a_folder_that_is_tried_is_left_empty(tmp_path):
    assert machine_code._may_write(tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def test_it_is_kept_beside_the_modules_unless_a_folder_is_set(tmp_path, monkeypatch):
    kept = machine_code.MachineCode(make_read_only)
    kept._beside, kept._of_user = tmp_path / "beside", tmp_path / "of_user"
    monkeypatch.setattr(machine_code._config, "CACHE_DIR", "")
    assert kept._folder_to_write() == kept._beside
    monkeypatch.setattr(machine_code._config, "CACHE_DIR", str(kept._of_user))
    assert kept._folder_to_write() == kept._of_user


def test_numba_takes_no_other_cache_and_has_what_this_one_uses():
    function = numba.njit(lambda x: x)
    assert hasattr(function, "_cache") and not hasattr(function, "set_cache"), (
        "numba may take a cache now: use it"
    )
    assert {"_reduce", "_rebuild"} <= vars(compiler.CompileResult).keys()
