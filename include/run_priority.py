"""In which order waiting tasks of daily runs start. The plugin registers it with Airflow, which orders what waits for a pool by
weight, then by the day of the run: without a weight of its own every day of a backfill would go before today's."""

from typing import TYPE_CHECKING

from airflow.task.priority_strategy import PriorityWeightStrategy

if TYPE_CHECKING:
    from airflow.models.taskinstance import TaskInstance

BACKFILL = "backfill__"
"""How ids of a backfill's runs begin (DagRunType.generate_run_id)."""
AHEAD_OF_BACKFILLS = 100
"""More than a DAG has tasks."""


class TodayFirst(PriorityWeightStrategy):
    """Today before a backfill; then, by the number of tasks before it, a later stage of one cluster before the first of
    another: a cluster has its page before the next one begins, and not all of them late in the night."""

    def get_weight(self, ti: "TaskInstance") -> int:
        task = ti.task
        if task is None:
            raise ValueError(f"{ti.task_id} of {ti.run_id} has no task")
        weight = 1 + len(task.get_flat_relative_ids(upstream=True))
        return weight if ti.run_id.startswith(BACKFILL) else weight + AHEAD_OF_BACKFILLS
