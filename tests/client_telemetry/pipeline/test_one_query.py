"""Rows of several frames from one query are those that each would give."""

import datetime as dt

from client_telemetry.pipeline.one_query import in_one_query

AT = dt.datetime(2026, 11, 21, 5, tzinfo=dt.UTC)


def test_each_frame_has_its_rows_also_if_none(spark) -> None:
    clients = spark.createDataFrame(
        [(b"a" * 16, ["x", None], AT), (b"b" * 16, None, None)],
        "id binary, names array<string>, at timestamp",
    )
    counts = spark.range(3).selectExpr("id + 1 as number")  # never null
    before = spark.sparkContext._jsc.sc().statusStore().jobsList(None).size()
    answers = in_one_query({"clients": clients, "counts": counts, "none": counts.where("number < 0")})
    assert spark.sparkContext._jsc.sc().statusStore().jobsList(None).size() == before + 1
    assert sorted(answers["clients"], key=lambda row: row["id"]) == [
        {"id": b"a" * 16, "names": ["x", None], "at": AT},
        {"id": b"b" * 16, "names": None, "at": None},
    ]
    assert sorted(row["number"] for row in answers["counts"]) == [1, 2, 3]
    assert list(answers["none"]) == []
