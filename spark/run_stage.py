"""Runs a stage in this process, or under spark-submit:

spark-submit spark/run_stage.py STAGE [OPTION ...]
spark-submit spark/run_stage.py profile --cluster C --days 2026-11-21 --lake URL
python spark/run_stage.py STAGE --help
"""

import gc
import os
import sys

from client_telemetry.jobs import main_of
from client_telemetry.knowledge_package import store
from client_telemetry.tables.stages import STAGES, UPKEEP

if __name__ == "__main__":
    stages = [stage.name for stage in (*STAGES, UPKEEP)]
    if len(sys.argv) < 2 or sys.argv[1] not in stages:
        sys.exit(f"specify the stage: {', '.join(stages)}")
    # Modules and the rows of a small day stay until the process ends: looking for cycles among them after every 700 new objects is
    # a fifth of what such a stage costs.
    gc.set_threshold(100_000)
    # Files of tables and pages name clients: the group may read them, nobody else.
    os.umask(os.umask(0o777) | 0o027)
    try:
        store.activate()
    except ValueError as unusable:
        sys.exit(f"{sys.argv[1]}: {unusable}")
    code = main_of(sys.argv[1])(sys.argv[2:])
    # A process that ends looks for cycles among all that it has: seconds, for memory that is given back anyway.
    gc.freeze()
    sys.exit(code)
