from copy import copy

import pytest
from airflow.sdk.exceptions import ParamValidationError


@pytest.fixture
def dag(dags):
    return dags["broker_upgrade_impact"]


def test_it_runs_on_demand_only(dag):
    assert dag.schedule is None


def test_the_verdicts_come_before_the_report_and_the_report_is_the_result(dag):
    assert dag.task_dict["publish"].upstream_task_ids == {"impact"}
    assert dag.task_dict["publish"].returns_dag_result
    assert not dag.task_dict["impact"].returns_dag_result


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("to", "4.0"),
        ("to", None),
        ("from", "3.9"),
        ("day", "21.11.2026"),
        ("window_days", 0),
        ("window_days", "7"),
        ("cluster", ""),
    ],
)
def test_a_param_that_cannot_be_meant_is_refused(dag, name, value):
    with pytest.raises(ParamValidationError):
        copy(dag.params.get_param(name)).resolve(value)


@pytest.mark.parametrize(
    ("name", "value"), [("to", "4.0.0"), ("from", "3.9.1"), ("from", None), ("day", None)]
)
def test_exact_releases_and_empty_optional_params_are_taken(dag, name, value):
    assert copy(dag.params.get_param(name)).resolve(value) == value


@pytest.mark.parametrize("name", ["cluster", "to"])
def test_the_question_itself_has_no_default(dag, name):
    with pytest.raises(ParamValidationError):
        copy(dag.params.get_param(name)).resolve()


def test_the_verdicts_take_the_hosts_file_too_so_that_a_mistake_in_it_is_found_first(dag):
    assert "hosts" in dag.task_dict["impact"].locations
