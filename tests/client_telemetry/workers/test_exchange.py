"""The same with Spark's workers and without them."""

import os

import pytest
from client_telemetry.workers.exchange import read_in_tasks

TOTAL = -1


def read(task: int):
    """Numbers below 8, each to the task of its remainder, and their sum."""
    numbers = range(task * 4, task * 4 + 4)
    yield TOTAL, sum(numbers)
    for number in numbers:
        yield number % 3, number


def together(pieces):
    yield 0, sorted(pieces)


@pytest.mark.parametrize("where", ["spark", "here"])
def test_pieces_meet_in_the_task_with_their_number(spark, where):
    found = read_in_tasks(spark if where == "spark" else None, 2, read).kept()
    assert sorted(found.with_numbers(TOTAL).collected()) == [6, 22]
    assert sorted(found.with_numbers(0, 2).collected()) == [0, 2, 3, 5, 6]
    parts = found.of_parts()
    assert sorted(parts.moved(3).worked(together).collected()) == [[0, 3, 6], [1, 4, 7], [2, 5]]
    twice = parts.union(parts).moved(3).worked(together).collected()
    assert sorted(map(len, twice)) == [4, 6, 6]
    found.release()


def test_without_spark_nothing_leaves_this_process():
    processes = read_in_tasks(None, 3, lambda task: iter([(0, os.getpid())])).collected()
    assert processes == [os.getpid()] * 3
