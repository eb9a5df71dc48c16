"""Sums into what was counted between two times: resets, lost pushes, skewed clocks."""

import numpy as np
import pytest
from client_telemetry.activity.samples import Sample, SumPoint, block_edges, counted, means, rates


@pytest.mark.parametrize(
    ("case", "temporality", "points", "samples"),
    [
        ("deltas follow each other", "delta", [(10, 0, 10, 4), (20, 10, 20, 6)], [(0, 10, 4), (10, 20, 6)]),
        ("a push was lost", "delta", [(10, 0, 10, 4), (30, 20, 30, 6)], [(0, 10, 4), (20, 30, 6)]),
        ("a push came twice", "delta", [(10, 0, 10, 4), (11, 0, 10, 4)], [(0, 10, 4)]),
        ("pushes overlap", "delta", [(10, 0, 10, 4), (20, 5, 20, 6)], [(0, 10, 4), (10, 20, 6)]),
        ("a delta without a start", "delta", [(10, None, 10, 4), (20, None, 20, 6)], [(10, 20, 6)]),
        ("a clock that is 300 s ahead", "delta", [(10, 300, 310, 4)], [(0, 10, 4)]),
        ("NaN", "delta", [(10, 0, 10, float("nan"))], []),
        ("a total goes on", "cumulative", [(10, 0, 10, 4), (20, 0, 20, 9)], [(10, 20, 5)]),
        ("a total over a lost push", "cumulative", [(10, 0, 10, 4), (30, 0, 30, 9)], [(10, 30, 5)]),
        ("a total that was reset", "cumulative", [(10, 0, 10, 40), (20, 15, 20, 3)], [(15, 20, 3)]),
        ("reset above the old value", "cumulative", [(10, 0, 10, 4), (20, 15, 20, 9)], [(15, 20, 9)]),
        ("reset, start not told", "cumulative", [(10, None, 10, 9), (20, None, 20, 3)], []),
        ("a total that came twice", "cumulative", [(10, 0, 10, 4), (11, 0, 10, 4)], []),
        ("temporality not told", None, [(10, 0, 10, 4), (20, 10, 20, 6)], []),
    ],
)
def test_sums(case: str, temporality: str | None, points: list, samples: list) -> None:
    assert counted([SumPoint(*point) for point in points], temporality) == [Sample(*s) for s in samples], case


def test_order_of_arrival_does_not_matter() -> None:
    points = [SumPoint(10.0 * n, 10.0 * (n - 1), 10.0 * n, n) for n in range(1, 6)]
    assert counted(points[::-1], "delta") == counted(points, "delta")
    assert counted(points[::-1], "cumulative") == counted(points, "cumulative")


def test_rates_are_not_known_where_pushes_were_lost() -> None:
    edges = np.linspace(0.0, 60.0, 4)
    found = rates([Sample(0, 20, 10), Sample(40, 60, 20)], edges)
    assert found[0] == 30 and np.isnan(found[1]) and found[2] == 60
    assert list(rates([Sample(0, 20, 10)], edges, is_covered=True)) == [30, 0, 0]


def test_gauges_are_means_of_reported_values() -> None:
    found = means(
        [Sample(5, 5, 1.0), Sample(6, 6, 3.0), Sample(25, 25, float("nan"))], np.linspace(0.0, 30.0, 4)
    )
    assert found[0] == 2.0 and np.isnan(found[1]) and np.isnan(found[2])


def test_blocks_are_no_shorter_than_asked() -> None:
    assert len(block_edges((0.0, 120.0), 10.0)) == 13
    assert len(block_edges((0.0, 60.0), 25.0)) == 3
    assert len(block_edges((0.0, 5.0), 25.0)) == 2
