"""Runs jobs in forks of a process that has imported everything: for many small jobs on one machine.

    python spark/warm_jobs.py serve SOCKET
    python spark/warm_jobs.py run SOCKET JOB [ARGUMENT ...]

`run` behaves like `python JOB ARGUMENT ...`: same output, same exit code, its own environment and folder. Importing
pyspark, pyiceberg, pandas and Great Expectations costs each job more CPU than a small day's work does. A job that needs
Spark starts it itself: a fork must not share a JVM with its parent.
"""

import gc
import importlib
import json
import os
import runpy
import signal
import socket
import sys
import threading
import time
import traceback
from contextlib import suppress
from pathlib import Path

READY_WITHIN = 60
"""Seconds that a job waits for the server to start."""


def serve(path: str) -> None:
    """Listen on a Unix socket until killed; one fork per job. Jobs that come while it imports wait in the socket's queue."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        import_what_jobs_import()
        signal.signal(signal.SIGCHLD, _count)
        while True:
            client, _ = listener.accept()
            with client:
                if os.fork() == 0:
                    listener.close()
                    _run_job(client)


def _count(*_: object) -> None:
    """Wait for the forks that have ended, so that their CPU is this process's: what nobody waits for, `time` does not see."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def import_what_jobs_import() -> None:
    """When they start and on their way, and exempt it from garbage collection, whose marks would copy each page of memory into
    each fork. The server itself opens no session and starts no thread.
    """
    # What is imported stays: looking for cycles among it meanwhile is a fifth of the work.
    gc.disable()
    import duckdb  # noqa: F401
    import pandas  # noqa: F401

    from client_telemetry.knowledge_package import store
    from client_telemetry.pipeline import quality
    from client_telemetry.reports.fleet import page as fleet_page
    from client_telemetry.reports.review import page as review_page
    from client_telemetry.reports.upgrade import page as upgrade_page
    from client_telemetry.tables.stages import DAILY, UPGRADE_QUESTION, UPGRADE_REVIEW

    # As run_stage.py does, before modules take what they need of it.
    with suppress(ValueError):  # which each job will say
        store.activate()
    for stage in (*DAILY, *UPGRADE_REVIEW, *UPGRADE_QUESTION):
        importlib.import_module(f"client_telemetry.jobs.{stage.name}")
    quality.import_great_expectations()
    for page in (fleet_page, review_page, upgrade_page):
        page.page_template()
    gc.collect()
    gc.freeze()
    gc.enable()


def _run_job(client: socket.socket) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    message, descriptors, _, _ = socket.recv_fds(client, 2**20, 3)
    job = json.loads(message)
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
    threading.Thread(target=_end_with, args=(client,), daemon=True).start()
    os.chdir(job["folder"])
    os.environ.clear()
    os.environ.update(job["environment"])
    sys.argv = job["command"]
    code = 0
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    client.sendall(bytes([code]))
    os._exit(code)


def _end_with(client: socket.socket) -> None:
    """End this fork when who asked for the job is gone: Airflow has stopped the task, and may run it again."""
    try:
        is_gone = not client.recv(1)
    except ConnectionResetError:
        is_gone = True
    if is_gone:
        os.kill(os.getpid(), signal.SIGTERM)


def run(path: str, command: list[str]) -> int:
    """Have the server run the command; returns its exit code, 1 if the job was killed. If the server has died, this process becomes
    the job."""
    job = {"command": command, "folder": str(Path.cwd()), "environment": dict(os.environ)}
    with socket.socket(socket.AF_UNIX) as server:
        try:
            _connect(server, path)
            socket.send_fds(server, [json.dumps(job).encode()], [0, 1, 2])
            answer = server.recv(1)
        except ConnectionError:
            # Refused, or reset with the job unread: a fork that has read it and dies ends the connection without an error.
            print(
                "the warm process has ended: this job starts a process of its own",
                file=sys.stderr,
                flush=True,
            )
            os.execv(sys.executable, [sys.executable, *command])
    if not answer:
        print(
            "the job was killed, or the warm process while it started: its log is warm_jobs.log",
            file=sys.stderr,
        )
    return answer[0] if answer else 1


def _connect(server: socket.socket, path: str) -> None:
    """Raises ConnectionRefusedError if nobody listens any more, FileNotFoundError if nobody ever did."""
    deadline = time.monotonic() + READY_WITHIN
    while True:
        try:
            return server.connect(path)
        except FileNotFoundError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        try:
            sys.exit(run(sys.argv[2], sys.argv[3:]))
        except OSError as error:
            sys.exit(f"no process takes jobs at {sys.argv[2]} ({error}); why stands in var/spark")
