from copy import copy

import pytest
from airflow.sdk.exceptions import ParamValidationError


@pytest.fixture
def dag(dags):
    return dags["broker_upgrade_review"]


def test_it_runs_on_demand_and_its_result_is_the_review(dag):
    assert dag.schedule is None
    assert list(dag.task_dict) == ["review"]
    assert dag.task_dict["review"].returns_dag_result


@pytest.mark.parametrize(
    ("name", "value"),
    [("to", "4.0"), ("from", "3.9"), ("day", "21.11.2026"), ("window_days", 0), ("cluster", "")],
)
def test_a_param_that_cannot_be_meant_is_refused(dag, name, value):
    with pytest.raises(ParamValidationError):
        copy(dag.params.get_param(name)).resolve(value)


@pytest.mark.parametrize(
    ("name", "value"),
    [("to", "4.0.0"), ("to", "9.1.0"), ("from", "0.10.2.2"), ("to", None), ("from", None), ("day", None)],
)
def test_releases_may_be_left_to_what_the_brokers_did(dag, name, value):
    assert copy(dag.params.get_param(name)).resolve(value) == value
