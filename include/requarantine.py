"""Reads all days with unreadable records again, in all clusters, and prints what came out: what
`client-telemetry requarantine` runs.

    include/airflow.sh python -m include.command requarantine

To be run when the cause is gone: an object was restored, or the reader was corrected. What can be read now becomes rows,
the rest stays where it is. Same as triggering client_telemetry_daily with `again`.
"""

from typing import Any, TextIO

from include.dag_run import run_and_show
from include.daily_summary import summary_lines


def main() -> int:
    conf = {"again": "quarantined"}
    return run_and_show("client_telemetry_daily", conf, "summary", log="requarantine.log", show=_show)


def _show(summary: dict[str, Any], console: TextIO) -> int:
    print("\n".join(line for _, line in summary_lines(summary)), file=console)
    return 0
