"""Importing this gives Airflow the settings of include/airflow.sh, with a home of its own for this process of tests.

Airflow reads its settings when it is first imported, so this comes before.
"""

import atexit
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]

_HOME = tempfile.mkdtemp(prefix="client_telemetry_airflow_")
atexit.register(shutil.rmtree, _HOME, ignore_errors=True)
_shown = subprocess.run(
    [CHECKOUT / "include" / "airflow.sh", "env", "-0"],
    env={**os.environ, "AIRFLOW_HOME": _HOME},
    stdout=subprocess.PIPE,
    check=True,
    text=True,
).stdout
os.environ.update(line.split("=", 1) for line in _shown.split("\0") if line)
AT_THE_START = dict(os.environ)
"""For commands of their own, whatever other tests of this process leave behind."""
