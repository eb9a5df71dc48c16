"""The checkout that this package is part of: its Airflow runs the DAGs. The wheel has neither."""

import json
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from client_telemetry.console.refusal import refused

CHECKOUT: Final = Path(__file__).resolve().parents[3]
_WRAPPER: Final = CHECKOUT / "include/airflow.sh"
_WARM: Final = CHECKOUT / "include/warm.sh"
UI: Final = CHECKOUT / "include/ui.sh"
_PREPARED: Final = CHECKOUT / "var/stamps/airflow"


def become(subcommand: str, *command: str, warm: bool = True) -> int:
    """Replaces this process by a command in the settings of the checkout's Airflow, so that its exit code and its end at
    Ctrl-C reach the caller. `warm`: its jobs fork from a process that has imported everything. Returns 2 if there is no
    such Airflow, after one line that says what to do.
    """
    if lacking := _lacking():
        return refused(f"client-telemetry {subcommand}", lacking)
    sys.stdout.flush()
    # Python ignores it, and so would the command.
    ignored = signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        os.execv(_WRAPPER, [str(_WRAPPER), *([str(_WARM)] if warm else []), *command])
    finally:  # a process that was not replaced and writes to a closed connection would end without a word
        signal.signal(signal.SIGPIPE, ignored)


def run_module(
    subcommand: str, module: str, conf: Mapping[str, object] | None = None, *, warm: bool = True
) -> int:
    """`become` for a module of the folder include. `conf`: of the DAG's run; what is None is left to the DAG's default."""
    given = {} if conf is None else {name: value for name, value in conf.items() if value is not None}
    arguments = [] if conf is None else [json.dumps(given, default=str)]
    return become(subcommand, "python", "-m", "include.command", module, *arguments, warm=warm)


def _lacking() -> str:
    if not _WRAPPER.is_file():
        return (
            "needs Airflow and the DAGs, which the wheel does not contain: run make install in a checkout of the project, "
            "and use its .venv/bin/client-telemetry"
        )
    if not _PREPARED.exists():
        return f"Airflow is not installed in {CHECKOUT}: run make install there"
    return ""
