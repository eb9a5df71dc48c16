"""What Spark says of an executor that cannot run Python becomes one line; `make e2e` has the same on a real cluster."""

import socket
import sys
import time

import pytest
from client_telemetry.workers import cluster_check

SLEEPS_S = 300
"""Long, so that a busy machine is not taken for a job that nobody cancelled."""
HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (
            "Error while finding module specification for 'client_telemetry.workers.worker_daemon' "
            "(ModuleNotFoundError: No module named 'client_telemetry')",
            "the executors' Python has no package client_telemetry",
        ),
        (
            "ModuleNotFoundError: No module named 'client_telemetry.new_module'",
            "the executors have another version of the package",
        ),
        (
            "client-telemetry executor: Python 3.9 of node7 cannot import numpy",
            "executor node7 runs Python 3.9",
        ),
        (
            f"client-telemetry executor: Python {HERE} of node7 cannot import numba",
            f"Python {HERE} of node7 cannot import numba",
        ),
        (
            "[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.9 than that in driver",
            "Python 3.9",
        ),
        (
            "client-telemetry executor: another version of client_telemetry on node7",
            "another version of the package client_telemetry than the driver",
        ),
        (
            "java.lang.ClassNotFoundException: org.apache.iceberg.spark.source.SparkInputPartition",
            "no jars of Iceberg on spark.executor.extraClassPath",
        ),
        (
            "java.lang.ClassCastException: cannot assign instance of java.lang.invoke.SerializedLambda to field",
            "no jars of Iceberg on spark.executor.extraClassPath",
        ),
        ('java.io.IOException: Cannot run program "/opt/x/python": error=2', "no program /opt/x/python"),
    ],
)
def test_one_line_for_what_an_executor_lacks(error, line):
    message = cluster_check.import_failure(f"Job aborted ...\n{error}\n\tat org.apache.spark")
    assert message is not None and line in message and "\n" not in message


def test_a_master_that_went_away():
    line = cluster_check.master_left("Job 0 cancelled because SparkContext was shut down")
    assert line is not None and "run it again" in line


def test_another_error_is_left_alone():
    assert cluster_check.master_left("java.lang.OutOfMemoryError") is None
    assert cluster_check.import_failure("java.lang.OutOfMemoryError") is None


@pytest.mark.parametrize(
    ("master", "expected"),
    [
        ("local", False),
        ("local[2]", False),
        ("local[*, 4]", False),
        ("", False),
        ("spark://a:7077", True),
        ("k8s://https://a", True),
        ("local-cluster[2,1,1024]", True),
    ],
)
def test_what_is_a_cluster(master, expected):
    assert cluster_check.is_cluster(master) is expected


def test_a_master_that_does_not_listen():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        master = f"spark://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(
        cluster_check.UnusableCluster, match=r"no Spark master answers at spark://127\.0\.0\.1"
    ):
        cluster_check.ask_master(master)
    cluster_check.ask_master("local[2]")


def test_executors_of_one_machine_are_not_asked(spark, monkeypatch):
    def asked(seconds, session, job):
        raise AssertionError("executors of this machine were asked")

    monkeypatch.setattr(cluster_check, "within", asked)
    cluster_check.check_executors(spark)
    monkeypatch.setattr(cluster_check, "is_cluster", lambda master: True)
    with pytest.raises(AssertionError, match="were asked"):
        cluster_check.check_executors(spark)


def sleeps(batches):
    time.sleep(SLEEPS_S)
    yield from batches


def test_executors_that_do_not_answer_in_time(spark):
    """The task sleeps; what waits for it gets one line, and the session can be used again."""
    job = spark.range(1).mapInArrow(sleeps, "id long").collect
    began = time.monotonic()
    with pytest.raises(
        cluster_check.UnusableCluster, match=r"no executor of local.* answered within 2 s: .*run it again"
    ) as raised:
        cluster_check.within(2, spark, job)
    assert "\n" not in str(raised.value) and time.monotonic() - began < SLEEPS_S
    assert cluster_check.within(SLEEPS_S, spark, spark.range(3).collect) == spark.range(3).collect()


def test_a_job_that_begins_when_the_time_is_over_is_cancelled_too(spark):
    def begins_late():
        time.sleep(3)
        return spark.range(1).mapInArrow(sleeps, "id long").collect()

    began = time.monotonic()
    with pytest.raises(cluster_check.UnusableCluster, match="answered within 1 s"):
        cluster_check.within(1, spark, begins_late)
    assert time.monotonic() - began < SLEEPS_S
