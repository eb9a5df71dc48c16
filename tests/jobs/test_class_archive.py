"""A JVM that is started as stages start theirs takes its classes from the archive that `make install` writes."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
SUBMIT = Path(sys.executable).with_name("spark-submit")


def where_classes_came_from(settings: Path) -> tuple[str, str]:
    """Of Spark's own main class, and all else that was printed."""
    environment = os.environ | {
        "SPARK_CONF_DIR": str(settings),
        "SPARK_SUBMIT_OPTS": "-Xlog:class+load:stdout",
    }
    done = subprocess.run([SUBMIT, "--version"], env=environment, check=True, capture_output=True, text=True)
    source = re.search(r"org\.apache\.spark\.deploy\.SparkSubmit source: (.*)", done.stdout)
    assert source
    return source[1], "\n".join(line for line in done.stdout.splitlines() if "[class,load]" not in line)


def test_classes_come_from_the_archive():
    source, _ = where_classes_came_from(CHECKOUT / "var/spark")
    assert source == "shared objects file (top)"


def test_so_do_those_of_a_stage_that_a_cluster_runs():
    environment = {name: value for name, value in os.environ.items() if name != "SPARK_CONF_DIR"}
    show = [CHECKOUT / "include/airflow.sh", "sh", "-c", 'echo "$SPARK_CONF_DIR"']
    settings = subprocess.run(
        show,
        env=environment | {"SPARK_MASTER": "spark://127.0.0.1:1"},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    source, _ = where_classes_came_from(Path(settings.stdout.strip()))
    assert source == "shared objects file (top)"


def test_without_the_archive_they_come_from_the_jars_and_nobody_is_told(tmp_path):
    shutil.copytree(CHECKOUT / "var/spark", tmp_path / "spark", ignore=shutil.ignore_patterns("*.jsa"))
    settings = tmp_path / "spark" / "spark-defaults.conf"
    settings.write_text(settings.read_text().replace("classes.jsa", "none.jsa"))
    source, said = where_classes_came_from(tmp_path / "spark")
    assert source.startswith("file:") and source.endswith(".jar")
    assert "classes" not in said and "archive" not in said
