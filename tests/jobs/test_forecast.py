"""What subscription_check expects of the telemetry cluster's own subscriptions is what its capture shows, within 10 %."""

import pytest
from client_telemetry.formats.locations import absolute_url
from client_telemetry.lake.lake import Lake
from client_telemetry.pipeline.stage import spark_session
from client_telemetry.subscriptions.java_runtime import JavaRuntime

from benchmarks.subscription_forecast import (
    AGAIN,
    INTERVAL,
    LIMIT,
    MEASURES,
    NEVER_PUSHED,
    NOT_CONFIGURED,
    forecasts,
    interval_changes,
    sample_lake,
)


def test_the_forecast_is_what_came(spark, tmp_path) -> None:
    location = absolute_url(sample_lake(tmp_path))
    with JavaRuntime() as java:
        lake = Lake(spark_session("forecast", location), location)
        rows = [*forecasts(lake, java), *interval_changes(lake, java)]
    asked = {(row.subscription, row.way) for row in rows}
    assert asked == {
        (name, way)
        for name in ("java-all", "rdkafka-all", "go")
        for way in (AGAIN, NOT_CONFIGURED, NEVER_PUSHED)
    } | {("java-all", INTERVAL), ("fast", INTERVAL)}
    for row in rows:
        # Of franz-go, what a push holds is known from two clients of this very capture.
        if (row.way, row.subscription) != (NEVER_PUSHED, "go"):
            for measure in MEASURES:
                assert row.expected[measure] == pytest.approx(row.captured[measure], rel=LIMIT), row
