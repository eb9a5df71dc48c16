"""Which evidence counts, and the rows that come of it. The jobs around it: tests/jobs."""

import datetime as dt

import pytest
from client_telemetry.compatibility import judge
from client_telemetry.impact import (
    NoSuchQuestion,
    Question,
    _client_evidence,
    connection_counts,
    evidence,
    question,
    verdict_rows,
)
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.clients import CLIENT_KEY
from client_telemetry.tables.upgrade_findings import UPGRADE_FINDINGS
from client_telemetry.tables.upgrade_verdicts import UPGRADE_VERDICTS
from pyspark.sql import DataFrame, SparkSession

DAY = dt.date(2026, 11, 21)
NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
MINUTE = dt.timedelta(minutes=1)
PRODUCE, FETCH = 0, 1


def broker(broker_id: int, release: str | None, minute: int = 0) -> dict:
    return {
        "broker_id": broker_id,
        "broker_incarnation": f"{broker_id:016x}{minute:016x}",
        "software_version": release,
        "started_at": NOON + minute * MINUTE,
        "listeners": [],
    }


def asked(to: str = "4.0.0", until: dt.datetime | None = None, source: str = "3.9.1") -> Question:
    return Question("c", source, to, (DAY,), until, None)


def use(api_key: int, version: int, requests: int = 1, minute: int = 0) -> dict:
    at = NOON + minute * MINUTE
    return {
        "api_key": api_key,
        "version": version,
        "requests": requests,
        "rejected": 0,
        "first_request_at": at,
        "last_request_at": at,
    }


def connection(number: int, *uses: dict, opened: int = 0, **told) -> dict:
    return {
        "cluster_id": "c",
        "dt": DAY,
        "broker_id": 1,
        "broker_incarnation": "0f" * 16,
        "connection_id": str(number),
        "client_address": "10.0.0.1",
        "opened_at": NOON + opened * MINUTE,
        "first_seen_at": NOON + opened * MINUTE,
        "last_seen_at": NOON + 60 * MINUTE,
        "client_id": "orders",
        "principal": "User:orders",
        "listener_name": "CLIENTS",
        "security_protocol": "PLAINTEXT",
        "client_software_name": "unknown",
        "client_software_version": "unknown",
        "broker_software_version": "3.9.1",
        "api_uses": list(uses),
        "source_objects": [f"object-{number}"],
        **told,
    }


def frame(spark: SparkSession, *rows: dict) -> DataFrame:
    names = [column.name for column in CLIENT_CONNECTIONS.columns]
    return spark.createDataFrame(
        [tuple(row.get(name) for name in names) for row in rows], CLIENT_CONNECTIONS.schema
    )


def clients(spark: SparkSession, *rows: dict, of: Question | None = None) -> list[dict]:
    return evidence(frame(spark, *rows), of or asked()).toArrow().to_pylist()


UNIDENTIFIED = {"client_id": None, "principal": ""}


@pytest.mark.parametrize(
    ("brokers", "source", "says"),
    [
        ([broker(1, None)], None, "no broker of cluster c declares its release"),
        ([broker(1, "3.9.1"), broker(2, "4.0.0")], None, "broker 1: 3.9.1, broker 2: 4.0.0"),
        ([broker(1, "3.9.1")], "3.7.0", "brokers ran 3.9.1"),
        ([broker(1, "4.0.0")], None, "already run 4.0.0"),
        ([broker(1, "3.9.1")], "3.9", "not an exact release"),
    ],
    ids=["none declares", "they differ", "none ran it", "nothing to do", "a line of releases"],
)
def test_a_question_that_cannot_be_answered_says_what_to_ask(brokers, source, says):
    with pytest.raises(NoSuchQuestion, match=says):
        question("c", source, "4.0.0", [DAY], brokers)


def test_evidence_ends_when_the_first_broker_leaves():
    brokers = [broker(1, "3.9.1"), broker(2, "3.9.1"), broker(2, "4.0.0", 30), broker(1, "4.0.0", 40)]
    found = question("c", "3.9.1", "4.0.1", [DAY], brokers)
    assert found.until == NOON + 30 * MINUTE and "broker 2" in found.until_reason


def test_going_back_is_a_question_too():
    assert question("c", None, "3.9.1", [DAY], [broker(1, "4.0.1")]).to_release == "3.9.1"


def test_only_connections_to_the_from_release_that_were_opened_before_the_cut_count(spark):
    cut = asked(until=NOON + 30 * MINUTE)
    rows = [
        connection(1, use(PRODUCE, 9)),
        connection(2, use(PRODUCE, 2), opened=30),
        connection(3, use(PRODUCE, 1), broker_software_version="4.0.0"),
        connection(4, use(PRODUCE, 0), broker_software_version=None),
    ]
    (client,) = clients(spark, *rows, of=cut)
    assert client["connections"] == 1
    assert [each["version"] for each in client["uses"]] == [9]
    assert connection_counts(frame(spark, *rows), cut) == (1, 0, 3)


def test_a_connection_that_outlived_the_cut_keeps_its_counts_but_not_versions_of_later(spark):
    rows = connection(1, use(PRODUCE, 9, requests=500), use(FETCH, 12, minute=31))
    (client,) = clients(spark, rows, of=asked(until=NOON + 30 * MINUTE))
    assert [(each["api_key"], each["requests"]) for each in client["uses"]] == [(PRODUCE, 500)]
    assert client["last_seen_at"] > NOON + 30 * MINUTE, "as the comment of evidence_until says"


def test_connections_of_nobody_are_no_client(spark):
    rows = [
        connection(1, use(PRODUCE, 9)),
        connection(2, **UNIDENTIFIED),
        connection(3, **UNIDENTIFIED, client_software_name=""),
        connection(4, **UNIDENTIFIED, broker_software_version="4.0.0"),
        connection(5, **UNIDENTIFIED | {"principal": None}),
    ]
    assert [client["client_id"] for client in clients(spark, *rows)] == ["orders"]
    assert connection_counts(frame(spark, *rows), asked()) == (1, 3, 1)


@pytest.mark.parametrize(
    "told",
    [{"client_id": ""}, {"principal": "User:ANONYMOUS"}, {"client_software_name": "kgo"}],
    ids=["an empty client id", "anybody", "a library"],
)
def test_whoever_tells_anything_is_a_client(spark, told):
    assert len(clients(spark, connection(1, use(PRODUCE, 9), **UNIDENTIFIED | told))) == 1


def test_a_connection_on_two_days_is_one(spark):
    rows = [connection(1, use(PRODUCE, 9)), connection(1, use(PRODUCE, 9), dt=DAY + dt.timedelta(days=1))]
    (client,) = clients(spark, *rows)
    assert client["connections"] == 1 and client["uses"][0]["requests"] == 2
    assert connection_counts(frame(spark, *rows), asked()) == (1, 0, 0)


@pytest.fixture(scope="module")
def two_clients(spark) -> list[dict]:
    return clients(
        spark,
        connection(1, use(PRODUCE, 2, 7), use(3, 1)),
        connection(
            2, use(PRODUCE, 9), use(3, 12), client_id="shop", client_software_name="apache-kafka-java",
            client_software_version="3.9.1",
        ),
    )  # fmt: skip


def test_rows_have_the_columns_of_their_tables(two_clients):
    verdicts, findings, targets = verdict_rows(two_clients, asked(), "r", {}, {})
    assert {frozenset(row) for row in verdicts} == {frozenset(c.name for c in UPGRADE_VERDICTS.columns)}
    assert {frozenset(row) for row in findings} == {frozenset(c.name for c in UPGRADE_FINDINGS.columns)}
    assert [row["to_release"] for row in targets][:2] == ["4.0.0", "4.0.1"]


def test_an_upgrade_has_a_way_back_and_a_mixed_window(two_clients):
    verdicts, findings, _ = verdict_rows(two_clients, asked(), "r", {}, {})
    by_id = {row["client_id"]: row for row in verdicts}
    assert (by_id["orders"]["verdict"], by_id["shop"]["verdict"]) == ("breaks", "safe")
    assert by_id["orders"]["rollback_verdict"] == "safe" and by_id["orders"]["mixed_verdict"] == "breaks"
    assert "serves the same again" in by_id["orders"]["rollback_explanation"]
    refused = [row for row in findings if row["client_id"] == "orders" and row["verdict"] == "breaks"]
    assert refused[0]["source_objects"] == ["object-1"] and refused[0]["requests"] == 7


def test_a_question_about_the_way_back_has_no_other_one(two_clients):
    verdicts, _, targets = verdict_rows(two_clients, asked("3.9.1", source="4.0.1"), "r", {}, {})
    assert {row["rollback_verdict"] for row in verdicts} == {None}
    assert {row["rollback_explanation"] for row in verdicts} == {None}
    assert all(row["mixed_verdict"] and row["mixed_explanation"] for row in verdicts)
    assert {row["to_release"] for row in targets} >= {"3.9.1", "3.9.2"}


def test_owner_and_key_are_carried(two_clients):
    key = tuple(two_clients[0][name] for name in CLIENT_KEY)
    owners = {key: {"owner": "team", "owner_contact": "#team"}}
    verdicts, _, _ = verdict_rows(two_clients, asked(), "r", owners, {})
    assert {row["owner"] for row in verdicts} == {"team", None}


def test_clients_that_are_alike_keep_their_own_amounts(spark):
    """Compared with the engine's verdict on each of them alone."""
    given = clients(
        spark,
        connection(
            1, use(PRODUCE, 2, 7, minute=1), use(PRODUCE, 1, 5, minute=3), use(FETCH, 12, 9, minute=4)
        ),
        connection(
            2,
            use(PRODUCE, 2, 70, minute=2),
            use(PRODUCE, 1, 1, minute=9),
            use(FETCH, 12, 1),
            client_id="shop",
        ),
    )
    _, findings, _ = verdict_rows(given, asked(), "r", {}, {})
    for each in given:
        alone = judge(_client_evidence(each, each["uses"], {}, ()), "3.9.1", "4.0.0").findings
        ours = [row for row in findings if row["client_id"] == each["client_id"]]
        assert [(row["rule_id"], row["requests"]) for row in ours] == [
            (f.rule_id, f.requests or None) for f in alone
        ]
        times = [(row["first_seen_at"], row["last_seen_at"]) for row in ours]
        assert times == [(_time(f.first_seen), _time(f.last_seen)) for f in alone]


def _time(micros: int | None) -> dt.datetime | None:
    return None if micros is None else dt.datetime.fromtimestamp(micros / 1e6, dt.UTC)
