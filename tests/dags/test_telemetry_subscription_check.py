from copy import copy

import pytest
from airflow.sdk.exceptions import ParamValidationError


@pytest.fixture
def dag(dags):
    return dags["telemetry_subscription_check"]


def test_it_runs_on_demand_and_its_only_task_is_the_result(dag):
    assert dag.schedule is None
    assert list(dag.task_dict) == ["subscription_check"]
    assert dag.task_dict["subscription_check"].returns_dag_result


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("action", "drop"),
        ("cluster", ""),
        ("interval_ms", "soon"),
        ("changes", ["a"]),
        ("release", "4.3"),
        ("window_days", 0),
    ],
)
def test_a_param_that_cannot_be_meant_is_refused(dag, name, value):
    with pytest.raises(ParamValidationError):
        copy(dag.params.get_param(name)).resolve(value)


def test_several_changes_are_taken(dag):
    changes = [{"action": "delete", "name": "fast"}]
    assert copy(dag.params.get_param("changes")).resolve(changes) == changes
