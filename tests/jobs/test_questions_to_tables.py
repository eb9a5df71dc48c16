"""The questions of docs/questions.md: the same answers in DuckDB and Spark, and in PyIceberg where it is asked alone."""

import datetime as dt
import re
from pathlib import Path

import duckdb
import pytest
from client_telemetry.lake.lake import Lake
from client_telemetry.tables.client_sessions import CLIENT_SESSIONS
from client_telemetry.tables.clients import CLIENTS
from client_telemetry.tables.upgrade_findings import UPGRADE_FINDINGS
from client_telemetry.tables.upgrade_reports import UPGRADE_REPORTS
from client_telemetry.tables.upgrade_verdicts import UPGRADE_VERDICTS

from tests.client_telemetry.reports import conftest as made
from tests.data.bad_rows.client_sessions import GOOD as SESSION
from tests.data.bad_rows.clients import GOOD

PAGE = (Path(__file__).parents[2] / "docs/questions.md").read_text()
QUESTIONS = re.findall(r"^(\S[^\n]*\?)\n\n```sql\n(.*?)```", PAGE, re.M | re.S)
TABLES = (CLIENTS, CLIENT_SESSIONS, UPGRADE_REPORTS, UPGRADE_VERDICTS, UPGRADE_FINDINGS)
DAY = dt.date(2026, 11, 21)


def client(client_id: str, version: str | None, day: dt.date = DAY, **changes) -> dict:
    numbers = [int(number) for number in version.split(".")] if version else None
    known = {"library": "librdkafka" if version else None, "library_version": version}
    return (
        GOOD
        | known
        | {
            "client_id": client_id,
            "application": client_id,
            "dt": day,
            "library_version_numbers": [*numbers, 0] if numbers else None,
            **changes,
        }
    )


def rows() -> dict:
    verdicts = [
        made.verdict("a", "breaks", fix="upgrade it"),
        made.verdict("b", "insufficient_evidence", missing=["whether it uses SCRAM"]),
        made.verdict("c"),
    ]
    named = {"cluster_name": "orders-eu"}
    earlier = made.question(1)["created_at"] - dt.timedelta(days=1)
    old = made.question(1, report_id="old", created_at=earlier, is_latest=False, **named)
    return {
        CLIENTS: [
            client("old", "2.3.0", request_versions=["JoinGroup v1", "SyncGroup v0"]),
            client("new", "2.10.0"),
            client("same", "2.6.1"),
            client("below", "2.6.0", owner="shop"),
            client("unnamed", None),
            client("gone", "1.0.0", DAY - dt.timedelta(days=9)),
        ],
        CLIENT_SESSIONS: [
            SESSION | {"client_instance_id": bytes(range(16, 32)), "instance_id": "EBESExQVFhcYGRobHB0eHw"},
            SESSION | {"client_id": "other"},
        ],
        UPGRADE_REPORTS: [made.question(3, **named), old],
        UPGRADE_VERDICTS: [
            *verdicts,
            made.verdict("a", "breaks", report_id="old"),
            made.verdict("b", "insufficient_evidence", report_id="old"),
        ],
        UPGRADE_FINDINGS: [made.finding(verdicts[0]), made.finding(verdicts[0], report_id="old")],
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("lake")
    lake = Lake(None, str(folder))
    lake.create(TABLES)
    for table, given in rows().items():
        names = [column.name for column in table.columns]
        lake.append(table, [{name: row.get(name) for name in names} for row in given])
    return folder


@pytest.fixture(scope="module")
def in_duckdb(folder):
    with duckdb.connect() as database:
        database.execute("create schema client_telemetry")
        for table in TABLES:
            database.register(
                f"rows_{table.name}", Lake(None, str(folder)).tables()[table.name].scan().to_arrow()
            )
            database.execute(f"create view client_telemetry.{table.name} as select * from rows_{table.name}")
        yield database


def test_there_are_ten():
    assert len(QUESTIONS) == PAGE.count("```sql") == 10


def answers(folder, database) -> dict[str, list]:
    return {question: database.execute(query).fetchall() for question, query in QUESTIONS}


def test_answers_are_right_in_duckdb(folder, in_duckdb):
    found = answers(folder, in_duckdb)
    assert [row[1] for row in found["Which clients run librdkafka before 2.6.1?"]] == ["below", "old"]
    assert [row[1] for row in found["How many clients run which version of each library?"]] == [
        "2.3.0",
        "2.6.0",
        "2.6.1",
        "2.10.0",
    ]
    joining = found["Which clients send JoinGroup in version 0 or 1?"]
    assert [row[:2] for row in joining] == [("orders-eu", "old")]
    assert [row[0] for row in found["How many applications and clients has each owner?"]] == [
        "orders",
        "shop",
    ]
    assert [row[2] for row in found["Which clients were not seen for a week?"]] == ["gone"]
    assert [row[0] for row in found["Whose is the client instance that a log names?"]] == ["orders"]
    [latest] = found["Which reports are the latest of their questions?"]
    assert (latest[0], latest[-1]) == ("orders-eu", made.REPORT_ID)
    breaks = found["Which clients break, whose are they, and what is to be changed?"]
    assert [(row[0], row[4], row[6]) for row in breaks] == [("orders-eu", "a", "upgrade it")]
    because = found["Which requests are the reason, and which rule says so?"]
    assert because == [("JoinGroup", "1", "request-version-not-served", 1, 12)]
    assert [row[-1] for row in found["What is not known?"]] == [["whether it uses SCRAM"]]


def test_spark_gives_the_same_answers(folder, in_duckdb, spark):
    lake = Lake(None, str(folder))
    for table in TABLES:
        names = [column.name for column in table.columns]
        given = [tuple(row[name] for name in names) for row in lake.rows(table)]
        spark.createDataFrame(given, table.schema).createOrReplaceTempView(f"asked_{table.name}")
    expected = answers(folder, in_duckdb)
    for question, query in QUESTIONS:
        query = query.replace("client_telemetry.", "asked_").replace("[2, 6, 1]", "array(2, 6, 1)")
        found = [tuple(row) for row in spark.sql(query).collect()]
        assert list(map(comparable, found)) == list(map(comparable, expected[question])), question


def comparable(row: tuple) -> list[str]:
    """Times as UTC without a zone: the engines differ in whether they say it."""
    return [
        str(value.replace(tzinfo=None)) if isinstance(value, dt.datetime) else str(value) for value in row
    ]


def test_pyiceberg_alone(folder):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    names: dict = {}
    exec(code.replace("var/lake", str(folder)), names)
    assert sorted(names["old"]) == ["below", "gone", "old"]
    assert names["latest"] == {("orders-eu", "4.0.0"): made.REPORT_ID}
    assert names["whose"] == {"orders"}
    names["catalog"].close()
