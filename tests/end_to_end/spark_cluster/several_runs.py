"""Several runs of stages in one driver process, which spark-submit starts once:

    spark-submit several_runs.py RUNS

RUNS: a JSON list of {"stage", "options"}. A stage uses the application of the one before it, as in a test's session. A run
with "settings" has an application of its own, with these over those of spark-submit, and stops it. Ends with the exit code of
the first run that does not end with its "code" (0 by default).
"""

import json
import sys

from client_telemetry.jobs import main_of
from pyspark import SparkContext


def with_settings(settings: dict[str, str], stage: str, options: list[str]) -> int:
    """Settings reach a driver as system properties of its JVM."""
    SparkContext._ensure_initialized()
    java = SparkContext._jvm.System
    before = {name: java.getProperty(name) for name in settings}
    for name, value in settings.items():
        java.setProperty(name, value)
    try:
        return main_of(stage)(options)
    finally:
        if SparkContext._active_spark_context is not None:
            SparkContext._active_spark_context.stop()
        for name, value in before.items():
            java.clearProperty(name) if value is None else java.setProperty(name, value)


if __name__ == "__main__":
    for run in json.loads(sys.argv[1]):
        stage, options = run["stage"], run["options"]
        code = (
            with_settings(run["settings"], stage, options) if "settings" in run else main_of(stage)(options)
        )
        if code != run.get("code", 0):
            sys.exit(code or 1)
