"""Reviews an upgrade of a cluster of the lake through Airflow, and prints what came out: what `client-telemetry review
--cluster` runs.

    include/airflow.sh python -m include.command review '{"cluster": "fleet", "from": "3.9.1", "to": "4.0.0"}'

The exit code is the review's: 0 go (or the upgrade is complete), 3 stop, 4 cannot tell.
"""

import json
from typing import Any, TextIO

from include.dag_run import run_and_show


def main(conf: str) -> int:
    return run_and_show("broker_upgrade_review", json.loads(conf), "review", log="review_run.log", show=_show)


def _show(review: dict[str, Any], console: TextIO) -> int:
    if review["decision"] != "go":
        print(f"Decision: {review['decision'].replace('_', ' ')}", file=console)
    print(f"{review['sentence']}\nReview: {review['review']}", file=console)
    return int(review["exit_code"])
