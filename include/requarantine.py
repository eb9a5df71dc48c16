"""Reads all days with unreadable records again, in all clusters, and prints what came out.

    include/airflow.sh python -m include.requarantine

To be run when the cause is gone: an object was restored, or the reader was corrected. What can be read now becomes rows,
the rest stays where it is. Same as triggering client_telemetry_daily with `again`. The exit code is 1 if a run failed.
"""

import os
import sys
from pathlib import Path

from include.clusters import CHECKOUT
from include.dag_run import output_to, run_dag
from include.daily_summary import summary_lines


def main() -> int:
    log = Path(os.environ["AIRFLOW_HOME"]) / "requarantine.log"
    with output_to(log) as console:
        from airflow.dag_processing.dagbag import DagBag  # takes seconds, and speaks

        dags = DagBag(dag_folder=str(CHECKOUT / "dags")).dags
        summary = run_dag(dags["client_telemetry_daily"], {"again": "quarantined"}, "summary", console)
        if summary is None:
            print(f"The log of the run is {log}.", file=console)
            return 1
        print("\n".join(line for _, line in summary_lines(summary)), file=console)
        return 0


if __name__ == "__main__":
    sys.exit(main())
