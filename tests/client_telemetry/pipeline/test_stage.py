"""How a stage gets its session. What stages write and publish is tested with each stage."""

import pytest
from client_telemetry.pipeline import stage
from pyspark.sql import SparkSession


class Connected(Exception):
    """Spark was asked for a session."""


def test_a_client_of_a_connect_server_starts_no_spark_of_its_own(monkeypatch):
    def started():
        raise AssertionError("the settings of a local Spark were read, for which a JVM starts")

    def connect(_):
        raise Connected

    monkeypatch.setenv("SPARK_REMOTE", "sc://127.0.0.1:1")
    monkeypatch.setattr(stage, "check_master", started)
    monkeypatch.setattr(SparkSession.Builder, "getOrCreate", connect)
    with pytest.raises(Connected):
        stage.spark_session("impact", "var/lake")
