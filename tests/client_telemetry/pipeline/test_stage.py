"""How a stage gets its session. What stages write and publish is tested with each stage."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from client_telemetry.lake.lake import Lake
from client_telemetry.pipeline import stage
from client_telemetry.pipeline.inputs import as_read
from client_telemetry.tables.brokers import BROKERS

from tests.client_telemetry.lake.conftest import DAY, created, expire_all_but_the_heads, staged

CHECKOUT = Path(__file__).parents[3]


def lake_with_an_expired_snapshot(location: str) -> tuple[Lake, int]:
    lake = created(location)
    snapshot = lake.snapshot(BROKERS)
    staged(lake, "a").publish("a", "run", "collect", [DAY])
    expire_all_but_the_heads(lake, BROKERS)
    return lake, snapshot


def test_a_stage_whose_snapshot_expired_begins_again(tmp_path, capsys):
    _, expired = lake_with_an_expired_snapshot(str(tmp_path))
    snapshots = [expired, None]

    def body(work):
        return stage.Outcome(f"{len(work.lake.rows(BROKERS, snapshots.pop(0)))} broker")

    argv = ["--cluster", "a", "--lake", str(tmp_path)]
    assert stage.run(stage.parser("reads", None), body, argv) == stage.OK
    said = capsys.readouterr()
    assert said.out == "1 broker\n"
    assert said.err == f"reads: brokers: snapshot {expired} has expired; attempt 1 of 3\n"


def test_a_report_whose_evidence_expired_shows_what_there_is_today_and_says_so(tmp_path):
    lake, expired = lake_with_an_expired_snapshot(str(tmp_path))
    argv = ["--cluster", "a", "--lake", str(tmp_path)]
    work = stage.Stage("publish", stage.parser("publish", None).parse_args(argv), lake)
    for _ in range(2):
        assert [row["broker_id"] for row in as_read(work, BROKERS, expired, dt=[DAY])] == [0]
    (warning,) = work.warnings
    assert warning.startswith("brokers: the rows that the report was made from are no longer kept")


def ended(tmp_path, body, *more: str, **how) -> tuple[int, str]:
    """Exit code and message of a stage."""
    argv = ["--cluster", "a", "--lake", str(tmp_path), "--result", str(tmp_path / "result.json"), *more]
    code = stage.run(stage.parser("reads", None), body, argv, **how)
    return code, json.loads((tmp_path / "result.json").read_text())["message"]


@pytest.mark.parametrize(
    ("number", "cure"), [(errno.ENOSPC, "free some space"), (errno.EROFS, "make it writable")]
)
def test_what_the_disk_refuses_is_one_line_with_the_cure(tmp_path, capsys, number, cure):
    def body(work):
        raise OSError(number, os.strerror(number), "/lake/file")

    code, message = ended(tmp_path, body)
    assert code == stage.FAILED
    assert (
        message
        == f"reads: the disk: [Errno {number}] {os.strerror(number)}: '/lake/file': {cure}; run the stage again"
    )
    assert capsys.readouterr().err == message + "\n"


def test_an_argument_that_is_no_text_is_refused_at_once(tmp_path):
    code, message = ended(tmp_path, None, "--run-id", "\udcff")
    assert code == stage.BAD_ARGUMENTS
    assert message == "reads: --run-id is not valid UTF-8: '\\udcff'"


def test_without_java_a_stage_that_needs_spark_says_so_in_one_line(tmp_path):
    """In a process of its own: this one may have a JVM."""
    program = "from tests.client_telemetry.pipeline.test_stage import needs_spark; needs_spark()"
    told = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=CHECKOUT,
        env={**os.environ, "JAVA_HOME": "/nowhere"},
    )
    assert told.returncode == stage.FAILED
    last = told.stderr.strip().splitlines()[-1]
    assert last == (
        "reads: Spark does not start: it needs Java 17 or newer at JAVA_HOME, which is /nowhere. Nothing was written; mend it and "
        "run the stage again"
    )


def needs_spark() -> None:
    argv = ["--cluster", "a", "--lake", sys.argv[1]]
    body = lambda work: stage.Outcome(str(work.spark))  # noqa: E731
    sys.exit(stage.run(stage.parser("reads", None), body, argv))
