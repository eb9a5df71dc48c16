"""What `make audit` says of pinned packages, with records in OSV's format that are made up."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from include.audit.known_vulnerabilities import Database, NotChecked, is_affected, pinned

CHECKOUT = Path(__file__).parents[1]


def entry(*events: tuple[str, str], name: str = "jinja2", ecosystem: str = "PyPI", **more: object) -> dict:
    """An item of a record's `affected`."""
    ranges = [{"type": "ECOSYSTEM", "events": [dict([event]) for event in events]}] if events else []
    return {"package": {"name": name, "ecosystem": ecosystem}, "ranges": ranges, **more}


def database(folder: Path, *affected: dict, **more: object) -> Database:
    record = {"id": "MADE-UP-1", "schema_version": "1.6.0", "affected": list(affected), **more}
    (folder / "made_up.json").write_text(json.dumps(record))
    return Database(folder)


@pytest.mark.parametrize(
    ("case", "version", "affected", "expected"),
    [
        ("listed", "1.0", entry(versions=["1.0"]), True),
        ("not listed", "1.1", entry(versions=["1.0"]), False),
        ("from the beginning", "0.1", entry(("introduced", "0"), ("fixed", "1.0")), True),
        ("the fix itself", "1.0", entry(("introduced", "0"), ("fixed", "1.0")), False),
        ("before the fix", "1.0rc1", entry(("introduced", "0"), ("fixed", "1.0")), True),
        ("1.10 is after 1.9", "1.10", entry(("introduced", "1.0"), ("fixed", "1.9")), False),
        ("the last one", "1.9", entry(("introduced", "1.0"), ("last_affected", "1.9")), True),
        ("after the last one", "1.9.1", entry(("introduced", "1.0"), ("last_affected", "1.9")), False),
        ("never fixed", "9.0", entry(("introduced", "1.0")), True),
        ("introduced again", "3.5", entry(("introduced", "1"), ("fixed", "2"), ("introduced", "3")), True),
        ("between two ranges", "2.5", entry(("introduced", "1"), ("fixed", "2"), ("introduced", "3")), False),
    ],
)
def test_a_version_is_in_a_range_as_osv_defines_it(case, version, affected, expected):
    assert is_affected(version, affected) is expected, case


def test_records_are_found_by_any_spelling_of_the_name(tmp_path):
    found = database(tmp_path, entry(("introduced", "0"), name="Typing_Extensions"))
    assert [record["id"] for record in found.query("typing-extensions", "4.0")] == ["MADE-UP-1"]


@pytest.mark.parametrize(
    ("affected", "more"),
    [
        (entry(("introduced", "0")), {"withdrawn": "2026-01-01T00:00:00Z"}),
        (entry(("introduced", "0"), ecosystem="npm"), {}),
        (entry(("introduced", "0"), name="another"), {}),
    ],
    ids=["withdrawn", "of another ecosystem", "of another package"],
)
def test_records_of_something_else_are_left_out(tmp_path, affected, more):
    assert database(tmp_path, affected, **more).query("jinja2", "3.1.6") == []


@pytest.mark.parametrize("content", ["{", "[]", '{"affected": []}'])
def test_a_damaged_database_checks_nothing(tmp_path, content):
    (tmp_path / "damaged.json").write_text(content)
    with pytest.raises(NotChecked, match=r"damaged\.json is not an OSV record"):
        Database(tmp_path)


def test_an_empty_folder_checks_nothing(tmp_path):
    with pytest.raises(NotChecked, match="no OSV records"):
        Database(tmp_path)


def test_every_pinned_package_is_asked_about():
    names = {
        line.partition("==")[0] for line in pinned((CHECKOUT / "requirements.txt").read_text()).splitlines()
    }
    assert {"pyspark", "apache-airflow", "pandas"} <= names
    assert len(names) > 200


def make_audit(*settings: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(
        ["make", "audit", *settings],
        cwd=CHECKOUT,
        env=environment | variables,
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_a_known_vulnerability_of_a_pinned_package_is_listed_offline(tmp_path):
    database(tmp_path, entry(("introduced", "3.0"), ("fixed", "3.99"), name="Jinja2"))
    done = make_audit(f"DATABASE={tmp_path}")
    assert done.returncode != 0
    (line,) = [line for line in done.stdout.splitlines() if "MADE-UP-1" in line]
    assert line.split() == ["jinja2", "3.1.6", "MADE-UP-1", "3.99"]


def test_nothing_is_listed_where_no_pinned_version_is_affected(tmp_path):
    database(tmp_path, entry(("introduced", "0"), ("fixed", "1.0"), name="jinja2"))
    done = make_audit(f"DATABASE={tmp_path}")
    assert (done.returncode, "MADE-UP-1" in done.stdout) == (0, False), done.stderr


def test_without_network_one_line_says_that_nothing_was_checked():
    done = make_audit(https_proxy="http://127.0.0.1:9", HTTPS_PROXY="http://127.0.0.1:9")
    assert done.returncode != 0
    lines = [line for line in done.stderr.splitlines() if not line.startswith("make: ***")]
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("not checked for known vulnerabilities: ") and "DATABASE=FOLDER" in lines[0]
