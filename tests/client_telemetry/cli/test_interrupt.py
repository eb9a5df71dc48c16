"""Ctrl-C as a terminal sends it: SIGINT to the process group of the real command, in the middle of its work."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from client_telemetry.cli import __main__ as command

CHECKOUT = Path(__file__).parents[3]
LOG = CHECKOUT / "include" / "sample" / "request_logs" / "kafka-2.7.2-text.request.log.zst"


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


def interrupted(out: Path, when: str) -> tuple[int, str, list[str]]:
    """Exit code, standard output and lines of standard error of a report that is interrupted a second after `when`."""
    arguments = ["report", "--to=4.0.1", "--from=2.7.2", f"--out={out}", str(LOG)]
    printed, errors = out.parent / "printed", out.parent / "errors"
    with printed.open("w") as output, errors.open("w") as error:
        process = subprocess.Popen(
            [sys.executable, "-m", command.__name__, *arguments],
            stdout=output, stderr=error, start_new_session=True, preexec_fn=as_in_a_terminal,
        )  # fmt: skip
    deadline = time.monotonic() + 300
    while when not in printed.read_text() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(1)
    os.killpg(process.pid, signal.SIGINT)
    code = process.wait(300)
    assert _gone(process.pid), "a process is left"
    return code, printed.read_text(), errors.read_text().splitlines()


def test_an_interrupted_report_is_one_line_and_the_next_try_begins(tmp_path):
    """The first while Spark works (its JVM is up, a query runs), the second, into the same folder, while it starts."""
    out = tmp_path / "out"
    for when in ("  decode …", "  collect …"):
        code, printed, errors = interrupted(out, when)
        assert (code, errors) == (command.INTERRUPTED, ["client-telemetry report: interrupted"]), printed
        assert when in printed and "Report: " not in printed
        assert not out.exists()
