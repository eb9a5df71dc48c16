import datetime as dt

import pytest
from client_telemetry.compatibility import judge
from client_telemetry.impact import Question
from client_telemetry.tables.clients import CLIENT_KEY
from client_telemetry.tables.upgrade_findings import UPGRADE_FINDINGS
from client_telemetry.tables.upgrade_verdicts import UPGRADE_VERDICTS
from client_telemetry.verdict_rows import _client_evidence, verdict_rows

NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
MINUTE = dt.timedelta(minutes=1)
PRODUCE, FETCH, METADATA = 0, 1, 3


def asked(to: str = "4.0.0", source: str = "3.9.1") -> Question:
    return Question("c", source, to, (NOON.date(),), None, None)


def use(api_key: int, version: int, requests: int = 1, minute: int = 0) -> dict:
    at = NOON + minute * MINUTE
    return {
        "api_key": api_key,
        "version": version,
        "requests": requests,
        "rejected": 0,
        "first_request_at": at,
        "last_request_at": at + MINUTE,
        "broker_ids": [1],
        "source_objects": ["object-1"],
    }


def client(*uses: dict, **told) -> dict:
    """A row of `evidence`."""
    return {
        "client_id": "orders",
        "principal": "User:orders",
        "client_software_name": "unknown",
        "client_software_version": "unknown",
        "connections": 1,
        "first_seen_at": NOON,
        "last_seen_at": NOON + 60 * MINUTE,
        "broker_ids": [1],
        "listeners": [{"listener_name": "CLIENTS", "security_protocol": "PLAINTEXT"}],
        "uses": sorted(uses, key=lambda use: (use["api_key"], use["version"])) or None,
        **told,
    }


@pytest.fixture(scope="module")
def two_clients() -> list[dict]:
    java = {"client_software_name": "apache-kafka-java", "client_software_version": "3.9.1"}
    return [
        client(use(PRODUCE, 2, 7), use(METADATA, 1)),
        client(use(PRODUCE, 9), use(METADATA, 12), client_id="shop", **java),
    ]


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


def test_clients_that_are_alike_keep_their_own_amounts():
    """Compared with the engine's verdict on each of them alone."""
    given = [
        client(use(PRODUCE, 2, 7, minute=1), use(PRODUCE, 1, 5, minute=3), use(FETCH, 12, 9, minute=4)),
        client(use(PRODUCE, 2, 70, minute=2), use(PRODUCE, 1, 1, minute=9), use(FETCH, 12), client_id="shop"),
    ]
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


def test_a_client_without_requests_has_its_verdict_too():
    (verdict,), _, _ = verdict_rows([client()], asked(), "r", {}, {})
    assert (verdict["verdict"], verdict["requests"]) == ("insufficient_evidence", 0)


def test_a_name_that_other_connections_of_the_client_told_is_used():
    named = client(use(METADATA, 12), client_software_name="kgo", client_software_version="v1.15.4")
    verdicts, _, _ = verdict_rows([named, client(use(PRODUCE, 9))], asked(), "r", {}, {})
    assert "franz-go" in verdicts[1]["identified_as"]
    verdicts, _, _ = verdict_rows(
        [named | {"principal": "User:x"}, client(use(PRODUCE, 9))], asked(), "r", {}, {}
    )
    assert "franz-go" not in (verdicts[1]["identified_as"] or "")
