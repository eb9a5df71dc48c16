"""Ctrl-C as a terminal sends it: SIGINT to the process group of the real command, in the middle of its work."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from client_telemetry.cli import __main__ as command

CHECKOUT = Path(__file__).parents[3]
LOG = CHECKOUT / "include" / "sample" / "request_logs" / "kafka-2.7.2-text.request.log.zst"
ENDS_WITHIN_S = 10
"""On a busy machine; on an idle one it is one second."""


def as_in_a_terminal() -> None:
    """A shell that starts tests in the background has them ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _gone(group: int) -> bool:
    """Whether all processes of a group end within a minute: Spark's JVM does when it misses its Python."""
    for _ in range(600):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def interrupted(
    out: Path, reached: Callable[[str], bool], seconds: float, *more: str
) -> tuple[int, str, list[str]]:
    """Exit code, standard output and lines of standard error of a report that is interrupted so many seconds after its output
    has reached something."""
    arguments = ["report", "--to=4.0.1", "--from=2.7.2", f"--out={out}", *more, str(LOG)]
    printed, errors = out.parent / "printed", out.parent / "errors"
    with printed.open("w") as output, errors.open("w") as error:
        process = subprocess.Popen(
            [sys.executable, "-m", command.__name__, *arguments],
            stdout=output, stderr=error, start_new_session=True, preexec_fn=as_in_a_terminal,
        )  # fmt: skip
    deadline = time.monotonic() + 300
    while not reached(printed.read_text()) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGINT)
    begin = time.monotonic()
    code = process.wait(60)
    assert time.monotonic() - begin < ENDS_WITHIN_S
    assert _gone(process.pid), "a process is left"
    return code, printed.read_text(), errors.read_text().splitlines()


@pytest.mark.parametrize(
    ("line", "seconds"),
    [
        pytest.param("  collect …", 0.1, id="at its first stage"),
        pytest.param("  decode …", 0.5, id="while objects are decoded"),
        pytest.param("  sessionize …", 0.1, id="while gates are imported"),
        pytest.param("  sessionize …", 0.5, id="while a query runs"),
        pytest.param("  impact …", 0.1, id="while clients are judged"),
    ],
)
def test_an_interrupted_report_ends_at_once_in_one_line_and_leaves_nothing(tmp_path, line, seconds):
    out = tmp_path / "out"
    code, printed, errors = interrupted(out, lambda printed: line in printed, seconds)
    assert (code, errors) == (command.INTERRUPTED, ["client-telemetry report: interrupted"]), printed
    assert line in printed and "Report: " not in printed
    assert not out.exists()


def test_an_interrupted_stage_leaves_no_jvm(tmp_path):
    """While Python imports, a JVM starts, Spark starts in it, or its first session."""
    raw = CHECKOUT / "include" / "sample" / "telemetry_cluster" / "raw"
    cluster = ["--cluster=kQ7x0RvXTs-Y2r0m3Jw0zA", f"--lake={tmp_path / 'lake'}", f"--raw={raw}"]
    stage = [sys.executable, str(CHECKOUT / "spark/run_stage.py")]
    subprocess.run([*stage, "collect", *cluster, "--day=2026-11-21", "--run-id=collected"], check=True)
    for seconds in (1.5, 3.0, 4.5, 6.0):
        options = ["--days=2026-11-21", "--without-spark-up-to=0", f"--run-id=interrupted-{seconds}"]
        process = subprocess.Popen(
            [*stage, "decode", *cluster, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True, preexec_fn=as_in_a_terminal,
        )  # fmt: skip
        time.sleep(seconds)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(60) != 0, seconds
        assert _gone(process.pid), f"a process is left of what was interrupted after {seconds} s"


def test_an_interrupted_report_that_follows_says_so_once(tmp_path):
    """While another process makes its report."""
    out = tmp_path / "out"
    stages = out / "work" / "results" / "stages.log"
    code, printed, errors = interrupted(out, lambda _: stages.exists(), 2, "--follow=5")
    assert (code, printed, errors) == (command.INTERRUPTED, "", ["client-telemetry report: interrupted"])
    assert list(out.iterdir()) == []
