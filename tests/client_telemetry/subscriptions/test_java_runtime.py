import csv
from pathlib import Path
from typing import Any

import py4j.java_gateway
import py4j.protocol
import pytest
from client_telemetry.subscriptions.java_runtime import (
    JavaRuntime,
    NoJava,
    RefusedByJava,
    UnsureMatch,
    follows_the_java_release,
)
from pyspark.errors.exceptions import captured

SELECTORS = Path(__file__).parents[2] / "data" / "subscriptions" / "selectors.csv"


def test_selectors_are_java_regular_expressions(java: JavaRuntime) -> None:
    with SELECTORS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        try:
            found = java.texts([row["value"], "another"]).matching(java.compile(row["regex"]))
            matches = "yes" if row["value"] in found else "no"
        except RefusedByJava:
            matches = "refused"
        assert matches == row["matches"], row
    assert len(rows) > 37


def test_any_text_is_a_value(java: JavaRuntime) -> None:
    values = ["", "a\0b", "two\nlines", "tab\t", "\r", "\\", '"', "😀", "a", "\u202e", "c" * 30_000]
    assert java.texts(values).matching(java.compile(r"(?s).*")) == frozenset(values)
    assert java.texts(values).matching(java.compile("nothing")) == frozenset()
    assert java.texts([]).matching(java.compile(".*")) == frozenset()


def test_a_value_on_which_java_gives_up_is_said(java: JavaRuntime) -> None:
    with pytest.raises(UnsureMatch, match="StackOverflowError"):
        java.texts(["ab" * 100_000]).matching(java.compile("(a|b)*"))


def test_pyspark_in_the_same_process_changes_nothing(
    java: JavaRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    def as_pyspark_reads(*answer: Any) -> Any:
        # pyspark.errors.exceptions.captured replaces it so, and asks Spark's Java machine about the exception.
        try:
            return py4j.protocol.get_return_value(*answer)
        except py4j.protocol.Py4JJavaError as error:
            raise py4j.protocol.Py4JError("no such object in Spark's Java machine") from error

    monkeypatch.setattr(py4j.java_gateway, "get_return_value", as_pyspark_reads)
    with pytest.raises(RefusedByJava, match="Unclosed counted closure"):
        java.compile("a{2")
    with pytest.raises(UnsureMatch, match="StackOverflowError"):
        java.texts(["ab" * 100_000]).matching(java.compile("(a|b)*"))


def test_a_dead_java_machine_of_spark_in_the_same_process_changes_no_order(
    java: JavaRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    def as_pyspark_reads(*answer: Any) -> Any:
        try:
            return py4j.protocol.get_return_value(*answer)
        except py4j.protocol.Py4JJavaError as error:
            raise ConnectionRefusedError("Spark's Java machine has ended") from error

    names = [f"name-{number}" for number in range(40)]
    ordered = java.map_order(names)
    assert sorted(ordered) == sorted(names)
    monkeypatch.setattr(py4j.java_gateway, "get_return_value", as_pyspark_reads)
    assert java.map_order(names) == ordered


def test_pyspark_still_replaces_py4js_reader_of_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(py4j.java_gateway, "get_return_value", py4j.protocol.get_return_value)
    captured.install_exception_handler()
    assert py4j.java_gateway.get_return_value is not py4j.protocol.get_return_value, (
        "pyspark leaves py4j alone now: call methods as they are, and remove _call of java_runtime.py"
    )


def test_missing_java_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(NoJava, match="install Java 17 or newer"):
        JavaRuntime()


@pytest.mark.parametrize(
    ("regex", "value", "expected"),
    [(r"\bżuk\b", "żuk", True), (r"\bżuk\b", "zuk", False), ("(?iu)ż", "Ż", True), ("ż.*", "żuk", False)],
)
def test_what_depends_on_the_release_of_java(regex: str, value: str, expected: bool) -> None:
    assert follows_the_java_release(regex, value) is expected
