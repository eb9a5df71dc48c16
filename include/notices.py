"""Tells operators that a daily run failed, if the variable CLIENT_TELEMETRY_NOTICES names a notices file (docs/notices.md)."""

import logging
import os
import subprocess
import sys
from pathlib import Path

from include.clusters import CHECKOUT

log = logging.getLogger(__name__)
FILE_VARIABLE = "CLIENT_TELEMETRY_NOTICES"
SENT_VARIABLE = "CLIENT_TELEMETRY_NOTICES_SENT"
_TIMEOUT_S = 120


def tell_failure(run: str, reason: str) -> None:
    """By a process of its own: what a notice needs is not imported into Airflow's tasks. That it cannot be sent fails nothing: it is
    logged.
    """
    file = os.environ.get(FILE_VARIABLE)
    if not file:
        return
    sent = os.environ.get(SENT_VARIABLE) or str(Path(file).absolute().with_name("notices_sent.json"))
    command = [
        sys.executable,
        "-m",
        "client_telemetry.cli",
        "notify",
        "--notices",
        file,
        "--sent",
        sent,
        "--send",
    ]
    told = [f"--failed={run}", f"--reason={reason}"]
    try:
        done = subprocess.run(
            [*command, *told], cwd=CHECKOUT, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.SubprocessError) as error:
        log.warning("operators were not told: %s", error)
        return
    level = logging.INFO if done.returncode == 0 else logging.WARNING
    for line in (done.stdout + done.stderr).splitlines():
        log.log(level, "%s", line)
