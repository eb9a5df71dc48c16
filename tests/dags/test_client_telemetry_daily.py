from copy import copy
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from airflow.sdk.exceptions import ParamValidationError
from client_telemetry.tables.stages import DAILY, UPGRADE_REVIEW


@pytest.fixture
def dag(dags):
    return dags["client_telemetry_daily"]


def test_it_runs_at_two_for_the_day_before_one_run_at_a_time(dag):
    from airflow.serialization.encoders import coerce_to_core_timetable

    interval = coerce_to_core_timetable(dag.timetable).infer_manual_data_interval(
        run_after=datetime(2026, 11, 22, 2, 0, tzinfo=UTC)
    )
    assert (interval.start, interval.end) == (
        datetime(2026, 11, 21, 2, tzinfo=UTC),
        datetime(2026, 11, 22, 2, tzinfo=UTC),
    )
    assert (dag.max_active_runs, dag.catchup) == (1, False)


def test_the_stages_of_a_cluster_run_one_after_the_other(dag):
    """As tables/stages.py lists them, which the scheduler side cannot read."""
    tasks = dag.task_group.children["cluster"].topological_sort()
    assert [task.job for task in tasks] == [stage.name for stage in (*DAILY, *UPGRADE_REVIEW)]
    for before, after in pairwise(tasks):
        assert before.task_id in after.upstream_task_ids
    assert set(dag.task_dict) == {"clusters", *(task.task_id for task in tasks), "summary"}


def test_the_summary_is_the_only_last_task_and_runs_whatever_happened(dag):
    assert [task.task_id for task in dag.leaves] == ["summary"]
    summary = dag.task_dict["summary"]
    assert summary.trigger_rule == "all_done"
    assert summary.returns_dag_result


@pytest.mark.parametrize(
    ("name", "value"),
    [("day", "yesterday"), ("day", "2026-13-01"), ("clusters", "fleet"), ("clusters", [3])],
)
def test_a_param_that_cannot_be_meant_is_refused(dag, name, value):
    with pytest.raises(ParamValidationError):
        copy(dag.params.get_param(name)).resolve(value)


def test_without_params_it_takes_the_day_of_the_run_and_all_clusters(dag):
    assert dag.params.dump() == {"day": None, "clusters": [], "again": None}


def test_stages_that_publish_link_to_their_pages(dags):
    tasks = {task.task_id: task for task in dags["client_telemetry_daily"].tasks}
    linked = {name for name, task in tasks.items() if "page" in getattr(task, "partial_kwargs", vars(task))}
    assert {"cluster.publish", "cluster.review"} <= linked
