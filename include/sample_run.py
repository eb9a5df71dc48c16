"""Runs both DAGs over the shipped sample, in one process without a scheduler, and prints what came out.

    include/airflow.sh python -m include.sample_run

Airflow's own log of the runs goes to $AIRFLOW_HOME/sample_run.log. The exit code is 1 if a run failed.
"""

import os
import sys
from pathlib import Path
from typing import Any

from include.clusters import CHECKOUT, DEFAULT_FILE, clusters_file
from include.dag_run import output_to, run_dag
from include.daily_summary import summary_lines

DAY = {"day": "2026-11-21"}
"""The day on which the sample was captured (include/sample/*/README.md)."""

QUESTION = {"cluster": "fleet", "from": "3.9.1", "to": "4.0.0"} | DAY
"""The first of the two upgrades that the fleet went through; outcomes.csv says what became of each application."""

LOCAL_CATALOG = "CLIENT_TELEMETRY_LOCAL_CATALOG"
"""The sample's lake is one of its own, whatever catalog the environment configures (client_telemetry/lake/local_catalog.py;
a test compares them)."""


def main() -> int:
    if clusters_file() == DEFAULT_FILE:
        os.environ[LOCAL_CATALOG] = "1"
    log = Path(os.environ["AIRFLOW_HOME"]) / "sample_run.log"
    with output_to(log) as console:
        from airflow.dag_processing.dagbag import DagBag  # takes seconds, and speaks

        dags = DagBag(dag_folder=str(CHECKOUT / "dags")).dags
        summary = run_dag(dags["client_telemetry_daily"], DAY, "summary", console)
        if summary is not None:
            print("\n".join(line for _, line in summary_lines(summary)), file=console)
            print(totals(summary), file=console)
            answer = run_dag(dags["broker_upgrade_impact"], QUESTION, "publish", console)
            if answer is not None:
                verdicts = ", ".join(
                    f"{name.replace('_', ' ')} {n}" for name, n in answer["verdicts"].items()
                )
                print(f"Verdicts: {verdicts}\n{answer['sentence']}\nReport: {answer['report']}", file=console)
                return 0
        print(f"The log of the run is {log}.", file=console)
        return 1


def totals(summary: dict[str, Any]) -> str:
    """What the day comes to over all clusters, as one sentence."""
    clusters = [cluster["counts"] for cluster in summary["clusters"].values()]

    def of(stage: str, count: str) -> int:
        return sum(counts[stage][count] for counts in clusters)

    return (
        f"{len(clusters)} clusters, {summary['day']}: {of('decode', 'push_rows')} pushes, {of('decode', 'points')} points, "
        f"{of('sessionize', 'connections')} connections, {of('sessionize', 'sessions')} sessions, "
        f"{of('profile', 'applications')} applications with {of('profile', 'clients')} clients, "
        f"{of('decode', 'undecodable')} quarantined records; coverage: "
        f"{of('collect', 'broker_hours_complete')} of the {of('collect', 'broker_hours_reported')} broker hours that a "
        f"manifest tells of are complete, {of('collect', 'broker_hours')} broker hours are in the day"
    )


if __name__ == "__main__":
    sys.exit(main())
