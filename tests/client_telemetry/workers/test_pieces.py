import os

from client_telemetry.workers.pieces import in_tasks


def squared_where(number: int) -> tuple[int, int]:
    return number * number, os.getpid()


def test_each_part_is_worked_on_in_a_task_and_the_results_are_in_order(spark):
    results = in_tasks(spark, squared_where, range(5))
    assert [square for square, _ in results] == [0, 1, 4, 9, 16]
    assert os.getpid() not in {process for _, process in results}


def test_one_part_stays_here(spark):
    assert in_tasks(spark, squared_where, [3]) == [(9, os.getpid())]
