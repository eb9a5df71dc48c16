"""Rows are numbered by their values, in however many columns those are."""

import random

import numpy as np
import pyarrow as pa
import pytest
from client_telemetry.workers.columns import ALWAYS, NEVER, in_one, numbered


@pytest.mark.parametrize("columns", [1, 2, 12])
def test_rows_with_the_same_values_have_the_same_number(columns: int) -> None:
    """Twelve columns of a hundred values each have more combinations than there are numbers."""
    chance = random.Random(columns)
    rows = [tuple(chance.choice([None, *map(str, range(100))]) for _ in range(columns)) for _ in range(500)]
    rows += rows[:250]
    arrays = [pa.chunked_array([pa.array(values, pa.string())]) for values in zip(*rows, strict=True)]
    arrays[0] = arrays[0].dictionary_encode()
    number, first = numbered(arrays)
    assert [rows.index(row) for row in rows] == first[number].tolist()
    assert np.unique(number).tolist() == list(range(len(set(rows))))


def test_the_largest_integers_are_in_order_too() -> None:
    chance = random.Random(3)
    rows = [tuple(chance.choice([ALWAYS, -1, 0, 1, NEVER]) for _ in range(4)) for _ in range(500)]
    numbers = in_one([np.array(column) for column in zip(*rows, strict=True)]).tolist()
    assert [row for _, row in sorted(zip(numbers, rows, strict=True))] == sorted(rows)
    assert len(set(numbers)) == len(set(rows))


def test_no_rows_have_no_number() -> None:
    number, first = numbered([pa.chunked_array([pa.array([], pa.string())])])
    assert (number.tolist(), first.tolist()) == ([], [])
