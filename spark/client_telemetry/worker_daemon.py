"""Spark's Python daemon with what the workers of this project import already loaded.

Spark forks each Python worker from a daemon, and lets workers that were idle for a minute go. Importing the compiled
decoder and the knowledge base takes a new worker seconds; a fork of a process that has them takes none. Named by
`spark.python.daemon.module` in spark/conf, where the package is installed beside Spark.
"""

from pyspark.daemon import manager

import client_telemetry.decode_worker
import client_telemetry.verdict_rows  # noqa: F401

if __name__ == "__main__":
    manager()
