"""One SQL on two engines: what Spark answers, DuckDB answers, also of nulls and of no rows."""

import datetime as dt
import signal
import subprocess
import sys
import tempfile
from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest
from client_telemetry.pipeline import queries as queries_module
from client_telemetry.pipeline.duckdb_sql import failure_reason
from client_telemetry.pipeline.queries import InProcess, OnSpark
from client_telemetry.tables.clients import CLIENTS

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
        pieces = queries.read_pieces(2, lambda task: iter([(0, task), (1, task + 10)])).moved(2)
        queries.rows_of_pieces("numbers", pieces, _in_rows, pa.schema([("n", pa.int32())]))
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


@pytest.fixture
def temporary(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_few_rows_of_long_texts_are_for_spark(spark, temporary, monkeypatch) -> None:
    rows = pa.table({"client_id": ["x" * 1000] * 3})
    monkeypatch.setattr(queries_module, "_stored", lambda *_: iter([rows, rows]))
    stage = SimpleNamespace(arguments=Namespace(without_spark_up_to=10), spark=spark)
    inputs = SimpleNamespace(days=[], count=lambda _: 6, frame=lambda _: spark.createDataFrame(rows))
    inputs.on = lambda _: inputs
    for most_bytes, engine in ((rows.nbytes * 2, InProcess), (rows.nbytes * 2 - 1, OnSpark)):
        monkeypatch.setattr(queries_module, "MOST_BYTES", most_bytes)
        with queries_module.queries(stage, inputs, {CLIENTS: ["client_id"]}) as found:
            assert type(found) is engine
        assert list(temporary.iterdir()) == []


def test_nothing_stays_behind_of_what_fails_while_it_is_stored(temporary) -> None:
    def parts():
        yield pa.table({"n": [1]})
        raise OSError("a file is gone")

    with pytest.raises(OSError, match="gone"):
        InProcess({"rows": parts()})
    assert list(temporary.iterdir()) == []


def test_no_rows_stay_behind_of_a_process_that_is_killed(tmp_path) -> None:
    script = (
        "import os, signal, pyarrow as pa\n"
        "from client_telemetry.pipeline.queries import InProcess\n"
        "queries = InProcess({'rows': [pa.table({'n': list(range(2_000))})] * 20})\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    killed = subprocess.run([sys.executable, "-c", script], env={"TMPDIR": str(tmp_path)}, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("select no_such_column from range(1)", None),
        ("select count(*) from (select range as n from range(30000000) order by hash(range))", "too little"),
        ("copy (select 1 as n) to '{folder}/none/n.csv'", "temporary files of queries"),
    ],
)
def test_what_the_machine_lacks_is_one_line(tmp_path, text: str, reason: str | None) -> None:
    import duckdb

    with duckdb.connect(config={"memory_limit": "20MB", "max_temp_directory_size": "0B"}) as database:
        with pytest.raises(duckdb.Error) as failed:
            database.sql(text.format(folder=tmp_path)).fetchall()
    found = failure_reason(failed.value)
    assert found is None if reason is None else found is not None and found.startswith(reason)
    assert "\n" not in (found or "")


def test_without_a_temporary_folder_the_folders_that_were_tried_are_said() -> None:
    error = FileNotFoundError(2, "No usable temporary directory found in ['/tmp', '/var/tmp']")
    assert failure_reason(error) == (
        "No usable temporary directory found in ['/tmp', '/var/tmp']: make one of them writable, or set TMPDIR"
    )
    assert failure_reason(FileNotFoundError(2, "No such file or directory")) is None
