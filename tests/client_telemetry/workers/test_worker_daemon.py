"""What the processes that Spark forks find, in an interpreter that is started as Spark starts its daemon."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pyspark
from client_telemetry.workers.cluster_check import import_failure, package_digest

LIBRARIES = Path(pyspark.__file__).parent / "python" / "lib"
PROGRAM = """
import gc, sys, zipimport
from client_telemetry.workers import worker_daemon
before = list(sys.path)
assert worker_daemon.sys.path == before, "an import changes nothing"
worker_daemon.prepare()
import pyspark
print(pyspark.__file__)
print([entry for entry, finder in sys.path_importer_cache.items() if isinstance(finder, zipimport.zipimporter)])
print(gc.get_freeze_count() > 50_000)
"""
SESSION = """
import sys, time, psutil
from client_telemetry.pipeline.stage import spark_session
session = spark_session("impact", sys.argv[1], "client_telemetry.impact.verdict_rows")
spark = {process.pid for process in psutil.Process().children(recursive=True)}
while not any(
    "client_telemetry.workers.worker_daemon" in (each.info["cmdline"] or ())
    for each in psutil.process_iter(["ppid", "cmdline"])
    if each.info["ppid"] in spark
):
    time.sleep(0.1)
print("there")
"""


def test_pyspark_is_the_installed_one_and_no_task_reads_an_archive():
    archives = [str(path) for path in LIBRARIES.glob("*.zip")]
    assert len(archives) == 2
    path = os.pathsep.join([*archives, *filter(None, [os.environ.get("PYTHONPATH")])])
    printed = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert printed == [pyspark.__file__, "[]", "True"]


def test_workers_of_a_stage_that_decodes_nothing_do_without_the_compiled_decoder():
    program = (
        "import sys; from client_telemetry.workers import worker_daemon as daemon; daemon.prepare(); "
        "print('client_telemetry.impact.verdict_rows' in sys.modules, 'numba' in sys.modules)"
    )
    printed = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "CLIENT_TELEMETRY_WORKERS_IMPORT": "client_telemetry.impact.verdict_rows"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert printed == ["True", "False"]


def test_an_executor_that_joins_late_with_another_version_of_the_package_says_so():
    def started(digest: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [
                sys.executable,
                "-c",
                "from client_telemetry.workers import worker_daemon; worker_daemon.prepare()",
            ],
            env={
                **os.environ,
                "CLIENT_TELEMETRY_WORKERS_IMPORT": "client_telemetry.impact.verdict_rows",
                "CLIENT_TELEMETRY_PACKAGE": digest,
            },
            capture_output=True,
            text=True,
        )

    assert started(package_digest()).returncode == 0
    line = import_failure(started("0123456789abcdef").stderr)
    assert line is not None and "another version of the package" in line and platform.node() in line


def test_the_daemon_of_a_stage_that_names_its_imports_is_there_before_the_first_job(tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", SESSION, str(tmp_path)], capture_output=True, text=True, timeout=120
    )
    assert run.stdout.split()[-1:] == ["there"], run.stderr
