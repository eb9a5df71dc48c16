"""Runs a module of this package as a command that Ctrl-C ends in one line, while it still imports Airflow too:

    include/airflow.sh python -m include.command sample_run
    include/airflow.sh python -m include.command ask '{"cluster": "fleet", "to": "4.3.1"}'

`client-telemetry run`, `ask` and others become such a command (client_telemetry/cli/checkout.py). The exit code is that of the
module's `main`, 130 after an interrupt.
"""

import importlib
import os
import signal
import sys
from collections.abc import Sequence

INTERRUPTED = 130


def main(argv: Sequence[str]) -> int:
    name, *arguments = argv
    before = signal.getsignal(signal.SIGINT)
    try:
        if before is signal.default_int_handler:  # not where the shell has it ignored
            signal.signal(signal.SIGINT, _end)
        run = importlib.import_module(f"include.{name}").main
        signal.signal(signal.SIGINT, before)
        code: int = run(*arguments)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    return code


def _end(*_: object) -> None:
    """While nothing has begun. A KeyboardInterrupt would be lost in a callback of the import system
    (`_get_module_lock` of CPython's importlib)."""
    os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    ended = main(sys.argv[1:])
    if ended == INTERRUPTED:
        # An interrupt that passed through Python code run by a C extension makes CPython's own exit one by the signal, whatever
        # the code (unhandled_keyboard_interrupt in Python/pythonrun.c).
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(ended)
    sys.exit(ended)
