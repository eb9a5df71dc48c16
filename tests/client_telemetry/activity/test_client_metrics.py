"""Points of client metrics as samples: any client may push any number."""

import numpy as np
import pytest
from client_telemetry.activity.client_metrics import Instance, Point, series
from client_telemetry.activity.samples import means, rates

GAUGE, COUNT = "producer.request.latency.avg", "producer.record.retry.total"
INSTANCE = Instance(b"a" * 16, "a", "User:a", "kgo", "v1")
EDGES = np.array([0.0, 100.0])
LARGEST = 1.7e308


def gauge(received: float, value: float, attributes: str = "") -> Point:
    return Point(GAUGE, attributes, None, received, None, received, value)


def count(temporality: str, since: float, until: float, value: float) -> Point:
    return Point(COUNT, "", temporality, until, since, until, value)


OF_NO_USE = {
    "two brokers in one push": [gauge(10, LARGEST, "1"), gauge(10, LARGEST, "2")],
    "two pushes": [gauge(10, LARGEST), gauge(20, -LARGEST)],
    "the increase of a total": [
        count("cumulative", 0, 10, -LARGEST),
        count("cumulative", 0, 90, LARGEST),
    ],
    "deltas": [count("delta", since, since + 10, LARGEST) for since in range(0, 90, 10)],
}


@pytest.mark.parametrize("points", OF_NO_USE.values(), ids=OF_NO_USE)
def test_numbers_whose_sum_is_no_number_are_unknown(points: list[Point]) -> None:
    (found,) = series({INSTANCE: points})
    assert found.samples == {}


def test_what_else_an_instance_pushed_stays() -> None:
    points = [gauge(10, LARGEST), gauge(20, 4.0), gauge(30, 2.0**63), gauge(40, 2.0)]
    points += [count("delta", 0, 10, LARGEST), count("delta", 10, 70, 6.0)]
    (found,) = series({INSTANCE: points})
    assert means(found.samples[GAUGE], EDGES).tolist() == [(4.0 + 2.0**63 + 2.0) / 3]
    assert rates(found.samples[COUNT], EDGES).tolist() == [6.0]
    assert found.interval == 10.0
