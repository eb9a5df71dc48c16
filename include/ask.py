"""Asks an upgrade question of the lake through Airflow, and prints the answer and where the report is: what
`client-telemetry ask` runs.

    include/airflow.sh include/warm.sh python -m include.command ask '{"cluster": "fleet", "to": "4.3.1"}'
"""

import json
from typing import Any, TextIO

from include.dag_run import run_and_show


def main(conf: str) -> int:
    return run_and_show("broker_upgrade_impact", json.loads(conf), "publish", log="ask.log", show=_show)


def _show(answer: dict[str, Any], console: TextIO) -> int:
    print(f"{answer['sentence']}\nReport: {answer['report']}", file=console)
    return 0
