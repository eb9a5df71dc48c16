"""One SQL on two engines: what Spark answers, DuckDB answers, also of nulls and of no rows."""

import datetime as dt

import pyarrow as pa
import pytest
from client_telemetry.pipeline.queries import InProcess

AT = dt.datetime(2026, 11, 21, 5, 0, 0, 123456, dt.UTC)
SCHEMA = (
    "id binary, word string, number int, large bigint, share double, words array<string>, labels map<string, string>, at timestamp, "
    "uses array<struct<api_key: int, requests: bigint>>"
)
ROWS = [
    (b"a", "x.y.z", 7, 2**40, 0.125, ["b", None, "a"], {"k": "1"}, AT, [(71, 1), (3, 0)]),
    (b"b", None, None, None, None, None, None, None, None),
    (b"c", "", -7, -1, -0.5, [], {}, AT.replace(hour=4), []),
]
EXPRESSIONS = [
    ("of nulls alone", "count_if(number > 100)", 0),
    ("count_if of nulls", "count_if(number > 0)", 1),
    ("a set has no null", "array_sort(collect_set(word))", ["", "x.y.z"]),
    ("a set of nulls alone", "collect_set(case when number > 100 then word end)", []),
    ("a list has no null", "array_sort(collect_list(number))", [-7, 7]),
    ("a list of nulls alone", "collect_list(case when number > 100 then number end)", []),
    ("a sum of nothing", "sum(case when number > 100 then number end)", None),
    ("a sum", "cast(sum(large) as bigint)", 2**40 - 1),
    ("the first of a struct, with its null", "min_by(struct(words, number), large).number", -7),
    ("distinct structs with nulls", "count(distinct struct(word, number))", 3),
    ("whole microseconds", "max(unix_micros(at)) - min(unix_micros(at))", 3_600_000_000),
    ("whole numbers are divided as such", "min(number / 2)", -3.5),
    ("a double is no decimal", "max(floor(share * 100 + 0.5) / 100)", 0.13),
    (
        "JSON of doubles",
        "to_json(array_sort(collect_list(case when share < 1 then array(share, 1.0D) end)))",
        "[[-0.5,1.0],[0.125,1.0]]",
    ),
    ("JSON of labels", "min(to_json(labels))", '{"k":"1"}'),
    ("a label that is not there", "count(labels['other'])", 0),
    ("a label", "max(labels['k'])", "1"),
    ("a part of a word", "array_sort(collect_set(split_part(word, '.', 2)))", ["", "y"]),
    ("uses", "count_if(size(filter(uses, use -> use.api_key = 71 and use.requests > 0)) > 0)", 1),
    ("nulls are equal", "count_if(number <=> large)", 1),
]


@pytest.mark.parametrize(
    ("expression", "expected"), [each[1:] for each in EXPRESSIONS], ids=[each[0] for each in EXPRESSIONS]
)
def test_both_engines_give(given, expression: str, expected: object) -> None:
    queries = given(rows=(ROWS, SCHEMA))
    ((found,),) = queries.in_order(f"select {expression} as found from rows", ["found"])
    assert found == expected


def test_an_anti_join_keeps_what_equals_nothing(given) -> None:
    queries = given(rows=(ROWS, SCHEMA), others=([("x.y.z", 1), (None, 2)], "word string, number int"))
    found = queries.answers(
        {"rows": "select * from rows as one left anti join others as other on one.word = other.word"}
    )["rows"]
    assert sorted(row["id"] for row in found) == [b"b", b"c"]


def test_rows_come_in_order_with_times_in_utc(given) -> None:
    queries = given(rows=(ROWS, SCHEMA))
    assert [
        id_ for id_, _ in queries.in_order("select id, word from rows", ["coalesce(word, '')", "id"])
    ] == [b"b", b"c", b"a"]
    answers = queries.answers(
        {"times": "select at from rows where at is not null", "none": "select * from rows where false"}
    )
    assert {row["at"] for row in answers["times"]} == {AT, AT.replace(hour=4)}
    assert list(answers["none"]) == []


def test_what_is_kept_defined_and_worked_on_can_be_asked(given) -> None:
    queries = given(rows=(ROWS, SCHEMA))
    with queries:
        queries.define("words", "select word, explode(words) as each from rows")
        queries.keep("words")
        queries.rows_of("wanted", pa.table({"letter": ["a"]}))
        schema = pa.schema([("word", pa.string()), ("seen_at", pa.timestamp("us", "UTC"))])

        def work(batches):
            for batch in batches:
                times = [row["at"].replace(minute=row["at"].minute + 1) for row in batch.to_pylist()]
                yield pa.RecordBatch.from_arrays(
                    [batch.column("word"), pa.array(times, schema.field(1).type)], schema=schema
                )

        queries.work("seen", "select word, at from rows where at is not null", work, schema, ("word",))
        queries.read(
            "numbers",
            2,
            lambda task: iter([(0, task), (1, task + 10)]),
            2,
            _in_rows,
            pa.schema([("n", pa.int32())]),
        )
        answers = queries.answers(
            {
                "words": "select each from words as one join wanted as other on one.each = other.letter",
                "seen": "select word from seen where seen_at > timestamp'2026-11-21 05:00:30'",
                "numbers": "select n from numbers",
            }
        )
        assert [row["each"] for row in answers["words"]] == ["a"]
        assert [row["word"] for row in answers["seen"]] == ["x.y.z"]
        assert sorted(row["n"] for row in answers["numbers"]) == [0, 1, 10, 11]


def _in_rows(pieces):
    yield pa.record_batch({"n": pa.array(list(pieces), pa.int32())})


def test_in_this_process_nothing_of_the_machine_counts(monkeypatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    rows = pa.table({"at": pa.array([AT], pa.timestamp("us", "UTC"))})
    with InProcess({"rows": [rows, rows.slice(1)]}) as queries:
        (found,) = queries.answers({"found": "select unix_micros(at) as micros, at from rows"})["found"]
    assert found == {"micros": round(AT.timestamp() * 1_000_000), "at": AT}
