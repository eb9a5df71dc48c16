"""Runs a module of this package as a command that Ctrl-C ends in one line, while it still imports Airflow too:

    include/airflow.sh python -m include.command sample_run
    include/airflow.sh python -m include.command ask --cluster=fleet --to=4.3.1

The exit code is that of the module's `main`, 130 after an interrupt.
"""

import importlib
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
    sys.exit(main(sys.argv[1:]))
