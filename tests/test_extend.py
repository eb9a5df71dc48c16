"""docs/extend.md, done as it stands there, in a copy of the checkout."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[1]
COPIED = ("README.md", "pyproject.toml", "dags", "docs", "include", "plugins", "spark", "tests")
NOT_COPIED = shutil.ignore_patterns("sample", "data", "end_to_end", "*.egg-info")


def not_copied(folder: str, names: list[str]) -> set[str]:
    """Of what Python and numba have compiled, only whole files: another process may be writing one."""
    if Path(folder).name == "__pycache__":
        return {name for name in names if not name.endswith((".pyc", ".nbc"))}
    return NOT_COPIED(folder, names)


BLOCK = re.compile(
    r"^\*\*\d\. `(?P<file>[^`]+)`\*\*[^\n]*\n\n```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.M | re.S
)


@pytest.fixture
def checkout(tmp_path) -> Path:
    """A copy of the checkout's code, without its samples, in which jobs find Spark's settings where they are."""
    for name in COPIED:
        source = CHECKOUT / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name, ignore=not_copied)
        else:
            shutil.copy(source, tmp_path / name)
    return tmp_path


def chapter(title: str) -> str:
    page = (CHECKOUT / "docs/extend.md").read_text(encoding="utf-8")
    return page.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def apply(title: str, checkout: Path) -> list[str]:
    """Write the chapter's blocks; returns the paths of their files."""
    written = []
    for block in BLOCK.finditer(chapter(title)):
        file = checkout / block["file"]
        if block["kind"] == "diff":
            file.write_text(changed(file.read_text(encoding="utf-8"), block["text"]), encoding="utf-8")
        else:
            assert not file.exists(), file
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block["text"], encoding="utf-8")
        written.append(block["file"])
    return written


def changed(text: str, diff: str) -> str:
    """Each line of the diff that stands in the file is looked for behind the one before."""
    lines, at = text.splitlines(), 0
    for line in diff.splitlines():
        sign, line = line[:1], line[1:]
        if sign == "+":
            lines.insert(at, line)
            at += 1
        else:
            at = lines.index(line, at)
            if sign == "-":
                del lines[at]
            else:
                at += 1
    return "\n".join(lines) + "\n"


def run(checkout: Path, *command: str | Path) -> None:
    environment = os.environ | {
        "PYTHONPATH": f"{checkout / 'spark'}:{checkout}",
        "SPARK_CONF_DIR": str(CHECKOUT / "var/spark"),
        "AIRFLOW_HOME": str(checkout / "airflow"),
    }
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]


def check(checkout: Path, files: list[str], *tests: str) -> None:
    """What `make check` would say about the files, and the tests."""
    python = [file for file in files if file.endswith(".py")]
    ruff = Path(sys.executable).with_name("ruff")
    run(checkout, ruff, "check", "--quiet", "--no-cache", *python)
    run(checkout, ruff, "format", "--check", "--quiet", "--no-cache", *python)
    run(checkout, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)


def test_a_stage_is_added_with_five_files(checkout):
    files = apply("Add a stage", checkout)
    assert len(files) == 5
    run(checkout, sys.executable, "spark/generated_files.py")
    assert "## library_releases" in (checkout / "docs/tables.md").read_text(encoding="utf-8")
    check(
        checkout,
        files,
        "tests/jobs/test_inventory.py",
        "tests/client_telemetry/tables/test_all_tables.py",
        "tests/dags/test_policy.py",
        "tests/dags/test_client_telemetry_daily.py",
    )


def test_a_source_is_added_with_three_files(checkout):
    files = apply("Add a source", checkout)
    assert len(files) == 3
    check(checkout, files, "tests/client_telemetry/sources/proxy/test_adapter.py")
