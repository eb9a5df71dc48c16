"""Asks an upgrade question of the local lake through Airflow, and prints the answer and where the report is.

    include/airflow.sh include/warm.sh python -m include.ask --cluster fleet --to 4.3.1 [--from 4.0.0]
        [--day 2026-11-21] [--window 7] [--planned-for 2026-12-05] [--asked-by kafka@example.com]
        [--mechanisms CLIENTS=SCRAM-SHA-512,PLAIN]

Airflow's own log of the run goes to $AIRFLOW_HOME/ask.log. Exit code: 1 if the run failed, 2 for a question that cannot be
asked; one line says why.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from include.clusters import CHECKOUT
from include.dag_run import output_to, run_dag

DAG = "broker_upgrade_impact"
BAD_QUESTION = 2


def main(argv: Sequence[str] | None = None) -> int:
    question = _question(argv)
    log = Path(os.environ["AIRFLOW_HOME"]) / "ask.log"
    with output_to(log) as console:
        from airflow.dag_processing.dagbag import DagBag  # takes seconds, and speaks
        from airflow.sdk.exceptions import ParamValidationError

        dag = DagBag(dag_folder=str(CHECKOUT / "dags")).dags[DAG]
        try:
            answer = run_dag(dag, question, "publish", console)
        except ParamValidationError as error:
            print(f"ask: {str(error).partition(chr(10))[0]}", file=console)
            return BAD_QUESTION
        if answer is None:
            print(f"The log of the run is {log}.", file=console)
            return 1
        print(f"{answer['sentence']}\nReport: {answer['report']}", file=console)
        return 0


def _question(argv: Sequence[str] | None) -> dict[str, Any]:
    """The conf of a run: what was not said is left to the DAG's defaults."""
    parser = argparse.ArgumentParser(prog="ask", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cluster", required=True, help="name in the clusters file")
    parser.add_argument("--to", required=True, help="exact release to upgrade to")
    parser.add_argument("--from", help="release before the upgrade; default: what the brokers run")
    parser.add_argument("--day", help="last UTC day of the evidence; default: the last processed one")
    parser.add_argument("--window", dest="window_days", type=int, help="days of evidence; default: 7")
    parser.add_argument(
        "--planned-for", help="planned day of the upgrade, for the report and messages to owners"
    )
    parser.add_argument(
        "--mechanisms", help="SASL mechanisms that listeners offer, such as CLIENTS=SCRAM-SHA-512,PLAIN"
    )
    parser.add_argument("--asked-by", help="contact for owners' answers: a team, e-mail address or channel")
    return {name: value for name, value in vars(parser.parse_args(argv)).items() if value is not None}


if __name__ == "__main__":
    sys.exit(main())
