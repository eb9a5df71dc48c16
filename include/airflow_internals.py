"""What the project needs of Airflow 3.3 and its Spark provider 6.3, and they do not offer: the only place where their private
names are used.

Each part is written so that it could move there as it is; tests/include/test_airflow_internals.py fails once a release offers
it, or has it no longer.
"""

import os
import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator

if TYPE_CHECKING:
    from airflow.models.taskinstance import TaskInstance


class PythonHook(SparkSubmitHook):
    """Starts an application under Python: it starts Spark only if it needs it, and then with the options that spark-submit
    would have had (PYSPARK_SUBMIT_ARGS). `spark_submit` would take a `launcher`.

    Under spark-submit it would have a JVM in any case. Where the driver runs in the cluster, that is still so.
    """

    launcher: Sequence[str] = ()

    def _build_spark_submit_command(self, application: str) -> list[str]:
        if self._connection["deploy_mode"] == "cluster":
            return super()._build_spark_submit_command(application)
        # A shell, which Spark takes this for, would show progress bars.
        options = ["--conf", "spark.ui.showConsoleProgress=false", *self._build_spark_common_args()]
        self._env = {**(self._env or {}), "PYSPARK_SUBMIT_ARGS": shlex.join([*options, "pyspark-shell"])}
        python = os.environ.get("PYSPARK_DRIVER_PYTHON") or os.environ.get("PYSPARK_PYTHON")
        command = [python or sys.executable, *self.launcher, application, *(self._application_args or ())]
        self.log.info("%s; options of Spark, if it is needed: %s", *map(self._mask_cmd, (command, options)))
        return command


class PythonOperator(SparkSubmitOperator):
    """A SparkSubmitOperator with a PythonHook, and the exit code of what it started. The operator would take the hook's class."""

    def launcher(self) -> Sequence[str]:
        """Words between Python and the application."""
        return ()

    @property
    def connection_id(self) -> str:
        return self._conn_id

    def exit_code(self) -> int | None:
        """Of the application, once it has ended; None if it did not start. The hook keeps it nowhere else, and leaves the
        output of the process open.
        """
        process = self._hook._submit_sp if self._hook else None
        if process is None:
            return None
        process.stdout.close()
        return process.returncode

    def _get_hook(self) -> SparkSubmitHook:
        hook = super()._get_hook()
        hook.__class__ = PythonHook  # the same options; only the command is another
        hook.launcher = self.launcher()
        return hook


def name_mapped_task(task: "TaskInstance", name: str) -> None:
    """Shown beside the task's number from now on. Airflow evaluates `map_index_template` only when the task starts."""
    task._rendered_map_index = name


def is_named(task: "TaskInstance") -> bool:
    """Whether a mapped task has a name; `rendered_map_index` is its number if it has none."""
    return task._rendered_map_index is not None
