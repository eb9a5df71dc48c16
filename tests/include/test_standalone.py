"""Airflow on one machine: what listens."""

import pytest

from include.standalone import SubCommand


@pytest.mark.parametrize(
    ("name", "is_without"),
    [("scheduler", True), ("triggerer", True), ("api-server", False), ("dag-processor", False)],
)
def test_no_log_server_listens_on_every_interface(name, is_without):
    command = SubCommand(None, name, [name], {}).command
    assert command == ([name, "--skip-serve-logs"] if is_without else [name])
