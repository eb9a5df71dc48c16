"""Write an archive of the classes that Spark and Iceberg load in every stage, which later JVMs map into memory instead of reading and
verifying each class again: a third of the CPU that the JVM of a short stage takes.

    SPARK_CONF_DIR=var/spark python spark/class_archive.py

Java archives no classes while a folder is on the class path, and uses an archive whose class path is the beginning of its own (JEP
350). Spark puts the folder of its settings there. spark-defaults.conf.in names all jars before it, and what comes after them is left
out here. A JVM that cannot use the archive, as it is another Java or has other jars, does without it.
"""

import datetime as dt
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pyspark

from client_telemetry.lake.lake import Lake
from client_telemetry.lake.local_catalog import LOCAL_CATALOG
from client_telemetry.pipeline import quality
from client_telemetry.pipeline.stage import Stage, spark_session
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.publications import PUBLICATIONS
from client_telemetry.workers.pieces import in_tasks

OPTION = "-XX:SharedArchiveFile="
SUBMIT = "org.apache.spark.deploy.SparkSubmit"


def write() -> int:
    """The exit code of Spark. What it prints is shown only if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        command = _java_command(SUBMIT, __file__, folder)
        path = command.index("-cp") + 1
        settings = os.environ["SPARK_CONF_DIR"].rstrip("/")
        command[path] = command[path].partition(f":{settings}/")[0]
        option = next(place for place, each in enumerate(command) if each.startswith(OPTION))
        archive = Path(command[option].removeprefix(OPTION))
        new = archive.with_suffix(".new")
        command[option] = f"-XX:ArchiveClassesAtExit={new}"
        done = subprocess.run(
            command,
            env=os.environ | {LOCAL_CATALOG: "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if done.returncode == 0 and new.exists():
            new.replace(archive)
        else:
            sys.stderr.write(done.stdout)
        return done.returncode


def _java_command(*words: str) -> list[str]:
    """The command that spark-submit would run."""
    home = Path(pyspark.__file__).parent
    launcher = ["java", "-cp", f"{home}/jars/*", "org.apache.spark.launcher.Main", *words]
    environment = os.environ | {"SPARK_HOME": str(home), "SPARK_SCALA_VERSION": "2.13"}
    told = subprocess.run(launcher, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    return told.strip("\0\n").split("\0")


def load_classes(folder: str) -> None:
    """Do with one row what every stage does: write it, count it by groups, hold it against a suite, move it between workers."""
    session = spark_session("classes", folder)
    lake = Lake(session, folder)
    lake.create([BROKERS, PUBLICATIONS])
    branch = lake.branch("run", "cluster", "profile")
    where = {"cluster_id": "cluster", "dt": dt.date(2026, 1, 1)}
    row = {column.name: None for column in BROKERS.columns} | where
    row |= {"broker_id": 1, "broker_incarnation": "1", "started_at": dt.datetime(2026, 1, 1, tzinfo=dt.UTC)}
    branch.replace_rows(BROKERS, [row], **where)
    rows = branch.read(BROKERS).where(Stage.condition(where))
    quality.validate(rows, BROKERS, {})
    rows.groupBy("broker_id").agg({"started_at": "max"}).persist().collect()
    in_tasks(session, str, [1, 2])


if __name__ == "__main__":
    sys.exit(load_classes(sys.argv[1]) if sys.argv[1:] else write())
