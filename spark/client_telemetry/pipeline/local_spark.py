"""Spark on this machine for one command, whatever the caller's environment says of other Sparks.

A checkout has its jars and settings below var/ (`make install`). An installed wheel has neither: Spark's Ivy fetches the
jars of lake/spark_jars.txt once, into ~/.ivy2.5.2, and the settings are those of spark-defaults.conf.in without the checkout's.
"""

import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from client_telemetry.lake.local_catalog import LOCAL_CATALOG

_KEPT: Final = frozenset({"SPARK_LOCAL_DIRS", "SPARK_DRIVER_MEMORY"})
"""The caller's variables that fit a Spark on this machine."""
_OF_OTHER_SPARKS: Final = frozenset({"MASTER", "HADOOP_CONF_DIR", "YARN_CONF_DIR"})
_REPLACED: Final = ("SPARK_", "PYSPARK_")
_CHECKOUT_SETTINGS: Final = Path(__file__).parents[3] / "var" / "spark"
_OF_A_CHECKOUT: Final = "@CHECKOUT@"


@contextmanager
def local_spark(settings: Mapping[str, str]) -> Iterator[None]:
    """The environment in which pyspark starts a Spark on this machine with these settings."""
    before = dict(os.environ)
    environment = spark_environment(before, settings, _CHECKOUT_SETTINGS)
    _replace_environment(environment)
    try:
        yield
    finally:
        _replace_environment(before)


def spark_environment(
    environment: Mapping[str, str], settings: Mapping[str, str], checkout_settings: Path
) -> dict[str, str]:
    """`environment` with Spark's variables replaced. `checkout_settings`: the folder of spark-defaults.conf that
    `make install` wrote, or a path where there is none.
    """
    kept = {
        name: value
        for name, value in environment.items()
        if name in _KEPT or not (name.startswith(_REPLACED) or name in _OF_OTHER_SPARKS)
    }
    options = ["--master", "local[*]"]
    if (checkout_settings / "spark-defaults.conf").is_file():
        kept["SPARK_CONF_DIR"] = str(checkout_settings)
    else:
        settings = {**_settings_without_checkout(), **settings}
        options += ["--packages", ",".join(_jars())]
    if "SPARK_DRIVER_MEMORY" in environment:
        settings = {**settings, "spark.driver.memory": environment["SPARK_DRIVER_MEMORY"]}
    for name, value in settings.items():
        options += ["--conf", f"{name}={value}"]
    return kept | {
        LOCAL_CATALOG: "1",
        "SPARK_HOME": _spark_home(),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "PYSPARK_SUBMIT_ARGS": shlex.join([*options, "pyspark-shell"]),
    }


def _replace_environment(environment: Mapping[str, str]) -> None:
    for name in os.environ.keys() - environment.keys():
        del os.environ[name]
    os.environ.update(environment)


def _settings_without_checkout() -> dict[str, str]:
    """Of spark-defaults.conf.in: settings, and words of settings, that name the checkout are left out."""
    text = (files("client_telemetry.pipeline") / "spark-defaults.conf.in").read_text(encoding="utf-8")
    settings = {}
    for line in text.splitlines():
        name, *words = line.split()
        kept = [word for word in words if _OF_A_CHECKOUT not in word]
        if kept and not name.startswith("#"):
            settings[name] = " ".join(kept)
    return settings


def _jars() -> list[str]:
    return (files("client_telemetry.lake") / "spark_jars.txt").read_text(encoding="utf-8").split()


def _spark_home() -> str:
    """Of the pyspark that this process imports. Raises ModuleNotFoundError."""
    found = find_spec("pyspark")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("No module named 'pyspark'", name="pyspark")
    return str(Path(found.origin).parent)
