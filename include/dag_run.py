"""Runs a DAG in this process, without a scheduler, for somebody who waits for it."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from include.spark_stage import FAILURE_KEY


def run_dag(dag: Any, conf: dict[str, Any], result_task: str, console: TextIO) -> Any:
    """Run a DAG and give the result of the task; None if the run failed, after saying why."""
    print(f"{dag.dag_id} {conf} …", file=console, flush=True)
    for task in dag.tasks:
        task.retries = 0  # whoever waits for it wants the reason, not minutes of pauses
    started = time.monotonic()
    run = dag.test(run_conf=conf)
    print(f"{dag.dag_id}: {run.state}, {time.monotonic() - started:.0f} s", file=console, flush=True)
    tasks = run.get_task_instances()
    if run.state == "success":
        return next(task for task in tasks if task.task_id == result_task).xcom_pull(task_ids=result_task)
    for task in tasks:
        if task.state == "failed":
            why = task.xcom_pull(task_ids=task.task_id, key=FAILURE_KEY, map_indexes=task.map_index)
            print(f"FAILED {task.task_id}: {why or 'see the log'}", file=console)
    return None


@contextmanager
def output_to(log: Path) -> Iterator[TextIO]:
    """Send all output of this process to a file, and give the console to who really has something to say."""
    with os.fdopen(os.dup(1), "w") as console, log.open("w") as file:
        sys.stdout.flush()
        for descriptor in (1, 2):
            os.dup2(file.fileno(), descriptor)
        yield console
