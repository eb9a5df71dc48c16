from copy import copy
from datetime import UTC, datetime

import pytest
from airflow.sdk.exceptions import ParamValidationError


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
    def upstream(task_id):
        return dag.task_dict[task_id].upstream_task_ids

    assert "cluster.collect" in upstream("cluster.decode")
    assert "cluster.decode" in upstream("cluster.sessionize")
    assert "cluster.sessionize" in upstream("cluster.profile")
    assert "cluster.profile" in upstream("cluster.publish")
    assert "cluster.publish" in upstream("cluster.review")
    assert set(dag.task_dict) == {
        "clusters",
        "cluster.collect",
        "cluster.decode",
        "cluster.sessionize",
        "cluster.profile",
        "cluster.publish",
        "cluster.review",
        "summary",
    }


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
