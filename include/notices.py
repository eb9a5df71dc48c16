"""Tells owners and operators what is new, if the variable CLIENT_TELEMETRY_NOTICES names a notices file (docs/notices.md). By a process
of its own: what a notice needs is not imported into Airflow's tasks.
"""

import logging
import os
import subprocess
import sys
from pathlib import Path

from airflow.sdk.exceptions import AirflowException, AirflowFailException, AirflowSkipException

from include import credentials
from include.campaigns import campaigns_file
from include.clusters import CHECKOUT, read_clusters

log = logging.getLogger(__name__)
FILE_VARIABLE = "CLIENT_TELEMETRY_NOTICES"
SENT_VARIABLE = "CLIENT_TELEMETRY_NOTICES_SENT"
_TIMEOUT_S = 120
_TIMEOUT_OF_NEWS_S = 3600
_NOT_SENT = 1


def is_on() -> bool:
    return bool(os.environ.get(FILE_VARIABLE))


def tell_failure(run: str, reason: str) -> None:
    """That a run failed, to operators. That it cannot be sent fails nothing: it is logged."""
    if not is_on():
        return
    try:
        done = _notify(_TIMEOUT_S, f"--failed={run}", f"--reason={reason}")
    except (OSError, subprocess.SubprocessError) as error:
        log.warning("operators were not told: %s", error)
        return
    _log(done)


def tell_news() -> str:
    """Of campaigns and late days, to owners and operators: gives the last line of the command, which counts. Raises
    AirflowSkipException without a notices file, AirflowFailException for files that cannot be used, and AirflowException if something
    could not be sent.
    """
    if not is_on():
        raise AirflowSkipException(
            f"{FILE_VARIABLE} names no notices file: nobody is told (docs/notices.md)."
        )
    folder = read_clusters().publish
    try:
        done = _notify(
            _TIMEOUT_OF_NEWS_S, f"--campaigns={campaigns_file().absolute()}", f"--reports={folder}"
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise AirflowException(f"Nobody was told: {error}") from None
    _log(done)
    if done.returncode == 0:
        return done.stdout.splitlines()[-1]
    kind = AirflowException if done.returncode == _NOT_SENT else AirflowFailException
    raise kind(done.stderr.strip().rpartition("\n")[2] or f"notify ended with {done.returncode}")


def _notify(timeout_s: float, *told: str) -> subprocess.CompletedProcess[str]:
    file = os.environ[FILE_VARIABLE]
    sent = os.environ.get(SENT_VARIABLE) or str(Path(file).absolute().with_name("notices_sent.json"))
    command = [sys.executable, "-m", "client_telemetry.cli", "notify", "--notices", file, "--sent", sent]
    with credentials.in_environment():
        return subprocess.run(
            [*command, "--send", *told],
            cwd=CHECKOUT,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )


def _log(done: subprocess.CompletedProcess[str]) -> None:
    level = logging.INFO if done.returncode == 0 else logging.WARNING
    for line in (done.stdout + done.stderr).splitlines():
        log.log(level, "%s", line)
