"""Rows as dicts are those that pyarrow makes."""

import datetime as dt
import decimal
import random

import pyarrow as pa
import pytest
from client_telemetry.lake.plain_rows import plain_rows
from client_telemetry.tables.all_tables import TABLES

NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.timezone(dt.timedelta(hours=2)))
ITEM = pa.struct([("name", pa.string()), ("counts", pa.list_(pa.int64())), ("at", pa.timestamp("us", "UTC"))])
TABLE = pa.table(
    {
        "text": pa.array(["a", None, "a", ""]),
        "number": pa.array([1, None, 2**62, 1], pa.int64()),
        "share": pa.array([0.5, None, 0.0, -0.0]),
        "flag": pa.array([True, None, False, True]),
        "day": pa.array([dt.date(2026, 11, 21), None, dt.date(1969, 1, 1), None]),
        "at": pa.array([NOON, None, NOON, NOON], pa.timestamp("us", "Europe/Berlin")),
        "bytes": pa.array([b"a", None, b"", b"a"]),
        "exact": pa.array([decimal.Decimal("1.10"), None, None, decimal.Decimal("0.00")]),
        "coded": pa.array(["x", None, "x", "y"]).dictionary_encode(),
        "texts": pa.array([["a", None], None, [], ["a"]]),
        "one": pa.array([{"name": "n", "counts": [1, None], "at": NOON}, None, {"name": None}, {}], ITEM),
        "many": pa.array([[{"name": "n", "counts": []}, None], None, [], [{"counts": [3]}]], pa.list_(ITEM)),
        "map": pa.array([[("k", 1)], None, [], [("k", None), ("j", 2)]], pa.map_(pa.string(), pa.int64())),
        "nothing": pa.nulls(4),
    }
)


@pytest.mark.parametrize("start", range(5))
def test_rows_are_those_of_pyarrow_also_of_a_slice_and_of_several_chunks(start):
    for table in (TABLE[start:], TABLE[start : start + 2], pa.concat_tables([TABLE[start:], TABLE[:start]])):
        assert plain_rows(table) == table.to_pylist(maps_as_pydicts="strict")


def test_times_are_in_utc():
    assert plain_rows(TABLE)[0]["at"].tzinfo is dt.UTC
    assert plain_rows(TABLE)[0]["one"]["at"].tzinfo is dt.UTC


def test_lists_are_objects_of_their_own():
    first, _, _, last = plain_rows(TABLE)
    first["texts"].append("b")
    assert last["texts"] == ["a"]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_any_table_of_the_program(table):
    rng = random.Random(1)
    fields = [pa.array(_some(field.type, rng, 20), field.type) for field in table.arrow_schema]
    rows = pa.table(fields, names=table.arrow_schema.names)
    assert plain_rows(rows) == rows.to_pylist(maps_as_pydicts="strict")


def _some(kind: pa.DataType, rng: random.Random, count: int) -> list:
    return [None if rng.random() < 0.2 else _value(kind, rng) for _ in range(count)]


def _value(kind: pa.DataType, rng: random.Random) -> object:
    if pa.types.is_map(kind):
        return [(str(n), *_some(kind.item_type, rng, 1)) for n in range(rng.randrange(3))]
    if pa.types.is_list(kind):
        return _some(kind.value_type, rng, rng.randrange(3))
    if pa.types.is_struct(kind):
        return {field.name: _some(field.type, rng, 1)[0] for field in kind}
    if pa.types.is_timestamp(kind):
        return NOON + dt.timedelta(seconds=rng.randrange(5))
    if pa.types.is_date(kind):
        return NOON.date()
    if pa.types.is_boolean(kind):
        return rng.random() < 0.5
    if pa.types.is_string(kind):
        return rng.choice(["a", "b", ""])
    return rng.choice([b"a", b"b"]) if pa.types.is_binary(kind) else rng.randrange(3)
