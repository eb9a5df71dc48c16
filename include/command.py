"""Runs a module of this package as a command that Ctrl-C ends in one line, while it still imports Airflow too:

    include/airflow.sh python -m include.command sample_run
    include/airflow.sh python -m include.command ask --cluster=fleet --to=4.3.1

The exit code is that of the module's `main`, 130 after an interrupt.
"""

import importlib
import os
import sys
from collections.abc import Sequence

INTERRUPTED = 130


def main(argv: Sequence[str]) -> int:
    name, *arguments = argv
    try:
        run = importlib.import_module(f"include.{name}").main
        code: int = run(arguments) if arguments else run()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    return code


if __name__ == "__main__":
    ended = main(sys.argv[1:])
    if ended == INTERRUPTED:
        # An interrupt that passed through Python code run by a C extension makes CPython's own exit one by the signal, whatever
        # the code (unhandled_keyboard_interrupt in Python/pythonrun.c).
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(ended)
    sys.exit(ended)
