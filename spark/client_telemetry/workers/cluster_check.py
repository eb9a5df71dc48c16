"""Whether a Spark cluster can run a stage, checked before it begins: one line names what is missing, and on which
machine.

On one machine (`local[...]`) there is nothing to check.
"""

import hashlib
import os
import re
import socket
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from concurrent.futures import TimeoutError as FutureTimeout
from functools import cache
from pathlib import Path

import pyarrow as pa
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import Row, SparkSession
from pyspark.sql.utils import is_remote

from client_telemetry.lake.catalog import writers
from client_telemetry.workers import cluster_size

ICEBERG_CLASS = "org.apache.iceberg.spark.source.SparkTable"
CANNOT_IMPORT = "client-telemetry executor"
"""How worker_daemon.py begins the line that says why it cannot start."""
OTHER_VERSION = f"{CANNOT_IMPORT}: another version of client_telemetry on"
"""How it begins the line that its package is not the driver's."""
_SECONDS = 10
_WAIT_SECONDS = 300
"""For executors to start and answer: a busy cluster provides them late, and Spark itself would wait forever."""
_PACK = "pack them with spark/executors/pack.sh and copy that folder to every worker (docs/deployment.md)"
_OTHER_VERSION = (
    f"the executors have another version of the package client_telemetry than the driver: {_PACK}"
)


class UnusableCluster(Exception):
    """Spark's master or an executor lacks something; the message is one line."""


_REMOTE = "SPARK_REMOTE"
"""Spark's own variable for the address of a Connect server."""


def check_master() -> None:
    """Raises UnusableCluster if Spark does not start here, or the master of this process's settings does not answer."""
    if os.environ.get(_REMOTE):
        raise UnusableCluster(
            f"stages are no clients of a Spark Connect server: unset {_REMOTE}, and name a master"
        )
    try:
        SparkContext.getSystemProperty("java.version")  # starts the JVM
    except PySparkRuntimeError as error:
        if error.getCondition() != "JAVA_GATEWAY_EXITED":
            raise
        home = os.environ.get("JAVA_HOME")
        where = f"at JAVA_HOME, which is {home}" if home else "on PATH or at JAVA_HOME"
        raise UnusableCluster(f"Spark does not start: it needs Java 17 or newer {where}") from error
    conf = SparkConf()
    master = conf.get("spark.master", "") or ""
    ask_master(master)
    check_sizes(master, dict(conf.getAll()))


def use_python_of_settings() -> None:
    """Have executors run the Python of spark.pyspark.python, if it is set: what spark-submit does for the driver that it
    starts (org.apache.spark.deploy.PythonRunner).
    """
    python = SparkConf().get("spark.pyspark.python")
    if python:
        os.environ["PYSPARK_PYTHON"] = python


def ask_master(master: str) -> None:
    """Raises UnusableCluster if Spark's standalone master does not answer: Spark itself tries for a minute and then
    reports a stopped context. Several masters are one with standbys.
    """
    if not master.startswith("spark://"):
        return
    reasons = []
    for address in master.removeprefix("spark://").split(","):
        host, _, port = address.rpartition(":")
        try:
            socket.create_connection((host, int(port)), timeout=_SECONDS).close()
            return
        except (OSError, ValueError) as error:
            reasons.append(str(error))
    raise UnusableCluster(f"no Spark master answers at {master} ({'; '.join(sorted(set(reasons)))})")


def check_sizes(master: str, settings: Mapping[str, str]) -> None:
    """Raises UnusableCluster if no worker of a standalone master has room for an executor; warns if stages that run at once
    ask for more cores than there are.
    """
    state = cluster_size.master_state(master) if master.startswith("spark://") else None
    if state is None:
        return
    if reason := cluster_size.does_not_fit(state, settings):
        raise UnusableCluster(reason)
    if warning := cluster_size.too_many_slots(state, settings, writers()):
        print(f"warning: {warning}", file=sys.stderr, flush=True)


def check_executors(session: SparkSession) -> None:
    """Raises UnusableCluster if an executor has no Iceberg jar, another Python, or a missing or different package."""
    if not is_cluster(session.conf.get("spark.master", "") or ""):
        return
    tasks = max(8, 2 * int(session.conf.get("spark.cores.max", "4") or 4))
    has_jar = f"try_reflect('java.lang.Class', 'forName', '{ICEBERG_CLASS}') is not null as has_jar"
    question = (
        session.range(0, tasks, 1, tasks)
        .selectExpr("id", has_jar)
        .mapInArrow(_executor, "host string, python string, package string, has_jar boolean")
    )
    try:
        rows = within(_WAIT_SECONDS, session, question.collect)
    except UnusableCluster:
        raise
    except Exception as error:
        reason = import_failure(str(error)) or master_left(str(error))
        if reason is None:
            raise
        raise UnusableCluster(reason) from error
    for host, python, package, has_jar in sorted({tuple(row) for row in rows}):
        if not has_jar:
            raise UnusableCluster(
                f"executor {host} has no {ICEBERG_CLASS}: the jars of Iceberg have to be on spark.executor.extraClassPath; {_PACK}"
            )
        if python != _python():
            raise UnusableCluster(_other_python(f"executor {host}", python))
        if package != package_digest():
            raise UnusableCluster(f"{_OTHER_VERSION} (executor {host})")


def within(seconds: float, session: SparkSession, job: Callable[[], list[Row]]) -> list[Row]:
    """The result of the job. Raises UnusableCluster and cancels the job if there is none within that time."""
    master = session.conf.get("spark.master", "")
    with ThreadPoolExecutor(1, "cluster_check") as pool:
        waiting = pool.submit(job)
        try:
            return waiting.result(timeout=seconds)
        except FutureTimeout:
            cancel = session.interruptAll if is_remote() else session.sparkContext.cancelAllJobs
            # Spark forgets a cancellation at once: a job that begins only now is cancelled the next time.
            while not waiting.done():
                cancel()
                wait([waiting], timeout=1)
            raise UnusableCluster(
                f"no executor of {master} answered within {seconds:.0f} s: is the master still there, and has the cluster "
                "free cores and memory for this application? Nothing was written; run it again when it has"
            ) from None


def is_cluster(master: str) -> bool:
    return bool(master) and not re.fullmatch(r"local(\[.*\])?", master)


def import_failure(error: str) -> str | None:
    """One line for a Spark error caused by an executor that lacks jars or cannot start Python; None for another error."""
    if match := re.search(rf"{CANNOT_IMPORT}: (Python (\S+) of (\S+) cannot import (\S+))", error):
        what, version = match[1], match[2]
        if version != _python():
            return _other_python(f"executor {match[3]}", version)
        return f"{what}: {_PACK}"
    if match := re.search(rf"{OTHER_VERSION} (\S+)", error):
        return f"{_OTHER_VERSION} (executor {match[1]})"
    if re.search(
        r"ClassNotFoundException: org\.apache\.iceberg\.|cannot assign instance of .*SerializedLambda", error
    ):
        return f"an executor has no jars of Iceberg on spark.executor.extraClassPath: {_PACK}"
    if "No module named 'client_telemetry." in error:
        return _OTHER_VERSION
    if match := re.search(r"No module named '?(client_telemetry|pyspark|py4j)\b", error):
        return f"the executors' Python has no package {match[1]}: {_PACK}"
    if match := re.search(r"different version: (\d+\.\d+)", error):
        return _other_python("an executor", match[1])
    if match := re.search(r'Cannot run program "([^"]+)"', error):
        return f"an executor has no program {match[1]}: {_PACK}"
    return None


def master_left(error: str) -> str | None:
    """One line for the Spark error of a master that went away while a job ran; None for another error."""
    if re.search(
        "All masters are unresponsive|Master removed our application|SparkContext was shut down", error
    ):
        return "Spark's master went away before the stage began: nothing was written; run it again when the master is back"
    return None


def _executor(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        n = len(batch)
        yield pa.record_batch(
            {
                "host": [socket.gethostname()] * n,
                "python": [_python()] * n,
                "package": [package_digest()] * n,
                "has_jar": batch.column("has_jar"),
            }
        )


def _other_python(executor: str, version: str) -> str:
    return f"{executor} runs Python {version}, the driver {_python()}: both need the same minor version"


def _python() -> str:
    return f"{sys.version_info[0]}.{sys.version_info[1]}"


@cache
def package_digest() -> str:
    """Digest of all code and data of the installed package: rows of another version would differ, and nobody would know
    why.
    """
    package = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(path for path in package.rglob("*") if path.suffix in (".py", ".csv")):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]
