import csv
import datetime as dt
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq
import pytest
from client_telemetry.compatibility import ClientEvidence, fingerprints, parse_api_uses
from client_telemetry.compatibility.own_knowledge import use_folder
from client_telemetry.impact.client_evidence import Evidence, time_of
from client_telemetry.impact.known_clients import known_clients, parts_of, summary
from client_telemetry.impact.nearby_releases import on_the_way
from client_telemetry.impact.question import Question
from client_telemetry.impact.verdict_files import Report, judged_row, versions_in
from client_telemetry.impact.verdict_rows import (
    compared_targets,
    verdict_counts,
    write_verdicts,
)
from client_telemetry.impact.what_decides import Mechanisms
from client_telemetry.knowledge import products
from client_telemetry.knowledge.logins import THREE_ROUNDS
from client_telemetry.lake.writer import TablePlace
from client_telemetry.tables.clients import CLIENTS
from client_telemetry.tables.upgrade_findings import UPGRADE_FINDINGS
from client_telemetry.tables.upgrade_verdicts import UPGRADE_VERDICTS
from client_telemetry.workers.columns import ALWAYS, NEVER
from pyspark.sql import SparkSession

from tests.client_telemetry.impact.test_client_evidence import files

OWN_KNOWLEDGE = Path(__file__).parents[3] / "docs/examples/knowledge"
FLEET = Path(__file__).parents[2] / "data/compatibility/fleet_3.9.1_to_4.0.0.csv"
DAY = dt.date(2026, 11, 21)
NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
MINUTE = dt.timedelta(minutes=1)
PRODUCE, FETCH, METADATA = 0, 1, 3
ALL_DAY = 2**62 - 1
EVIDENCE = (
    "principal string, client_id string, client_software_name string, client_software_version string, "
    "program string, connections long, first_seen_at timestamp, last_seen_at timestamp, broker_ids array<int>, "
    "logins array<struct<listener_name: string, security_protocol: string, sasl_mechanism: string, connections: long>>, "
    "uses array<struct<api_key: int, version: int, requests: long, rejected: long, first_request_at: timestamp, "
    "last_request_at: timestamp, broker_ids: array<int>, source_object: string, source_sequence: long, "
    "cells: long>>, errors array<struct<api_key: int, version: int, error_code: int, requests: long>>, uses_elsewhere array<struct<release: string, api_key: int, version: int>>, cell_s double"
)


def use(api_key: int, version: int, requests: int = 1, minute: int = 0, broker: int = 1) -> tuple:
    at = NOON + minute * MINUTE
    record = (f"object-{broker}", minute)
    return (api_key, version, requests, 0, at, at + MINUTE, [broker], *record, ALL_DAY)


def client(client_id: str, *uses: tuple, name: str = "unknown", version: str = "unknown", **columns) -> tuple:
    """A row of `evidence`."""
    key = (
        columns.get("principal", f"User:{client_id}"),
        client_id,
        name,
        version,
        columns.get("program", ""),
    )
    seen = (1, NOON, NOON + 60 * MINUTE, [1])
    listener = columns.get("listener", "CLIENTS"), columns.get("protocol", "SASL_SSL")
    logins = [
        (*listener, mechanism, columns.get("logins", 1)) for mechanism in columns.get("mechanisms", [None])
    ]
    return (
        *key,
        *seen,
        logins,
        sorted(uses) or None,
        columns.get("errors"),
        columns.get("elsewhere"),
        60.0,
    )


CLIENTS_SEEN = [
    client("orders", use(PRODUCE, 2, 7, minute=1), use(PRODUCE, 1, 5, minute=3, broker=2), use(METADATA, 1)),
    client("billing", use(PRODUCE, 2, 70, minute=2), use(PRODUCE, 1, 1, minute=9), use(METADATA, 1)),
    client("shop", use(PRODUCE, 9), use(METADATA, 12), name="apache-kafka-java", version="3.9.1"),
    client("silent"),
    client("half-named", use(METADATA, 12), name="kgo", version="v1.15.4", principal="User:x"),
    client("half-named", use(PRODUCE, 9), principal="User:x"),
    client("kafka-python-1.4.7", use(PRODUCE, 2)),
    client("kerberos", use(FETCH, 12), name="librdkafka", version="1.9.2", listener="KERBEROS"),
    client(None, use(PRODUCE, 2), principal=None),
]


def asked(to: str = "4.0.0", source: str = "3.9.1") -> Question:
    return Question("c", source, to, (DAY,), None, None)


class Answer(NamedTuple):
    verdicts: list[dict]
    findings: list[dict]
    targets: list[dict]
    already_failing: int


MECHANISMS = {"KERBEROS": ("GSSAPI",), "CLIENTS": ("PLAIN", "SCRAM-SHA-256")}


def answer(
    spark: SparkSession,
    seen: Sequence[tuple],
    question: Question,
    mechanisms=MECHANISMS,
    scram_users: frozenset[str] | None = None,
    profiled: Sequence[dict] = (),
) -> Answer:
    clients = spark.createDataFrame(seen, EVIDENCE).toArrow()
    with tempfile.TemporaryDirectory() as folder:
        owned = files(Path(folder), CLIENTS, *profiled)
        places = (TablePlace(f"file://{folder}/verdicts"), TablePlace(f"file://{folder}/findings"))
        offered = Mechanisms(mechanisms, scram_users)
        nobody = Evidence(question, time_of(NEVER, ALWAYS, question))
        known = known_clients(spark, nobody, (), owned, clients, offered, 2)
        report = Report(question, "r", summary(known).span.cells, places)
        written = write_verdicts(parts_of(known, None, 2), report)
        verdicts, findings = (
            [row for url in urls for row in pq.read_table(url.removeprefix("file://")).to_pylist()]
            for urls in (written.verdicts, written.findings)
        )
    return Answer(verdicts, findings, compared_targets(written, question), written.already_failing)


@pytest.fixture(scope="module")
def answered(spark: SparkSession) -> Answer:
    owned = {"principal": "User:orders", "client_id": "orders", "owner": "team", "owner_contact": "#team"}
    owned |= {"cluster_id": "c", "client_software_name": "unknown", "client_software_version": "unknown"}
    former = owned | {"owner": "former team", "dt": DAY - dt.timedelta(days=1)}
    return answer(spark, CLIENTS_SEEN, asked(), profiled=[former, owned | {"dt": DAY}])


@pytest.fixture(scope="module")
def verdicts(answered) -> dict[tuple, dict]:
    return {(row["client_id"], row["client_software_name"]): row for row in answered[0]}


def test_every_client_has_its_verdict(answered, verdicts):
    rows, findings = answered[:2]
    assert len(rows) == len(CLIENTS_SEEN)
    assert list(rows[0]) == [c.name for c in UPGRADE_VERDICTS.columns]
    assert list(findings[0]) == [c.name for c in UPGRADE_FINDINGS.columns]
    assert verdicts["orders", "unknown"]["verdict"] == "breaks"
    assert verdicts["shop", "apache-kafka-java"]["verdict"] == "safe"
    assert (verdicts["silent", "unknown"]["verdict"], verdicts["silent", "unknown"]["requests"]) == (
        "insufficient_evidence",
        0,
    )
    assert verdicts[None, "unknown"]["verdict"] == "breaks"


def test_an_upgrade_has_a_way_back_and_a_mixed_window(verdicts):
    row = verdicts["orders", "unknown"]
    assert (row["rollback_verdict"], row["mixed_verdict"]) == ("safe", "breaks")
    assert "accepts the same again" in row["rollback_explanation"]


def test_releases_that_are_compared_are_counted(answered):
    verdicts, targets = answered.verdicts, answered.targets
    assert [row["to_release"] for row in targets][:2] == ["4.0.0", "4.0.1"]
    assert all(sum(n for name, n in row.items() if name != "to_release") == len(verdicts) for row in targets)
    counts = verdict_counts(targets, "4.0.0")
    assert counts == {word: sum(row["verdict"] == word for row in verdicts) for word in counts}


def test_the_latest_owner_counts(verdicts):
    assert (verdicts["orders", "unknown"]["owner"], verdicts["orders", "unknown"]["owner_contact"]) == (
        "team",
        "#team",
    )
    assert verdicts["shop", "apache-kafka-java"]["owner"] is None


def test_clients_that_are_alike_keep_their_own_amounts_and_records(answered):
    (orders,) = [
        r for r in answered[1] if r["client_id"] == "orders" and r["rule_id"] == "observed_version_refused"
    ]
    (billing,) = [
        r for r in answered[1] if r["client_id"] == "billing" and r["rule_id"] == "observed_version_refused"
    ]
    assert orders["rule_id"] == billing["rule_id"]
    assert (orders["versions"], orders["requests"], billing["requests"]) == ("1–2", 12, 71)
    assert (orders["first_seen_at"], orders["last_seen_at"]) == (NOON + MINUTE, NOON + 4 * MINUTE)
    assert (orders["broker_ids"], billing["broker_ids"]) == ([1, 2], [1])
    assert (orders["source_objects"], orders["source_sequences"]) == (["object-1", "object-2"], [1, 3])
    assert (billing["source_objects"], billing["source_sequences"]) == (["object-1", "object-1"], [2, 9])


def test_what_was_not_observed_has_no_amounts(answered):
    rows = [r for r in answered[1] if r["confidence"] == "declared"]
    assert rows and {(r["requests"], r["first_seen_at"], tuple(r["source_objects"])) for r in rows} == {
        (None, None, ())
    }


def test_a_name_that_other_connections_of_the_client_declared_is_used(verdicts):
    assert "franz-go" in verdicts["half-named", "unknown"]["identified_as"]


def test_a_default_client_id_is_looked_at(verdicts):
    assert "kafka-python" in verdicts["kafka-python-1.4.7", "unknown"]["identified_as"]


def test_the_mechanism_of_the_listener_decides(answered):
    (row,) = [r for r in answered[1] if r["rule_id"] == "librdkafka_gssapi_join_group_0"]
    assert (row["client_id"], row["condition_met"]) == ("kerberos", "yes")


def test_a_question_about_the_way_back_has_no_other_one(spark):
    for row in answer(spark, CLIENTS_SEEN[:3], asked("3.9.1", source="4.0.1")).verdicts:
        assert row["rollback_verdict"] is None and row["rollback_explanation"] is None
        assert row["mixed_verdict"] and row["mixed_explanation"]


def test_no_verdict_depends_on_what_is_left_out():
    """How often and when, and client ids that are no defaults: of the fleet."""
    for row in csv.DictReader(FLEET.read_text(encoding="utf-8").splitlines()):
        uses = parse_api_uses(row["api_uses"])
        software = {name: row[name] for name in ("client_software_name", "client_software_version")}
        whole = ClientEvidence(
            **software, client_id=row["client_id"], api_uses=uses, security_protocol=row["security_protocol"]
        )
        client_id = row["client_id"] if fingerprints.by_client_id(row["client_id"])[0] else ""
        product = (known := products.by_client_id(row["client_id"])) and known.name
        short = software | {
            "logins": [[row["security_protocol"], None, None]],
            "principal_has_scram": None,
        }
        short |= {
            "api_uses": [[*use[:2], 10 ** (len(str(use.requests)) - 1), 0] for use in uses],
            "also_declared": [],
        }
        for release in ("4.0.0", "4.0.1", "3.9.0"):
            ours = judged_row(json.dumps(short), client_id, product, "3.9.1", release)
            alone = on_the_way(whole, "3.9.1", release)
            assert {name: ours[name] for name in ("verdict", "when", "explanation", "fix")} == {
                "verdict": alone.verdict,
                "when": alone.when,
                "explanation": alone.explanation,
                "fix": alone.fix or None,
            }, row
            assert [each["rule_id"] for each in ours["findings"]] == [each.rule_id for each in alone.findings]


def test_a_login_that_may_break_is_never_plainly_safe(spark):
    """librdkafka 2.3.0 fails with SCRAM on 4.x: known, not known, and excluded in each way that tells."""
    old = {"name": "librdkafka", "version": "2.3.0"}
    uses = [use(PRODUCE, 7, 500), use(METADATA, 12, 50)]
    seen = [
        client("scram-seen", *uses, mechanisms=["SCRAM-SHA-512"], **old),
        client("plain-seen", *uses, mechanisms=["PLAIN"], **old),
        client("may-be", *uses, **old),
        client("has-no-credentials", *uses, **old),
        client("listener-without", *uses, listener="KERBEROS", **old),
        client("no-sasl", *uses, protocol="SSL", **old),
    ]
    mechanisms = {"KERBEROS": ("OAUTHBEARER", "PLAIN"), "CLIENTS": ("PLAIN", "SCRAM-SHA-256")}
    users = frozenset({"User:scram-seen", "User:may-be"})
    found = answer(spark, seen, asked("4.0.1"), mechanisms, users)
    verdicts = {row["client_id"]: row["verdict"] for row in found.verdicts}
    assert verdicts["scram-seen"] == verdicts["may-be"] == "breaks"
    for known in ("plain-seen", "has-no-credentials", "listener-without", "no-sasl"):
        assert verdicts[known] == "safe", known
    (row,) = answer(spark, seen[2:3], asked("4.0.1"), mechanisms).verdicts
    assert row["verdict"] != "safe" and "SCRAM" in row["condition"]


def test_what_is_known_of_one_connection_is_not_known_of_all(spark):
    """librdkafka 2.3.0 fails with SCRAM on 4.x: instances of one client id log in each in its own way."""
    old = {"name": "librdkafka", "version": "2.3.0"}
    uses = [use(PRODUCE, 7, 500), use(METADATA, 12, 50)]
    seen = [
        client("one-before-the-log", *uses, mechanisms=["PLAIN", None], **old),
        client("one-of-two", *uses, mechanisms=["OAUTHBEARER|PLAIN"], **old),
        client("two-ways", *uses, mechanisms=["PLAIN", "SCRAM-SHA-512"], **old),
        client("three-rounds", *uses, mechanisms=[THREE_ROUNDS], logins=104, **old),
        client("seldom-three-rounds", *uses, mechanisms=[THREE_ROUNDS], logins=9, **old),
        client("not-always-three", *uses, mechanisms=[THREE_ROUNDS, "SCRAM-SHA-512"], logins=104, **old),
    ]
    found = answer(spark, seen, asked("4.0.1"), {})
    verdicts = {row["client_id"]: row["verdict"] for row in found.verdicts}
    assert verdicts == {
        "one-before-the-log": "insufficient_evidence",
        "one-of-two": "safe",
        "two-ways": "breaks",
        "three-rounds": "safe",
        "seldom-three-rounds": "insufficient_evidence",
        "not-always-three": "breaks",
    }
    (row,) = answer(spark, seen[:1], asked("4.0.1"), {}, frozenset({"User:other"})).verdicts
    assert row["verdict"] == "safe", "its principal has no SCRAM credentials"
    (row,) = answer(spark, seen[:1], asked("4.0.1"), {}, frozenset({"User:one-before-the-log"})).verdicts
    assert row["verdict"] == "insufficient_evidence", "it can log in with both"


def test_answers_with_errors_only_are_failing_already(spark):
    seen = [
        client("denied", use(PRODUCE, 9, 5), use(METADATA, 9), errors=[(PRODUCE, 9, 29, 5)]),
        client("once", use(PRODUCE, 9, 5), use(METADATA, 9), errors=[(PRODUCE, 9, 29, 4)]),
    ]
    found = answer(spark, seen, asked("4.3.1", "4.0.0"), {})
    failing = {row["client_id"]: row["explanation"] for row in found.verdicts if row["already_failing"]}
    assert failing.keys() == {"denied"} and "error 29 (TOPIC_AUTHORIZATION_FAILED)" in failing["denied"]
    assert not any(row["works_again"] for row in found.verdicts)


def test_what_is_refused_today_is_failing_already(spark):
    refused = (PRODUCE, 2, 0, 11_388, NOON, NOON + MINUTE, [1], None, None, None)
    seen = [
        client("down", refused, use(METADATA, 1, 900)),
        client("up", use(PRODUCE, 9, 5), use(METADATA, 9)),
    ]
    found = answer(spark, seen, asked("4.3.1", "4.0.0"), {})
    verdicts = {row["client_id"]: row for row in found.verdicts}
    assert verdicts["down"]["already_failing"] and not verdicts["down"]["works_again"]
    assert not verdicts["up"]["already_failing"] and found.already_failing == 1
    assert all(row["works_again"] == 0 for row in found.targets)
    # None of its requests was answered: those that were refused are what is behind the finding.
    findings = [row for row in found.findings if row["rule_id"] == "observed_version_refused"]
    assert [(row["client_id"], row["requests"], row["broker_ids"]) for row in findings] == [
        ("down", 11_388, [1])
    ]


def test_what_a_client_sent_before_tells_whether_it_works_again(spark):
    join, commit = 11, 8
    refused = (join, 1, 0, 300, NOON, NOON + MINUTE, [1], None, None, None)
    lives = [("3.9.1", key, version) for key, version in ((FETCH, 10), (2, 1), (9, 1), (10, 0), (join, 1))]
    lives += [("3.9.1", key, 0) for key in (12, 14)]
    seen = [
        client(name, refused, use(METADATA, 5, 400), elsewhere=[*lives, ("3.9.1", commit, version)])
        for name, version in (("retention", 2), ("default", 1))
    ]
    found = answer(spark, seen, asked("4.3.1", "4.0.0"), {})
    verdicts = {row["client_id"]: row for row in found.verdicts}
    assert verdicts["retention"]["works_again"] and verdicts["retention"]["verdict"] == "safe"
    assert verdicts["default"]["verdict"] == "breaks" and not verdicts["default"]["works_again"]
    assert all(each["already_failing"] for each in verdicts.values())
    assert {row["to_release"]: row["works_again"] for row in found.targets}["4.3.1"] == 1


def test_what_was_judged_before_own_knowledge_came_is_judged_anew():
    """A worker of a warm Spark answers one question after the other."""
    known = json.dumps(
        {
            "client_software_name": "shop-kafka",
            "client_software_version": "1.4.0",
            "api_uses": [[PRODUCE, 2, 1, 0]],
            "logins": [],
            "principal_has_scram": None,
            "also_declared": [],
        }
    )
    before = judged_row(known, None, None, "3.9.1", "4.0.1")
    try:
        use_folder(OWN_KNOWLEDGE)
        fix = judged_row(known, None, None, "3.9.1", "4.0.1")["fix"]
    finally:
        use_folder(None)
    assert fix == "upgrade shop-kafka to 2.0.0 or later" != before["fix"]


def test_versions_of_a_text():
    assert versions_in("0–2, 5") == {0, 1, 2, 5} and versions_in("") == set()


def test_a_client_is_well_observed_by_the_rhythm_of_its_roles(spark: SparkSession):
    """An hour in which somebody always sent something; in the verdict's row stands who was seen enough."""
    steady, once, watched = use(PRODUCE, 9), (*use(PRODUCE, 9)[:-1], 1), use(METADATA, 9)
    seen = [client("steady", steady, watched), client("once", once, watched), client("silent")]
    assert {row["client_id"]: row["well_observed"] for row in answer(spark, seen, asked(), {}).verdicts} == {
        "steady": True,
        "once": False,
        "silent": False,
    }


def test_a_finding_names_at_most_sixteen_records_and_each_broker_once(spark: SparkSession):
    uses = [
        (PRODUCE, version, 1, 0, NOON, NOON, [1 + version % 2, 3], f"object-{version % 2}", version, 0)
        for version in range(3)
    ]
    many = [
        (FETCH, version, 1, 0, None, None, [1], f"object-{version % 2}", version, 0) for version in range(20)
    ]
    found = answer(spark, [client("a", *uses), client("b", *many), client("c")], asked("4.0.0"), {}).findings
    refused = {
        (row["client_id"], row["api_key"]): row
        for row in found
        if row["rule_id"] == "observed_version_refused"
    }
    produce = refused["a", PRODUCE]
    assert (produce["requests"], produce["broker_ids"]) == (3, [1, 2, 3])
    assert produce["source_objects"] == ["object-0", "object-0", "object-1"]
    assert produce["source_sequences"] == [0, 2, 1]
    fetch = refused["b", FETCH]
    assert fetch["requests"] == len(fetch["source_sequences"]) == 4, "0 to 3"
    assert (fetch["first_seen_at"], fetch["last_seen_at"]) == (None, None)
    assert [row["finding"] for row in found if row["client_id"] == "a"] == [
        *range(sum(row["client_id"] == "a" for row in found))
    ]
