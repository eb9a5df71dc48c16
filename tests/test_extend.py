"""docs/extend.md, done as it stands there, in a copy of the checkout."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[1]
COPIED = (
    *(
        "README.md",
        "pyproject.toml",
        "dags",
        "docs",
        "include",
        "plugins",
        "spark",
        "tests",
        "broker-plugin/src",
    ),
    *("benchmarks", "tests/data/compatibility", "tests/data/reports/whole"),
)
NOT_COPIED = shutil.ignore_patterns("sample", "data", "end_to_end", "*.egg-info")


def not_copied(folder: str, names: list[str]) -> set[str]:
    """Of what Python and numba have compiled, only whole files: another process may be writing one."""
    if Path(folder).name == "__pycache__":
        return {name for name in names if not name.endswith((".pyc", ".nbc"))}
    return NOT_COPIED(folder, names)


BLOCK = re.compile(
    r"^\*\*\d\. `(?P<file>[^`]+)`\*\*[^\n]*\n\n```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.M | re.S
)
FILES = {
    "Add a library": 4,
    "Add a known issue": 3,
    "Add a product": 3,
    "Add a column": 5,
    "Add a report section": 2,
    "Add a table": 1,
    "Add a stage": 4,
    "Add a source": 3,
}
"""Of each chapter, as the page says."""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    """A copy of the checkout's code, without its samples, in which jobs find Spark's settings where they are. All chapters are
    done in it."""
    copy = tmp_path_factory.mktemp("checkout")
    for name in COPIED:
        source = CHECKOUT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=not_copied)
        else:
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, copy / name)
    for title in FILES:
        apply(title, copy)
    run(copy, sys.executable, "spark/generated_files.py")
    return copy


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
        elif block["kind"] == "csv":
            file.write_text(file.read_text(encoding="utf-8") + block["text"], encoding="utf-8")
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


def run(checkout: Path, *command: str | Path, **variables: str) -> None:
    environment = os.environ | {
        "PYTHONPATH": f"{checkout / 'spark'}:{checkout}",
        "SPARK_CONF_DIR": str(CHECKOUT / "var/spark"),
        "AIRFLOW_HOME": str(checkout / "airflow"),
        **variables,
    }
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]


def pytest_in(checkout: Path, *tests: str, **variables: str) -> None:
    run(checkout, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests, **variables)


def test_every_chapter_has_as_many_files_as_the_page_says():
    page = (CHECKOUT / "docs/extend.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)$", page, re.M) == list(FILES)
    assert {title: len(BLOCK.findall(chapter(title))) for title in FILES} == FILES
    rows = re.findall(r"^\| \[[^]]*\]\(#([\w-]+)\) \| (\d+)", page, re.M)
    assert {anchor: int(number) for anchor, number in rows} == {
        title.lower().replace(" ", "-"): number for title, number in FILES.items()
    }


def test_ruff_has_nothing_to_say_about_the_files(checkout):
    python = sorted(
        {b["file"] for title in FILES for b in BLOCK.finditer(chapter(title)) if b["file"].endswith(".py")}
    )
    ruff = Path(sys.executable).with_name("ruff")
    run(checkout, ruff, "check", "--quiet", "--no-cache", *python)
    run(checkout, ruff, "format", "--check", "--quiet", "--no-cache", *python)


def test_what_is_generated_names_what_was_added(checkout):
    tables = (checkout / "docs/tables.md").read_text(encoding="utf-8")
    assert "## library_releases" in tables and "| `broker_ids` |" in tables.split("\n## clients\n")[1]
    libraries = (checkout / "docs/libraries.md").read_text(encoding="utf-8")
    assert "| example-kafka |" in libraries and "| example_kafka_compression |" in libraries


def test_what_was_added_works(checkout):
    """One process: importing Spark and Great Expectations takes most of the time."""
    pytest_in(
        checkout,
        *{b["file"] for title in FILES for b in BLOCK.finditer(chapter(title)) if "/test_" in b["file"]},
        "tests/client_telemetry/tables/test_all_tables.py",
        "tests/dags/test_policy.py",
        "tests/dags/test_client_telemetry_daily.py",
    )


def test_rows_of_the_knowledge_base_break_no_other_test(checkout):
    compatibility = "tests/client_telemetry/compatibility"
    pytest_in(
        checkout,
        "tests/benchmarks/test_fixes.py",
        "tests/client_telemetry/knowledge/test_edits.py",
        f"{compatibility}/test_whole_releases.py",
        f"{compatibility}/test_whole_verdicts.py",
    )


def test_kept_pages_are_written_anew_and_have_what_was_added(checkout):
    reports = "tests/client_telemetry/reports"
    pytest_in(
        checkout, f"{reports}/fleet/test_whole_page.py", f"{reports}/test_whole_reports.py", REWRITE="1"
    )
    whole = checkout / "tests/data/reports/whole"
    assert '"broker_ids"' in (whole / "fleet/clients.csv").read_text(encoding="utf-8").splitlines()[0]
    assert 'id="no_owner"' in (whole / "upgrade/index.html").read_text(encoding="utf-8")
