import signal
import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, weakref
from client_telemetry.cli.interrupt import ended_at_once

class Module: pass

def collected(_):
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(100): pass

{block}
    module = Module()
    reference = weakref.ref(module, collected)
    del module
print("went on")
"""


def run(block: str, disposition: signal.Handlers = signal.SIG_DFL) -> tuple[int, str, str]:
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(block=block)],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, disposition),
    )
    return ended.returncode, ended.stdout, ended.stderr


def test_an_interrupt_within_a_callback_ends_the_command():
    """The import system's callbacks are of this kind: Python prints what they raise, and goes on."""
    code, printed, complaint = run("if True:")
    assert (code, printed) == (0, "went on\n") and "KeyboardInterrupt" in complaint
    assert run('with ended_at_once("report: interrupted"):') == (130, "", "report: interrupted\n")


@pytest.mark.parametrize("block", ["if True:", 'with ended_at_once("report: interrupted"):'])
def test_an_interrupt_that_the_shell_ignores_is_ignored(block):
    assert run(block, signal.SIG_IGN) == (0, "went on\n", "")
