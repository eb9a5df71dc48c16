"""Runs a DAG in this process, without a scheduler, for somebody who waits for it. Airflow's own log goes to a file."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from include.clusters import CHECKOUT
from include.command import INTERRUPTED
from include.spark_stage import FAILURE_KEY

RUN_FAILED = 1
BAD_CONF = 2
SAID_EVERY_S = 10
_SETTLES_IN_S = 1
"""Until a transaction that the interrupt ended is rolled back."""


def run_and_show(
    dag_id: str, conf: dict[str, Any], result_task: str, *, log: str, show: Callable[[Any, TextIO], int]
) -> int:
    """Run a DAG and show the result of the task, with the exit code of `show`; 1 if the run failed, 2 for a conf that the DAG
    refuses, after a line that says why. `log`: name of a file in $AIRFLOW_HOME."""
    path = Path(os.environ["AIRFLOW_HOME"]) / log
    with output_to(path) as console:
        from airflow.dag_processing.dagbag import DagBag  # takes seconds, and speaks
        from airflow.sdk.exceptions import ParamValidationError

        dag = DagBag(dag_folder=str(CHECKOUT / "dags")).dags[dag_id]
        try:
            result = run_dag(dag, conf, result_task, console)
        except ParamValidationError as error:
            print(f"{dag_id}: {str(error).partition(chr(10))[0]}", file=console)
            return BAD_CONF
        if result is None:
            print(f"The log of the run is {path}.", file=console)
            return RUN_FAILED
        return show(result, console)


def run_dag(dag: Any, conf: dict[str, Any], result_task: str, console: TextIO) -> Any:
    """Run a DAG and give the result of the task; None if the run failed, after saying why. Says every few seconds how far it
    is. At Ctrl-C the process ends, after a line about it: the run counts as failed, and no scheduler goes on with it."""
    print(f"{dag.dag_id} {conf} …", file=console, flush=True)
    for task in dag.tasks:
        task.retries = 0  # whoever waits for it wants the reason, not minutes of pauses
    started = time.monotonic()
    with _watched(dag.dag_id, console):
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
def _watched(dag_id: str, console: TextIO) -> Iterator[None]:
    """Airflow takes an interrupt in a task for a failure of the task and goes on with the next: a thread ends the process."""
    ended, interrupted = threading.Event(), threading.Event()
    since = datetime.now(UTC)

    def watch() -> None:
        said_at = time.monotonic()
        while not ended.wait(0.1):
            if interrupted.is_set():
                time.sleep(_SETTLES_IN_S)
                _count_as_failed(dag_id, since)
                print("interrupted", file=console, flush=True)
                _end_jobs()
                os._exit(INTERRUPTED)
            if time.monotonic() - said_at > SAID_EVERY_S:
                said_at = time.monotonic()
                print(f"  {_how_far(dag_id, since)}", file=console, flush=True)

    def interrupt(*_: object) -> None:
        interrupted.set()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield
    except KeyboardInterrupt:
        watching.join()  # ends the process
        raise
    finally:
        signal.signal(signal.SIGINT, before)
        ended.set()


def _end_jobs() -> None:
    """Also the job of a next task, which Airflow may have begun since the interrupt."""
    import psutil

    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            process.terminate()


def _how_far(dag_id: str, since: datetime) -> str:
    """`40 s: 3 tasks done, decode [fleet] runs for 12 s`."""
    from airflow.utils.session import create_session

    now = datetime.now(UTC)
    with create_session() as session:
        tasks = _tasks(session, dag_id, since)
        done = sum(task.end_date is not None for task in tasks)
        running = [
            f"{task.task_id.rpartition('.')[2]}{f' [{task.rendered_map_index}]' if task.map_index >= 0 else ''} "
            f"runs for {(now - task.start_date).total_seconds():.0f} s"
            for task in tasks
            if task.state == "running" and task.start_date
        ]
    return f"{(now - since).total_seconds():.0f} s: {', '.join([f'{done} tasks done', *running])}"


def _count_as_failed(dag_id: str, since: datetime) -> None:
    from airflow.utils.session import create_session

    with create_session() as session:
        for task in _tasks(session, dag_id, since):
            if task.end_date is None:
                task.state = "failed"
        for run in _runs(session, dag_id, since):
            run.set_state("failed")


def _tasks(session: Any, dag_id: str, since: datetime) -> list[Any]:
    return [task for run in _runs(session, dag_id, since) for task in run.get_task_instances(session=session)]


def _runs(session: Any, dag_id: str, since: datetime) -> list[Any]:
    """The run of `dag.test`, once it is there."""
    from airflow.models.dagrun import DagRun
    from sqlalchemy import select

    mine = (DagRun.dag_id == dag_id, DagRun.triggering_user_name == "dag_test", DagRun.run_after >= since)
    return list(session.scalars(select(DagRun).where(*mine)))


@contextmanager
def output_to(log: Path) -> Iterator[TextIO]:
    """Send all output of this process to a file, and give the console to who really has something to say."""
    sys.stdout.flush()
    before = [os.dup(1), os.dup(2)]
    with os.fdopen(os.dup(1), "w") as console, log.open("w") as file:
        for descriptor in (1, 2):
            os.dup2(file.fileno(), descriptor)
        try:
            yield console
        finally:
            for descriptor, was in zip((1, 2), before, strict=True):
                os.dup2(was, descriptor)
                os.close(was)
