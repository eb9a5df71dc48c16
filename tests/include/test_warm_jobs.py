"""The process that `make run` and `make ui` keep warm between jobs."""

import os
import select
import signal
import socket
import subprocess
import sys

from include.clusters import CHECKOUT

JOB = """
import os, sys
from client_telemetry.pipeline.stage import spark_session

print("job", os.getppid(), "pyarrow" in sys.modules)
if len(sys.argv) > 1:
    session = spark_session("test", sys.argv[1])
    of_python = session.range(0, 3, 1, 1).mapInArrow(lambda batches: batches, "id long").count()
    print("spark", session.sparkContext.appName, session.conf.get("spark.sql.catalog.lake.warehouse"), of_python)
"""


def test_jobs_are_forks_of_one_process_and_start_spark_themselves(tmp_path):
    """With the settings of their own environment; and each of them ends with its own exit code."""
    job, fails = tmp_path / "job.py", tmp_path / "fails.py"
    job.write_text(JOB)
    fails.write_text("raise SystemExit(3)")
    run = f'{sys.executable} {CHECKOUT / "spark/warm_jobs.py"} run "$WARM_JOBS"'
    named = "PYSPARK_SUBMIT_ARGS='--master local[1] --name own pyspark-shell'"
    jobs = f"{run} {job} && {named} {run} {job} {tmp_path / 'lake'} && {run} {fails}"
    command = [CHECKOUT / "include/airflow.sh", CHECKOUT / "include/warm.sh", "sh", "-c", jobs]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 3, done.stderr[-2000:]
    lines = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("job")]
    assert len(lines) == 2 and lines[0] == lines[1] and lines[0][1] == "True"
    (spark,) = (line for line in done.stdout.splitlines() if line.startswith("spark"))
    assert spark == f"spark client-telemetry test file://{tmp_path}/lake 3"


def test_a_job_ends_with_the_task_that_asked_for_it(tmp_path):
    """Airflow kills what it has started, and may run the task again at once."""
    job = tmp_path / "job.py"
    job.write_text("import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(300)")
    run = f'exec {sys.executable} {CHECKOUT / "spark/warm_jobs.py"} run "$WARM_JOBS" {job}'
    killed = f"({run}) >{tmp_path}/said & while [ ! -s {tmp_path}/said ]; do sleep 0.1; done; kill -9 $!; wait; sleep 2"
    asked = f"kill -0 $(cat {tmp_path}/said) 2>/dev/null && echo goes on || echo is over"
    command = [
        CHECKOUT / "include/airflow.sh",
        CHECKOUT / "include/warm.sh",
        "sh",
        "-c",
        f"{killed}; {asked}",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stdout.splitlines()[-1] == "is over", done.stdout + done.stderr


def test_a_job_runs_also_if_the_process_has_died(tmp_path):
    """Killed for want of memory, for example: questions to `make ui` go on, each in a process of its own."""
    job = tmp_path / "job.py"
    job.write_text("import os, sys\nprint(os.getppid())\nsys.exit(3)")
    run = f'{sys.executable} {CHECKOUT / "spark/warm_jobs.py"} run "$WARM_JOBS" {job}'
    jobs = f"kill -9 $({run}); {run}"
    command = [CHECKOUT / "include/airflow.sh", CHECKOUT / "include/warm.sh", "sh", "-c", jobs]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 3, done.stderr
    assert "the warm process has ended: this job starts a process of its own" in done.stderr


def test_a_job_runs_also_if_the_process_dies_before_it_takes_it(tmp_path):
    job, path = tmp_path / "job.py", tmp_path / "socket"
    job.write_text("import sys\nsys.exit(3)")
    command = [sys.executable, CHECKOUT / "spark/warm_jobs.py", "run", path, job]
    with socket.socket(socket.AF_UNIX) as dying:
        dying.bind(str(path))
        dying.listen()
        running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        taken, _ = dying.accept()
        with taken:
            select.select([taken], [], [])  # sent, and nobody reads it
    assert "starts a process of its own" in running.communicate(timeout=60)[1]
    assert running.returncode == 3


def test_no_module_takes_facts_when_it_is_imported():
    """A package of the knowledge base that is installed later is used by the next job, in a process that stays up for weeks."""
    program = """
import sys
sys.path.insert(0, "spark")
import warm_jobs
from client_telemetry import knowledge

read, knowledge._rows = [], lambda file, *_: read.append(file) or []
warm_jobs.import_what_jobs_import()
print(read)
"""
    command = [CHECKOUT / "include/airflow.sh", "python", "-c", program]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, timeout=120)
    assert done.stdout == "[]\n", done.stderr


def test_a_container_keeps_a_warm_process_and_what_it_starts_finds_it(tmp_path):
    state = tmp_path / "state"
    asks = tmp_path / "asks.sh"
    asks.write_text(f'exec python {CHECKOUT / "spark/warm_jobs.py"} run "$WARM_JOBS" {tmp_path / "job.py"}\n')
    asks.chmod(0o755)
    (tmp_path / "job.py").write_text(JOB)
    container = subprocess.Popen(
        [CHECKOUT / "include/container.sh", "bash", asks],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "STATE": str(state)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        printed, errors = container.communicate(timeout=300)
    finally:
        os.killpg(container.pid, signal.SIGTERM)  # the warm process, which a container takes with it
    assert container.returncode == 0, errors
    assert printed.split()[-1] == "True"
    assert (state / "spark" / "warm_jobs.log").read_text() == ""
