"""Runs broker_upgrade_review on the local lake, in one process without a scheduler, and prints what came out.

    include/airflow.sh python -m include.review CLUSTER [FROM] [TO] [DAY] [MECHANISMS]

The exit code is the review's: 0 go (or the upgrade is complete), 3 stop, 4 cannot tell; 1 if the run failed.
"""

import os
import sys
from pathlib import Path

from include.clusters import CHECKOUT
from include.dag_run import output_to, run_dag


def main(argv: list[str]) -> int:
    cluster, *rest = argv
    given = dict(zip(("from", "to", "day", "mechanisms"), rest, strict=False))
    conf = {"cluster": cluster, **{name: value for name, value in given.items() if value}}
    log = Path(os.environ["AIRFLOW_HOME"]) / "review_run.log"
    with output_to(log) as console:
        from airflow.dag_processing.dagbag import DagBag  # takes seconds, and speaks

        dag = DagBag(dag_folder=str(CHECKOUT / "dags")).dags["broker_upgrade_review"]
        found = run_dag(dag, conf, "review", console)
        if found is None:
            print(f"The log of the run is {log}.", file=console)
            return 1
        if found["decision"] != "go":
            print(f"Decision: {found['decision'].replace('_', ' ')}", file=console)
        print(f"{found['sentence']}\nReview: {found['review']}", file=console)
        return int(found["exit_code"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
