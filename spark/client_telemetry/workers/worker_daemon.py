"""Spark's Python daemon with the imports of this project's workers preloaded.

Spark forks each Python worker from a daemon, and ends workers that were idle for a minute. Importing the compiled
decoder and the knowledge base takes a new worker seconds; a fork of a process that has them takes none.
`spark.python.daemon.module` in spark/conf names this module where the package is installed next to Spark.

Spark puts its own archives before the installed packages, and clears the caches of import finders for each task
(`setup_spark_files` in pyspark/worker_util.py): Python then reads the archives' directories again, a tenth of a second
per task. So pyspark is imported from its installed location, if there is one.
"""

import gc
import importlib
import os
import platform
import sys
from collections.abc import Callable
from importlib.machinery import PathFinder
from pathlib import Path

from client_telemetry.tables.stages import DRIVERS_PACKAGE, WORKERS_IMPORT, WORKERS_IMPORT_ALWAYS


def prepare() -> Callable[[], None]:
    """Turn this process into the daemon: its import path, and what is imported and frozen before it forks. Returns
    Spark's own main function. Only the daemon calls this; exits if the executor lacks a package or has another version of
    this one: cluster_check.py did not ask an executor that joins after the stage has begun.
    """
    folders = [entry for entry in sys.path if not Path(entry).is_file()]
    if all(PathFinder.find_spec(name, folders) for name in ("pyspark", "py4j")):
        sys.path[:] = folders
        for archive in [entry for entry in sys.path_importer_cache if Path(entry).is_file()]:
            del sys.path_importer_cache[archive]
    try:
        from pyspark.daemon import manager

        _import_and_freeze(os.environ.get(WORKERS_IMPORT, WORKERS_IMPORT_ALWAYS))
    except ImportError as error:
        # Spark's driver shows this line, and cluster_check.py looks for it.
        python = f"{sys.version_info[0]}.{sys.version_info[1]}"
        sys.exit(
            f"client-telemetry executor: Python {python} of {platform.node()} cannot import {error.name}"
        )
    _compare_package(os.environ.get(DRIVERS_PACKAGE))
    main: Callable[[], None] = manager
    return main


def _compare_package(drivers: str | None) -> None:
    if drivers is None:
        return
    from client_telemetry.workers.cluster_check import OTHER_VERSION, package_digest

    if package_digest() != drivers:
        sys.exit(f"{OTHER_VERSION} {platform.node()}")


def _import_and_freeze(module: str) -> None:
    """Exempt everything imported so far, which is most objects, from the garbage collection that Spark triggers after each task."""
    importlib.import_module(module)
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    prepare()()
