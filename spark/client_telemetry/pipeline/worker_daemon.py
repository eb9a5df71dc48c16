"""Spark's Python daemon with what the workers of this project import already loaded.

Spark forks each Python worker from a daemon, and lets workers that were idle for a minute go. Importing the compiled
decoder and the knowledge base takes a new worker seconds; a fork of a process that has them takes none. Named by
`spark.python.daemon.module` in spark/conf, where the package is installed beside Spark.

Spark puts its own archives before the installed packages, and has each task forget what import finders know
(`setup_spark_files` in pyspark/worker_util.py): Python then reads the archives' directories again, a tenth of a second for each
task. So pyspark is imported from where it is installed, if it is.
"""

import gc
import importlib
import os
import platform
import sys
from collections.abc import Callable
from importlib.machinery import PathFinder
from pathlib import Path

from client_telemetry.pipeline.stages import WORKERS_IMPORT


def prepare() -> Callable[[], None]:
    """Change this process into the daemon: its import path, and what is imported and frozen before it forks. Returns
    Spark's own main function. To be called by the daemon alone; exits where the executor lacks a package."""
    folders = [entry for entry in sys.path if not Path(entry).is_file()]
    if all(PathFinder.find_spec(name, folders) for name in ("pyspark", "py4j")):
        sys.path[:] = folders
        for archive in [entry for entry in sys.path_importer_cache if Path(entry).is_file()]:
            del sys.path_importer_cache[archive]
    try:
        from pyspark.daemon import manager

        _import_and_freeze(os.environ.get(WORKERS_IMPORT))
    except ImportError as error:
        # Spark's driver gets to see this, and cluster_check.py looks for it.
        python = f"{sys.version_info[0]}.{sys.version_info[1]}"
        sys.exit(
            f"client-telemetry executor: Python {python} of {platform.node()} cannot import {error.name}"
        )
    main: Callable[[], None] = manager
    return main


def _import_and_freeze(module: str | None) -> None:
    if module is None:
        from client_telemetry.decode.worker import freeze_imports

        freeze_imports()
    else:
        importlib.import_module(module)
        gc.collect()
        gc.freeze()


if __name__ == "__main__":
    prepare()()
